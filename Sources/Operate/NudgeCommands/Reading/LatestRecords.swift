import Kafka
import NudgeSchema
import ServiceKit

/// Keeps the latest of many values.
struct Latest<Value> {
  private let limit: Int
  private let isEarlier: (Value, Value) -> Bool
  private var values: [Value] = []
  /// The number of dropped values.
  private(set) var dropped = 0

  init(_ limit: Int, by isEarlier: @escaping (Value, Value) -> Bool) {
    self.limit = limit
    self.isEarlier = isEarlier
  }

  /// Adds a value, and drops the earliest beyond the limit.
  mutating func add(_ value: Value) {
    values.append(value)
    // Partitions interleave, so the earliest values are found by sorting, which is done only from time to time.
    if values.count >= limit + max(limit, 1_000) { cut() }
  }

  /// The kept values, earliest first.
  var sorted: [Value] {
    mutating get {
      cut()
      return values
    }
  }

  private mutating func cut() {
    values.sort(by: isEarlier)
    dropped += max(0, values.count - limit)
    values.removeFirst(max(0, values.count - limit))
  }
}

extension TopicBrowser {
  /// Shows the latest records of ranges, the earliest first, and then those that come until Ctrl-C.
  ///
  /// - Parameters:
  ///   - noun: The word for a record, such as `record`.
  ///   - follows: Whether to go on with those that come.
  ///   - line: Makes the line that shows a record; nil if the record is not shown.
  /// - Returns: The command's exit code.
  func show<Line>(
    _ ranges: [PartitionRange], of topic: Topic, latest: Latest<Line>, noun: String, follows: Bool,
    line: (ConsumerRecord) -> Line?, print: (Line) throws -> Void
  ) throws -> Int32 {
    var latest = latest
    try read(ranges, "reading \(names(topic))") { record in
      if let line = line(record) { latest.add(line) }
      return true
    }
    for line in latest.sorted { try print(line) }
    if latest.dropped > 0 {
      CommandOutput.report(
        "\(latest.dropped.counted("earlier \(noun) is", "earlier \(noun)s are")) not shown: --limit shows more")
    }
    guard follows else { return ExitCode.success }
    // A pipe is buffered. Without this, the line would wait for the next one.
    try CommandOutput.flush()
    let interrupts = Interrupts()
    try follow(ranges) { record in
      if let record, let line = line(record) {
        try print(line)
        try CommandOutput.flush()
      }
      return interrupts.count == 0
    }
    return ExitCode.interrupted
  }
}

import NudgeSchema
import ServiceKit

struct LagReport: Encodable, Equatable {
  /// An input of a stage.
  struct Input: Encodable, Equatable {
    /// A partition with unprocessed records.
    struct Partition: Encodable, Equatable {
      var partition: Int32
      /// The group's offset; nil: none committed.
      var committed: Int64?
      /// The end offset.
      var end: Int64
      /// Offsets between the two: records and transaction markers.
      var records: Int64
      /// The oldest unprocessed record's timestamp, in milliseconds since the epoch.
      var oldest: Milliseconds
      var age: Milliseconds
    }
    var stage: String
    var topic: String
    /// Partitions of the topic.
    var partitions: Int
    /// Partitions with lag, the oldest first.
    var behind: [Partition]

    /// Unprocessed offsets of all partitions.
    var records: Int64 { behind.reduce(0) { $0 + $1.records } }
    /// The oldest unprocessed record's age, in milliseconds; 0 without one.
    var age: Milliseconds { behind.map(\.age).max() ?? 0 }

    private enum CodingKeys: String, CodingKey { case stage, topic, partitions, behind, records, age }

    func encode(to encoder: any Encoder) throws {
      var fields = encoder.container(keyedBy: CodingKeys.self)
      try fields.encode(stage, forKey: .stage)
      try fields.encode(topic, forKey: .topic)
      try fields.encode(partitions, forKey: .partitions)
      try fields.encode(behind, forKey: .behind)
      try fields.encode(records, forKey: .records)
      try fields.encode(age, forKey: .age)
    }
  }

  var inputs: [Input]

  /// The oldest unprocessed record's age over all inputs, in milliseconds; 0 without one.
  var age: Milliseconds { inputs.map(\.age).max() ?? 0 }

  /// One line an input; with `byPartition` one for each partition with lag.
  func text(byPartition: Bool) -> String {
    let stages = inputs.map(\.stage.count).max() ?? 0
    let topics = inputs.map(\.topic.count).max() ?? 0
    func pad(_ text: String, _ width: Int) -> String {
      text + String(repeating: " ", count: max(0, width - text.count))
    }
    return inputs.flatMap { input -> [String] in
      let head = "\(pad(input.stage, stages))  \(pad(input.topic, topics))"
      guard let worst = input.behind.first else { return ["\(head)  nothing unprocessed"] }
      let line =
        "\(head)  \(input.records) unprocessed in \(input.behind.count) of \(input.partitions) partitions, the oldest "
        + "\(Self.shown(worst.age)) old (\(RFC3339.text(worst.oldest)), partition \(worst.partition))"
      guard byPartition else { return [line] }
      return [line]
        + input.behind.sorted { $0.partition < $1.partition }.map {
          "    \($0.partition)  committed \($0.committed.map { String($0) } ?? "none"), end \($0.end), "
            + "\($0.records) unprocessed, the oldest \(Self.shown($0.age)) old"
        }
    }.joined(separator: "\n")
  }

  /// Seconds, and the two largest units above.
  private static func shown(_ milliseconds: Milliseconds) -> String {
    guard milliseconds >= 1_000 else { return "less than 1s" }
    return Duration.seconds(milliseconds / 1_000).settingText
  }
}

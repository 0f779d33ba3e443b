import NudgeSchema
import ServiceKit

/// How far the stages are behind.
struct LagReport: Encodable, Equatable {
  /// An input of a stage.
  struct Input: Encodable, Equatable {
    /// A partition of it that has something unprocessed.
    struct Partition: Encodable, Equatable {
      var partition: Int32
      /// The next offset by the group; nil: it has committed none.
      var committed: Int64?
      /// Behind the last record.
      var end: Int64
      /// Offsets between the two: records, and markers of transactions.
      var records: Int64
      /// The timestamp of the oldest unprocessed record, in milliseconds since the epoch.
      var oldest: Milliseconds
      /// How old that is, in milliseconds.
      var age: Milliseconds
    }
    var stage: String
    var topic: String
    /// Partitions of the topic.
    var partitions: Int
    /// Those that are behind; the one that is furthest behind in time first.
    var behind: [Partition]

    /// Offsets that are not processed, of all partitions.
    var records: Int64 { behind.reduce(0) { $0 + $1.records } }
    /// The age of the oldest unprocessed record, in milliseconds; 0 where there is none.
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

  /// The age of the oldest unprocessed record of all, in milliseconds; 0 where there is none.
  var age: Milliseconds { inputs.map(\.age).max() ?? 0 }

  /// For a person: a line an input; with `byPartition` one a partition that is behind.
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

  /// In seconds, and the two largest units beyond.
  private static func shown(_ milliseconds: Milliseconds) -> String {
    guard milliseconds >= 1_000 else { return "less than 1s" }
    return Duration.seconds(milliseconds / 1_000).settingText
  }
}

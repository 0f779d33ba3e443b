import Kafka
import NudgeSchema

/// A look at a record's bytes that spares decoding what a filter leaves out anyway, which costs many times as much.
struct TailGlance {
  /// What is asked for, as a key and as JSON has it.
  private let ids: [(key: [UInt8], needle: [UInt8])]
  /// What a value must have somewhere.
  private let words: [[UInt8]]
  /// Somebody may write any character as an escape.
  private static let escape = [UInt8(ascii: "\\")]

  init(_ filter: TailFilter, of topic: Topic, coder: RecordCoder) {
    ids = [filter.user, filter.conversation].compactMap { id in id.map { (Array($0.utf8), coder.needle($0)) } }
    // A dead letter's reason is in its headers.
    words = topic == .deadLetters ? [] : [filter.type, filter.reason].compactMap { $0.map { coder.needle($0) } }
  }

  /// False: the filter leaves the record out.
  func mayShow(_ record: ConsumerRecord) -> Bool {
    ids.allSatisfy { record.hasKey($0.key) || record.valueContains($0.needle) || record.valueContains(Self.escape) }
      && words.allSatisfy { record.valueContains($0) || record.valueContains(Self.escape) }
  }
}

import Kafka
import NudgeSchema

/// Searches a record's bytes before it is decoded, which costs many times as much.
struct TailGlance {
  /// Ids, as a key and as JSON contains them.
  private let ids: [(key: [UInt8], needle: [UInt8])]
  /// Strings that a matching value contains.
  private let words: [[UInt8]]
  /// Producers may write any character as an escape.
  private static let escape = [UInt8(ascii: "\\")]

  init(_ filter: TailFilter, of topic: Topic, coder: RecordCoder) {
    ids = [filter.user, filter.conversation].compactMap { id in id.map { (Array($0.utf8), coder.needle($0)) } }
    // A dead letter's reason is in its headers.
    words = topic == .deadLetters ? [] : [filter.type, filter.reason].compactMap { $0.map { coder.needle($0) } }
  }

  /// False: the filter does not match.
  func mayShow(_ record: ConsumerRecord) -> Bool {
    ids.allSatisfy { record.hasKey($0.key) || record.valueContains($0.needle) || record.valueContains(Self.escape) }
      && words.allSatisfy { record.valueContains($0) || record.valueContains(Self.escape) }
  }
}

import Kafka
import NudgeSchema

/// Republishes dead letters, unchanged, to the producers' topics they came from.
///
/// Ingest treats each as any other event: an invalid one is rejected again, one it has processed has no second effect, and
/// one past its freshness notifies nobody. Dead letters of other topics are not republished: records processed since then
/// would be out of order with them.
struct DeadLetterReplay {
  /// The result for one dead letter.
  enum Fate: Equatable {
    /// Republished to this topic.
    case written(Topic)
    /// Not republished, for this reason.
    case left(String)
  }

  struct Summary: Encodable, Equatable {
    /// nil in a dry run.
    var replayId: String?
    /// Republished dead letters by code.
    var written: [String: Int] = [:]
    /// The others by reason.
    var left: [String: Int] = [:]
    /// Republished ones with a code about the record itself: ingest rejects them again unless the services have changed.
    var likelyRefusedAgain = 0
  }

  /// Codes about the record alone, which does not change.
  private static let aboutTheRecord: Set<DeadLetterCode> = [
    .invalidJSON, .invalidUTF8, .schemaViolation, .unsupportedVersion, .unknownType, .tooLarge, .missingKey,
    .keyMismatch, .tooOld,
  ]

  let topics: TopicNames

  func fate(of letter: DeadLetterFacts) -> Fate {
    guard let origin = letter.origin, let topic = topics.topic(named: origin.topic) else {
      return .left("its headers name no origin")
    }
    guard topic == .chatEvents || topic == .userEvents else {
      return .left("it came from \(origin.topic): only producers' events are republished")
    }
    // Before the key, which may be the part that is missing.
    guard !letter.isCut else { return .left("it was too large and is truncated") }
    guard letter.key != nil else { return .left("it has no key: 'nudge dead-letters edit' gives it that of its event") }
    return .written(topic)
  }

  static func isLikelyRefusedAgain(_ letter: DeadLetterFacts) -> Bool {
    DeadLetterCode(rawValue: letter.code).map { aboutTheRecord.contains($0) } ?? false
  }

  /// The record to publish: value, key and the producer's headers unchanged, on the key's partition.
  static func record(
    _ letter: ConsumerRecord, to topic: Topic, partitions: Int32, replayId: String
  ) -> OutgoingRecord {
    let key = letter.keyBytes() ?? []
    return OutgoingRecord(
      topic: topic, partition: Murmur2.partition(of: key, count: partitions), key: key, value: letter.valueBytes(),
      headers: producersHeaders(of: letter) + [(RecordHeader.replayId, Array(replayId.utf8))])
  }

  /// A dead letter's headers without those that tell of its rejection.
  static func producersHeaders(of letter: ConsumerRecord) -> [Header] {
    letter.headers().filter { $0.name != RecordHeader.replayId && !RecordHeader.ofDeadLetters.contains($0.name) }
  }
}

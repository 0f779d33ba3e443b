import Kafka
import NudgeSchema

/// Writes dead letters to the producers' topics they began on again, as they were.
///
/// Ingest looks at each as at any other event: what is still wrong is refused again, what it has processed before has no
/// second effect, and what is past its freshness notifies nobody. Letters of other topics are not written again: what
/// was processed since would come before them.
struct DeadLetterReplay {
  /// What became of a letter, or would.
  enum Fate: Equatable {
    /// It is written to this topic.
    case written(Topic)
    /// It is left where it is.
    case left(String)
  }

  /// What a replay did, or would do.
  struct Summary: Encodable, Equatable {
    /// nil: a dry run.
    var replayId: String?
    /// Written, by code.
    var written: [String: Int] = [:]
    /// Left, by the reason.
    var left: [String: Int] = [:]
    /// Of those written, such whose code says that the record itself is wrong: refused again, unless the services have
    /// changed.
    var likelyRefusedAgain = 0
  }

  /// Codes that say something of the record alone, which is what it was.
  private static let aboutTheRecord: Set<DeadLetterCode> = [
    .invalidJSON, .invalidUTF8, .schemaViolation, .unsupportedVersion, .unknownType, .tooLarge, .missingKey,
    .keyMismatch, .tooOld,
  ]

  let topics: TopicNames

  /// What is done with a letter.
  func fate(of letter: DeadLetterFacts) -> Fate {
    guard let origin = letter.origin, let topic = topics.topic(named: origin.topic) else {
      return .left("it does not say where it began")
    }
    guard topic == .chatEvents || topic == .userEvents else {
      return .left("it began on \(origin.topic): only producers' events are written again")
    }
    // Before the key: it may be what was cut.
    guard !letter.isCut else { return .left("it was too large and is cut: what is left is another record") }
    guard letter.key != nil else { return .left("it has no key: mend it and publish it anew") }
    return .written(topic)
  }

  /// Whether a letter is likely to be refused again.
  static func isLikelyRefusedAgain(_ letter: DeadLetterFacts) -> Bool {
    DeadLetterCode(rawValue: letter.code).map { aboutTheRecord.contains($0) } ?? false
  }

  /// The record to be written: value, key and the producer's headers as they were. Its partition is its key's.
  static func record(
    _ letter: ConsumerRecord, to topic: Topic, partitions: Int32, replayId: String
  ) -> OutgoingRecord {
    let ours = [
      RecordHeader.errorCode, RecordHeader.errorMessage, RecordHeader.errorStage, RecordHeader.originTopic,
      RecordHeader.originPartition, RecordHeader.originOffset, RecordHeader.originTimestamp, RecordHeader.replayId,
    ]
    let key = letter.keyBytes() ?? []
    return OutgoingRecord(
      topic: topic, partition: Murmur2.partition(of: key, count: partitions), key: key, value: letter.valueBytes(),
      headers: letter.headers().filter { !ours.contains($0.name) } + [(RecordHeader.replayId, Array(replayId.utf8))])
  }
}

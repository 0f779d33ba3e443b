public import NudgeSchema

extension OutputRecord {
  /// The dead letter of a record: its key, value and headers, and headers with the reason and the origin.
  ///
  /// A record may be as large as its topic takes, or larger if it was compressed, and the reason needs room. Parts that exceed
  /// `maxBytes` are cut, and headers say what was cut. The whole record stays at its origin for that topic's retention.
  ///
  /// - Parameters:
  ///   - stage: the name of the stage that refused the record.
  ///   - partitionCount: the number of partitions of the dead-letter topic.
  ///   - maxBytes: the largest `size` of the dead letter; at least 16 KiB.
  static func deadLetter(
    of record: InputRecord, _ rejection: Rejection, stage: String, partitionCount: Int32, maxBytes: Int
  ) -> OutputRecord {
    // The partition of the whole key, even if the key is cut.
    let partition =
      record.key.map { OutputRecord.partition(of: $0, count: partitionCount) } ?? record.partition % partitionCount
    let reasons = RecordHeaderField.ofDeadLetter(
      rejection.code, rejection.message, stage: stage, topic: record.topicName, partition: record.partition,
      offset: record.offset, timestamp: record.timestamp)
    let whole = OutputRecord(
      topic: .deadLetters, partition: partition, key: record.key, value: record.value,
      headers: record.headers + reasons)
    if whole.size <= maxBytes { return whole }

    // The value gets at least half of the room, because it says most.
    var rest = maxBytes - reasons.reduce(OutputRecord.overhead + 512) { $0 + $1.size }
    let key = record.key.map { Array($0.prefix(rest / 4)) }
    rest -= key?.count ?? 0
    var kept: [RecordHeaderField] = []
    var roomForHeaders = rest / 3
    for header in record.headers where header.size <= roomForHeaders {
      kept.append(header)
      roomForHeaders -= header.size
      rest -= header.size
    }
    let value = record.value.map { Array($0.prefix(rest)) }
    var cuts: [RecordHeaderField] = []
    func note(_ name: String, _ kept: Int, of whole: Int) {
      if kept < whole { cuts.append(RecordHeaderField(name, "\(kept)/\(whole)")) }
    }
    note(RecordHeader.truncatedKey, key?.count ?? 0, of: record.key?.count ?? 0)
    note(RecordHeader.truncatedHeaders, kept.count, of: record.headers.count)
    note(RecordHeader.truncatedValue, value?.count ?? 0, of: record.value?.count ?? 0)
    return OutputRecord(
      topic: .deadLetters, partition: partition, key: key, value: value, headers: kept + reasons + cuts)
  }
}

extension RecordHeaderField {
  /// The headers that say why a record is a dead letter and where it was: Nudge's, and those of Kafka Streams (KIP-1034).
  ///
  /// - Parameters:
  ///   - message: the reason for people, cut after 1,000 characters (Unicode scalars).
  ///   - stage: the name of the stage that refused the record.
  ///   - timestamp: the record's own, in milliseconds.
  public static func ofDeadLetter(
    _ code: DeadLetterCode, _ message: String, stage: String, topic: String, partition: Int32, offset: Int64,
    timestamp: Milliseconds
  ) -> [RecordHeaderField] {
    let message = String(message.unicodeScalars.prefix(1000))
    return [
      RecordHeaderField(RecordHeader.errorCode, code.rawValue),
      RecordHeaderField(RecordHeader.errorMessage, message),
      RecordHeaderField(RecordHeader.errorStage, stage),
      RecordHeaderField(RecordHeader.originTopic, topic),
      RecordHeaderField(RecordHeader.originPartition, String(partition)),
      RecordHeaderField(RecordHeader.originOffset, String(offset)),
      RecordHeaderField(RecordHeader.originTimestamp, String(timestamp)),
      RecordHeaderField(RecordHeader.Streams.exception, code.rawValue),
      RecordHeaderField(RecordHeader.Streams.message, message),
      RecordHeaderField(RecordHeader.Streams.topic, topic),
      RecordHeaderField(RecordHeader.Streams.partition, String(partition)),
      RecordHeaderField(RecordHeader.Streams.offset, String(offset)),
    ]
  }
}

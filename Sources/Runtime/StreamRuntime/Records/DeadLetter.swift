import NudgeSchema

extension OutputRecord {
  /// The dead letter of a record: its bytes and headers as they came, and headers that say why it was refused and where
  /// it is. What would make it larger than `maxBytes` is cut: a record may be as large as a topic takes, or larger where
  /// it came compressed, and the dead letter needs room for the reason. Headers say what was cut, and of how much; the whole
  /// record is at the origin they name, for as long as that topic keeps it.
  ///
  /// - Parameters:
  ///   - stage: the name of the stage that refused it.
  ///   - partitionCount: of the dead letters' topic.
  ///   - maxBytes: what the dead letter may take, as `size` counts; 16 KiB at least.
  static func deadLetter(
    of record: InputRecord, _ rejection: Rejection, stage: String, partitionCount: Int32, maxBytes: Int
  ) -> OutputRecord {
    // The partition is that of the whole key, cut or not.
    let partition =
      record.key.map { OutputRecord.partition(of: $0, count: partitionCount) } ?? record.partition % partitionCount
    let reasons = [
      RecordHeaderField(RecordHeader.errorCode, rejection.code.rawValue),
      RecordHeaderField(RecordHeader.errorMessage, String(rejection.message.unicodeScalars.prefix(1000))),
      RecordHeaderField(RecordHeader.errorStage, stage),
      RecordHeaderField(RecordHeader.originTopic, record.topicName),
      RecordHeaderField(RecordHeader.originPartition, String(record.partition)),
      RecordHeaderField(RecordHeader.originOffset, String(record.offset)),
      RecordHeaderField(RecordHeader.originTimestamp, String(record.timestamp)),
    ]
    let whole = OutputRecord(
      topic: .deadLetters, partition: partition, key: record.key, value: record.value,
      headers: record.headers + reasons)
    if whole.size <= maxBytes { return whole }

    // Half of the room is the value's at least, where it needs as much: it says most.
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

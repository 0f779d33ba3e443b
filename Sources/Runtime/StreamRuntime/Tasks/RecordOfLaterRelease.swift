import NudgeSchema

/// A record on one of Nudge's own topics that this release cannot read, because a stage of a later release wrote it.
///
/// The thread commits the steps before it and ends: a dead letter would lose what the later release meant. The position
/// stays before the record, so a stage of that release reads it.
struct RecordOfLaterRelease: Error, CustomStringConvertible {
  /// Topic, partition and offset.
  let record: RecordPosition
  let stage: String
  /// The version, type or field that this release does not know; no values of the record.
  let reason: String

  var description: String {
    "\(record.topic)-\(record.partition) at offset \(record.offset): \(reason). A later release wrote this record: upgrade "
      + "\(stage) to that release (order: dispatcher, analyzer, ingest). The record is kept and read again. If it is not "
      + "Nudge's, remove it with kafka-delete-records.sh up to offset \(record.offset + 1)"
  }
}

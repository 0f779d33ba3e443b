import NudgeSchema

extension TaskManager {
  /// The level at which a task continues.
  /// - Throws: `LevelOfLaterRelease` if this release does not know the level.
  func level(of task: Int32, _ position: PositionRecord?) throws -> FormatLevel {
    let level = position?.level ?? .first
    guard level <= context.limits.latestLevel else {
      throw LevelOfLaterRelease(level, S.definition, task, context.limits)
    }
    return level
  }

  /// Handles the operator's record that finalises a level. The transaction whose position follows the record is the first at that level.
  func raise(_ task: Task, to level: FormatLevel, by record: InputRecord, now: Milliseconds) throws {
    guard level <= context.limits.latestLevel else {
      throw LevelOfLaterRelease(level, S.definition, task.number, context.limits)
    }
    let isHigher = level > task.step.level
    try run(task, record: record, now: now) { _, step in if isHigher { step.level = level } }
    if isHigher { context.observe(.levelRaised(task: task.number, to: level)) }
  }
}

extension TaskManager {
  /// Reads the policy in force, for the steps of a turn.
  func refreshPolicy() {
    guard let current = surroundings.policy?() else { return }
    policy = current
    for task in all { task.step.policy = current }
  }

  /// Shows the state of the stage's memory.
  func showStatistics() {
    guard let show = surroundings.show, let statistics = stage.statistics(now: context.io.wallClock) else { return }
    show(statistics)
  }

  /// Reports that a task runs.
  func reportRunning(_ task: Task, rows: Int, took: Milliseconds) {
    context.observe(
      .running(
        task: task.number, sequence: task.position.sequence,
        next: Dictionary(uniqueKeysWithValues: task.next.map { ($0.key.rawValue, $0.value) }), rows: rows,
        milliseconds: took))
  }
}

extension StageDefinition {
  /// The input with records that finalise levels. Only Nudge writes to it, so that no producer can finalise one.
  var levelInput: Topic? { inputs.first(where: \.isWrittenByNudgeOnly) }
}

extension FormatLevel {
  /// The level that a record finalises. Fails for a record that finalises none. Such a record has the level in a header, and no value.
  init?(in record: InputRecord) {
    guard record.topic.isWrittenByNudgeOnly, let bytes = record.header(RecordHeader.level),
      let number = Int32(String(decoding: bytes, as: UTF8.self)), number >= 1
    else { return nil }
    self.init(number)
  }
}

/// An operator has finalised a level that this release does not know. Rows and records may be of kinds that it cannot read.
///
/// The thread commits the steps before it and ends. Nothing is lost, because a later release continues.
struct LevelOfLaterRelease: Error, CustomStringConvertible {
  let description: String

  init(_ level: FormatLevel, _ stage: StageDefinition, _ task: Int32, _ limits: StreamLimits) {
    description =
      "task \(task) of \(stage.name) is at level \(level), and this release knows levels up to \(limits.latestLevel): somebody has "
      + "run nudge upgrade finalize with a later release. Run that one, or a later one (docs/operations.md, Upgrade and rollback)"
  }
}

/// A record on one of Nudge's own topics that this release cannot read, because a stage of a later release wrote it.
///
/// The thread commits the steps before it and ends, because a dead letter would lose the record's meaning. The position stays before the
/// record, so that a stage of that release reads it.
struct RecordOfLaterRelease: Error, CustomStringConvertible {
  /// Topic, partition and offset.
  let record: RecordPosition
  let stage: String
  /// The version, type or field that this release does not know. It contains no values of the record.
  let reason: String

  var description: String {
    "\(record.topic)-\(record.partition) at offset \(record.offset): \(reason). A later release wrote this record: upgrade "
      + "\(stage) to that release (order: dispatcher, analyzer, ingest). The record is kept and read again. If it is not "
      + "Nudge's, remove it with kafka-delete-records.sh up to offset \(record.offset + 1)"
  }
}

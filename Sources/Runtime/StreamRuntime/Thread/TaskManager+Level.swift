import NudgeSchema

extension TaskManager {
  /// The level at which a task continues.
  /// - Throws: `LevelOfLaterRelease` where this release does not know it.
  func level(of task: Int32, _ position: PositionRecord?) throws -> FormatLevel {
    let level = position?.level ?? .first
    guard level <= context.limits.latestLevel else {
      throw LevelOfLaterRelease(level, S.definition, task, context.limits)
    }
    return level
  }

  /// Takes the operator's record that finalises a level. The transaction that has the position behind it is the first at that level.
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
  /// Takes over the policy in force, for the steps of a turn.
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
  /// The input that levels are finalised by: one that only Nudge writes, so that no producer can.
  var levelInput: Topic? { inputs.first(where: \.isWrittenByNudgeOnly) }
}

extension FormatLevel {
  /// The level that a record finalises; nil: it finalises none. Such a record has no value, and the level in a header.
  init?(in record: InputRecord) {
    guard record.topic.isWrittenByNudgeOnly, let bytes = record.header(RecordHeader.level),
      let number = Int32(String(decoding: bytes, as: UTF8.self)), number >= 1
    else { return nil }
    self.init(number)
  }
}

/// An operator has finalised a level that this release does not know: rows and records may be of kinds that it cannot read.
///
/// The thread commits the steps before it and ends. Nothing is lost: a later release continues.
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

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

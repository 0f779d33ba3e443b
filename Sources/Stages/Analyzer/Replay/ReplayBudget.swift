import NudgeSchema
import StreamRuntime

/// A replay that asks for messages to be decided again, as it stands in this task. Its limits are kept here, in the service:
/// whoever writes to the timeline cannot pass them.
struct ReplayBudget {
  /// Bytes of a replay's id, which is part of row keys and timers.
  static let maxIdBytes = 64
  /// How long its rows are kept. Longer than any freshness people set, so that what it asks for later is too old anyway.
  private static let keptFor: Milliseconds = 28 * 86_400_000
  private static let timerPrefix = "replay/"

  let replayId: String
  let isForced: Bool
  private let before: ReplayRow?
  private var row: ReplayRow

  /// The replay of a `candidate.redecide`. Throws a `Rejection` where it names none.
  init(_ candidate: MessageCandidate, in step: Step<AnalyzerStage>) throws {
    guard let replayId = candidate.replayId, (1...Self.maxIdBytes).contains(replayId.utf8.count),
      replayId.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
    else {
      throw Rejection(
        .schemaViolation, "replayId: a candidate.redecide names its replay by 1 to \(Self.maxIdBytes) bytes")
    }
    self.replayId = replayId
    isForced = candidate.forced ?? false
    before = try Self.row(RowKey("r", replayId), in: step)
    row = before ?? ReplayRow()
  }

  /// Whether somebody stopped it.
  var isStopped: Bool { row.isStopped }
  /// How often it notified by force in this task.
  var forcedBefore: Int { row.notifications }

  /// It made a notification.
  mutating func notified() { if isForced { row.notifications += 1 } }

  /// Keeps its row, which its first record in a task always makes: the timer goes with it.
  func save(because cause: Cause, in step: Step<AnalyzerStage>) throws {
    guard row != before else { return }
    try step.set(.replay(row), for: RowKey("r", replayId))
    if before == nil { try Self.setTimer(replayId, because: cause, in: step) }
  }

  /// `replay.stopped`.
  static func stop(_ replayId: String, because cause: Cause, in step: Step<AnalyzerStage>) throws {
    guard (1...maxIdBytes).contains(replayId.utf8.count) else {
      throw Rejection(.schemaViolation, "replayId has not 1 to \(maxIdBytes) bytes")
    }
    let before = try row(RowKey("r", replayId), in: step)
    var row = before ?? ReplayRow()
    row.isStopped = true
    try step.set(.replay(row), for: RowKey("r", replayId))
    if before == nil { try setTimer(replayId, because: cause, in: step) }
  }

  static func row(_ key: RowKey, in step: Step<AnalyzerStage>) throws -> ReplayRow? {
    if case .replay(let row) = try step.row(key) { return row }
    return nil
  }

  // MARK: The end

  private static func setTimer(_ replayId: String, because cause: Cause, in step: Step<AnalyzerStage>) throws {
    try step.setTimer(
      timerPrefix + replayId, due: step.now + keptFor, key: replayId, eventId: cause.envelope.eventId,
      origin: Origin(cause.position), source: cause.source)
  }

  /// The replay whose rows a timer is about; nil: it is another timer.
  static func replayId(ofTimer name: String) -> String? {
    guard name.utf8.starts(with: timerPrefix.utf8) else { return nil }
    return String(decoding: name.utf8.dropFirst(timerPrefix.utf8.count), as: UTF8.self)
  }

  /// Removes all rows of a replay.
  static func forget(_ replayId: String, in step: Step<AnalyzerStage>) throws {
    for (key, _) in try step.rows(below: RowKey("r", replayId)) { try step.remove(key) }
    try step.remove(RowKey("r", replayId))
  }
}

extension PersonContext {
  /// How often a replay notified the person.
  func notifications(byReplay replayId: String) throws -> Int {
    try ReplayBudget.row(RowKey("r", replayId, userId), in: step)?.notifications ?? 0
  }

  /// A replay notifies the person once more.
  func countNotification(byReplay replayId: String) throws {
    var row = try ReplayBudget.row(RowKey("r", replayId, userId), in: step) ?? ReplayRow()
    row.notifications += 1
    try step.set(.replay(row), for: RowKey("r", replayId, userId))
  }
}

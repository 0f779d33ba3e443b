public import NudgeCodec
public import NudgeSchema
import StreamRuntime

/// A replay that asks for messages to be decided again, with its state in this task. Its limits are enforced here, in the service, so that
/// no writer to the timeline can exceed them.
struct ReplayBudget {
  /// The most bytes of a replay's id, which is part of row keys and timers.
  static let maxIdBytes = 64
  /// How long its rows are kept. This is longer than any usual freshness, so messages that it asks for later are too old anyway.
  private static let keptFor: Milliseconds = 28 * 86_400_000
  private static let timerPrefix = "replay/"

  let replayId: String
  let isForced: Bool
  /// Whether it decides for people who were not recipients when the message arrived.
  let isRederived: Bool
  /// How old a message may be, if that is more than its freshness.
  let maxAge: Milliseconds
  private let failedPushes: [FailedPush]
  private let before: ReplayRow?
  private var row: ReplayRow

  /// The replay of a `candidate.redecide`. Throws a `Rejection` if the record names none.
  init(_ candidate: MessageCandidate, in step: Step<AnalyzerStage>) throws {
    guard let replayId = candidate.replayId, (1...Self.maxIdBytes).contains(replayId.utf8.count),
      replayId.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
    else {
      throw Rejection(
        .schemaViolation, "replayId: a candidate.redecide names its replay by 1 to \(Self.maxIdBytes) bytes")
    }
    guard !Resend.isBucket(replayId) else { throw Rejection(.schemaViolation, "replayId: the name is reserved") }
    self.replayId = replayId
    isForced = candidate.forced ?? false
    isRederived = candidate.rederived ?? false
    failedPushes = candidate.failedPushes ?? []
    guard [isForced, isRederived, !failedPushes.isEmpty].count(where: { $0 }) <= 1 else {
      throw Rejection(.schemaViolation, "forced, rederived and failedPushes exclude each other")
    }
    guard failedPushes.allSatisfy({ (1...256).contains($0.pushId.utf8.count) && !$0.pushId.utf8.contains(0) }) else {
      throw Rejection(.schemaViolation, "failedPushes: a pushId has not 1 to 256 bytes without NUL")
    }
    maxAge = Milliseconds(min(max(0, candidate.maxAgeSeconds ?? 0), Int(Resend.longestAge / 1_000))) * 1_000
    before = try Self.row(RowKey("r", replayId), in: step)
    row = before ?? ReplayRow()
  }

  /// Whether it was stopped.
  var isStopped: Bool { row.isStopped }
  /// How often it notified by force in this task.
  var forcedBefore: Int { row.notifications }

  /// The push to make again for a recipient; nil if there is none.
  func resend(
    to userId: String, sentAt: Milliseconds, in step: Step<AnalyzerStage>
  ) throws -> Resend? {
    guard let failed = failedPushes.first(where: { sameId($0.userId, userId) }) else { return nil }
    return try Resend(failed, sentAt: sentAt, in: step)
  }

  /// Counts a notification.
  mutating func notified() { if isForced { row.notifications += 1 } }

  /// Writes its row. The first record of a replay in a task always does this, and sets the timer.
  func save(because cause: Cause, in step: Step<AnalyzerStage>) throws {
    guard row != before else { return }
    try step.set(.replay(row), for: RowKey("r", replayId))
    if before == nil { try Self.setTimer(replayId, because: cause, in: step) }
  }

  /// Marks the replay as stopped.
  static func stop(_ replayId: String, because cause: Cause, in step: Step<AnalyzerStage>) throws {
    guard (1...maxIdBytes).contains(replayId.utf8.count), !Resend.isBucket(replayId) else {
      throw Rejection(.schemaViolation, "replayId has not 1 to \(maxIdBytes) bytes, or is reserved")
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

  fileprivate static func setTimer(_ replayId: String, because cause: Cause, in step: Step<AnalyzerStage>) throws {
    try step.setTimer(
      timerPrefix + replayId, due: step.now + keptFor, key: replayId, eventId: cause.envelope.eventId,
      origin: cause.ownOrigin, source: cause.source)
  }

  /// The replay whose rows a timer removes; nil if it is another timer.
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

/// A failed push that is made again. A row for each records that, so that no other replay repeats it.
///
/// The rows for messages of one day are removed together, like those of a replay.
public struct Resend {
  /// The longest age that a replay may set.
  public static let longestAge: Milliseconds = 86_400_000
  private static let prefix = "resent/"

  let push: FailedPush
  /// Whether it was made again before.
  let isTaken: Bool
  private let bucket: String

  init(_ push: FailedPush, sentAt: Milliseconds, in step: Step<AnalyzerStage>) throws {
    self.push = push
    bucket = Self.bucket(of: sentAt)
    isTaken = try ReplayBudget.row(RowKey("r", bucket, push.pushId), in: step) != nil
  }

  private static func bucket(of sentAt: Milliseconds) -> String { prefix + String(sentAt / 86_400_000) }

  /// The person of a row that says that they were notified; nil if the row is about a push.
  static func person(ofKeyPart part: String) -> String? { part.hasPrefix("/") ? String(part.dropFirst()) : nil }

  /// No push has an id of this form.
  static func keyPart(ofPerson userId: String) -> String { "/" + userId }

  private static func personKey(_ bucket: String, _ userId: String) -> RowKey {
    RowKey("r", bucket, keyPart(ofPerson: userId))
  }

  /// Whether a row of the analyzer's changelog is one of these rows.
  public static func isRow(_ key: some Sequence<UInt8>) -> Bool { key.starts(with: Array("r\u{0}\(prefix)".utf8)) }

  /// Whether a replay's name is that of a day's rows.
  static func isBucket(_ replayId: String) -> Bool { replayId.utf8.starts(with: prefix.utf8) }

  /// Records that the push was made again, and that the person was notified of an old message.
  func take(for userId: String, because cause: Cause, in step: Step<AnalyzerStage>) throws {
    try Self.take(push.pushId, bucket, because: cause, in: step)
    try step.set(.replay(ReplayRow()), for: Self.personKey(bucket, userId))
  }

  /// Records that a message was pushed again without a replay. Its first push is then not made again.
  static func take(
    _ pushId: String, sentAt: Milliseconds, because cause: Cause, in step: Step<AnalyzerStage>
  ) throws {
    try take(pushId, bucket(of: sentAt), because: cause, in: step)
  }

  private static func take(
    _ pushId: String, _ bucket: String, because cause: Cause, in step: Step<AnalyzerStage>
  ) throws {
    if try ReplayBudget.row(RowKey("r", bucket), in: step) == nil {
      try step.set(.replay(ReplayRow()), for: RowKey("r", bucket))
      try ReplayBudget.setTimer(bucket, because: cause, in: step)
    }
    try step.set(.replay(ReplayRow()), for: RowKey("r", bucket, pushId))
  }

  /// Whether a push of the last day's messages was made again for a person.
  static func wasMade(for userId: String, now: Milliseconds, in step: Step<AnalyzerStage>) throws -> Bool {
    for time in [now, now - longestAge] {
      if try ReplayBudget.row(personKey(bucket(of: time), userId), in: step) != nil { return true }
    }
    return false
  }
}

extension PersonContext {
  /// Counts another notification of the person by a replay.
  func countNotification(byReplay replayId: String) throws {
    var row = try ReplayBudget.row(RowKey("r", replayId, userId), in: step) ?? ReplayRow()
    row.notifications += 1
    try step.set(.replay(row), for: RowKey("r", replayId, userId))
  }
}

/// The state of a replay in a task, or in a task for one person.
public struct ReplayRow: Encodable, Sendable, Equatable {
  /// Whether the replay was stopped, so that it decides nothing more.
  var isStopped = false
  /// The number of its notifications: those by force in the task's row, all in a person's row.
  var notifications = 0
}

extension ReplayRow: PackedRow, PackedFields {
  /// The row's kind, for errors.
  public static let name: StaticString = "replay"
  public static var blank: Self { Self() }

  public mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.flags()
    row.flag(&isStopped)
    try row.field(&notifications)
  }
}

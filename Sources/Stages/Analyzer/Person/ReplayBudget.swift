public import NudgeCodec
public import NudgeSchema
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
  /// It decides for people who were not recipients when the message came.
  let isRederived: Bool
  /// How old a message may be, where that is more than its freshness.
  let maxAge: Milliseconds
  private let failedPushes: [FailedPush]
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

  /// Whether somebody stopped it.
  var isStopped: Bool { row.isStopped }
  /// How often it notified by force in this task.
  var forcedBefore: Int { row.notifications }

  /// The push of a message that is to be made again for a recipient; nil: none is.
  func resend(
    to userId: String, sentAt: Milliseconds, in step: Step<AnalyzerStage>
  ) throws -> Resend? {
    guard let failed = failedPushes.first(where: { sameId($0.userId, userId) }) else { return nil }
    return try Resend(failed, sentAt: sentAt, in: step)
  }

  /// It made a notification.
  mutating func notified() { if isForced { row.notifications += 1 } }

  /// Keeps its row, which its first record in a task always makes: the timer goes with it.
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

/// A failed push that is made again. A row for each remembers that it was, so that no second replay repeats it.
///
/// The rows of a day's messages are removed together, as those of a replay are.
public struct Resend {
  /// The longest age that a replay may ask for.
  public static let longestAge: Milliseconds = 86_400_000
  private static let prefix = "resent/"

  let push: FailedPush
  /// It was made again before.
  let isTaken: Bool
  private let bucket: String

  init(_ push: FailedPush, sentAt: Milliseconds, in step: Step<AnalyzerStage>) throws {
    self.push = push
    bucket = Self.bucket(of: sentAt)
    isTaken = try ReplayBudget.row(RowKey("r", bucket, push.pushId), in: step) != nil
  }

  private static func bucket(of sentAt: Milliseconds) -> String { prefix + String(sentAt / 86_400_000) }

  /// The person of a row that says that somebody was told; nil: the row is of a push.
  static func person(ofKeyPart part: String) -> String? { part.hasPrefix("/") ? String(part.dropFirst()) : nil }

  /// No push has such an id.
  static func keyPart(ofPerson userId: String) -> String { "/" + userId }

  private static func personKey(_ bucket: String, _ userId: String) -> RowKey {
    RowKey("r", bucket, keyPart(ofPerson: userId))
  }

  /// Whether a row of the analyzer's changelog is one of these.
  public static func isRow(_ key: some Sequence<UInt8>) -> Bool { key.starts(with: Array("r\u{0}\(prefix)".utf8)) }

  /// Whether the name of a replay is that of a day's rows.
  static func isBucket(_ replayId: String) -> Bool { replayId.utf8.starts(with: prefix.utf8) }

  /// Remembers that the push was made again, and that the person was told of an old message.
  func take(for userId: String, because cause: Cause, in step: Step<AnalyzerStage>) throws {
    try Self.take(push.pushId, bucket, because: cause, in: step)
    try step.set(.replay(ReplayRow()), for: Self.personKey(bucket, userId))
  }

  /// Remembers that a message was pushed again, without a replay: its first push is made again no more.
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

  /// Whether a push of a message of the last day was made again for a person.
  static func wasMade(for userId: String, now: Milliseconds, in step: Step<AnalyzerStage>) throws -> Bool {
    for time in [now, now - longestAge] {
      if try ReplayBudget.row(personKey(bucket(of: time), userId), in: step) != nil { return true }
    }
    return false
  }
}

extension PersonContext {
  /// A replay notifies the person once more.
  func countNotification(byReplay replayId: String) throws {
    var row = try ReplayBudget.row(RowKey("r", replayId, userId), in: step) ?? ReplayRow()
    row.notifications += 1
    try step.set(.replay(row), for: RowKey("r", replayId, userId))
  }
}

/// The state of a replay in a task, or in a task for one person.
public struct ReplayRow: Encodable, Sendable, Equatable {
  /// Nothing it asks for is done any more.
  var isStopped = false
  /// Notifications it made: by force in the row of the task, of either kind in a person's.
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

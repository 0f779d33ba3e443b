import NudgeSchema
public import StreamRuntime

/// The people whom a thread's tasks have erased. It is only a hint in memory that saves reading rows; the rows decide.
struct ErasedPersons {
  private struct Task {
    var known: Set<RowKey> = []
    var pending: [RowKey] = []
  }

  private var tasks: [Int32: Task] = [:]

  func isEmpty(partition: Int32) -> Bool { tasks[partition] == nil }

  func mayHave(_ key: RowKey, partition: Int32) -> Bool { tasks[partition]?.known.contains(key) ?? false }

  mutating func add(_ key: RowKey, isPending: Bool, partition: Int32) {
    tasks[partition, default: Task()].known.insert(key)
    if isPending, tasks[partition]?.pending.contains(key) != true { tasks[partition]?.pending.append(key) }
  }

  func nextPending(partition: Int32) -> RowKey? { tasks[partition]?.pending.first }

  mutating func endPending(_ key: RowKey, partition: Int32) { tasks[partition]?.pending.removeAll { $0 == key } }

  mutating func forget(partition: Int32) { tasks[partition] = nil }
}

/// `user.deleted` (D16): cancels the person's waiting pushes at once, and removes their rows in bounded steps. Later
/// records for them from ingest's other tasks are dropped until they register a device again.
extension AnalyzerStage {
  private static let rowsAStep = 500
  private static let pause: Milliseconds = 20

  private func erasureKey(_ userId: String) -> RowKey { AnalyzerRow.erasureKey(rules.tokenHash("user " + userId)) }

  /// A task begins: loads whom it has erased, and continues unfinished erasures.
  public mutating func open(in step: Step<AnalyzerStage>) throws {
    for case (let key, .erasure(let row)) in try step.rows(below: AnalyzerRow.erasures) {
      erased.add(key, isPending: row.pendingUserId != nil, partition: step.partition)
    }
    if erased.nextPending(partition: step.partition) != nil { step.wake(at: step.now) }
  }

  /// Drops what is held in memory for a task.
  public mutating func close(partition: Int32) { erased.forget(partition: partition) }

  /// Runs a bounded step of the next erasure.
  public mutating func wake(in step: Step<AnalyzerStage>) throws {
    while let key = erased.nextPending(partition: step.partition) {
      guard case .erasure(var row)? = try step.row(key), let userId = row.pendingUserId else {
        erased.endPending(key, partition: step.partition)
        continue
      }
      if try eraseRows(of: userId, limit: Self.rowsAStep, in: step) {
        row.pendingUserId = nil
        try step.set(.erasure(row), for: key)
      }
      step.wake(at: step.now + Self.pause)
      return
    }
  }

  /// `user.deleted`.
  mutating func delete(_ userId: String, because cause: Cause, in step: Step<AnalyzerStage>) throws {
    let key = erasureKey(userId)
    let stamp = cause.stamp.hashed(cause.envelope.eventId, by: rules.tokenHash)
    if case .erasure(let known)? = try step.row(key), stamp <= known.stamp { return }
    var person = try context(of: userId, because: cause, in: step)
    try person.emit(.cancelled(PushCancelled(userId: userId, erased: true)))
    try step.set(.erasure(PersonErasureRow(stamp: stamp, pendingUserId: userId)), for: key)
    erased.add(key, isPending: true, partition: step.partition)
    step.wake(at: step.now)
  }

  /// Whether a record is dropped because the person was deleted. A later registration of a device ends that.
  mutating func isDropped(
    _ userId: String, because cause: Cause, isRegistration: Bool = false, in step: Step<AnalyzerStage>
  ) throws -> Bool {
    guard !erased.isEmpty(partition: step.partition) else { return false }
    let key = erasureKey(userId)
    guard erased.mayHave(key, partition: step.partition), case .erasure(let row)? = try step.row(key) else {
      return false
    }
    guard isRegistration, cause.stamp > row.stamp else { return true }
    if row.pendingUserId != nil { _ = try eraseRows(of: userId, limit: .max, in: step) }
    try step.remove(key)
    // A replay must not notify them of messages from before the deletion.
    var user = UserRow.first
    user.erasedUpTo = row.stamp.occurredAt
    try step.set(.user(user), for: AnalyzerRow.userKey(userId))
    return false
  }

  // MARK: Conversations

  private func erasureKey(conversation id: String) -> RowKey {
    AnalyzerRow.erasureKey(rules.tokenHash("conversation " + id))
  }

  /// `conversation.deleted`: none of its rows remains, so the task stores when it was deleted.
  mutating func forget(conversation id: String, because cause: Cause, in step: Step<AnalyzerStage>) throws {
    let key = erasureKey(conversation: id)
    let stamp = cause.stamp.hashed(cause.envelope.eventId, by: rules.tokenHash)
    if case .erasure(let known)? = try step.row(key), stamp <= known.stamp { return }
    try step.set(.erasure(PersonErasureRow(stamp: stamp)), for: key)
    erased.add(key, isPending: false, partition: step.partition)
  }

  /// Whether a message was written before the person, or for replays before the conversation, was deleted.
  func isErased(_ message: CandidateMessage, isReplayed: Bool, for person: PersonContext) throws -> Bool {
    if person.user.erasedUpTo.map({ message.sentAt <= $0 }) ?? false { return true }
    guard isReplayed, !erased.isEmpty(partition: person.step.partition) else { return false }
    let key = erasureKey(conversation: message.candidate.conversationId)
    guard erased.mayHave(key, partition: person.step.partition),
      case .erasure(let row)? = try person.step.row(key)
    else { return false }
    return message.sentAt <= row.stamp.occurredAt
  }

  /// Removes the next rows of a person. Returns whether those were the last.
  private func eraseRows(of userId: String, limit: Int, in step: Step<AnalyzerStage>) throws -> Bool {
    var removed = 0
    let parents = [
      AnalyzerRow.devicesKey(userId), AnalyzerRow.receiptsKey(userId), AnalyzerRow.conversationsKey(userId),
      AnalyzerRow.heldKey(userId), AnalyzerRow.missedKey(userId), AnalyzerRow.olderKey(userId),
    ]
    for parent in parents {
      var after: RowKey?
      repeat {
        if removed >= limit { return false }
        let page = try step.keys(below: parent, after: after, limit: 500)
        after = page.next
        removed += page.keys.count
        for key in page.keys {
          if case .device(let device)? = try step.row(key), let timerAt = device.timerAt, let deviceId = key.parts.last
          {
            step.cancelTimer(PersonTimer.device(id: deviceId).name(of: userId), due: timerAt)
          }
          if case .conversation(let row)? = try step.row(key), let due = row.holdTimerAt, let id = key.parts.last {
            step.cancelTimer(PersonTimer.hold(conversationId: id).name(of: userId), due: due)
          }
          try step.remove(key)
        }
      } while after != nil
    }
    if case .user(let user)? = try step.row(AnalyzerRow.userKey(userId)) {
      if let due = user.badgeDueAt { step.cancelTimer(PersonTimer.badge.name(of: userId), due: due) }
      if let due = user.catchUpAt { step.cancelTimer(PersonTimer.catchUp.name(of: userId), due: due) }
    }
    if case .escalations(let row)? = try step.row(AnalyzerRow.escalationsKey(userId)), let due = row.timerAt {
      step.cancelTimer(PersonTimer.escalation.name(of: userId), due: due)
    }
    try eraseReplays(of: userId, in: step)
    for key in [
      AnalyzerRow.userKey(userId), AnalyzerRow.preferencesKey(userId), AnalyzerRow.learnedKey(userId),
      AnalyzerRow.escalationsKey(userId), AnalyzerRow.toldKey(userId),
    ] {
      try step.remove(key)
    }
    return true
  }

  /// Removes the rows that count how often replays notified a person. Their keys end with the person's id.
  private func eraseReplays(of userId: String, in step: Step<AnalyzerStage>) throws {
    var first: RowKey?
    repeat {
      let page = try step.page(below: AnalyzerRow.replays, from: first, limit: 1)
      for (key, _) in page.rows {
        for row in AnalyzerRow.replayKeys(of: userId, in: key) where try step.row(row) != nil { try step.remove(row) }
      }
      // Continues after all rows of the replay.
      first = page.rows.last.map { RowKey(bytes: $0.0.bytes + [1]) } ?? page.next
      if page.next == nil { return }
    } while true
  }
}

extension PersonContext {
  /// The conversation was deleted (D16): nothing of it counts, waits or is kept.
  mutating func erase(
    _ conversationId: String, _ conversation: inout PersonConversationRow, _ before: PersonConversationRow
  ) throws {
    conversation.withdrawAll(at: cause.happenedAt)
    try keep(conversation, was: before, for: conversationId)
    try emit(.cancelled(PushCancelled(userId: userId, conversationId: conversationId)))
    if conversation.unread < before.unread { try pushRead(conversationId, upTo: nil, at: cause.happenedAt, except: []) }
    user.count(unreadBefore: conversation.unread, after: 0)
    if let due = conversation.holdTimerAt {
      step.cancelTimer(PersonTimer.hold(conversationId: conversationId).name(of: userId), due: due)
    }
    user.activities.removeAll { $0.conversationId.map { sameId($0, conversationId) } ?? false }
    if let known = user.conversations, known > 0 { user.conversations = known - 1 }
    try forgetMissed(in: conversationId)
    try endEscalations(of: nil, in: conversationId)
    try removePages(nil, was: conversation, of: conversationId)
    try step.remove(AnalyzerRow.conversationKey(userId, conversationId))
  }
}

import NudgeSchema
import StreamRuntime

/// Takes pushes out of a lane before they are sent.
enum Withdrawals {
  /// The effect of a withdrawal on a lane.
  struct Result {
    /// Pushes that left the lane, in order; each needs an outcome.
    var removed: [WaitingPush] = []
    /// The front left: what the lane waited for no longer holds.
    var hasNewFront = false
  }

  /// Whether a `push.cancelled` ends pushes at all.
  static func endsPushes(_ cancelled: PushCancelled) -> Bool {
    cancelled.deviceId != nil && cancelled.target == nil || cancelled.messageId != nil
      || cancelled.conversationId != nil
      || cancelled.senderId != nil || cancelled.conversationKind != nil || cancelled.replayId != nil
      || cancelled.erased == true
  }

  /// Why pushes end that a `push.cancelled` names, where that is not all that there is to say.
  static func errorCode(of cancelled: PushCancelled) -> String? {
    if cancelled.replayId != nil { return DispatcherRules.replayStopped }
    return cancelled.deviceId != nil && cancelled.messageId != nil ? WaitingPush.shownLive : nil
  }

  /// Whether a `push.cancelled` names a push. `cause`: its origin; what was decided after it is not meant.
  static func names(_ cancelled: PushCancelled, cause: Origin, _ item: WaitingPush) -> Bool {
    let isEarlier = !item.cause.isComparable(to: cause) || cause.isLater(than: item.cause)
    guard isEarlier, matches(cancelled.conversationId, item.push.conversationId),
      cancelled.kind.map({ $0 == item.push.kind }) ?? true, matches(cancelled.senderId, item.push.senderId),
      cancelled.conversationKind.map({ $0 == item.push.conversation?.kind }) ?? true
    else { return false }
    if let excepted = cancelled.exceptConversations, let conversationId = item.push.conversationId,
      excepted.contains(Digest.key(conversationId))
    {
      return false
    }
    if cancelled.replayId != nil, !matches(cancelled.replayId, item.replayId) { return false }
    if cancelled.conversationId != nil || cancelled.messageId != nil || cancelled.senderId != nil
      || cancelled.conversationKind != nil,
      item.push.kind == .read || item.push.kind == .deleted
    {
      // These remove notifications from the screen and are still needed.
      return false
    }
    if cancelled.exceptMentions == true, item.push.mentioned == true { return false }
    if cancelled.exceptAddressed == true,
      item.push.mentioned == true || item.push.answered == true || item.push.priority == .high
    {
      return false
    }
    guard cancelled.conversationId != nil, let sentUpTo = cancelled.sentUpTo else {
      return matches(cancelled.messageId, item.push.messageId)
    }
    return item.sentAt < sentUpTo || item.sentAt == sentUpTo && matches(cancelled.messageId, item.push.messageId)
  }

  /// Whether an id is the wanted one, by bytes; nil wants any.
  static func matches(_ wanted: String?, _ id: String?) -> Bool {
    guard let wanted else { return true }
    return id.map { sameId($0, wanted) } ?? false
  }

  /// Removes what matches. A front whose request is in flight, or may be after a crash, stays: it ends by its answer, and
  /// is only marked as not to be sent again.
  static func withdraw(
    from queue: LaneQueue, as withdrawal: WaitingPush.Withdrawal, _ errorCode: String? = nil,
    where matches: (WaitingPush) -> Bool
  ) throws -> Result {
    guard var first = try queue.first() else { return Result() }
    if first.inAir, matches(first), first.withdrawn == nil {
      first.withdrawn = withdrawal
      try queue.replaceFirst(first)
    }
    var removed = try queue.remove(from: first.inAir ? 1 : 0, where: matches)
    for index in removed.indices {
      removed[index].withdrawn = withdrawal
      if let errorCode { removed[index].errorCode = errorCode }
    }
    return Result(removed: removed, hasNewFront: !first.inAir && removed.first.map { $0.cause == first.cause } ?? false)
  }

  /// A push that shows something and does not wait for an answer to its banner comes behind pushes that do: they go before it, now. Returns
  /// whether the front was one of them.
  static func endAnswerWaits(of row: LaneRow, in queue: LaneQueue) throws -> Bool {
    let now = queue.step.now
    guard row.items.contains(where: { $0.answerWait(at: now) != nil }) else { return false }
    try queue.update(from: 0) { item in
      guard item.answerWait(at: now) != nil else { return false }
      item.notBefore = 0
      return true
    }
    return row.items.first?.answerWait(at: now) != nil
  }

  /// Removes one push where the lane is full: the oldest that shows nothing, else the oldest.
  static func makeRoom(in queue: LaneQueue, limit: Int) throws -> Result {
    guard let first = try queue.first() else { return Result() }
    let start = first.inAir ? 1 : 0
    let items = try queue.all().dropFirst(start)
    guard items.count + start >= limit, let oldest = items.first else { return Result() }
    let victim = items.first { $0.isQuiet } ?? oldest
    var removed = try queue.remove(from: start, where: { $0.cause == victim.cause })
    for index in removed.indices { removed[index].errorCode = WaitingPush.laneFull }
    return Result(removed: removed, hasNewFront: !first.inAir && victim.cause == first.cause)
  }

  /// A message was withdrawn unsent: the edit that replaces it in the lane appears as the message would have.
  static func passAppearance(of former: WaitingPush, in queue: LaneQueue) throws {
    var found = false
    try queue.update(from: 0) { later in
      guard !found, later.replaces(former) else { return false }
      found = true
      later.appear(as: former)
      return true
    }
  }
}

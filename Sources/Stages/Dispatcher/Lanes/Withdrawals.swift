import NudgeSchema
import StreamRuntime
import Wording

/// Removes pushes from a lane before they are sent.
enum Withdrawals {
  /// The effect of a withdrawal on a lane.
  struct Result {
    /// Pushes removed from the lane, in order. Each needs an outcome.
    var removed: [WaitingPush] = []
    /// Whether the front was removed. Then what the lane waited for no longer applies.
    var hasNewFront = false
  }

  /// Whether a `push.cancelled` ends pushes at all.
  static func endsPushes(_ cancelled: PushCancelled) -> Bool {
    cancelled.deviceId != nil && cancelled.target == nil || cancelled.messageId != nil
      || cancelled.conversationId != nil
      || cancelled.senderId != nil || cancelled.conversationKind != nil || cancelled.replayId != nil
      || cancelled.erased == true
  }

  /// The error code of pushes that a `push.cancelled` ends; nil if there is nothing special to report.
  static func errorCode(of cancelled: PushCancelled) -> String? {
    if cancelled.replayId != nil { return DispatcherRules.replayStopped }
    return cancelled.deviceId != nil && cancelled.messageId != nil ? WaitingPush.shownLive : nil
  }

  /// Whether a `push.cancelled` applies to a push. `cause` is the cancellation's origin; later pushes are not affected.
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
      // These pushes remove notifications from the screen and are still needed.
      return false
    }
    if cancelled.exceptMentions == true, item.push.isMeant { return false }
    if cancelled.exceptAddressed == true, item.push.isMeant || item.push.priority == .high { return false }
    guard cancelled.conversationId != nil, let sentUpTo = cancelled.sentUpTo else {
      return matches(cancelled.messageId, item.push.messageId)
    }
    return item.sentAt < sentUpTo || item.sentAt == sentUpTo && matches(cancelled.messageId, item.push.messageId)
  }

  /// Whether an id equals the wanted one by its bytes; a nil `wanted` matches any.
  static func matches(_ wanted: String?, _ id: String?) -> Bool {
    guard let wanted else { return true }
    return id.map { sameId($0, wanted) } ?? false
  }

  /// Removes matching pushes. A front whose request is in flight, or may be after a crash, stays: it ends with its answer, and is only
  /// marked as not to be sent again.
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

  /// A visible push that does not wait for an answer to its banner arrived behind pushes that do. Those are sent first, now. Returns
  /// whether the front is one of them.
  static func endAnswerWaits(of row: LaneRow, in queue: LaneQueue) throws -> Bool {
    let now = queue.step.now
    guard row.items.contains(where: { $0.answerWait(at: now) != nil }) else { return false }
    try queue.update { item in
      guard item.answerWait(at: now) != nil else { return false }
      item.notBefore = 0
      return true
    }
    return row.items.first?.answerWait(at: now) != nil
  }

  /// Removes one push from a full lane: the oldest that shows nothing, or else the oldest.
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

  /// A message was withdrawn before it was sent. The edit that replaces it in the lane appears as the message would have.
  static func passAppearance(of former: WaitingPush, in queue: LaneQueue) throws {
    var found = false
    try queue.update { later in
      guard !found, later.replaces(former) else { return false }
      found = true
      later.appear(as: former)
      return true
    }
  }
}

/// Changes of waiting pushes after the person's preferences or the device changed. They take effect because a request's body is created
/// when it is sent.
struct WaitingChanges {
  private let badge: Int?
  private let showPreviews: Bool?
  private let quietHours: QuietHours?
  private let target: PushTarget?

  /// The changes in a `push.cancelled`, apart from what it ends.
  init(_ cancelled: PushCancelled) {
    badge = cancelled.badge
    showPreviews = cancelled.showPreviews
    quietHours = cancelled.quietHours
    target = cancelled.target
  }

  /// A later registration of the device.
  private init(target: PushTarget) {
    (badge, showPreviews, quietHours) = (nil, nil, nil)
    self.target = target
  }

  /// A push that arrives with a later registration of the device updates the waiting pushes to it.
  static func followRegistration(of item: WaitingPush, _ first: WaitingPush?, in queue: LaneQueue) throws {
    guard let former = first?.target, former.version < item.target.version, !former.hasAddress(of: item.target) else {
      return
    }
    try WaitingChanges(target: item.target).apply(to: queue, cause: item.cause)
  }

  /// Changes the pushes of a lane. A push in flight also changes, for its repeat, but its badge stays.
  ///
  /// - Parameter cause: The change's origin. Later pushes already include the change.
  func apply(to queue: LaneQueue, cause: Origin) throws {
    guard badge != nil || showPreviews == false || quietHours != nil || target != nil else { return }
    let target = target.flatMap { sameId($0.deviceId, queue.key.deviceId) ? $0 : nil }
    try queue.update { item in
      let before = item
      if let badge, !item.inAir { item.push.badge = badge }
      guard !item.cause.isComparable(to: cause) || cause.isLater(than: item.cause) else { return item != before }
      if showPreviews == false { item.hideText() }
      if let quietHours, item.push.kind == .message, item.push.urgent != true { item.push.quietHours = quietHours }
      if let target { item.retarget(to: target) }
      return item != before
    }
  }
}

extension WaitingPush {
  /// Removes everything from the push that a sender wrote (D8).
  mutating func hideText() {
    guard !isQuiet, !isEscalation else { return }
    push.imageUrl = nil
    if push.kind == .digest {
      push.digest?.lines = []
      push.body = nil
    } else if let name = push.conversation?.senderName ?? push.title {
      push.body = Wording(locale: push.language).newMessage(from: name)
    }
  }

  /// The device has another token, or has registered again.
  fileprivate mutating func retarget(to target: PushTarget) {
    self.target = target
    self.target.seenAt = nil
  }
}

extension PushCancelled {
  /// `erased`: removes the rows of a deleted person's devices (D16). Their lanes are empty by then. A request in flight ends with its
  /// answer, which removes its lane.
  func eraseDevices(in step: Step<DispatcherStage>) throws {
    guard erased == true else { return }
    var after: RowKey?
    repeat {
      let page = try step.keys(below: RowKey("d", userId), after: after, limit: 500)
      for key in page.keys { try step.remove(key) }
      after = page.next
    } while after != nil
  }
}

import NudgeSchema
import Wording

/// What changes of pushes that wait, because the person's wishes or the device changed since they were decided: the body of a request is
/// made when it is sent.
struct WaitingChanges {
  private let badge: Int?
  private let showPreviews: Bool?
  private let quietHours: QuietHours?
  private let target: PushTarget?

  /// The changes of a `push.cancelled`, beside what it ends.
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

  /// A push that arrives with a later registration of the device takes those along that wait.
  static func followRegistration(of item: WaitingPush, _ first: WaitingPush?, in queue: LaneQueue) throws {
    guard let former = first?.target, former.version < item.target.version, !former.hasAddress(of: item.target) else {
      return
    }
    try WaitingChanges(target: item.target).apply(to: queue, cause: item.cause)
  }

  /// Changes the pushes of a lane. Of one that is in flight too, for its repeat; but the badge of a request stays. `cause`: the change's
  /// origin; what was decided after it knows it.
  func apply(to queue: LaneQueue, cause: Origin) throws {
    guard badge != nil || showPreviews == false || quietHours != nil || target != nil else { return }
    let target = target.flatMap { sameId($0.deviceId, queue.key.deviceId) ? $0 : nil }
    try queue.update(from: 0) { item in
      let before = item
      if let badge, !item.inAir { item.push.badge = badge }
      guard !item.cause.isComparable(to: cause) || cause.isLater(than: item.cause) else { return item != before }
      if showPreviews == false { item.hideText() }
      if let quietHours, item.push.kind == .message, item.push.priority != .high { item.push.quietHours = quietHours }
      if let target { item.retarget(to: target) }
      return item != before
    }
  }
}

extension WaitingPush {
  /// The push shows nothing that a sender wrote (D8).
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

  /// The device has another token, or is registered again.
  fileprivate mutating func retarget(to target: PushTarget) {
    self.target = target
    self.target.seenAt = nil
  }
}

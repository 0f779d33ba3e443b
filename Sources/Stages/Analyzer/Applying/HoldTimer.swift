import NudgeSchema
import StreamRuntime

extension AnalyzerStage {
  /// `timer.fired`, of a person or of a replay.
  mutating func timerFired(
    _ fired: TimerFired, key: [UInt8]?, because cause: Cause, in step: Step<AnalyzerStage>
  ) throws {
    if let replayId = ReplayBudget.replayId(ofTimer: fired.timer) { return try ReplayBudget.forget(replayId, in: step) }
    let userId = String(decoding: key ?? [], as: UTF8.self)
    if try isDropped(userId, because: cause, in: step) { return }
    var person = try context(of: userId, because: cause, in: step)
    switch PersonTimer(fired.timer, of: userId) {
    case .badge: try person.badgeTimerFired(fired, zones: &zones)
    case .hold(let conversationId): try holdTimerFired(fired, in: conversationId, for: &person)
    case .catchUp: try person.catchUpTimerFired(fired, zones: &zones)
    case .escalation: try person.escalationTimerFired(fired, zones: &zones)
    case .device(let id): try person.deviceTimerFired(fired, id)
    case nil: break
    }
    try person.save()
  }

  /// The final decisions on held messages whose time has come, in the order in which they were written.
  private mutating func holdTimerFired(
    _ fired: TimerFired, in conversationId: String, for person: inout PersonContext
  ) throws {
    let before = try person.conversation(conversationId)
    guard before.holdTimerAt == fired.dueAt else { return }
    var conversation = before
    conversation.holdTimerAt = nil
    let due = conversation.takeHolds(dueBy: max(fired.dueAt, person.step.now))
    try person.armHolds(of: &conversation, conversationId)
    try person.keep(conversation, was: before, for: conversationId, holdsEnd: .due)
    for hold in due where hold.kind != .badge { try decide(.held(hold, in: conversationId), for: &person) }
    guard due.contains(where: { $0.kind == .badge }) else { return }
    let preferences = try person.effectivePreferences()
    guard preferences.enabled, person.user.toldBadge != person.user.badge(preferences.badgeMode) else { return }
    try person.raiseBadge(preferences, zones: &zones)
  }
}

import NudgeSchema
import StreamRuntime

extension AnalyzerStage {
  /// `timer.fired`: the final decisions on held messages whose time has come, in the order in which they were written.
  mutating func holdTimerFired(
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

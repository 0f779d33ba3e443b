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
    try decide(due.filter { $0.kind != .badge }.map { .held($0, in: conversationId) }, for: &person)
    guard due.contains(where: { $0.kind == .badge }) else { return }
    let preferences = EffectivePreferences(try person.preferences(), rules: rules)
    guard preferences.enabled, person.user.toldBadge != person.user.badge(preferences.badgeMode) else { return }
    try person.raiseBadge(preferences, zones: &zones)
  }
}

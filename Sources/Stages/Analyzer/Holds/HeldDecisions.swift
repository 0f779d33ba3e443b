import NudgeSchema
import StreamRuntime

extension AnalyzerStage {
  /// `timer.fired`: the final decisions on held messages whose time has come, in the order in which they were written.
  mutating func holdTimerFired(_ fired: TimerFired, for person: inout PersonContext) throws {
    guard let conversationId = person.conversationId(ofHoldTimer: fired.timer) else { return }
    let before = try person.conversation(conversationId)
    guard before.holdTimerAt == fired.dueAt else { return }
    var conversation = before
    conversation.holdTimerAt = nil
    let due = conversation.takeHolds(dueBy: max(fired.dueAt, person.step.now))
    try person.armHolds(of: &conversation, conversationId)
    try person.keep(conversation, was: before, for: conversationId, holdsEnd: .due)
    for hold in due where hold.kind != .badge { try decideHeld(hold, in: conversationId, for: &person) }
    guard due.contains(where: { $0.kind == .badge }) else { return }
    let preferences = EffectivePreferences(try person.preferences(), rules: rules)
    guard preferences.enabled, person.user.toldBadge != person.user.badge(preferences.badgeMode) else { return }
    try person.raiseBadge(preferences, zones: &zones)
  }

  /// The final decision on a held message: as when it came, by what holds now.
  mutating func decideHeld(
    _ hold: Hold, in conversationId: String, for person: inout PersonContext
  ) throws {
    guard let held = try person.takeHeld(hold.key, in: conversationId), let recipient = held.recipient else { return }
    let before = try person.conversation(conversationId)
    var conversation = before
    let message = CandidateMessage(held.candidate, sentAt: held.sentAt, rules: rules).apart(in: conversation)
    let preferences = EffectivePreferences(try person.preferences(), rules: rules)
    var decisionChecks = DecisionChecks(
      message: message, context: recipient.context, preferences: preferences, conversation: conversation,
      place: hold.place, isRead: conversation.isRead(hold.place, conversation.message(hold.key)), replay: nil,
      resend: nil, held: .init(at: held.heldAt, analysis: held.analysis), learned: try person.learned(), rules: rules,
      now: person.step.now)
    let (reached, targets) = try decisionChecks.run(&person, zones: &zones)
    var verdict = reached
    var presentation = present(&verdict, &decisionChecks, in: &conversation)
    presentation = budget(
      presentation, &verdict, &decisionChecks, in: &conversation, burst: before.burst, for: &person)
    conversation.decided(
      hold.key, notified: verdict.reason.notifies, shown: presentation == .alert || presentation == .silent,
      judged: decisionChecks.judged)
    try person.keep(conversation, was: before, for: conversationId)
    if conversation.isMissed(hold.key, hold.place) {
      try holdBack(&decisionChecks, verdict, presentation, for: &person)
    }
    let made = decisionChecks
    try person.causing(held) { try $0.conclude(made, verdict, targets, presentation) }
    if verdict.reason.raisesBadgeLater { try person.raiseBadge(preferences, zones: &zones) }
    // One whose alert waited was shown inside the app when it came.
    if hold.kind != .alert {
      try showBanner(of: message, verdict, preferences, at: person.step.now, to: &person)
    }
  }
}

extension PersonConversationRow {
  /// Notes the final decision on a message.
  fileprivate mutating func decided(
    _ key: MessageKey, notified: Bool, shown: Bool, judged: RecentMessage.Judged?
  ) {
    guard let index = recent.lastIndex(where: { $0.key == key }) else { return }
    if notified { recent[index].marks.insert(.notified) }
    if shown { recent[index].marks.insert(.shown) }
    if let judged { recent[index].judged = judged }
  }
}

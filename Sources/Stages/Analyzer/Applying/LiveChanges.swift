import NudgeSchema
import StreamRuntime
import Wording

/// What changes inside the app of a person who has it open: records of `nudge.banners`, whether or not a push tells their devices.
extension PersonContext {
  /// Whether the person has the app open on some device.
  private var hasAppOpen: Bool { user.isInApp(at: step.now, horizon: rules.activityHorizon) }

  /// The set of unread messages has changed (D6).
  mutating func showUnread() throws {
    guard !unread.isEmpty, hasAppOpen else { return }
    let badge = user.badge(try effectivePreferences().badgeMode)
    try emit(change: .badge(BadgeChange(userId: userId, badge: badge, conversations: unread)))
  }

  /// The person has read a conversation, perhaps on another device (D7).
  mutating func showRead(_ conversationId: String, upTo messageId: String?, at time: Milliseconds) throws {
    guard hasAppOpen else { return }
    try emit(
      change: .read(
        ConversationRead(userId: userId, conversationId: conversationId, messageId: messageId, sentAt: time)))
  }

  /// A message has another text (D13): what the app shows of it changes, unless nothing of the text may be shown.
  mutating func showEdited(_ messageId: String, in conversationId: String, body: String) throws {
    let preferences = try effectivePreferences()
    guard hasAppOpen, preferences.enabled, preferences.showPreviews else { return }
    try emit(
      change: .updated(
        MessageUpdate(
          userId: userId, conversationId: conversationId, messageId: messageId,
          preview: body.cut(toCharacters: rules.policy.previewCharacters))))
  }

  /// A message was taken back (D13).
  mutating func showWithdrawn(_ messageId: String, in conversationId: String) throws {
    guard hasAppOpen else { return }
    try emit(change: .withdrawn(MessageRemoval(userId: userId, conversationId: conversationId, messageId: messageId)))
  }
}

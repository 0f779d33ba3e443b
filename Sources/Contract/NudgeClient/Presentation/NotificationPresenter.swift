/// Decides what is done with a push or an in-app banner that has arrived.
///
/// It knows who is signed in, whether the app is in the foreground, which conversation is open, and which messages were
/// shown already: a message is shown once, whether it comes as push, as banner, or as both.
public struct NotificationPresenter: Sendable {
  /// What is to be done with a push.
  public enum Action: Sendable, Equatable {
    /// Show it in this way, in place of what is shown of the same message; set the badge to the number, if there is one.
    case present(PresentationOptions, badge: Int?)
    /// Show nothing; set the badge.
    case setBadge(Int)
    /// Remove the notifications and banners of this conversation and set the badge.
    case removeNotifications(conversationId: String, badge: Int)
    /// Remove the notification and banner of this message and set the badge.
    case removeNotification(conversationId: String, messageId: String, badge: Int)
    /// Do nothing.
    case drop(DropReason)
  }

  /// Why nothing is done.
  public enum DropReason: Sendable, Equatable {
    /// It is for somebody who is not signed in on this device (any more).
    case otherRecipient
    /// Its conversation is open before the user's eyes.
    case openConversation
    /// Its message was shown already, and it brings no badge.
    case alreadyShown
    /// Its message was taken back before it came, and it brings no badge.
    case takenBack
  }

  /// Who is signed in; nil: nobody, and every push is dropped.
  public private(set) var userId: String?
  /// Whether the app is in the foreground.
  public var isForeground: Bool
  /// The conversation on the screen. It counts only in the foreground.
  public var openConversationId: String?

  private var shown = RecentMessages()
  // FCM keeps no order: a message, or its edit, may come behind the push that took it back.
  private var takenBack = RecentMessages()

  /// A presenter for who is signed in.
  public init(userId: String?, isForeground: Bool, openConversationId: String? = nil) {
    self.userId = userId
    self.isForeground = isForeground
    self.openConversationId = openConversationId
  }

  /// Somebody else is signed in, or nobody: what was shown and open is forgotten.
  public mutating func userChanged(to userId: String?) {
    guard userId != self.userId else { return }
    self.userId = userId
    openConversationId = nil
    shown = RecentMessages()
    takenBack = RecentMessages()
  }

  /// A push has arrived.
  public mutating func receive(_ push: PushPayload) -> Action {
    guard let userId, push.recipientId == userId else { return .drop(.otherRecipient) }
    switch push.content {
    case .badge(let badge):
      return .setBadge(badge)
    case .read(let conversationId, let badge):
      return .removeNotifications(conversationId: conversationId, badge: badge)
    case .deleted(let conversationId, let messageId, let badge):
      _ = takenBack.insert(messageId)
      return .removeNotification(conversationId: conversationId, messageId: messageId, badge: badge)
    case .message(let message):
      if takenBack.contains(message.messageId) { return push.badge.map(Action.setBadge) ?? .drop(.takenBack) }
      if isForeground, message.conversationId == openConversationId { return .drop(.openConversation) }
      // A low one shows nothing, so a banner of the same message may still come.
      // An edited one is shown again: the system puts it in the place of its former text.
      let isNew = message.priority == .low || shown.insert(message.messageId)
      guard isNew || message.replaces else {
        return push.badge.map(Action.setBadge) ?? .drop(.alreadyShown)
      }
      return .present(isForeground ? message.priority.foreground : message.priority.background, badge: push.badge)
    }
  }

  /// An in-app banner has arrived: whether it is to be shown.
  public mutating func admits(_ banner: InAppBanner) -> Bool {
    guard let userId, banner.userId == userId, banner.senderId != userId, isForeground,
      banner.conversationId != openConversationId, !takenBack.contains(banner.messageId)
    else { return false }
    return shown.insert(banner.messageId)
  }
}

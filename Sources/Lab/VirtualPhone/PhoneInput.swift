public import NudgeClient

/// Something that happens to a virtual phone, by its owner, the network or the clock.
public enum PhoneInput: Sendable, Equatable {
  // MARK: The owner

  /// Signs in. Another user is signed out first.
  case signIn(userId: String)
  case signOut
  /// Opens the app on the screen it had before.
  case open
  /// Leaves the app for the lock screen.
  case close
  /// Opens a conversation, and the app if it is closed.
  case openConversation(String)
  /// Returns to the list of conversations.
  case closeConversation
  /// Responds to the notification of a message; to the newest one if `messageId` is nil.
  case respond(NotificationResponse, messageId: String?)
  /// Taps the in-app banner.
  case tapBanner
  /// Writes a message in a conversation.
  case write(String, conversationId: String)
  /// Marks a conversation as read from the list, without opening it.
  case read(conversationId: String)
  /// Changes notification preferences.
  case prefer(PreferencesChange)
  /// Allows or forbids notifications in the system's settings.
  case allowNotifications(Bool)
  /// Removes and reinstalls the app: a new installation with a new token, and nobody signed in.
  case reinstall(deviceId: String, token: String)

  // MARK: The network

  /// The network appears or disappears.
  case network(Bool)
  /// FCM delivers a message. `takenAt` is when FCM accepted it, in milliseconds since the epoch.
  case delivery(DeliveredMessage, takenAt: Int64)
  /// The real-time gateway delivers a banner.
  case banner(InAppBanner)
  /// The real-time gateway delivers a notice.
  case notice(InAppNotice)
  /// The services accepted an event, or publishing it failed.
  case published(eventId: String, succeeded: Bool)

  // MARK: Time

  /// The time of `VirtualPhone.nextWake` has come.
  case time
}

/// An action that a virtual phone asks for, or an observation.
public enum PhoneOutput: Sendable, Equatable {
  /// Publish the event, then report the result with `PhoneInput.published`.
  case publish(ClientEvent)
  /// Do not publish the event with this id if it has not left yet.
  case cancel(eventId: String)
  /// The app was removed, or it deleted its token: FCM answers `UNREGISTERED` for this token from now on.
  case uninstalled(token: String)
  case note(PhoneNote)
}

/// An observation on a virtual phone.
public enum PhoneNote: Sendable, Equatable {
  /// A push arrived for the signed-in user.
  case received(PushPayload)
  /// The phone presents a notification with these options. In the foreground that may be a banner, which does not stay.
  case shown(LockScreen.Entry, PresentationOptions, by: PushPayload)
  /// Notifications disappeared from the lock screen.
  case removed([LockScreen.Entry])
  /// The number on the icon changed.
  case badge(Int)
  /// The phone did not present a push.
  case dropped(pushId: String, recipientId: String, NotificationPresenter.DropReason)
  /// FCM discarded a push while the phone was off, because the push expired or a later one replaced it.
  case lapsed(pushId: String)
  /// FCM discarded all messages that it had stored while the phone was off.
  case messagesDeleted
  /// The app fetches its conversations from its backend.
  case synchronized
  case bannerShown(BannerQueue.Item)
  case bannerHidden(BannerQueue.Item)
  /// The app listed a message whose banner was never shown.
  case listed(LockScreen.Entry)
  /// The app showed its user a text.
  case told(String)
  /// A conversation is on the screen.
  case opened(conversationId: String)
  /// A message is on the screen, highlighted.
  case highlighted(messageId: String)
  case signedIn(userId: String)
  case signedOut(userId: String)
  /// The services accepted the token.
  case registered(userId: String)
  /// The banner that leads to the settings appeared or disappeared.
  case settingsBanner(isShown: Bool)
  /// The network appeared or disappeared.
  case network(Bool)
  /// The app wrote a line to its log.
  case log(String)
  /// A push contradicts itself or the contract. This is always an error of the services.
  case fault(String)
}

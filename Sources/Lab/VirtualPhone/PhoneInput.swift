public import NudgeClient

/// What happens to a virtual phone: by its owner's hand, from the network, or because time has passed.
public enum PhoneInput: Sendable, Equatable {
  // MARK: The owner

  /// Signs in. Whoever else is signed in is signed out before.
  case signIn(userId: String)
  /// Signs out.
  case signOut
  /// Opens the app: what was on its screen is there again.
  case open
  /// Leaves the app, for the lock screen.
  case close
  /// Opens a conversation, and the app if need be.
  case openConversation(String)
  /// Goes back to the list of conversations.
  case closeConversation
  /// Does something with a notification: that of a message, or the newest there is.
  case respond(NotificationResponse, messageId: String?)
  /// Taps the banner inside the app.
  case tapBanner
  /// Writes a message in a conversation.
  case write(String, conversationId: String)
  /// Marks a conversation as read from the list, without opening it.
  case read(conversationId: String)
  /// Changes how they want to be notified.
  case prefer(PreferencesChange)
  /// Allows notifications in the settings, or forbids them.
  case allowNotifications(Bool)
  /// Removes the app and installs it again: another installation with another token, and nobody signed in on it.
  case reinstall(deviceId: String, token: String)

  // MARK: The network

  /// It is there again, or gone.
  case network(Bool)
  /// FCM has a message for the phone, which it took at a time, in milliseconds since the epoch.
  case delivery(DeliveredMessage, takenAt: Int64)
  /// The real-time gateway has a banner.
  case banner(InAppBanner)
  /// The real-time gateway has a notice for a user, to be shown as it is.
  case notice(String, userId: String)
  /// An event was accepted, or could not be published.
  case published(eventId: String, succeeded: Bool)

  // MARK: Time

  /// The time that `VirtualPhone.nextWake` gave has come.
  case time
}

/// What a virtual phone does, and what can be seen or heard of it.
public enum PhoneOutput: Sendable, Equatable {
  /// Publish the event, then say so with `PhoneInput.published`.
  case publish(ClientEvent)
  /// Publish no more of the event with this id, if it has not left yet.
  case cancel(eventId: String)
  /// The app was removed: FCM answers for this token that nobody is there.
  case uninstalled(token: String)
  /// Something to be seen, heard or known.
  case note(PhoneNote)
}

/// What can be seen, heard or known of a virtual phone.
public enum PhoneNote: Sendable, Equatable {
  /// A push has arrived for who is signed in.
  case received(PushPayload)
  /// A notification is shown, in this way. In the foreground that may be a banner of the system's, which does not stay.
  case shown(LockScreen.Entry, PresentationOptions, by: PushPayload)
  /// Notifications are gone from the lock screen.
  case removed([LockScreen.Entry])
  /// The number on the icon is another one now.
  case badge(Int)
  /// A push, by its id, was not shown.
  case dropped(pushId: String, recipientId: String, NotificationPresenter.DropReason)
  /// FCM kept a push for the phone while it was off, and let it go: it was too old, or another one came in its place.
  case lapsed(pushId: String)
  /// A banner inside the app has appeared.
  case bannerShown(InAppBanner)
  /// The banner of a message has gone.
  case bannerHidden(messageId: String)
  /// The app says something.
  case told(String)
  /// A conversation is on the screen.
  case opened(conversationId: String)
  /// A message is on the screen, highlighted.
  case highlighted(messageId: String)
  /// Somebody is signed in.
  case signedIn(userId: String)
  /// Nobody is signed in any more.
  case signedOut(userId: String)
  /// The services have the token.
  case registered(userId: String)
  /// The app's settings forbid notifications: its banner that says so appears or goes.
  case settingsBanner(isShown: Bool)
  /// The network is there, or gone.
  case network(Bool)
  /// A line of the app's log.
  case log(String)
  /// A push that contradicts itself or what the services promise: always an error of theirs.
  case fault(String)
}

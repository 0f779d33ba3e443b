public import Foundation

/// Turns what a person did with a notification into the event to publish and what the app does next.
public struct NotificationActions: Sendable {
  /// What is to be done.
  public enum Plan: Sendable, Equatable {
    /// Publish the event, then go on with `completion(of:succeeded:)`. It may be published again until it is accepted:
    /// the event id makes a second one have no effect.
    case publish(ClientEvent)
    /// Open the conversation at the message, and publish the event.
    case open(Route, ClientEvent)
    /// Do nothing but tell the user why.
    case refuse(Refusal)
  }

  /// Why an action is not carried out.
  public enum Refusal: Sendable, Equatable {
    /// Nobody is signed in.
    case notSignedIn
    /// The notification was for another account of this device; acting on it would act as that person.
    case otherAccount
    /// The reply is empty, or blanks only.
    case emptyReply
    /// The push shows no message, so there is nothing to act on.
    case noMessage
  }

  /// What follows once an event was published, or could not be.
  public enum Completion: Sendable, Equatable {
    /// Tell the user in this text.
    case tell(String)
    /// Remove the notifications of this conversation.
    case removeNotifications(conversationId: String)
    /// Nothing more.
    case none
    /// Tell the user in this text and open the conversation, where it can be tried again.
    case fail(String, open: Route)
  }

  private let userId: String?
  private let deviceId: String
  private let makeId: @Sendable () -> String

  /// For who is signed in (nil: nobody) on this device; `makeId` gives a new id, such as a UUID, for each event and
  /// each message.
  public init(userId: String?, deviceId: String, makeId: @escaping @Sendable () -> String) {
    self.userId = userId
    self.deviceId = deviceId
    self.makeId = makeId
  }

  /// What is to be done about a response to the notification of a push.
  public func plan(for response: NotificationResponse, to push: PushPayload, at now: Date) -> Plan {
    guard let userId else { return .refuse(.notSignedIn) }
    guard push.recipientId == userId else { return .refuse(.otherAccount) }
    guard case .message(let message) = push.content else { return .refuse(.noMessage) }
    func event(_ body: ClientEvent.Body) -> ClientEvent { ClientEvent(eventId: makeId(), occurredAt: now, body) }
    func notification(_ what: ClientEvent.NotificationChange) -> ClientEvent {
      event(
        .notification(
          what,
          .init(
            userId: userId, deviceId: deviceId, pushId: push.pushId, conversationId: message.conversationId,
            messageId: message.messageId)))
    }
    func feedback(_ feedback: ClientEvent.Feedback) -> ClientEvent {
      event(
        .feedbackSubmitted(
          .init(
            userId: userId, conversationId: message.conversationId, messageId: message.messageId, feedback: feedback)))
    }
    switch response {
    case .reply(let text):
      let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
      guard !text.isEmpty else { return .refuse(.emptyReply) }
      return .publish(
        event(
          .messageCreated(
            .init(
              conversationId: message.conversationId, messageId: makeId(), senderId: userId, text: text,
              replyTo: message.messageId))))
    case .markRead:
      return .publish(
        event(
          .messageRead(
            .init(
              userId: userId, conversationId: message.conversationId, messageId: message.messageId, deviceId: deviceId))
        ))
    case .helpful:
      return .publish(feedback(.helpful))
    case .notHelpful:
      return .publish(feedback(.notHelpful))
    case .open:
      return .open(Route(conversationId: message.conversationId, messageId: message.messageId), notification(.opened))
    case .dismiss:
      return .publish(notification(.dismissed))
    }
  }

  /// What follows once an event of a plan was accepted, or could not be published.
  public static func completion(of event: ClientEvent, succeeded: Bool) -> Completion {
    switch event.body {
    case .messageCreated(let message):
      let route = Route(conversationId: message.conversationId, messageId: message.replyTo)
      return succeeded ? .tell("Message sent") : .fail("Message could not be sent", open: route)
    case .messageRead(let read):
      let route = Route(conversationId: read.conversationId, messageId: read.messageId)
      return succeeded
        ? .removeNotifications(conversationId: read.conversationId)
        : .fail("Could not be marked as read", open: route)
    case .feedbackSubmitted(let feedback):
      let route = Route(conversationId: feedback.conversationId, messageId: feedback.messageId)
      return succeeded ? .none : .fail("Feedback could not be sent", open: route)
    case .notification, .userActivity, .deviceRegistered, .deviceUnregistered, .preferencesUpdated:
      // Only the services want to know of the first three, and a person who swiped something away is not to be bothered
      // about it. The others are no answers to a notification.
      return .none
    }
  }
}

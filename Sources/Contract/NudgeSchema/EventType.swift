/// The types of all records, by their names in the field `type`. A name may stand on several topics with other fields:
/// `device.registered` is a producer's on `user.events`, a claim on `nudge.device-claims`, and a device gained on `nudge.timeline`.
public enum EventType: String, Sendable, CaseIterable, CustomStringConvertible {
  // `chat.events`.
  case conversationUpdated = "conversation.updated"
  case memberAdded = "conversation.member_added"
  case memberRemoved = "conversation.member_removed"
  case messageCreated = "message.created"
  case messageEdited = "message.edited"
  case messageDeleted = "message.deleted"
  case conversationDeleted = "conversation.deleted"
  // `user.events`.
  case userActivity = "user.activity"
  case messageRead = "message.read"
  case preferencesUpdated = "preferences.updated"
  case deviceRegistered = "device.registered"
  case deviceUnregistered = "device.unregistered"
  case feedbackSubmitted = "feedback.submitted"
  case notificationReceived = "notification.received"
  case notificationOpened = "notification.opened"
  case notificationDismissed = "notification.dismissed"
  case userDeleted = "user.deleted"
  // `nudge.device-claims`, beside a device's registrations and a person's deletion.
  case userRestored = "user.restored"
  // `nudge.timeline`, beside what comes from the topics above.
  case messageCandidate = "message.candidate"
  case messageSent = "message.sent"
  case candidateRedecide = "candidate.redecide"
  case replayStopped = "replay.stopped"
  case timerFired = "timer.fired"
  case messageWithdrawn = "message.withdrawn"
  case deviceInvalidated = "device.invalidated"
  case pushMissed = "push.missed"
  case personAsked = "person.asked"
  // `nudge.decisions`, `nudge.pushes`, `nudge.banners`, `nudge.outcomes`.
  case decision
  case push
  case pushCancelled = "push.cancelled"
  case pushAnswered = "push.answered"
  case banner
  case notice
  case badge
  case read
  case messageUpdated = "message.updated"
  case personAnswered = "person.answered"
  case outcome
  case receipt
  // `nudge.audit`.
  case replayStarted = "replay.started"
  case replayProgressed = "replay.progressed"
  case replayEnded = "replay.ended"
  case deadLettersHandled = "dead_letters.handled"
  case commandExecuted = "command.executed"

  /// The name on the wire.
  public var description: String { rawValue }
}

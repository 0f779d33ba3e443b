import NudgeSchema

/// An event of the load, encoded.
struct LoadEvent: Sendable {
  /// `chat.events` or `user.events`.
  var topic: Topic
  var key: String
  var value: [UInt8]
  /// The expected decisions; nil for events other than messages.
  var message: LoadMessage?
}

/// A message of the load, with the decisions it must cause.
struct LoadMessage: Sendable, Equatable {
  var messageId: String
  /// Members without the sender; each needs a decision.
  var recipients: [String]
  /// Time of publication, also `occurredAt`.
  var at: Milliseconds
}

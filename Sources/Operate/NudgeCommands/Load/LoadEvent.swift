import NudgeSchema

/// An event of the load, ready to be published.
struct LoadEvent: Sendable {
  /// `chat.events` or `user.events`.
  var topic: Topic
  /// The record's key.
  var key: String
  /// The record's value.
  var value: [UInt8]
  /// What the pipeline must make of it; nil for all but messages.
  var message: LoadMessage?
}

/// A message of the load, and what the pipeline must make of it.
struct LoadMessage: Sendable, Equatable {
  /// The message's id.
  var messageId: String
  /// Everybody who takes part, without the sender: a decision is due for each.
  var recipients: [String]
  /// When it is published, which is also its `occurredAt`.
  var at: Milliseconds
}

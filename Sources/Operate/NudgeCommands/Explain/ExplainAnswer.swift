import Analyzer
import NudgeSchema

/// The answer to "why did, or didn't, this person get a notification?"
struct ExplainAnswer: Encodable {
  var userId: String
  /// Decisions from this time on; nil: all that the topics hold.
  var since: Milliseconds?
  /// In the order of their first decisions.
  var stories: [MessageStory] = []
  /// Older decisions that are not shown.
  var older = 0
  /// Why the message asked for has no decision.
  var missing: MissingDecision?
  /// The current badge; nil: the state was not read.
  var badge: Int?
  /// The current devices; nil: the state was not read.
  var devices: [PersonView.Device]?
  /// The preferences that were ever set, each with the event that set it; nil: the state was not read.
  var preferences: JSONValue?
  /// Devices that get no pushes because FCM reported their tokens as another sender's.
  var quarantined: [String] = []
}

/// How far a message without a decision got.
struct MissingDecision: Encodable {
  enum Cause: String, Encodable {
    /// The topics hold no event with this message.
    case noEvent = "no_event"
    /// The event was rejected.
    case deadLettered = "dead_lettered"
    /// Ingest has not processed the event yet.
    case notIngested = "not_ingested"
    /// The person sent it.
    case sender
    /// The person was not a member of the conversation at that time.
    case noRecipient = "no_recipient"
    /// The analyzer has not processed the candidate yet.
    case notDecided = "not_decided"
    /// The analyzer has processed the candidate, and decided nothing.
    case repeated
  }
  var cause: Cause
  /// The cause in words, with what to do.
  var text: String
  var event: PlacedRecord?
  var candidate: PlacedRecord?
  var deadLetter: DeadLetterFacts?
}

import Analyzer
import NudgeSchema

/// The answer to "why did, or didn't, this person get a notification?"
struct ExplainAnswer: Encodable {
  /// The person.
  var userId: String
  /// Decisions from this time on were looked at; nil: all that are kept.
  var since: Milliseconds?
  /// The messages, first decided first.
  var stories: [MessageStory] = []
  /// Further decisions of that time that are not shown, older than these.
  var older = 0
  /// Why there is no decision, where a message was asked for that has none.
  var missing: MissingDecision?
  /// The badge now; nil: the state was not read.
  var badge: Int?
  /// The devices now; nil: the state was not read.
  var devices: [PersonView.Device]?
  /// Devices that nothing is sent to because FCM called their tokens another sender's.
  var quarantined: [String] = []
}

/// How far a message came that has no decision for the person.
struct MissingDecision: Encodable {
  /// Where it stopped.
  enum Cause: String, Encodable {
    /// No event with this message is kept.
    case noEvent = "no_event"
    /// The event was refused.
    case deadLettered = "dead_lettered"
    /// Ingest has not come to the event yet.
    case notIngested = "not_ingested"
    /// The person sent it.
    case sender
    /// The person took no part in the conversation when it was written.
    case noRecipient = "no_recipient"
    /// It is on the person's timeline, and the analyzer has not come to it yet.
    case notDecided = "not_decided"
    /// It is on the person's timeline, the analyzer is beyond it, and nothing was decided.
    case repeated
  }
  var cause: Cause
  /// In words, with what to do.
  var text: String
  /// The chat event.
  var event: PlacedRecord?
  /// The candidate.
  var candidate: PlacedRecord?
  /// The dead letter's reason.
  var deadLetter: DeadLetterFacts?
}

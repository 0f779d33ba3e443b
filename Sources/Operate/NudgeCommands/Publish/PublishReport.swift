import NudgeSchema

/// What `nudge publish --json` prints.
struct PublishReport: Encodable {
  var type: String
  var eventId: String
  var topic: String
  var key: String
  /// Where it is; nil: nothing was written.
  var position: RecordPosition?
  /// nil: it was not waited for.
  var fate: Fate?

  struct Fate: Encodable {
    struct Refusal: Encodable {
      var code: String
      var message: String
    }

    /// Whether all is known that was waited for.
    var isComplete: Bool
    var refusal: Refusal?
    var decisions: [Decision]
    var outcomes: [Outcome]

    init(_ fate: EventFate, isComplete: Bool) {
      self.isComplete = isComplete
      refusal = fate.refusal.map { Refusal(code: $0.code, message: $0.message) }
      decisions = fate.decisions
      outcomes = fate.outcomes
    }
  }
}

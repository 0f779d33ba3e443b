/// What holds of the pipeline's topics, whatever happened to its services.
enum PipelineRule: String, CaseIterable, Comparable {
  // What is missing while work is under way, and must not be once all is done.

  /// A stage has not come to the end of an input.
  case unprocessed
  /// A recipient that the load expects is named by no candidate.
  case candidateMissing
  /// A recipient of a candidate has no decision.
  case decisionMissing
  /// A decision to notify has no push.
  case pushMissing
  /// A target of a push has no outcome.
  case outcomeMissing
  /// An outcome says `sent`, and FCM knows nothing of it.
  case requestMissing
  /// A record that a stranger published to be refused has no dead letter.
  case deadLetterMissing

  // What is wrong at any time.

  /// A record is not as the catalogue says.
  case unreadable
  /// A dead letter that the test did not ask for.
  case unexpectedDeadLetter
  /// A record has two dead letters.
  case deadLetterTwice
  /// A candidate names somebody whom the load did not expect.
  case unexpectedRecipient
  /// One event made two candidates for one person.
  case candidateTwice
  /// A decision of no candidate.
  case decisionUncaused
  /// A candidate's recipient has two decisions.
  case decidedTwice
  /// A person was notified of one message by two decisions, none of which a replay by force asked for.
  case notifiedTwice
  /// A push of a message that no decision names.
  case pushUndecided
  /// Two pushes of one id.
  case pushTwice
  /// An outcome of something that is no target.
  case outcomeUncaused
  /// A target has two outcomes.
  case outcomeTwice
  /// Something was sent again after FCM had taken it, and no crash in between excuses it.
  case sentAgain
  /// Something was sent after its outcome had been recorded.
  case sentAfterOutcome
  /// Something was sent that is no target.
  case sentUncaused
  /// Something was sent for the first time after its freshness.
  case sentStale
  /// Something was sent to a device for a person who had lost it.
  case sentToFormerOwner
  /// What came behind the loss of a token on its former owner's timeline made a push to it.
  case pushedToFormerOwner
  /// A person's decisions in a conversation are not in the order of their causes.
  case userOrder
  /// The pushes of a device were sent in another order than they were made.
  case deviceOrder
  /// A person had more analyses in a window than the limit.
  case overLimit
  /// A task's positions do not count its transactions one by one.
  case sequenceBroken
  /// The last position of a changelog is not that of the committed offsets.
  case positionMismatch

  /// Whether it only says that work is under way.
  var isOpen: Bool { self <= .deadLetterMissing }

  static func < (a: Self, b: Self) -> Bool {
    guard let first = allCases.firstIndex(of: a), let second = allCases.firstIndex(of: b) else { return false }
    return first < second
  }
}

/// A place where a rule does not hold.
struct PipelineViolation: Equatable, CustomStringConvertible {
  var rule: PipelineRule
  /// Which ids and offsets, for people.
  var detail: String

  var description: String { "\(rule.rawValue): \(detail)" }
}

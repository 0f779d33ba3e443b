/// The rules that the pipeline's topics obey, whatever happens to its services.
enum PipelineRule: String, CaseIterable, Comparable {
  // Gaps while work is pending, which are violations once it is done.

  /// A stage has not reached the end of an input.
  case unprocessed
  /// No candidate names a recipient that the load expects.
  case candidateMissing
  /// A recipient of a candidate has no decision.
  case decisionMissing
  /// A decision is deferred, and no final one has followed.
  case finalMissing
  /// A decision to notify has no push.
  case pushMissing
  /// A target of a push has no outcome.
  case outcomeMissing
  /// An outcome says `sent`, and FCM received no request.
  case requestMissing
  /// A message that was held back from a person who never opened the app is in no catch-up.
  case catchUpMissing
  /// A hostile record has no dead letter.
  case deadLetterMissing

  // Violations at any time.

  /// A record contradicts the catalogue.
  case unreadable
  /// A dead letter that the test does not expect.
  case unexpectedDeadLetter
  /// A record has two dead letters.
  case deadLetterTwice
  /// A candidate names a person whom the load does not expect.
  case unexpectedRecipient
  /// One event made two candidates for one person.
  case candidateTwice
  /// A decision without a candidate.
  case decisionUncaused
  /// A candidate's recipient has two decisions, or two final ones followed one that was deferred.
  case decidedTwice
  /// Two decisions notified a person of one message, and no forced replay requested one of them, nor was one made again for devices
  /// that did not have it.
  case notifiedTwice
  /// A push of a message that no decision names.
  case pushUndecided
  /// Two pushes have one id.
  case pushTwice
  /// A message was pushed again twice, or told to the webhook twice.
  case escalatedTwice
  /// A catch-up tells of a message that another told of, or of more messages than were held back.
  case caughtUpTwice
  /// A person had more alerts in a day than they allow, mentions left out.
  case overBudget
  /// An outcome without a target.
  case outcomeUncaused
  /// A target has two outcomes.
  case outcomeTwice
  /// A receipt without a target.
  case receiptUncaused
  /// A push has one state twice on a device.
  case receiptTwice
  /// A push was sent again after FCM accepted it, without a crash in between.
  case sentAgain
  /// A push was sent after its outcome was recorded.
  case sentAfterOutcome
  /// A push was sent to a device that is not its target.
  case sentUncaused
  /// A push was sent for the first time after its freshness ended.
  case sentStale
  /// A push was sent for a person who had lost the device's token.
  case sentToFormerOwner
  /// A record after the loss of a token on its former owner's timeline caused a push to it.
  case pushedToFormerOwner
  /// A person's decisions in a conversation are not in the order of their causes.
  case userOrder
  /// The pushes of a device were not sent in the order of their decisions.
  case deviceOrder
  /// A person had more analyses in a window than the limit.
  case overLimit
  /// The sequence of a task's positions does not rise by one.
  case sequenceBroken
  /// The last position of a changelog is not that of the committed offsets.
  case positionMismatch

  /// Whether it only says that work is pending.
  var isOpen: Bool { self <= .deadLetterMissing }

  static func < (a: Self, b: Self) -> Bool {
    guard let first = allCases.firstIndex(of: a), let second = allCases.firstIndex(of: b) else { return false }
    return first < second
  }
}

/// A violation of a rule.
struct PipelineViolation: Equatable, CustomStringConvertible {
  var rule: PipelineRule
  /// The ids and offsets, for people.
  var detail: String

  var description: String { "\(rule.rawValue): \(detail)" }
}

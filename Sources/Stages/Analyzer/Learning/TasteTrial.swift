public import NudgeSchema

/// What one person teaches, outside of the pipeline: for measuring on chat logs what it changes.
public struct TasteTrial: Sendable {
  private let scoring: RelevanceScoring
  private var taste = Taste()

  /// A person who has taught nothing.
  public init(_ scoring: RelevanceScoring) { self.scoring = scoring }

  /// The scores of a message for the person: the model's, and the one shifted by what they have taught.
  public func scores(
    _ candidate: MessageCandidate, for recipient: Recipient, at time: Milliseconds
  ) -> (model: Double, shifted: Double) {
    let (rules, model) = (scoring.rules, scoring.assessment(candidate, for: recipient))
    var shifted = model
    rules.shift(
      &shifted,
      by: taste.shifts(
        sender: MessageKey(candidate.sender.userId).value, conversation: MessageKey(candidate.conversationId).value,
        at: time))
    return (model.score, shifted.score)
  }

  /// The person says of a message that it helped, or that it did not.
  ///
  /// - Parameter score: What it was given.
  public mutating func teach(
    isHelpful: Bool, about candidate: MessageCandidate, score: Double, at time: Milliseconds
  ) {
    taste.learn(
      isHelpful ? .helpful : .notHelpful, score: Int((score * 1000).rounded()),
      sender: MessageKey(candidate.sender.userId).value, conversation: MessageKey(candidate.conversationId).value,
      at: time)
  }
}

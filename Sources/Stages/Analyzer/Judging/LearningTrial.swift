public import NudgeSchema

/// Learning from one person's feedback outside of the pipeline, to measure its effect on chat logs.
public struct LearningTrial: Sendable {
  private let scoring: RelevanceScoring
  private var learned = LearnedPreferences()

  /// A person who has given no feedback.
  public init(_ scoring: RelevanceScoring) { self.scoring = scoring }

  /// The scores of a message for the person: the model's, and the one shifted by their feedback.
  public func scores(
    _ candidate: MessageCandidate, for recipient: Recipient, at time: Milliseconds
  ) -> (model: Double, shifted: Double) {
    let (rules, model) = (scoring.rules, scoring.assessment(candidate, for: recipient))
    var shifted = model
    rules.shift(
      &shifted,
      by: learned.shifts(
        sender: MessageKey(candidate.sender.userId).value, conversation: MessageKey(candidate.conversationId).value,
        at: time))
    return (model.score, shifted.score)
  }

  /// The person gives feedback on a message.
  ///
  /// - Parameter score: The message's score.
  public mutating func teach(
    isHelpful: Bool, about candidate: MessageCandidate, score: Double, at time: Milliseconds
  ) {
    learned.learn(
      isHelpful ? .helpful : .notHelpful, score: Int((score * 1000).rounded()),
      sender: MessageKey(candidate.sender.userId).value, conversation: MessageKey(candidate.conversationId).value,
      at: time)
  }
}

public import NudgeSchema
import Relevance
import Wording

/// Smart analysis outside of the pipeline, for a person without preferences and feedback, to measure it on chat logs.
public struct RelevanceScoring: Sendable {
  let rules: AnalyzerRules

  /// Scoring by the rules of an analyzer.
  public init(_ rules: AnalyzerRules) { self.rules = rules }

  /// The score of a candidate for one of its recipients, from 0 to 1.
  public func score(_ candidate: MessageCandidate, for recipient: Recipient) -> Double {
    assessment(candidate, for: recipient).score
  }

  func assessment(_ candidate: MessageCandidate, for recipient: Recipient) -> Assessment {
    rules.assess(traits(candidate, recipient))
  }

  /// The model's input, for training it.
  public func features(_ candidate: MessageCandidate, for recipient: Recipient) -> [UInt8] {
    rules.modelInput(traits(candidate, recipient))
  }

  /// The signals that make up the score, the strongest first, and the sentence about it.
  public func explanation(_ candidate: MessageCandidate, for recipient: Recipient) -> (signals: [Signal], text: String)
  {
    let assessment = assessment(candidate, for: recipient)
    return (assessment.signals, Explanation(assessment, sender: candidate.sender.displayName).text(in: .english))
  }

  /// The score from which a message counts as meant for somebody: high priority begins there.
  public var threshold: Double { rules.policy.highFrom }

  /// The score from which a message is shown at all: medium priority begins there.
  public var shownFrom: Double { rules.policy.mediumFrom }

  private func traits(_ candidate: MessageCandidate, _ recipient: Recipient) -> MessageTraits {
    let text = MessageText(candidate.body)
    return MessageTraits(
      isDirect: candidate.conversation.kind == .direct, context: recipient.context,
      messageFeatures: candidate.conversation.features.flatMap(Base64Text.decode) ?? [], isStarredSender: false,
      hasKeyword: false, isUrgent: text.isUrgent(rules.policy.urgentWords), isQuestion: text.isQuestion)
  }
}

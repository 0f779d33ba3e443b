/// A group of features that a decision explains together.
public enum RelevanceSignal: Int, CaseIterable, Sendable {
  /// Whether the message addresses the person, somebody else or nobody.
  case named
  /// How lately, and how much, the person wrote.
  case recency
  /// Whether the person's last message asked something.
  case openQuestion
  /// The people the sender has been writing to.
  case senderPartner
  /// Whether sender and person are talking to each other.
  case exchange
  /// The exchange between the person and others.
  case others
  /// Whether the message is about what the person wrote about.
  case topic
  /// The length of the message, and whether it asks.
  case text
  /// How the sender has been writing, and how lively the conversation is.
  case senderTurn

  /// The name in decision records.
  public var name: String {
    switch self {
    case .named: "named"
    case .recency: "recency"
    case .openQuestion: "open_question"
    case .senderPartner: "sender_partner"
    case .exchange: "exchange"
    case .others: "others"
    case .topic: "topic"
    case .text: "text"
    case .senderTurn: "sender_turn"
    }
  }

  /// For each feature of `FeatureLayout`, the raw value of its signal.
  static let ofFeatures: [Int] =
    MessageFeature.allCases.map { of($0).rawValue } + PersonFeature.allCases.map { of($0).rawValue }

  private static func of(_ feature: MessageFeature) -> RelevanceSignal {
    switch feature {
    case .addressedCount: .named
    case .length, .question: .text
    case .senderTopic: .topic
    case .layout, .senderAge, .senderMinutes, .senderCount, .senderFirstAge, .senderAsked, .senderLength,
      .senderPartners, .addressingRate, .speakers, .span, .pause:
      .senderTurn
    }
  }

  private static func of(_ feature: PersonFeature) -> RelevanceSignal {
    switch feature {
    case .addressed: .named
    case .rank, .age, .minutes, .count, .firstAge, .length, .sinceSender, .ageDifference: .recency
    case .asked: .openQuestion
    case .senderAddressedAge, .senderAddressedCount, .senderLastAddressed, .partnerAge, .senderLastPartner,
      .othersPartnerAge:
      .senderPartner
    case .addressedSenderAge, .addressedSenderCount, .addressedSenderSince, .lastAddressed, .turns, .senderPartnerAge,
      .lastPartner, .othersSenderPartnerAge, .othersAddressedSenderSince:
      .exchange
    case .addressedOthersCount, .othersAddressedCount, .othersAddressedSince, .addressers, .answersSince: .others
    case .topic, .topicAll, .topicRank: .topic
    }
  }
}

extension RelevanceModel {
  /// Log-odds of a message for a person, and what each signal added to `start`, in units, by raw value of
  /// `RelevanceSignal`.
  public func explainBySignal(_ features: [UInt8]) -> (logOdds: Int32, contributions: [Int32]) {
    var byFeature: [Int32] = []
    let logOdds = explain(features, contributions: &byFeature)
    var bySignal = [Int32](repeating: 0, count: RelevanceSignal.allCases.count)
    for (feature, contribution) in byFeature.enumerated() where feature < RelevanceSignal.ofFeatures.count {
      bySignal[RelevanceSignal.ofFeatures[feature]] &+= contribution
    }
    return (logOdds, bySignal)
  }
}

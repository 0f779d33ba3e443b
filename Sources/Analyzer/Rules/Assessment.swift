import NudgeSchema

/// How much a message matters to a person, and what made it so (D3).
struct Assessment: Equatable {
  /// Between 0 and 1, to three digits.
  var score: Double
  var priority: Priority
  var signals: [Signal]
}

/// What a message and its conversation tell about one recipient, and the recipient about the sender and the words.
struct MessageTraits {
  var isDirect: Bool
  var context: RecipientContext
  var sentAt: Milliseconds
  var isStarredSender: Bool
  var hasKeyword: Bool
  var isUrgent: Bool
  var isQuestion: Bool
}

extension AnalyzerRules {
  /// Turns from which the signal `exchange` is whole.
  static let wholeExchange = 4
  /// How long ago the person may have written for the signal `recency`.
  static let recencyHorizon: Milliseconds = 15 * 60_000
  /// Messages of others after which it is nothing.
  static let recencyMessages = 10

  /// Smart analysis: the weighted sum of all signals.
  func assess(_ traits: MessageTraits) -> Assessment {
    var signals: [Signal] = []
    var sum = 0.0
    func add(_ name: String, _ value: Double, _ weight: Double) {
      guard value > 0 else { return }
      let value = rounded(value)
      signals.append(Signal(name: name, value: value, weight: weight))
      sum += value * weight
    }
    let context = traits.context
    add("direct", traits.isDirect ? 1 : 0, weights.direct)
    add("mentioned", context.mentioned ? 1 : 0, weights.mentioned)
    add("named", context.named ? 1 : 0, weights.named)
    add("answered", context.answered ? 1 : 0, weights.answered)
    add("exchange", min(1, Double(context.exchange) / Double(Self.wholeExchange)), weights.exchange)
    add("recency", recency(context, at: traits.sentAt), weights.recency)
    add("starred_sender", traits.isStarredSender ? 1 : 0, weights.starredSender)
    add("keyword", traits.hasKeyword ? 1 : 0, weights.keyword)
    add("urgent_words", traits.isUrgent ? 1 : 0, weights.urgentWords)
    add("question", traits.isQuestion ? 1 : 0, weights.question)
    let score = rounded(max(0, min(1, sum)))
    let priority: Priority = score >= highFrom ? .high : score >= mediumFrom ? .medium : .low
    return Assessment(score: score, priority: priority, signals: signals)
  }

  /// The fixed rule set that applies past the hourly limit. The first rule that holds decides:
  ///
  /// 1. high (0.9): the person is mentioned, or starred the sender, or it is a direct message with an urgent word;
  /// 2. medium (0.5): a direct message, the person is named or answered, or the text has one of their keywords;
  /// 3. low (0.1): everything else.
  func assessSimply(_ traits: MessageTraits) -> Assessment {
    let context = traits.context
    func result(_ rule: String?, _ score: Double, _ priority: Priority) -> Assessment {
      Assessment(
        score: score, priority: priority,
        signals: rule.map { [Signal(name: $0, value: 1, weight: score)] } ?? [])
    }
    if context.mentioned { return result("mentioned", 0.9, .high) }
    if traits.isStarredSender { return result("starred_sender", 0.9, .high) }
    if traits.isDirect && traits.isUrgent { return result("urgent_words", 0.9, .high) }
    if traits.isDirect { return result("direct", 0.5, .medium) }
    if context.named { return result("named", 0.5, .medium) }
    if context.answered { return result("answered", 0.5, .medium) }
    if traits.hasKeyword { return result("keyword", 0.5, .medium) }
    return result(nil, 0.1, .low)
  }

  private func recency(_ context: RecipientContext, at time: Milliseconds) -> Double {
    guard let spoke = context.lastSpokeAt, spoke >= 0, time - spoke <= Self.recencyHorizon else { return 0 }
    return max(0, min(1, 1 - Double(context.messagesSince ?? 0) / Double(Self.recencyMessages)))
  }

  /// To three digits: what people read, and no sum that misses a threshold by a rounding error.
  private func rounded(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }
}

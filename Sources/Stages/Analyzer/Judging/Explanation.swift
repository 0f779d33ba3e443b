import NudgeSchema
import Wording

/// Why a decision is as it is, in one sentence for the person, in their language (D10): the two or three signals that
/// mattered most, or the check that suppressed.
///
/// An object: it goes from check to check, and a sentence has places for many values.
final class Explanation: Sendable {
  /// Signals a sentence has at most.
  static let maxReasons = 3
  /// A signal that added less than this part of the strongest one goes unsaid.
  private static let smallestShare = 0.25

  /// The reasons, in the order in which the sentence gives them.
  let reasons: [ReasonCode]
  /// The sentences they stand in, the inner one first; none: they are the sentence.
  private let frames: [ReasonCode]
  private let values: ReasonValues

  private init(_ reasons: [ReasonCode], _ frames: [ReasonCode], _ values: ReasonValues) {
    self.reasons = reasons
    self.frames = frames
    self.values = values
  }

  /// One reason, with what its words have places for.
  convenience init(_ reason: ReasonCode, _ values: ReasonValues = ReasonValues()) { self.init([reason], [], values) }

  /// Several reasons, as one enumeration.
  ///
  /// - Parameter sender: The name shown for who wrote the message.
  convenience init(_ reasons: [ReasonCode], sender: String) {
    var values = ReasonValues()
    values.sender = sender
    self.init(reasons, [], values)
  }

  /// How much a message matters.
  ///
  /// - Parameter sender: The name shown for who wrote the message.
  convenience init(_ assessment: Assessment, sender: String) {
    let isLow = assessment.priority == .low
    let frame: ReasonCode =
      switch assessment.priority {
      case .high: .highPriority
      case .medium: .mediumPriority
      case .low: .lowPriority
      }
    var values = ReasonValues()
    values.sender = sender
    // Signals for a message explain that it is shown, signals against it that it is not. `direct` is always for it: its
    // weight is where the score begins.
    var reasons = Array((assessment.reasons ?? []).prefix(Self.maxReasons))
    var smallest = 0.0
    for signal in assessment.reasons == nil ? assessment.signals : [] {
      let speaksFor = signal.weight >= 0 || signal.name == "direct"
      guard speaksFor != isLow, let (yes, no) = Self.words[signal.name], let code = speaksFor ? yes : no else {
        continue
      }
      if reasons.isEmpty { smallest = abs(signal.weight) * Self.smallestShare }
      guard reasons.count < Self.maxReasons, abs(signal.weight) >= smallest else { break }
      reasons.append(code)
    }
    if reasons.isEmpty { reasons.append(isLow ? .nothingForYou : .allInAll) }
    self.init(reasons, [frame], values)
  }

  /// The same, where the hourly limit is reached and simple rules decide.
  func pastLimit(of limit: Int) -> Explanation {
    var values = values
    values.limit = String(limit)
    return Explanation(reasons, frames + [.limitReached], values)
  }

  /// The same inside another sentence.
  func framed(by frame: ReasonCode, dailyAlerts: Int? = nil) -> Explanation {
    var values = values
    if let dailyAlerts { values.dailyAlerts = String(dailyAlerts) }
    return Explanation(reasons, frames + [frame], values)
  }

  /// The sentence.
  func text(in words: Wording) -> String {
    var text = words.reasons.list(reasons, values)
    for frame in frames {
      var values = values
      values.reasons = text
      text = words.reasons.text(frame, values)
    }
    return text
  }

  /// The reason that each signal gives for the message being meant for the person, and against it; nil: none.
  private static let words: [String: (for: ReasonCode?, against: ReasonCode?)] = [
    "direct": (.direct, nil), "mentioned": (.mentioned, nil), "answered": (.answered, nil),
    "named": (.named, .notNamed), "named_newcomer": (.namedNewcomer, nil),
    "recency": (.wroteLately, .notWroteLately), "open_question": (.askedSomething, .askedNothing),
    "sender_partner": (.senderWritesToYou, .senderWritesToOthers), "exchange": (.talking, .notTalking),
    "others": (.noOtherAnswered, .talkingWithOthers), "topic": (.yourTopic, .notYourTopic),
    "text": (.readsLikeAnswer, .notLikeAnswer), "sender_turn": (.senderInTalk, .senderNotInTalk),
    "starred_sender": (.starredSender, nil), "keyword": (.keyword, nil), "urgent_words": (.urgentWords, nil),
    "question": (.question, nil), "learned_sender": (.senderMatters, .senderRarelyMatters),
    "learned_conversation": (.conversationMatters, .conversationRarelyMatters),
    "learned_person": (.likesToBeTold, .likesQuiet),
  ]
}

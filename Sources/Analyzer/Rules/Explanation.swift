import NudgeSchema

/// Why a message has its priority, in one sentence a person accepts: the two or three signals that spoke most for it.
///
/// `codes` are keys for other languages than English: a signal's name, and behind a dot whether it spoke `for` or
/// `against` the message being meant for the person.
struct Explanation {
  /// Signals a sentence has at most.
  static let maxReasons = 3
  /// A signal that added less than this part of the strongest one goes unsaid.
  private static let smallestShare = 0.25

  let priority: Priority
  let codes: [String]
  let sender: String

  /// - Parameter sender: The name shown for who wrote the message.
  init(_ assessment: Assessment, sender: String) {
    let isLow = assessment.priority == .low
    priority = assessment.priority
    self.sender = sender
    // What speaks for a message explains that it is shown, what speaks against it that it is not.
    let wanted = assessment.signals.filter {
      $0.name != "start" && isLow == ($0.weight < 0) && Self.english[Self.code($0)] != nil
    }
    let smallest = (wanted.first.map { abs($0.weight) } ?? 0) * Self.smallestShare
    codes = wanted.prefix { abs($0.weight) >= smallest }.prefix(Self.maxReasons).map { Self.code($0) }
  }

  private static func code(_ signal: Signal) -> String { "\(signal.name).\(signal.weight < 0 ? "against" : "for")" }

  /// The sentence in English.
  var text: String {
    let reasons = codes.compactMap { Self.english[$0] }.map { $0.replacing("{sender}", with: sender) }
    let subject = "\(priority.rawValue) priority"
    switch reasons.count {
    case 0: return priority == .low ? "\(subject): nothing says that it is for you" : "\(subject): all in all"
    case 1: return "\(subject): \(reasons[0])"
    default: return "\(subject): \(reasons.dropLast().joined(separator: ", ")) and \(reasons[reasons.count - 1])"
    }
  }

  /// What each code means, in English; `{sender}` stands for the sender's name.
  static let english: [String: String] = [
    "direct.for": "it is a direct message", "direct.against": "it is a direct message like any other",
    "mentioned.for": "{sender} mentions you", "answered.for": "it answers your message",
    "named.for": "it is addressed to you", "named.against": "it does not name you",
    "named_newcomer.for": "it names you",
    "recency.for": "you wrote here lately", "recency.against": "you have not written here lately",
    "open_question.for": "you asked something", "open_question.against": "you asked nothing",
    "sender_partner.for": "{sender} has been writing to you",
    "sender_partner.against": "{sender} has not been writing to you",
    "exchange.for": "you and {sender} are talking", "exchange.against": "you and {sender} are not talking",
    "others.for": "nobody else has answered you", "others.against": "you are talking with others",
    "topic.for": "it is about what you wrote", "topic.against": "it is not about what you wrote",
    "text.for": "it reads like an answer", "text.against": "it does not read like an answer",
    "sender_turn.for": "{sender} is in a conversation", "sender_turn.against": "{sender} seems to write to others",
    "starred_sender.for": "you starred {sender}", "keyword.for": "it has one of your keywords",
    "urgent_words.for": "it says that it is urgent", "question.for": "it asks something",
    "learned_sender.for": "messages of {sender} matter to you",
    "learned_sender.against": "messages of {sender} rarely matter to you",
    "learned_conversation.for": "this conversation matters to you",
    "learned_conversation.against": "this conversation rarely matters to you",
    "learned_person.for": "you like to be told", "learned_person.against": "you like to be told little",
  ]
}

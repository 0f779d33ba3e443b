import NudgeSchema
import StreamRuntime

extension PersonStep {
  /// How long after a message an answer, or reading it, is about the message.
  static let promptly: Milliseconds = 5 * 60_000

  /// `feedback.submitted`: each of the two verdicts on a message counts once.
  mutating func judge(_ feedback: FeedbackSubmitted) throws {
    switch feedback.feedback {
    case .helpful: try learn(.helpful, feedback.conversationId, feedback.messageId, once: .foundHelpful)
    case .notHelpful: try learn(.notHelpful, feedback.conversationId, feedback.messageId, once: .foundUnhelpful)
    }
  }

  /// `notification.opened`, `notification.dismissed`: what a person did about a message counts once.
  mutating func react(_ report: NotificationReport, _ lesson: Taste.Lesson) throws {
    guard let conversationId = report.conversationId, let messageId = report.messageId else { return }
    try learn(lesson, conversationId, messageId, once: .reactedTo)
  }

  private mutating func learn(
    _ lesson: Taste.Lesson, _ conversationId: String, _ messageId: String, once mark: RecentMessage.Marks
  ) throws {
    let before = try conversation(conversationId)
    var conversation = before
    guard let message = conversation.message(MessageKey(messageId)), !message.marks.contains(mark) else { return }
    conversation.mark(message.key) { $0.insert(mark) }
    try keep(conversation, was: before, for: conversationId)
    try learn(lesson, about: message, in: conversationId)
  }

  /// The person wrote, or read, in a conversation: that is about the last message they were told of there, if it is
  /// minutes old.
  mutating func respond(_ lesson: Taste.Lesson, in conversation: inout ConversationRow, id: String) throws {
    let time = cause.happenedAt
    guard
      let message = conversation.recent.last(where: { $0.marks.contains(.notified) && $0.place.at <= time }),
      time - message.place.at <= Self.promptly, !message.marks.contains(.reactedTo)
    else { return }
    conversation.mark(message.key) { $0.insert(.reactedTo) }
    try learn(lesson, about: message, in: id)
  }

  /// Takes a lesson about a message that was decided by a score, unless the person wants what lies so far back forgotten.
  mutating func learn(_ lesson: Taste.Lesson, about message: RecentMessage, in conversationId: String) throws {
    guard let judged = message.judged else { return }
    if let since = try preferences().learnSince?.value, cause.happenedAt < since { return }
    var taste = try taste()
    taste.learn(
      lesson, score: Int(judged.score), sender: judged.sender, conversation: MessageKey(conversationId).value,
      at: cause.happenedAt)
    try keep(taste)
  }

  /// What the person has taught. Most have taught nothing, which costs no look at a row.
  func taste() throws -> Taste {
    guard user.hasTaught == true, case .taste(let row) = try step.row(AnalyzerRow.tasteKey(userId)) else {
      return Taste()
    }
    return row
  }

  /// Keeps what the person has taught.
  mutating func keep(_ taste: Taste) throws {
    let key = AnalyzerRow.tasteKey(userId)
    if taste.entries.isEmpty {
      if user.hasTaught == true { try step.remove(key) }
      user.hasTaught = nil
    } else {
      try step.set(.taste(taste), for: key)
      user.hasTaught = true
    }
  }
}

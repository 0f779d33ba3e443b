import NudgeSchema
import StreamRuntime

extension PersonContext {
  /// How long after a message an answer or a read is a signal about it.
  static let promptly: Milliseconds = 5 * 60_000

  /// `feedback.submitted`: the last word on the conversation. Each of the two verdicts on a message teaches once.
  mutating func judge(_ feedback: FeedbackSubmitted) throws {
    switch feedback.feedback {
    case .helpful: try learn(.helpful, feedback.conversationId, feedback.messageId, once: .foundHelpful)
    case .notHelpful: try learn(.notHelpful, feedback.conversationId, feedback.messageId, once: .foundUnhelpful)
    }
  }

  /// `notification.opened`, `notification.dismissed`: the person's reaction to a message counts once.
  mutating func react(_ report: NotificationReport, _ signal: FeedbackSignal) throws {
    guard let conversationId = report.conversationId, let messageId = report.messageId else { return }
    try learn(signal, conversationId, messageId, once: .reactedTo)
  }

  private mutating func learn(
    _ signal: FeedbackSignal, _ conversationId: String, _ messageId: String, once mark: RecentMessage.Marks
  ) throws {
    let before = try conversation(conversationId)
    var conversation = before
    guard let message = conversation.message(MessageKey(messageId)) else { return }
    let isNew = !message.marks.contains(mark)
    conversation.mark(message.key) { $0.insert(mark) }
    // A verdict that comes back is the last word again, though it teaches nothing more.
    if mark != .reactedTo { conversation.record(LastWord(at: cause.happenedAt, isUnhelpful: mark == .foundUnhelpful)) }
    try keep(conversation, was: before, for: conversationId)
    guard isNew else { return }
    try learn(signal, about: message, in: conversationId)
  }

  /// The person wrote, or read, in a conversation: a signal about the last message they were notified of there, if it is at most
  /// five minutes old.
  mutating func respond(_ signal: FeedbackSignal, in conversation: inout PersonConversationRow, id: String) throws {
    let time = cause.happenedAt
    guard
      let message = conversation.recent.last(where: { $0.marks.contains(.notified) && $0.place.at <= time }),
      time - message.place.at <= Self.promptly, !message.marks.contains(.reactedTo)
    else { return }
    conversation.mark(message.key) { $0.insert(.reactedTo) }
    try learn(signal, about: message, in: id)
  }

  /// Learns from a signal about a message that has a score, unless `learnSince` excludes it.
  mutating func learn(_ signal: FeedbackSignal, about message: RecentMessage, in conversationId: String) throws {
    guard let judged = message.judged else { return }
    if let since = try preferences().learnSince?.value, cause.happenedAt < since { return }
    var learned = try learned()
    learned.learn(
      signal, score: Int(judged.score), sender: judged.sender, conversation: MessageKey(conversationId).value,
      at: cause.happenedAt)
    try keep(learned)
  }

  /// The shifts that the person's feedback has made. For people without any, which are most, no row is read.
  func learned() throws -> LearnedPreferences {
    guard user.hasTaught == true, case .learned(let row) = try step.row(AnalyzerRow.learnedKey(userId)) else {
      return LearnedPreferences()
    }
    return row
  }

  /// Keeps the shifts.
  mutating func keep(_ learned: LearnedPreferences) throws {
    let key = AnalyzerRow.learnedKey(userId)
    if learned.entries.isEmpty {
      if user.hasTaught == true { try step.remove(key) }
      user.hasTaught = nil
    } else {
      try step.set(.learned(learned), for: key)
      user.hasTaught = true
    }
  }
}

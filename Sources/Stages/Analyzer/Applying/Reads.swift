import NudgeSchema
import StreamRuntime

extension PersonContext {
  /// Processes an event of the person or their app.
  mutating func process(_ body: UserEventBody, zones: inout TimeZones) throws {
    switch body {
    case .activity(let activity): try report(activity)
    case .read(let read): try self.read(read)
    case .preferences(let update): try change(update.preferences, zones: &zones)
    case .deviceRegistered, .deviceUnregistered:
      // Device events reach the timeline only through the claims, as `deviceGained` and `deviceLost`.
      break
    case .feedback(let feedback): try judge(feedback)
    // Only a device acted, not the person, so nothing is learned from it.
    case .notificationReceived(let report): try receive(report, .arrived)
    case .notificationOpened(let report):
      seePerson(on: report.deviceId, in: report.conversationId ?? "")
      try react(report, .opened)
      try receive(report, .opened)
    case .notificationDismissed(let report):
      try react(report, .dismissed)
      try receive(report, .dismissed)
    case .deleted: break
    }
  }
}

extension PersonContext {
  /// `message.read`: the person has read up to and including a message, or everything up to the event's time (D7).
  mutating func read(_ read: MessageRead) throws {
    let before = try conversation(read.conversationId)
    var conversation = before
    if let messageId = read.messageId {
      let key = MessageKey(messageId)
      if let message = conversation.recent.last(where: { $0.isNamed(key) }) {
        conversation.read(upTo: message.place)
      } else if try !readOlder(key, &conversation, read.conversationId), !conversation.mayHaveSeen(key) {
        // The message may still come, or its producer never published it. Everything that has arrived is read.
        if conversation.readAhead.map({ $0.stamp < cause.stamp }) ?? true {
          conversation.readAhead = ReadAhead(
            key: key, stamp: cause.stamp, waitsUntil: step.now + ReadAhead.patience)
        }
        try readAll(&conversation, read.conversationId)
      }
    } else {
      try readAll(&conversation, read.conversationId)
    }
    seePerson(on: read.deviceId, in: read.conversationId)
    if conversation.unread < before.unread { try respond(.read, in: &conversation, id: read.conversationId) }
    try keep(conversation, was: before, for: read.conversationId)
    try cancelRead(conversation, was: before, for: read.conversationId, last: read.messageId)
    if conversation.unread < before.unread {
      try pushRead(
        read.conversationId, upTo: read.messageId, at: conversation.readUpTo?.at ?? cause.happenedAt,
        except: read.deviceId.map { [$0] } ?? [])
    }
  }

  /// Reads up to an unread message that is older than the last ones. Returns false if the message is not one of them.
  private func readOlder(
    _ key: MessageKey, _ conversation: inout PersonConversationRow, _ conversationId: String
  ) throws -> Bool {
    if conversation.readOlder(upTo: key) { return true }
    return try readPages(&conversation, conversationId) { $0.key == key }
  }

  /// Reads everything that had arrived by the record's time.
  private func readAll(_ conversation: inout PersonConversationRow, _ conversationId: String) throws {
    let place = MessagePlace.end(of: cause.happenedAt)
    conversation.read(upTo: place)
    if conversation.pages != nil { _ = try readPages(&conversation, conversationId) { $0.place <= place } }
  }
}

extension PersonConversationRow {
  /// A read may precede its message and also cover messages that arrive in between. Returns until when such a message
  /// is held, by the wall clock; nil if it need not be held.
  func waitsForRead(_ message: CandidateMessage, at now: Milliseconds) -> Milliseconds? {
    guard let ahead = readAhead, let until = ahead.waitsUntil, now < until, message.sentAt <= ahead.stamp.occurredAt,
      !isFull
    else { return nil }
    return until
  }

  /// Returns whether an arriving message is one that was read before it arrived.
  mutating func settleReadAhead(_ key: MessageKey, at place: MessagePlace) -> Bool {
    guard readAhead?.key == key else { return false }
    readAhead = nil
    read(upTo: place)
    return true
  }
}

extension PersonContext {
  /// How soon after a message an answer or a read counts as a signal about it.
  static let promptly: Milliseconds = 5 * 60_000

  /// `feedback.submitted`: sets the last word on the conversation. Each of the two verdicts on a message teaches only
  /// once.
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
    // A repeated verdict becomes the last word again, though it teaches nothing more.
    if mark != .reactedTo { conversation.record(LastWord(at: cause.happenedAt, isUnhelpful: mark == .foundUnhelpful)) }
    try keep(conversation, was: before, for: conversationId)
    guard isNew else { return }
    try learn(signal, about: message, in: conversationId)
  }

  /// The person wrote or read in a conversation. That is a signal about the last message that notified them there, if
  /// it is at most five minutes old.
  mutating func respond(_ signal: FeedbackSignal, in conversation: inout PersonConversationRow, id: String) throws {
    let time = cause.happenedAt
    guard
      let message = conversation.recent.last(where: { $0.marks.contains(.notified) && $0.place.at <= time }),
      time - message.place.at <= Self.promptly, !message.marks.contains(.reactedTo)
    else { return }
    conversation.mark(message.key) { $0.insert(.reactedTo) }
    try learn(signal, about: message, in: id)
  }

  /// Learns from a signal about a message with a score, unless `learnSince` excludes it.
  mutating func learn(_ signal: FeedbackSignal, about message: RecentMessage, in conversationId: String) throws {
    guard let judged = message.judged else { return }
    if let since = try preferences().learnSince?.value, cause.happenedAt < since { return }
    var learned = try learned()
    learned.learn(
      signal, score: Int(judged.score), sender: judged.sender, conversation: MessageKey(conversationId).value,
      at: cause.happenedAt)
    try keep(learned)
  }

  /// The shifts from the person's feedback. For people without any, who are most, no row is read.
  func learned() throws -> LearnedPreferences {
    guard user.hasTaught == true, case .learned(let row) = try step.row(AnalyzerRow.learnedKey(userId)) else {
      return LearnedPreferences()
    }
    return row
  }

  /// Stores the shifts.
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

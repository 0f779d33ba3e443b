import NudgeSchema
import StreamRuntime

extension PersonContext {
  /// `message.read`: the person has read up to and including a message, or all messages up to the event's time (D7).
  mutating func read(_ read: MessageRead) throws {
    let before = try conversation(read.conversationId)
    var conversation = before
    if let messageId = read.messageId {
      let key = MessageKey(messageId)
      if let message = conversation.recent.last(where: { $0.isNamed(key) }) {
        conversation.read(upTo: message.place)
      } else if try !readOlder(key, &conversation, read.conversationId), !conversation.mayHaveSeen(key) {
        // It is not here yet, or never comes, as a message that Nudge was not told of. What had arrived is read.
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

  /// Reads up to an unread message older than the last ones. Returns false if it is not one.
  private func readOlder(
    _ key: MessageKey, _ conversation: inout PersonConversationRow, _ conversationId: String
  ) throws -> Bool {
    if conversation.readOlder(upTo: key) { return true }
    return try readPages(&conversation, conversationId) { $0.key == key }
  }

  /// Reads all that had arrived by the time of the record.
  private func readAll(_ conversation: inout PersonConversationRow, _ conversationId: String) throws {
    let place = MessagePlace.end(of: cause.happenedAt)
    conversation.read(upTo: place)
    if conversation.pages != nil { _ = try readPages(&conversation, conversationId) { $0.place <= place } }
  }
}

extension PersonConversationRow {
  /// Until when a message that comes now is held, by the wall clock, because it may be one of those that a read reached which waits for its own
  /// message; nil: it is not.
  func waitsForRead(_ message: CandidateMessage, at now: Milliseconds) -> Milliseconds? {
    guard let ahead = readAhead, let until = ahead.waitsUntil, now < until, message.sentAt <= ahead.stamp.occurredAt,
      !isFull
    else { return nil }
    return until
  }

  /// Returns whether the message that arrives is the one that was read before it did.
  mutating func settleReadAhead(_ key: MessageKey, at place: MessagePlace) -> Bool {
    guard readAhead?.key == key else { return false }
    readAhead = nil
    read(upTo: place)
    return true
  }
}

import NudgeSchema

extension PersonContext {
  /// `message.read`: the person has read up to and including a message, or all messages up to the event's time (D7).
  mutating func read(_ read: MessageRead) throws {
    let before = try conversation(read.conversationId)
    var conversation = before
    if let messageId = read.messageId {
      let key = MessageKey(messageId)
      if let message = conversation.recent.last(where: { $0.isNamed(key) }) {
        conversation.read(upTo: message.place)
      } else if conversation.readAhead.map({ $0.stamp < cause.stamp }) ?? true {
        // Not here yet, or too old to be known one by one; what matters is the first.
        conversation.readAhead = ReadAhead(key: key, stamp: cause.stamp)
      }
    } else {
      conversation.read(upTo: .end(of: cause.happenedAt))
    }
    if conversation.unread < before.unread { try respond(.read, in: &conversation, id: read.conversationId) }
    try keep(conversation, was: before, for: read.conversationId)
    try cancelRead(conversation, was: before, for: read.conversationId, last: read.messageId)
    if conversation.unread < before.unread {
      try pushRead(
        read.conversationId, upTo: read.messageId, at: conversation.readUpTo?.at ?? cause.happenedAt,
        except: read.deviceId.map { [$0] } ?? [])
    }
  }
}

extension PersonConversationRow {
  /// Returns whether the message that arrives is the one that was read before it did.
  mutating func settleReadAhead(_ key: MessageKey, at place: MessagePlace) -> Bool {
    guard readAhead?.key == key else { return false }
    readAhead = nil
    read(upTo: place)
    return true
  }
}

import NudgeSchema
import StreamRuntime
import Wording

extension IngestStage {
  /// Writes who a message may be for (M1), and the sender's own record.
  func create(
    _ message: MessageCreated, at occurredAt: Milliseconds, mayBeRepeat: Bool, in conversation: inout Conversation,
    _ record: InputRecord, _ step: Step<IngestStage>, _ timeline: inout TimelineWriter
  ) throws {
    guard conversation.isKnown else { throw Rejection.unknownConversation }
    guard let sender = try conversation.member(message.senderId), sender.takesPart else {
      throw Rejection(.senderNotMember, "senderId takes no part in the conversation")
    }
    let name = (message.sender?.displayName ?? sender.displayName ?? message.senderId).displayedOnOneLine
    let text = NotificationText(message, senderName: name, conversation: conversation.row, rules: rules)
    let members = try conversation.members()
    let contexts = RecipientContexts(message, at: occurredAt, to: members, in: conversation.row)
    let candidate = MessageCandidate(
      conversationId: message.conversationId, messageId: message.messageId,
      sender: Member(
        userId: message.senderId, displayName: name, avatarUrl: message.sender?.avatarUrl ?? sender.avatarUrl),
      conversation: CandidateConversation(
        kind: conversation.row.kind ?? .group, name: conversation.row.name?.displayedOnOneLine,
        memberCount: conversation.row.memberCount, activeSpeakers: contexts.activeSpeakers,
        features: contexts.messageFeatures),
      title: text.title, body: text.body, attachment: message.attachments?.first, mentions: message.mentions ?? [],
      replyTo: message.replyTo, recipients: [],
      possibleRepeat: mayBeRepeat ? true : nil,
      replayId: record.header(RecordHeader.replayId).map { String(decoding: $0, as: UTF8.self) })

    var recipients: [(Recipient, Int32)] = []
    recipients.reserveCapacity(conversation.row.memberCount)
    for member in members where !member.userId.isExactly(message.senderId) {
      recipients.append(
        (Recipient(userId: member.userId, context: contexts.context(of: member.userId)), member.partition))
    }
    for (partition, chunk) in TimelineWriter.chunks(recipients) {
      var part = candidate
      part.recipients = chunk
      try timeline.write(
        .candidate(part), key: message.conversationId, partition: partition)
    }
    try timeline.write(
      .sent(
        MessageSent(
          userId: message.senderId, conversationId: message.conversationId, messageId: message.messageId)),
      to: message.senderId)
    conversation.remember(
      message, contexts.traits, at: occurredAt, addressed: contexts.addressed, partner: contexts.partner)
  }
}

extension RecipientContext {
  /// Whether the message is for the person by its own words.
  var isAddressed: Bool { mentioned || named || answered }
}

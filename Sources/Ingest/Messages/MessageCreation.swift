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
    let contexts = RecipientContexts(message, turns: conversation.row.turns)
    let candidate = MessageCandidate(
      conversationId: message.conversationId, messageId: message.messageId,
      sender: Member(
        userId: message.senderId, displayName: name, avatarUrl: message.sender?.avatarUrl ?? sender.avatarUrl),
      conversation: CandidateConversation(
        kind: conversation.row.kind ?? .group, name: conversation.row.name?.displayedOnOneLine,
        memberCount: conversation.row.memberCount, activeSpeakers: contexts.activeSpeakers),
      title: text.title, body: text.body, attachment: message.attachments?.first, mentions: message.mentions ?? [],
      replyTo: message.replyTo, recipients: [],
      possibleRepeat: mayBeRepeat ? true : nil,
      replayId: record.header(RecordHeader.replayId).map { String(decoding: $0, as: UTF8.self) })

    var recipients: [(Recipient, Int32)] = []
    recipients.reserveCapacity(conversation.row.memberCount)
    var addressed: [String] = []
    for member in try conversation.members() where !member.userId.isExactly(message.senderId) {
      let context = contexts.context(of: member)
      if context.isAddressed, addressed.count < Turn.addressedLimit { addressed.append(member.userId) }
      recipients.append((Recipient(userId: member.userId, context: context), member.partition))
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
    conversation.append(
      Turn(userId: message.senderId, at: occurredAt, messageId: message.messageId, addressed: addressed))
  }
}

extension RecipientContext {
  /// Whether the message is for the person by its own words.
  var isAddressed: Bool { mentioned || named || answered }
}

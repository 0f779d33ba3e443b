import NudgeSchema
import Relevance
import StreamRuntime
import Wording

extension IngestStage {
  /// Writes the candidates for a message's possible recipients (M1), and the sender's own record.
  mutating func create(
    _ message: MessageCreated, at occurredAt: Milliseconds, mayBeRepeat: Bool, _ memory: EventMemory,
    in conversation: inout Conversation, _ record: InputRecord, _ step: Step<IngestStage>,
    _ timeline: inout TimelineWriter
  ) throws {
    guard conversation.isKnown else { throw Rejection.unknownConversation }
    guard let sender = try conversation.member(message.senderId), sender.takesPart else {
      throw Rejection(.senderNotMember, "senderId takes no part in the conversation")
    }
    let name =
      NotificationText.visibleName(message.sender?.displayName) ?? NotificationText.visibleName(sender.displayName)
      ?? message.senderId.displayedOnOneLine
    let goesInSteps = try goesInSteps(conversation, step)
    let others = try conversation.othersIfUnnamed(message.senderId)
    let text = NotificationText(
      message, senderName: name, conversation: conversation.row, others: others, rules: rules)
    // Only these members have a context, so the cost does not grow with the conversation. While state is rebuilt, outputs are dropped.
    let isConcerned = goesInSteps || (step.isRebuilding && conversation.isPaged)
    try conversation.rename(sender, message, at: occurredAt)
    let answered = try message.replyTo.flatMap { try writer(of: $0, memory, in: &conversation) }
    let members =
      try isConcerned ? conversation.membersConcerned(by: message, answered: answered?.userId) : conversation.members()
    let contexts = RecipientContexts(
      message, at: occurredAt, to: members, in: conversation.row, answered: answered?.userId)
    let candidate = MessageCandidate(
      conversationId: message.conversationId, messageId: message.messageId,
      sender: Member(
        userId: message.senderId, displayName: name,
        avatarUrl: (message.sender?.avatarUrl ?? sender.avatarUrl).flatMap { HTTPSAddress($0) == nil ? nil : $0 }),
      conversation: CandidateConversation(
        kind: conversation.row.kind ?? .group, name: NotificationText.visibleName(conversation.row.name),
        others: others, memberCount: conversation.row.memberCount, activeSpeakers: contexts.activeSpeakers,
        features: contexts.messageFeatures),
      title: text.title, body: text.body, attachment: message.attachments?.first.map { Attachment(shown: $0) },
      mentions: message.mentions ?? [],
      replyTo: message.replyTo, answers: answered?.distance, urgent: Urgency.standard.isUrgent(text.body),
      recipients: [],
      possibleRepeat: mayBeRepeat ? true : nil, byUser: record.isByUser ? true : nil,
      replayId: record.header(RecordHeader.replayId).map { String(decoding: $0, as: UTF8.self) })

    var told: [(Recipient, partition: Int32)] = []
    told.reserveCapacity(members.count)
    for index in members.indices where !sameId(members[index].userId, message.senderId) {
      let userId = members[index].userId
      told.append((Recipient(userId: userId, context: contexts.context(of: userId)), members[index].partition))
    }
    try write(candidate, to: told, goesInSteps: goesInSteps, in: &conversation, step, &timeline)
    conversation.remember(
      message, contexts.traits, at: occurredAt, addressed: contexts.addressed, partner: contexts.partner)
  }

  /// The author of a message: from the last messages, or else from the conversation's memory of events, which reaches further back and also
  /// gives the distance. Nil if the author is unknown.
  func writer(
    of messageId: String, _ memory: EventMemory, in conversation: inout Conversation
  ) throws -> (userId: String, distance: AnsweredMessage?)? {
    if let sender = conversation.row.talk.sender(of: messageId) { return (sender, nil) }
    guard let author = try memory.author(of: messageId), let userId = try conversation.writer(of: author.mark) else {
      return nil
    }
    return (userId, AnsweredMessage(messagesBack: author.messagesSince + 1, sentAt: author.writtenBy))
  }

  /// Writes a candidate to all members, at once or in steps, and the sender's own record. `told` has the members, or at least those with a
  /// context.
  private mutating func write(
    _ candidate: MessageCandidate, to told: [(Recipient, partition: Int32)], goesInSteps: Bool,
    in conversation: inout Conversation, _ step: Step<IngestStage>, _ timeline: inout TimelineWriter
  ) throws {
    let sender = candidate.sender.userId
    let sent = TimelineEventBody.sent(
      MessageSent(userId: sender, conversationId: candidate.conversationId, messageId: candidate.messageId))
    guard goesInSteps else {
      try write(candidate, to: told, &timeline)
      return try timeline.write(sent, to: sender)
    }
    // The sender's pending events precede their own message.
    try settle(sender, in: &conversation, step)
    try timeline.write(sent, to: sender)
    var candidate = candidate
    candidate.recipients = told.map(\.0).filter { $0.context != RecipientContext() }
    if try begin(.candidate(candidate), timeline, in: &conversation, step) { return }
    let contexts = Dictionary(
      candidate.recipients.map { (ExactText($0.userId), $0.context) }, uniquingKeysWith: { first, _ in first })
    let members = try conversation.members().filter { !sameId($0.userId, sender) }
    try write(
      candidate,
      to: members.map {
        (Recipient(userId: $0.userId, context: contexts[ExactText($0.userId)] ?? RecipientContext()), $0.partition)
      }, &timeline)
  }

  private func write(
    _ candidate: MessageCandidate, to recipients: [(Recipient, partition: Int32)], _ timeline: inout TimelineWriter
  ) throws {
    var candidate = candidate
    for (partition, chunk) in TimelineWriter.chunks(recipients) {
      candidate.recipients = chunk
      try timeline.write(.candidate(candidate), key: candidate.conversationId, partition: partition)
    }
  }
}

extension RecipientContext {
  /// Whether the message itself addresses the person.
  var isAddressed: Bool { mentioned || named || answered }
}

extension Attachment {
  /// An attachment that a phone may fetch. An address that is not absolute https is left out.
  fileprivate init(shown attachment: Attachment) {
    self.init(kind: attachment.kind, url: attachment.url.flatMap { HTTPSAddress($0) == nil ? nil : $0 })
  }
}

/// Title and body of a message's notification (M3). Characters that a screen would show differently, or that could make the text look like
/// another, are left out (`displayed`). Fixed words are English here; the analyzer translates them for each recipient.
struct NotificationText {
  /// The most grapheme clusters and bytes of a name in a title. The payload has 4,096 bytes for everything.
  static let nameLimit = (characters: 80, bytes: 320)

  let title: String
  let body: String

  /// - Parameter others: For a group without a name, some members other than the sender.
  init(
    _ message: MessageCreated, senderName: String, conversation: ConversationRow, others: [Member]?, rules: IngestRules
  ) {
    title = Self.title(senderName: senderName, conversation: conversation, others: others)
    let text = (message.text ?? "").displayed
    if text.isVisible {
      body = rules.cutBody(text)
    } else if let attachments = message.attachments, let first = attachments.first {
      body = Wording.english.words(for: first.kind, count: attachments.count)
    } else {
      // A blank text counts as no text. The push then only says that there is a message.
      body = Wording.english.newMessage(from: Self.cut(senderName))
    }
  }

  /// The title of a message's notification.
  static func title(senderName: String, conversation: ConversationRow, others: [Member]?) -> String {
    let sender = cut(senderName)
    if let group = titleOfGroup(conversation) { return Wording.english.title(of: sender, in: group) }
    guard let others else { return sender }
    let shown = others.prefix(shownOthers).map { cut($0.displayName) }
    return Wording.english.title(of: sender, with: shown, further: conversation.memberCount - 1 - shown.count)
  }

  /// The most names of other members in the title of a group without a name.
  static let shownOthers = 3

  private static func cut(_ name: String) -> String {
    name.cut(toCharacters: nameLimit.characters, bytes: nameLimit.bytes)
  }

  /// The title if the message's author is no longer known: the group's name; nil if it has none.
  static func titleOfGroup(_ conversation: ConversationRow) -> String? {
    guard conversation.kind != .direct else { return nil }
    return visibleName(conversation.name).map(cut)
  }

  /// A name in the form in which it is shown; nil if nothing of it is visible.
  static func visibleName(_ name: String?) -> String? {
    guard let name = name?.displayedOnOneLine, name.isVisible else { return nil }
    return name
  }
}

extension IngestRules {
  /// A text cut to what a push may contain.
  func cutBody(_ text: String) -> String { text.displayed.cut(toCharacters: bodyCharacters, bytes: bodyBytes) }
}

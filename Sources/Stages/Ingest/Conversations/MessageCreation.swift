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
    // Only the members that the message concerns have a context. In steps, and in a rebuild, which drops outputs, it suffices to read
    // those. The cost then does not grow with the conversation.
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
      replyTo: message.replyTo, answers: answered?.distance,
      urgent: Urgency.standard.isUrgent(message.text ?? text.body),
      recipients: [],
      possibleRepeat: mayBeRepeat ? true : nil, byUser: record.isByUser ? true : nil,
      replayId: record.header(RecordHeader.replayId).map { String(decoding: $0, as: UTF8.self) })

    var recipients: [(Recipient, partition: Int32)] = []
    recipients.reserveCapacity(members.count)
    for index in members.indices where !sameId(members[index].userId, message.senderId) {
      let userId = members[index].userId
      recipients.append((Recipient(userId: userId, context: contexts.context(of: userId)), members[index].partition))
    }
    try write(candidate, to: recipients, goesInSteps: goesInSteps, in: &conversation, step, &timeline)
    conversation.remember(
      message, contexts.traits, at: occurredAt, addressed: contexts.addressed, partner: contexts.partner)
  }

  /// The author of a message, from the last messages or else from the conversation's memory of events. The memory reaches further back, and
  /// also gives the distance. Nil if the author is unknown.
  func writer(
    of messageId: String, _ memory: EventMemory, in conversation: inout Conversation
  ) throws -> (userId: String, distance: AnsweredMessage?)? {
    if let sender = conversation.row.talk.sender(of: messageId) { return (sender, nil) }
    guard let author = try memory.author(of: messageId), let userId = try conversation.writer(of: author.mark) else {
      return nil
    }
    return (userId, AnsweredMessage(messagesBack: author.messagesSince + 1, sentAt: author.writtenBy))
  }

  /// Writes a candidate to all members, at once or in steps, and the sender's own record.
  /// - Parameter recipients: The members. In steps, those with a context suffice.
  private mutating func write(
    _ candidate: MessageCandidate, to recipients: [(Recipient, partition: Int32)], goesInSteps: Bool,
    in conversation: inout Conversation, _ step: Step<IngestStage>, _ timeline: inout TimelineWriter
  ) throws {
    let sender = candidate.sender.userId
    let sent = TimelineEventBody.sent(
      MessageSent(userId: sender, conversationId: candidate.conversationId, messageId: candidate.messageId))
    guard goesInSteps else {
      try write(candidate, to: recipients, &timeline)
      return try timeline.write(sent, to: sender)
    }
    // The sender's pending events precede their own message.
    try settle(sender, in: &conversation, step)
    try timeline.write(sent, to: sender)
    var candidate = candidate
    candidate.recipients = recipients.map(\.0).filter { $0.context != RecipientContext() }
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

extension Attachment {
  /// An attachment that a phone may fetch. An address that is not absolute https is left out.
  fileprivate init(shown attachment: Attachment) {
    self.init(kind: attachment.kind, url: attachment.url.flatMap { HTTPSAddress($0) == nil ? nil : $0 })
  }
}

/// Title and body of a message's notification (M3). `displayed` removes characters that screens show differently, or that could make the
/// text look like another. Fixed words are English here; the analyzer translates them for each recipient.
struct NotificationText {
  /// The most grapheme clusters and UTF-8 bytes of a name in a title. A push has 4,096 bytes for everything.
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
      // A blank text counts as no text. The push then says only that there is a message.
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

  /// The group's name, cut for a title; nil for a direct conversation or a group without a visible name. It is the whole title if the
  /// message's author is no longer known.
  static func titleOfGroup(_ conversation: ConversationRow) -> String? {
    guard conversation.kind != .direct else { return nil }
    return visibleName(conversation.name).map(cut)
  }

  /// A name as a screen shows it, on one line; nil if nothing of it is visible.
  static func visibleName(_ name: String?) -> String? {
    guard let name = name?.displayedOnOneLine, name.isVisible else { return nil }
    return name
  }
}

extension IngestRules {
  /// A text without what `displayed` removes, cut to what a push may contain.
  func cutBody(_ text: String) -> String { text.displayed.cut(toCharacters: bodyCharacters, bytes: bodyBytes) }
}

/// Each recipient's part in a message and in the conversation's last messages.
struct RecipientContexts {
  /// The number of people who wrote the last messages, including this one's sender.
  let activeSpeakers: Int
  /// The people whom the message addresses: first the one it answers, then those it mentions, then those it names. Each part is in the
  /// order in which the text names them.
  let addressed: [String]
  /// The person to whom the message is most likely directed: the first of `addressed`, or in a group the one that the last messages
  /// suggest; nil if there is neither.
  let partner: String?
  /// The features of the text without the names of the people it addresses. Empty in a direct conversation.
  let traits: TextTraits
  /// `TalkReading.messageFeatures` in Base64; nil in a direct conversation, which has only one recipient.
  let messageFeatures: String?

  private let reading: TalkReading
  /// The contexts of people of whom the conversation or the message says something. Everybody else has the context `unknown`.
  private var contexts: [ExactText: RecipientContext] = [:]
  private let unknown = RecipientContext()

  /// Reads a message for these members, without the sender.
  ///
  /// - Parameter answered: The author of the message that this one answers; nil to search the last messages.
  init(
    _ message: MessageCreated, at time: Milliseconds, to members: [Roster.Entry], in conversation: ConversationRow,
    answered known: String? = nil
  ) {
    let talk = conversation.talk
    let isDirect = conversation.kind == .direct
    let mentioned = Set((message.mentions ?? []).map { ExactText($0) })
    let answered = (known ?? message.replyTo.flatMap { talk.sender(of: $0) }).map { ExactText($0) }
    let text = message.text.map { SearchedText($0) }
    // The members whose names the text may contain, in the order of members.
    let names =
      text.map { text in
        members.indices.compactMap { index in text.name(of: members[index]).map { (index: index, name: $0) } }
      } ?? []
    let longNames = text?.placesOfLongNames(names.lazy.map(\.name)) ?? []
    var nextName = 0

    var found: [(rank: Int, place: Int, member: Roster.Entry, context: RecipientContext)] = []
    // Members are read by index, because a copy of a member would retain and release its strings.
    for index in members.indices {
      var name: SearchedName?
      if nextName < names.count, names[nextName].index == index {
        name = names[nextName].name
        nextName += 1
      }
      guard !sameId(members[index].userId, message.senderId) else { continue }
      var context = RecipientContext()
      if !mentioned.isEmpty { context.mentioned = mentioned.contains(ExactText(members[index].userId)) }
      if let answered, sameId(answered.text, members[index].userId) { context.answered = true }
      let place = name.flatMap { text?.place(of: $0, besides: longNames)?.lowerBound }
      context.named = place != nil
      guard context.isAddressed else { continue }
      found.append((context.answered ? 0 : context.mentioned ? 1 : 2, place ?? 0, members[index], context))
    }
    if found.count > 1 { found.sort { ($0.rank, $0.place) < ($1.rank, $1.place) } }

    addressed = found.map(\.member.userId)
    traits = isDirect ? TextTraits() : text?.traits(without: found.compactMap(\.member.displayName)) ?? TextTraits()
    // A mention or an answer addresses a person as clearly as a name at the beginning of the message.
    reading = TalkReading(
      talk, sender: message.senderId, at: time, text: traits,
      addressed: found.map { item in
        TalkReading.Addressed(
          userId: item.member.userId, isAtStart: item.rank < 2 || (text?.isAtStart(item.place) ?? false))
      })
    activeSpeakers = reading.activeSpeakers
    partner = addressed.first ?? (isDirect ? nil : reading.continuedPartner)
    messageFeatures = isDirect ? nil : Base64Text.encode(reading.messageFeatures)

    contexts.reserveCapacity(found.count + talk.people.count)
    for item in found { contexts[ExactText(item.member.userId)] = item.context }
    for (place, person) in talk.people.enumerated()
    where reading.hasTraces(of: place) && !sameId(person, message.senderId) {
      var context = (found.isEmpty ? nil : contexts[ExactText(person)]) ?? RecipientContext()
      if let last = reading.lastSpoke(at: place) {
        context.lastSpokeAt = last.time
        context.messagesSince = last.messagesSince
      }
      context.exchange = reading.exchange(at: place, isAddressed: context.isAddressed)
      if !isDirect { context.features = Base64Text.encode(reading.personFeatures(at: place)) }
      contexts[ExactText(person)] = context
    }
    // A message that addresses a person who has not written yet is the first turn of an exchange with them.
    for item in found {
      let userId = ExactText(item.member.userId)
      if contexts[userId]?.exchange == 0 { contexts[userId]?.exchange = 1 }
    }
  }

  /// The context of one member.
  func context(of userId: String) -> RecipientContext {
    contexts.isEmpty ? unknown : contexts[ExactText(userId)] ?? unknown
  }
}

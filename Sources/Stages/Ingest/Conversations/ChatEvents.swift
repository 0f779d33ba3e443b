import NudgeCodec
public import NudgeSchema
import Relevance
public import StreamRuntime
import Wording

extension IngestStage {
  /// Processes a record of `chat.events`.
  mutating func processChatEvent(_ record: InputRecord, key: String, in step: Step<IngestStage>) throws {
    var event = try RecordReading.decode(
      from: record, maxBytes: rules.maxRecordBytes, frame: rules.frame, coder: step.coder, codec: codec
    ) {
      codec.read(ChatEvent.self, from: $0)
    }
    let ignored = event.normalize()
    try RecordReading.hold { () throws(SchemaViolation) in try event.validate() }
    let id = event.body.conversationId
    try RecordReading.require(key: key, toBe: id, of: .chatEvents)
    try RecordReading.requireTime(event.envelope, now: step.now, rules: rules)

    let stamp = EventStamp(event.envelope, takenAt: step.now)
    try requireNotErased(event.body, stamp, step)
    switch event.body {
    case .conversationDeleted: return try delete(conversation: id, event.envelope, record, in: step)
    case .messageCreated(let message):
      try requireNotErased(message.senderId, stamp, step)
    case .memberAdded(let change): try requireNotErased(change.userId, stamp, step)
    // Nothing is kept of a deleted person, not even the fact that they left.
    case .memberRemoved(let change) where try isRefused(change.userId, stamp, step): return
    default: break
    }

    var memory = try EventMemory(.conversation, of: id, in: step)
    let identity = EventMemory.Identity(event, byUser: record.isByUser)
    let verdict = try memory.verdict(on: identity)
    if verdict == .repeated { return }
    if verdict != .repeatedByBackend { try memory.remember(identity) }
    ignored.count(in: step)

    let row = RowKey("c", id)
    var conversation = try Conversation(
      id, key: row, roster: rosters.take(row, partition: step.partition), wholeRoster: rules.wholeRoster, in: step)
    var timeline = TimelineWriter(
      step, codec, envelope: event.envelope, takenAt: event.envelope.takenAt(step.now),
      arrivedAt: event.envelope.arrivedAt(record.timestamp, now: step.now), cause: step.origin(of: record),
      source: record.position, headers: ignored.headers)
    switch event.body {
    case .conversationUpdated(let fields):
      try replace(&conversation, with: fields.snapshot, stamp: stamp, step, &timeline)
    case .memberAdded(let change), .memberRemoved(let change):
      var joins = false
      if case .memberAdded = event.body { joins = true }
      try settle(change.userId, in: &conversation, step)
      // Removing some means reading each member, so in a large conversation many are removed at once.
      let remembered = max(rules.removedMembers, conversation.row.memberCount / 10)
      let left = try conversation.change(change, joins: joins, stamp: stamp, remembering: remembered)
      if left {
        try timeline.withdraw(
          conversationId: id, messageId: nil, cause: .left,
          from: [(change.userId, step.partition(of: change.userId, on: .timeline))])
      }
    case .messageCreated(var message):
      if let text = conversation.takeEarlyEdit(of: message.messageId, after: stamp) { message.text = text }
      if let snapshot = message.conversation {
        try replace(&conversation, with: snapshot, stamp: stamp, step, &timeline)
      }
      // The message arrived before: the sender's app published it.
      if verdict != .repeatedByBackend {
        try create(
          message, at: stamp.occurredAt, mayBeRepeat: verdict == .beyondMemory, memory, in: &conversation, record,
          step, &timeline)
      }
    case .messageEdited(let revision):
      let body = revision.text.map { rules.cutBody($0) }
      if conversation.isKnown, let body, conversation.row.talk.sender(of: revision.messageId) == nil,
        try memory.author(of: revision.messageId) == nil
      {
        conversation.keep(body, of: revision.messageId, by: stamp)
      }
      try withdraw(revision, cause: .edited, body: body, memory, in: &conversation, step, &timeline)
    case .messageDeleted(let revision):
      try withdraw(revision, cause: .deleted, body: nil, memory, in: &conversation, step, &timeline)
    case .conversationDeleted: break
    }
    if let roster = try conversation.save() {
      rosters.put(roster, for: row, partition: step.partition, limit: rules.cachedMembers)
    }
  }

  private mutating func replace(
    _ conversation: inout Conversation, with snapshot: ConversationSnapshot, stamp: EventStamp,
    _ step: Step<IngestStage>, _ timeline: inout TimelineWriter
  ) throws {
    var snapshot = snapshot
    if !erasures.isEmpty(partition: step.partition) {
      snapshot.members = try snapshot.members.filter { try !isRefused($0.userId, stamp, step) }
    }
    if !fanOuts.keys(of: conversation.id, partition: step.partition).isEmpty,
      try conversation.isChanged(by: snapshot, stamp: stamp)
    {
      try complete(in: &conversation, step)
    }
    let left = try conversation.replace(with: snapshot, stamp: stamp)
    try timeline.withdraw(conversationId: conversation.id, messageId: nil, cause: .left, from: left)
  }

  private mutating func withdraw(
    _ revision: MessageRevision, cause: MessageWithdrawn.Cause, body: String?, _ memory: EventMemory,
    in conversation: inout Conversation, _ step: Step<IngestStage>, _ timeline: inout TimelineWriter
  ) throws {
    guard conversation.isKnown else { throw Rejection.unknownConversation }
    var sender: Member?
    if cause == .edited {
      if let writer = try writer(of: revision.messageId, memory, in: &conversation) {
        sender = try self.sender(writer.userId, in: conversation)
      } else if conversation.row.kind == .direct {
        return try editInDirect(revision, body: body, in: &conversation, &timeline)
      }
    }
    let others = try sender.flatMap { try conversation.othersIfUnnamed($0.userId) }
    let title =
      sender.map { NotificationText.title(senderName: $0.displayName, conversation: conversation.row, others: others) }
      ?? (cause == .edited ? NotificationText.titleOfGroup(conversation.row) : nil)
    if try goesInSteps(conversation, step) {
      let withdrawn = MessageWithdrawn(
        userIds: [], conversationId: conversation.id, messageId: revision.messageId, cause: cause, body: body,
        title: title, sender: sender)
      if try begin(.withdrawn(withdrawn), timeline, in: &conversation, step) { return }
    }
    // While state is rebuilt, outputs are dropped.
    if step.isRebuilding, conversation.isPaged { return }
    try timeline.withdraw(
      conversationId: conversation.id, messageId: revision.messageId, cause: cause, body: body, title: title,
      sender: sender, from: try conversation.members().map { ($0.userId, $0.partition) })
  }

  /// Edits a message that is older than those with known senders. In a direct conversation the other member wrote it.
  private func editInDirect(
    _ revision: MessageRevision, body: String?, in conversation: inout Conversation, _ timeline: inout TimelineWriter
  ) throws {
    let members = try conversation.members()
    for member in members {
      let other = members.first { !sameId($0.userId, member.userId) }
      let sender = try other.map { try self.sender($0.userId, in: conversation) }
      try timeline.withdraw(
        conversationId: conversation.id, messageId: revision.messageId, cause: .edited, body: body,
        title: sender.map {
          NotificationText.title(senderName: $0.displayName, conversation: conversation.row, others: nil)
        },
        sender: sender, from: [(member.userId, member.partition)])
    }
  }

  private func sender(_ userId: String, in conversation: Conversation) throws -> Member {
    let known = try conversation.member(userId)
    return Member(
      userId: userId,
      displayName: NotificationText.visibleName(known?.displayName) ?? userId.displayedOnOneLine,
      avatarUrl: known?.avatarUrl.flatMap { HTTPSAddress($0) == nil ? nil : $0 })
  }
}

extension Rejection {
  static let unknownConversation = Rejection(
    .unknownConversation,
    "nothing is known of the conversation; publish conversation.updated first, or conversation in message.created")
}

/// Computes the recipients of past messages by the membership that ingest has now, on a copy of its state. It writes nothing.
public final class Rederivation {
  /// The recipients of a message.
  public struct Result {
    /// The message's event, with the time at which ingest would accept it.
    public var envelope: Envelope
    /// See `DerivedEvent.takenAt`.
    public var takenAt: Milliseconds?
    /// The candidates by timeline partition, as ingest would write them.
    public var candidates: [(partition: Int32, candidate: MessageCandidate)] = []
    /// Why ingest would refuse the message now; nil if it would accept it.
    public var refusal: DeadLetterCode?
  }

  private let driver: StageDriver<IngestStage>
  private let coder = RecordCoder()
  private let codec = RecordCodec()

  /// `partitions` is the number of partitions of every topic.
  public init(partitions: Int32, now: Milliseconds) {
    driver = StageDriver(IngestStage(IngestRules(fanOutStep: .max, frame: .skip)), partitions: partitions, now: now)
  }

  /// The conversation of a row of ingest's changelog that is needed here; nil for any other row.
  public static func conversation(of key: RowKey) -> String? {
    let parts = key.parts
    return parts.count >= 2 && parts[0] == "c" ? parts[1] : nil
  }

  /// Loads the rows of a task. Call it before the task's first message.
  public func load(_ rows: [(key: RowKey, bytes: [UInt8]?)], partition: Int32) {
    driver.load(rows, partition: partition)
  }

  /// Derives the recipients of an event of `chat.events`. Nil if it is not a message or was there before. `text` replaces the message's own
  /// text if it was edited since. `byUser` says whether the record has `RecordHeader.caller`.
  public func derive(
    value: [UInt8], text: String? = nil, key: [UInt8], at position: RecordPosition, timestamp: Milliseconds,
    byUser: Bool
  ) -> Result? {
    var value = value
    guard let event = try? codec.decode(ChatEvent.self, from: value), case .messageCreated(var message) = event.body
    else {
      return nil
    }
    if let text {
      message.text = text
      guard let edited = try? coder.encode(ChatEvent(event.envelope, .messageCreated(message))) else { return nil }
      value = edited
    }
    let step = driver.process(
      InputRecord(
        topic: .chatEvents, topicName: position.topic, partition: position.partition, offset: position.offset,
        timestamp: timestamp, key: key, value: value,
        headers: byUser ? [RecordHeaderField(RecordHeader.caller, RecordHeader.user)] : []))
    var result = Result(envelope: event.envelope, refusal: step.rejection?.code)
    for output in step.outputs where output.topic == .timeline {
      guard let record = try? codec.decode(TimelineEvent.self, from: output.value ?? []),
        case .candidate(let candidate) = record.body
      else { continue }
      result.takenAt = record.takenAt
      result.candidates.append((output.partition, candidate))
    }
    return step.rejection == nil && step.outputs.isEmpty ? nil : result
  }

  /// The time of the change that made a person a member; nil if they are not a member.
  public func memberSince(_ userId: String, of conversationId: String, partition: Int32) -> Milliseconds? {
    guard case .member(let member)? = try? driver.row(RowKey("c", conversationId, userId), partition: partition),
      member.takesPart
    else { return nil }
    if let stamp = member.stamp { return stamp.occurredAt }
    guard case .conversation(let row)? = try? driver.row(RowKey("c", conversationId), partition: partition) else {
      return nil
    }
    return row.snapshot?.occurredAt
  }
}

public import NudgeCodec
import NudgeSchema
public import StreamRuntime

/// A fan-out during a step: writes its event to the next members of the conversation, and records its progress.
///
/// All steps together write the same records as one large step would: each member gets the event once, in the conversation's order, with
/// the origin of the event that started the fan-out.
struct FanOut {
  let key: RowKey
  private(set) var row: FanOutRow
  private let step: Step<IngestStage>
  private let event: TimelineEvent
  private var timeline: TimelineWriter
  /// The contexts of recipients who have one.
  private var contexts: [ExactText: RecipientContext] = [:]
  private let passedOver: Set<ExactText>
  /// The message's text, if the names of the current members must still be searched in it.
  private var text: SearchedText?

  /// The fan-out of a row; nil if it is complete.
  init?(_ key: RowKey, _ codec: RecordCodec, searchesNames: Bool, in step: Step<IngestStage>) throws {
    guard case .fanOut(let row)? = try step.row(key) else { return nil }
    self.key = key
    self.row = row
    self.step = step
    do {
      event = try codec.decode(TimelineEvent.self, from: Array(row.event.utf8))
    } catch {
      // The event is part of the state. A release that cannot read it must not drop the rest of the fan-out.
      throw StoreFailure(
        operation: "read a fan-out row",
        reason: "this release does not know its event (\(error)): run the release that wrote it, or a later one")
    }
    timeline = TimelineWriter(
      step, codec, envelope: event.envelope, takenAt: event.takenAt, arrivedAt: event.arrivedAt,
      cause: event.origin, source: event.source, firstIndex: row.nextIndex)
    passedOver = Set(row.passedOver.map { ExactText($0) })
    if case .candidate(let candidate) = event.body {
      for recipient in candidate.recipients { contexts[ExactText(recipient.userId)] = recipient.context }
      if searchesNames { text = SearchedText(candidate.body) }
    }
  }

  /// Whether a person has not been served yet.
  func isAhead(_ userId: String) -> Bool {
    if case .candidate(let candidate) = event.body, sameId(candidate.sender.userId, userId) { return false }
    return (row.after.map { $0.utf8.lexicographicallyPrecedes(userId.utf8) } ?? true)
      && !passedOver.contains(ExactText(userId))
  }

  /// Serves the next members, which follow `row.after`.
  mutating func serve(_ members: ArraySlice<Roster.Entry>) throws {
    guard let last = members.last else { return }
    try write(to: members.filter { passedOver.isEmpty || !passedOver.contains(ExactText($0.userId)) })
    row.after = last.userId
  }

  /// Serves a person out of order, because their membership is about to change. With a nil member they are skipped.
  mutating func serveNow(_ userId: String, _ member: Roster.Entry?) throws {
    if let member { try write(to: [member]) }
    row.passedOver.append(userId)
  }

  private mutating func write(to members: [Roster.Entry]) throws {
    try step.inheriting(row.headers.map { RecordHeaderField($0.name, $0.value) }) {
      switch event.body {
      case .candidate(var candidate):
        let recipients = members.filter { !sameId($0.userId, candidate.sender.userId) }.map { member in
          (Recipient(userId: member.userId, context: context(of: member)), partition: member.partition)
        }
        for (partition, chunk) in TimelineWriter.chunks(recipients) {
          candidate.recipients = chunk
          try timeline.write(.candidate(candidate), key: candidate.conversationId, partition: partition)
        }
      case .withdrawn(var withdrawn):
        for (partition, chunk) in TimelineWriter.chunks(members.map { ($0.userId, partition: $0.partition) }) {
          withdrawn.userIds = chunk
          try timeline.write(.withdrawn(withdrawn), key: withdrawn.conversationId, partition: partition)
        }
      default: throw StoreFailure(operation: "read a fan-out", reason: "a \(event.body.type) goes to nobody in steps")
      }
    }
    row.nextIndex = timeline.nextIndex
  }

  private func context(of member: Roster.Entry) -> RecipientContext {
    if !contexts.isEmpty, let context = contexts[ExactText(member.userId)] { return context }
    guard let text, let name = text.name(of: member), text.place(of: name) != nil else { return RecipientContext() }
    // The context that `RecipientContexts` gives to a person without earlier messages.
    return RecipientContext(named: true, exchange: 1)
  }

  /// Everybody has been served: removes the row.
  func end() throws { try step.remove(key) }

  /// Stores the progress.
  func save() throws { try step.set(.fanOut(row), for: key) }
}

/// Fan-out in steps: an event for more than `IngestRules.fanOutStep` people is stored in a row, and written to that many people each time
/// the task wakes. In between, the task processes other records.
///
/// The order for each person and conversation is kept. Later events for everybody queue behind the pending fan-out. Before a person's
/// membership changes, they are served out of order.
/// membership changes, they are served out of turn.
extension IngestStage {
  private static let parent = RowKey("f")

  /// Offsets rise, so keys are in the order of the events.
  private static func key(of conversationId: String, _ cause: Origin) -> RowKey {
    let digits = String(cause.offset, radix: 16)
    return RowKey("f", String(repeating: "0", count: max(0, 16 - digits.count)) + digits + conversationId)
  }

  /// A task starts: resumes its pending fan-outs and erasures.
  public mutating func open(in step: Step<IngestStage>) throws {
    for (key, _) in try step.rows(below: Self.parent) {
      let conversationId = String(decoding: key.bytes.dropFirst(Self.parent.bytes.count + 1 + 16), as: UTF8.self)
      fanOuts.add(key, of: conversationId, partition: step.partition)
    }
    if !fanOuts.isEmpty(partition: step.partition) { step.wake(at: step.now) }
    try openErasures(in: step)
  }

  /// Serves the next members of the next conversation, then runs a step of a pending erasure.
  public mutating func wake(in step: Step<IngestStage>) throws {
    while let id = fanOuts.next(partition: step.partition) {
      let keys = try fanOutKeys(of: id, step)
      // Removed rows are dropped from the hint only here, where the step has not yet changed anything that could be undone.
      fanOuts.set(keys, of: id, partition: step.partition)
      guard let first = keys.first else { continue }
      try withConversation(id, step) { stage, conversation in
        try stage.serve(first, atMost: stage.rules.fanOutStep, in: &conversation, step)
      }
      break
    }
    if !fanOuts.isEmpty(partition: step.partition) { step.wake(at: step.now + rules.fanOutPause) }
    try sweep(in: step)
  }

  mutating func withConversation(
    _ id: String, _ step: Step<IngestStage>, _ body: (inout IngestStage, inout Conversation) throws -> Void
  ) throws {
    let row = RowKey("c", id)
    var conversation = try Conversation(
      id, key: row, roster: rosters.take(row, partition: step.partition), wholeRoster: rules.wholeRoster, in: step)
    try body(&self, &conversation)
    if let roster = try conversation.save() {
      rosters.put(roster, for: row, partition: step.partition, limit: rules.cachedMembers)
    }
  }

  /// Drops a conversation's pending fan-outs.
  func forgetFanOuts(of conversationId: String, _ step: Step<IngestStage>) throws {
    for key in try fanOutKeys(of: conversationId, step) { try step.remove(key) }
  }

  /// The rows of a conversation's fan-outs.
  private func fanOutKeys(of conversationId: String, _ step: Step<IngestStage>) throws -> [RowKey] {
    try fanOuts.keys(of: conversationId, partition: step.partition).filter { try step.row($0) != nil }
  }

  private mutating func serve(
    _ key: RowKey, atMost limit: Int, in conversation: inout Conversation, _ step: Step<IngestStage>
  ) throws {
    guard var fanOut = try FanOut(key, codec, searchesNames: conversation.isPaged, in: step) else { return }
    let (members, isLast) = try conversation.members(after: fanOut.row.after, atMost: limit)
    try fanOut.serve(members)
    if isLast { try fanOut.end() } else { try fanOut.save() }
  }

  // MARK: For events of a conversation

  /// Whether an event for all members is written in steps, because there are many or a fan-out is pending.
  ///
  /// No steps are needed while state is rebuilt, because outputs are dropped.
  func goesInSteps(_ conversation: Conversation, _ step: Step<IngestStage>) throws -> Bool {
    guard !step.isRebuilding else { return false }
    if conversation.row.memberCount > rules.fanOutStep { return true }
    return try !fanOutKeys(of: conversation.id, step).isEmpty
  }

  /// Starts a fan-out after the pending ones and after the records that `timeline` has written. Returns false if the event does not fit
  /// into a row. Then the pending fan-outs are complete, and the caller writes the event at once.
  /// the pending fan-outs were completed, and the caller writes the event at once.
  mutating func begin(
    _ body: TimelineEventBody, _ timeline: TimelineWriter, in conversation: inout Conversation,
    _ step: Step<IngestStage>
  ) throws -> Bool {
    // A conversation with more events than can be served must not fill the state.
    while case let keys = try fanOutKeys(of: conversation.id, step), keys.count >= rules.pendingFanOuts {
      try serve(keys[0], atMost: .max, in: &conversation, step)
    }
    let event = timeline.event(body)
    let row = FanOutRow(
      event: String(decoding: try codec.encode(event), as: UTF8.self),
      headers: step.inheritedHeaders.map { FanOutRow.Header(name: $0.name, value: $0.value) },
      nextIndex: timeline.nextIndex)
    guard row.packed().count <= FanOutRow.beginningBytes else {
      try complete(in: &conversation, step)
      return false
    }
    let key = Self.key(of: conversation.id, event.origin)
    try step.set(.fanOut(row), for: key)
    fanOuts.add(key, of: conversation.id, partition: step.partition)
    step.wake(at: step.now)
    return true
  }

  /// A person's membership is about to change: a member gets the pending events now, a non-member gets none of them.
  mutating func settle(
    _ userId: String, in conversation: inout Conversation, _ step: Step<IngestStage>
  ) throws {
    let keys = try fanOutKeys(of: conversation.id, step)
    if keys.isEmpty { return }
    var member: Roster.Entry?
    if let row = try conversation.member(userId), row.takesPart {
      member = Roster.Entry(userId: userId, partition: step.partition(of: userId, on: .timeline), row: row)
    }
    for key in keys {
      guard var fanOut = try FanOut(key, codec, searchesNames: conversation.isPaged, in: step), fanOut.isAhead(userId)
      else { continue }
      guard fanOut.row.canPassOver(userId) else { return try complete(in: &conversation, step) }
      try fanOut.serveNow(userId, member)
      try fanOut.save()
    }
  }

  /// All memberships are about to change: completes the pending fan-outs.
  mutating func complete(in conversation: inout Conversation, _ step: Step<IngestStage>) throws {
    for key in try fanOutKeys(of: conversation.id, step) {
      try serve(key, atMost: .max, in: &conversation, step)
    }
  }
}

/// A pending fan-out to the members of a large conversation, and its progress. The row is removed after the last member.
public struct FanOutRow: Sendable, Equatable, Encodable {
  /// A header of the records that are written.
  public struct Header: Sendable, Equatable, Encodable {
    public internal(set) var name: String
    public internal(set) var value: [UInt8]
  }

  /// The event to write, a `TimelineEvent` as JSON. A candidate has only the recipients with a context; everybody else's is empty. A
  /// withdrawal names nobody.
  public internal(set) var event: String
  /// The headers of the records that are written.
  public internal(set) var headers: [Header]
  /// The last member that was served, in the order of the ids' bytes. Absent until one is served.
  public internal(set) var after: String?
  /// The index of the next record's origin.
  public internal(set) var nextIndex: Int32 = 0
  /// People behind `after` who get no record: they were served out of turn, or joined later.
  public internal(set) var passedOver: [String] = []
}

extension FanOutRow {
  /// The row as JSON with the event as a part of it, so that programs that show the row find the fields to leave out (T4).
  func json(coder: RecordCoder) throws -> [UInt8] {
    struct Shown: Encodable {
      let event: TimelineEvent
      let after: String?
      let nextIndex: Int32
      let passedOver: [String]
    }
    return try coder.encode(
      Shown(
        event: coder.decode(TimelineEvent.self, from: Array(event.utf8)), after: after, nextIndex: nextIndex,
        passedOver: passedOver))
  }

  /// The most bytes of the row when a fan-out begins.
  static let beginningBytes = 12_000
  /// The most bytes for people passed over, with which the row stays below 16 kB.
  static let passedOverBytes = 3_000

  /// Whether there is room to pass over one more person.
  func canPassOver(_ userId: String) -> Bool {
    passedOver.reduce(userId.utf8.count + 2) { $0 + $1.utf8.count + 2 } <= Self.passedOverBytes
  }
}

extension FanOutRow: PackedRow, PackedFields {
  /// The row's name in errors.
  public static let name: StaticString = "fan-out"
  public static var blank: Self { Self(event: "", headers: []) }

  public mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.flags()
    try row.field(&event)
    try row.field(&headers)
    try row.optional(&after)
    try row.field(&nextIndex)
    try row.field(&passedOver)
  }
}

extension FanOutRow.Header: PackedFields {
  public static var blank: Self { Self(name: "", value: []) }

  public mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.field(&name)
    try row.field(&value, as: BytesForm())
  }
}

/// The conversations with a pending fan-out, of all tasks of a thread, in round-robin order.
///
/// A hint that saves a scan. It may name rows that were removed or that an undone step made, but it never lacks a row.
struct PendingFanOuts {
  private struct Task {
    /// Keys of rows, in the order of the events.
    var keys: [ExactText: [RowKey]] = [:]
    /// Conversations in round-robin order.
    var turns: [ExactText] = []
  }

  private var tasks: [Int32: Task] = [:]

  /// Whether a task has no pending fan-out.
  func isEmpty(partition: Int32) -> Bool { tasks[partition]?.turns.isEmpty ?? true }

  /// The rows that a conversation may have.
  func keys(of conversationId: String, partition: Int32) -> [RowKey] {
    guard let task = tasks[partition] else { return [] }
    return task.keys[ExactText(conversationId)] ?? []
  }

  mutating func add(_ key: RowKey, of conversationId: String, partition: Int32) {
    let id = ExactText(conversationId)
    if tasks[partition]?.keys[id] == nil { tasks[partition, default: Task()].turns.append(id) }
    tasks[partition]?.keys[id, default: []].append(key)
  }

  /// Corrects the hint: the rows that a conversation has.
  mutating func set(_ keys: [RowKey], of conversationId: String, partition: Int32) {
    let id = ExactText(conversationId)
    guard keys.isEmpty else {
      tasks[partition]?.keys[id] = keys
      return
    }
    tasks[partition]?.keys[id] = nil
    tasks[partition]?.turns.removeAll { $0 == id }
  }

  /// The next conversation, which then goes to the end of the order.
  mutating func next(partition: Int32) -> String? {
    guard let first = tasks[partition]?.turns.first else { return nil }
    tasks[partition]?.turns.removeFirst()
    tasks[partition]?.turns.append(first)
    return first.text
  }

  mutating func forget(partition: Int32) { tasks[partition] = nil }
}

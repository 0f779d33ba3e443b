public import NudgeCodec
public import NudgeSchema
import StreamRuntime

/// The erasures of a thread's tasks, in memory. It is a hint that saves reading rows: it may name a row that an undone step wrote, but it
/// never lacks one.
struct Erasures {
  private struct Task {
    var known: Set<RowKey> = []
    /// The erasures of conversations.
    var sweeps: [RowKey] = []
    /// Persons who are to be removed, in this pass or the next.
    var persons: Set<ExactText> = []
  }

  private var tasks: [Int32: Task] = [:]

  static let erased = RowKey("x")
  static let sweeps = RowKey("y")

  static func key(ofUser userId: String, _ rules: IngestRules) -> RowKey { RowKey("x", rules.hash("user \(userId)")) }

  static func key(ofConversation conversationId: String, _ rules: IngestRules) -> RowKey {
    RowKey("x", rules.hash("conversation \(conversationId)"))
  }

  static func key(_ subject: SweepRow.Subject) -> RowKey {
    switch subject {
    case .person(let userId): RowKey("y", "u" + userId)
    case .conversation(let conversationId): RowKey("y", "c" + conversationId)
    case .pass: RowKey("y", "p")
    }
  }

  /// Whether a task has erased nothing so far. Until it has, no event costs a hash.
  func isEmpty(partition: Int32) -> Bool { tasks[partition]?.known.isEmpty ?? true }

  func mayHave(_ key: RowKey, partition: Int32) -> Bool { tasks[partition]?.known.contains(key) ?? false }

  mutating func add(_ key: RowKey, partition: Int32) { tasks[partition, default: Task()].known.insert(key) }

  mutating func addSweep(_ subject: SweepRow.Subject, partition: Int32) {
    switch subject {
    case .person(let userId): tasks[partition, default: Task()].persons.insert(ExactText(userId))
    case .conversation:
      let key = Self.key(subject)
      if tasks[partition]?.sweeps.contains(key) != true { tasks[partition, default: Task()].sweeps.append(key) }
    case .pass: break
    }
  }

  /// The next pending sweep of a conversation.
  func nextSweep(partition: Int32) -> RowKey? { tasks[partition]?.sweeps.first }

  /// Persons who may be pending.
  func persons(partition: Int32) -> Set<ExactText> { tasks[partition]?.persons ?? [] }

  /// Whether anything may be pending.
  func isSweeping(partition: Int32) -> Bool {
    tasks[partition].map { !$0.sweeps.isEmpty || !$0.persons.isEmpty } ?? false
  }

  /// Drops a sweep whose row is gone.
  mutating func endSweep(_ key: RowKey, partition: Int32) { tasks[partition]?.sweeps.removeAll { $0 == key } }

  /// Drops a person whose row is gone.
  mutating func endSweep(of person: ExactText, partition: Int32) { tasks[partition]?.persons.remove(person) }

  mutating func forget(partition: Int32) { tasks[partition] = nil }
}

extension IngestStage {
  /// The erasure with this key; nil if the person or conversation was never deleted.
  func erasure(_ key: @autoclosure () -> RowKey, _ step: Step<IngestStage>) throws -> ErasureRow? {
    guard !erasures.isEmpty(partition: step.partition) else { return nil }
    let key = key()
    guard erasures.mayHave(key, partition: step.partition), case .erasure(let row)? = try step.row(key) else {
      return nil
    }
    return row
  }

  /// Whether an event of a person is refused because they were deleted (D16).
  func isRefused(_ userId: String, _ stamp: EventStamp, _ step: Step<IngestStage>) throws -> Bool {
    try erasure(Erasures.key(ofUser: userId, rules), step)?.refuses(stamp) ?? false
  }

  /// Throws for an event of a person who was deleted.
  func requireNotErased(_ userId: String, _ stamp: EventStamp, _ step: Step<IngestStage>) throws {
    if try isRefused(userId, stamp, step) { throw Rejection.userDeleted }
  }

  mutating func set(_ row: ErasureRow, for key: RowKey, _ step: Step<IngestStage>) throws {
    try step.set(.erasure(row), for: key)
    erasures.add(key, partition: step.partition)
  }

  mutating func begin(_ sweep: SweepRow, _ step: Step<IngestStage>) throws {
    var sweep = sweep
    if case .person = sweep.subject { sweep.pass = try nextPass(step) }
    try step.set(.sweep(sweep), for: Erasures.key(sweep.subject))
    erasures.addSweep(sweep.subject, partition: step.partition)
    step.wake(at: step.now)
  }

  /// A task starts: loads the hint, and resumes pending sweeps.
  mutating func openErasures(in step: Step<IngestStage>) throws {
    for (key, _) in try step.rows(below: Erasures.erased) { erasures.add(key, partition: step.partition) }
    for case (_, .sweep(let sweep)) in try step.rows(below: Erasures.sweeps) {
      erasures.addSweep(sweep.subject, partition: step.partition)
    }
    if erasures.isSweeping(partition: step.partition) { step.wake(at: step.now) }
  }

  /// Runs a bounded step of the next pending sweep of a conversation, and one of the pass that removes persons.
  mutating func sweep(in step: Step<IngestStage>) throws {
    while let key = erasures.nextSweep(partition: step.partition) {
      guard case .sweep(let row)? = try step.row(key), case .conversation(let conversationId) = row.subject else {
        erasures.endSweep(key, partition: step.partition)
        continue
      }
      try sweepMembers(of: conversationId, row, key, step)
      break
    }
    try sweepPersons(step)
    if erasures.isSweeping(partition: step.partition) { step.wake(at: step.now + rules.fanOutPause) }
  }
}

extension Rejection {
  static let userDeleted = Rejection(
    .userDeleted, "the user was deleted; a later device.registered registers them again")
}

/// `conversation.deleted` (D16): removes the conversation's rows, those of its members in bounded steps, and writes to each member's
/// timeline.
extension IngestStage {
  private static let membersAStep = 200

  /// Throws for an event of a deleted conversation. A later snapshot of the conversation restarts it instead.
  mutating func requireNotErased(
    _ body: ChatEventBody, _ stamp: EventStamp, _ step: Step<IngestStage>
  ) throws {
    let id = body.conversationId
    guard var row = try erasure(Erasures.key(ofConversation: id, rules), step), row.refuses(stamp) else { return }
    switch body {
    case .conversationUpdated where stamp > row.stamp: break
    case .messageCreated(let message) where message.conversation != nil && stamp > row.stamp: break
    case .conversationDeleted: return
    default: throw Rejection.unknownConversation
    }
    try endSweep(of: id, step)
    row.isRestored = true
    try set(row, for: Erasures.key(ofConversation: id, rules), step)
  }

  mutating func delete(
    conversation id: String, _ envelope: Envelope, _ record: InputRecord, in step: Step<IngestStage>
  ) throws {
    let stamp = EventStamp(envelope, takenAt: step.now)
    let key = Erasures.key(ofConversation: id, rules)
    if let known = try erasure(key, step), isRetry(envelope, of: known) || stamp <= known.stamp { return }
    try endSweep(of: id, step)
    try set(ErasureRow(stamp: stamp.hashed(envelope.eventId, by: rules.hash)), for: key, step)
    try forgetFanOuts(of: id, step)
    _ = rosters.take(RowKey("c", id), partition: step.partition)
    try step.remove(RowKey("c", id))
    try EventMemory.forget(.conversation, of: id, in: step)
    try begin(SweepRow(.conversation(conversationId: id), envelope: stamp, cause: step.origin(of: record)), step)
  }

  /// Writes to the next members' timelines, and removes their rows.
  mutating func sweepMembers(
    of id: String, _ row: SweepRow, _ key: RowKey, limit: Int = IngestStage.membersAStep, _ step: Step<IngestStage>
  ) throws {
    let (keys, next) = try step.keys(
      below: RowKey("c", id), after: row.after.map { RowKey(bytes: $0) }, limit: limit)
    var people: [(userId: String, partition: Int32)] = []
    for memberKey in keys {
      if case .member(let member)? = try step.row(memberKey), member.takesPart {
        let userId = memberKey.parts.last ?? ""
        people.append((userId, step.partition(of: userId, on: .timeline)))
      }
      try step.remove(memberKey)
    }
    var timeline = TimelineWriter(
      step, codec, envelope: Envelope(eventId: row.envelope.eventId, occurredAt: row.envelope.occurredAt), takenAt: nil,
      cause: row.cause, source: row.cause.position, firstIndex: row.nextIndex)
    try timeline.withdraw(conversationId: id, messageId: nil, cause: .conversationDeleted, from: people)
    guard let next else { return try step.remove(key) }
    var row = row
    row.after = next.bytes
    row.nextIndex = timeline.nextIndex
    try step.set(.sweep(row), for: key)
  }

  /// The conversation restarts: erases the rest of the former one now.
  private mutating func endSweep(of id: String, _ step: Step<IngestStage>) throws {
    let key = Erasures.key(.conversation(conversationId: id))
    while erasures.nextSweep(partition: step.partition) != nil, case .sweep(let row)? = try step.row(key) {
      try sweepMembers(of: id, row, key, limit: 2_000, step)
    }
  }
}

/// The deletion of a person or a conversation. The row stays. Its key is a hash, so it names nobody.
public struct ErasureRow: Sendable, Equatable, Encodable {
  /// The deletion's stamp. Events that are not later are always refused.
  public internal(set) var stamp: EventStamp
  /// Whether the person registered a device, or the conversation was published, after the deletion.
  public internal(set) var isRestored = false

  /// Whether an event with this stamp is refused.
  func refuses(_ stamp: EventStamp) -> Bool { !isRestored || stamp <= self.stamp }
}

/// A pending erasure. The row is removed with its last step.
public struct SweepRow: Sendable, Equatable, Encodable {
  /// The subject of a sweep through the task's rows.
  public enum Subject: Sendable, Equatable, Encodable {
    /// A person, to be removed from all conversations of the task.
    case person(userId: String)
    /// A conversation's members.
    case conversation(conversationId: String)
    /// All persons whose `pass` is this one's or lower, to be removed from all conversations of the task at once.
    case pass
  }
  public internal(set) var subject: Subject
  /// The last row that was examined. Absent until one is. Rows of persons from earlier releases have it too, and their sweep begins again.
  public internal(set) var after: [UInt8]?
  /// The number of the pass that removes the person, or of this pass. 0 in rows of an earlier release, which the next pass includes.
  public internal(set) var pass: Int64 = 0
  /// The deletion, for the records that its steps write.
  public internal(set) var envelope: EventStamp
  /// The record of the deletion.
  public internal(set) var cause: Origin
  /// The index of the next record's origin.
  public internal(set) var nextIndex: Int32

  init(
    _ subject: Subject, after: [UInt8]? = nil, pass: Int64 = 0, envelope: EventStamp, cause: Origin,
    nextIndex: Int32 = 0
  ) {
    self.subject = subject
    self.after = after
    self.pass = pass
    self.envelope = envelope
    self.cause = cause
    self.nextIndex = nextIndex
  }
}

extension ErasureRow: PackedRow, PackedFields {
  /// For errors.
  public static let name: StaticString = "erasure"
  public static var blank: Self { Self(stamp: .blank) }

  public mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.flags()
    row.flag(&isRestored)
    try row.field(&stamp)
  }
}

extension SweepRow: PackedRow, PackedFields {
  /// For errors.
  public static let name: StaticString = "sweep"
  /// 2 has passes.
  public static var versions: RowVersions { RowVersions(2) }
  public static var blank: Self { Self(.pass, envelope: .blank, cause: .blank) }

  public mutating func fields<Row: RowCoder>(_ row: inout Row) throws(Row.Failure) {
    try row.flags()
    var (isPerson, id) =
      switch subject {
      case .person(let userId): (true, userId)
      case .conversation(let conversationId): (false, conversationId)
      case .pass: (false, "")
      }
    row.flag(&isPerson)
    let hasAfter = row.flag(after != nil)
    let isPass = row.flag(subject == .pass)
    try row.field(&id)
    if Row.isReading {
      subject = isPass ? .pass : isPerson ? .person(userId: id) : .conversation(conversationId: id)
    }
    try row.field(&after, as: OptionalForm(BytesForm(), isThere: hasAfter))
    try row.field(&envelope)
    try row.field(&cause)
    try row.field(&nextIndex)
    if row.version >= 2 { try row.field(&pass) }
  }
}

public import NudgeCodec
import NudgeSchema
import StreamRuntime

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

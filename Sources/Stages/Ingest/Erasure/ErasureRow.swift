public import NudgeCodec
public import NudgeSchema

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

public import NudgeCodec
public import NudgeSchema

/// The deletion of a person or a conversation. The row stays. Its key is a hash, so it names nobody.
public struct ErasureRow: Sendable, Equatable, Encodable {
  /// The deletion's stamp: events that are not later are always refused.
  public internal(set) var stamp: EventStamp
  /// Whether the person registered a device, or the conversation was published, after the deletion.
  public internal(set) var isRestored: Bool

  init(stamp: EventStamp, isRestored: Bool = false) {
    self.stamp = stamp
    self.isRestored = isRestored
  }

  /// Whether an event of theirs is refused.
  func refuses(_ stamp: EventStamp) -> Bool { !isRestored || stamp <= self.stamp }
}

/// A pending erasure. The row is removed with its last step.
public struct SweepRow: Sendable, Equatable, Encodable {
  /// The subject of a sweep through the task's rows.
  public enum Subject: Sendable, Equatable, Encodable {
    /// A person, out of all conversations of the task.
    case person(userId: String)
    /// A conversation's members.
    case conversation(conversationId: String)
    /// All persons whose `pass` is this one's or lower, at once, out of all conversations of the task.
    case pass
  }
  public internal(set) var subject: Subject
  /// The last row that was looked at; nil: none yet. Persons' of earlier releases have it too, and are swept anew.
  public internal(set) var after: [UInt8]?
  /// The pass that takes a person out; the number of the pass. 0: of an earlier release, which the next pass takes along.
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

extension ErasureRow: PackedRow {
  /// For errors.
  public static let name: StaticString = "erasure"

  public init(packed row: inout RowReader) throws(RowFormatError) {
    var flags = RowFlags(bits: try row.unsigned())
    let isRestored = flags.take()
    self.init(stamp: try row.stamp(), isRestored: isRestored)
  }

  public func pack(into row: inout RowWriter) {
    var flags = RowFlags()
    flags.add(isRestored)
    row.unsigned(flags.bits)
    row.stamp(stamp)
  }
}

extension SweepRow: PackedRow {
  /// For errors.
  public static let name: StaticString = "sweep"
  /// 2 has passes.
  public static var versions: RowVersions { RowVersions(2) }

  public init(packed row: inout RowReader) throws(RowFormatError) {
    var flags = RowFlags(bits: try row.unsigned())
    let isPerson = flags.take()
    let hasAfter = flags.take()
    let isPass = flags.take()
    let id = try row.text()
    self.init(
      isPass ? .pass : isPerson ? .person(userId: id) : .conversation(conversationId: id),
      after: hasAfter ? try row.blob() : nil, envelope: try row.stamp(), cause: try row.origin(),
      nextIndex: try row.signed32())
    if row.version >= 2 { pass = try row.signed() }
  }

  public func pack(into row: inout RowWriter) {
    var flags = RowFlags()
    let (isPerson, id) =
      switch subject {
      case .person(let userId): (true, userId)
      case .conversation(let conversationId): (false, conversationId)
      case .pass: (false, "")
      }
    flags.add(isPerson)
    flags.add(after != nil)
    flags.add(subject == .pass)
    row.unsigned(flags.bits)
    row.text(id)
    if let after { row.blob(after) }
    row.stamp(envelope)
    row.origin(cause)
    row.signed(Int64(nextIndex))
    row.signed(pass)
  }
}

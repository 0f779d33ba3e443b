import NudgeCodec
public import NudgeSchema
public import StreamRuntime

/// A row of ingest's state. The key says which kind:
///
/// | key | row |
/// |---|---|
/// | `c` conversationId | `conversation` |
/// | `c` conversationId userId | `member` |
/// | `e` scope id | `events`, the newest event ids of a conversation (scope `c`) or a person (`u`, `r`) |
/// | `e` scope id number | `archive`, older event ids of the same |
/// | `w` conversationId number | `writers`, who wrote older messages |
/// | `d` userId deviceId | `device` |
/// | `o` token hash | `owner` |
/// | `f` offset conversationId | `fanOut`; the offset, in 16 hexadecimal digits, joined to the id |
/// | `x` hash | `erasure`, of a person or a conversation by the hash of their id |
/// | `y` id | `sweep`, a pending erasure; the id is of a person or conversation, behind `u` or `c`, or `p` for the pass under way |
///
/// Rows of chat events live in the conversation's task, devices in the person's, owners in the token's.
public enum IngestRow: StateRow, Equatable {
  /// A conversation and its last messages.
  case conversation(ConversationRow)
  /// One member, or a former one.
  case member(MemberRow)
  /// The newest event ids.
  case events(EventMemoryRow)
  /// Older event ids.
  case archive(EventArchiveRow)
  /// The authors of older messages.
  case writers(WritersRow)
  /// The token of a person's device.
  case device(RegistrationRow)
  /// The owner of a token.
  case owner(OwnerRow)
  /// A pending fan-out.
  case fanOut(FanOutRow)
  /// The deletion of a person or a conversation.
  case erasure(ErasureRow)
  /// A pending erasure.
  case sweep(SweepRow)

  /// Reads a row. Throws `RowFormatError` or `DecodingError` for bytes that are no row, and `StoreFailure` for a key of no kind.
  public init(key: RowKey, bytes: UnsafeRawBufferPointer, coder: RecordCoder) throws {
    let parts = key.bytes.reduce(1) { $1 == 0 ? $0 + 1 : $0 }
    let kind = key.bytes.count > 1 && key.bytes[1] == 0 ? key.bytes[0] : 0
    switch (kind, parts) {
    case (UInt8(ascii: "c"), 2): self = .conversation(try ConversationRow(bytes: bytes, coder: coder))
    case (UInt8(ascii: "c"), 3): self = .member(try MemberRow(bytes: bytes, coder: coder))
    case (UInt8(ascii: "e"), 3): self = .events(try EventMemoryRow(bytes: bytes, coder: coder))
    case (UInt8(ascii: "e"), 4): self = .archive(try EventArchiveRow(bytes: bytes, coder: coder))
    case (UInt8(ascii: "w"), 3): self = .writers(try WritersRow(bytes: bytes, coder: coder))
    case (UInt8(ascii: "d"), 3): self = .device(try RegistrationRow(bytes: bytes, coder: coder))
    case (UInt8(ascii: "o"), 2): self = .owner(try OwnerRow(bytes: bytes, coder: coder))
    case (UInt8(ascii: "f"), 2): self = .fanOut(try FanOutRow(bytes: bytes, coder: coder))
    case (UInt8(ascii: "x"), 2): self = .erasure(try ErasureRow(bytes: bytes, coder: coder))
    case (UInt8(ascii: "y"), 2): self = .sweep(try SweepRow(bytes: bytes, coder: coder))
    default:
      throw StoreFailure(
        operation: "read a row of ingest",
        reason: "its key is of no kind this version knows; was the state written by a newer version?")
    }
  }

  public func encoded(coder: RecordCoder, at level: FormatLevel) throws -> [UInt8] {
    switch self {
    case .conversation(let row): try row.packed(at: level, capacity: 2_048)
    case .member(let row): try row.packed(at: level)
    case .events(let row): try row.packed(at: level, capacity: 1_024)
    case .archive(let row): try row.packed(at: level, capacity: 2_048)
    case .writers(let row): try row.packed(at: level, capacity: 4_096)
    case .device(let row): try row.packed(at: level)
    case .owner(let row): try row.packed(at: level)
    case .fanOut(let row): try row.packed(at: level, capacity: 4_096)
    case .erasure(let row): try row.packed(at: level)
    case .sweep(let row): try row.packed(at: level)
    }
  }

  /// The row as JSON with sorted keys, for people.
  public func json(coder: RecordCoder) throws -> [UInt8] {
    switch self {
    case .conversation(let row): try coder.encode(row)
    case .member(let row): try coder.encode(row)
    case .events(let row): try coder.encode(row)
    case .archive(let row): try coder.encode(row)
    case .writers(let row): try coder.encode(row)
    case .device(let row): try coder.encode(row)
    case .owner(let row): try coder.encode(row)
    case .fanOut(let row): try row.json(coder: coder)
    case .erasure(let row): try coder.encode(row)
    case .sweep(let row): try coder.encode(row)
    }
  }
}

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
/// | `y` id | `sweep`, a pending erasure; the id is `u` and a user's id, `c` and a conversation's id, or `p` for the pass in progress |
///
/// Rows of chat events are in the conversation's task, devices in the person's, owners in the token's.
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

  /// Reads a row. Throws `RowFormatError` or `DecodingError` for bytes that are not a row of the key's kind, and `StoreFailure` for a key of an
  /// unknown kind.
  public init(key: RowKey, bytes: UnsafeRawBufferPointer, coder: RecordCoder) throws {
    let parts = key.bytes.reduce(1) { $1 == 0 ? $0 + 1 : $0 }
    let kind = key.bytes.count > 1 && key.bytes[1] == 0 ? key.bytes[0] : 0
    switch (kind, parts) {
    case (UInt8(ascii: "c"), 2): self = .conversation(try ConversationRow(bytes: bytes))
    case (UInt8(ascii: "c"), 3): self = .member(try MemberRow(bytes: bytes))
    case (UInt8(ascii: "e"), 3): self = .events(try EventMemoryRow(bytes: bytes))
    case (UInt8(ascii: "e"), 4): self = .archive(try EventArchiveRow(bytes: bytes))
    case (UInt8(ascii: "w"), 3): self = .writers(try WritersRow(bytes: bytes))
    case (UInt8(ascii: "d"), 3): self = .device(try RegistrationRow(bytes: bytes))
    case (UInt8(ascii: "o"), 2): self = .owner(try OwnerRow(bytes: bytes))
    case (UInt8(ascii: "f"), 2): self = .fanOut(try FanOutRow(bytes: bytes))
    case (UInt8(ascii: "x"), 2): self = .erasure(try ErasureRow(bytes: bytes))
    case (UInt8(ascii: "y"), 2): self = .sweep(try SweepRow(bytes: bytes))
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

extension IngestStage {
  /// How ingest's tasks are split. A task passes on records that are not on their key's partition (M9), so they may wait. A record for every
  /// task reaches only the tasks that exist when it is written, so it must be processed before the split.
  public static let splitRules = SplitRules(
    waiting: [
      .chatEvents: .passedOn, .userEvents: .passedOn, .deviceClaims: .passedOnUnless(header: ClaimWriter.everyTask),
    ],
    home: { key, _ in try IngestRow.home(of: key) })
}

extension IngestRow {
  /// A character that sorts before every digit.
  private static let beforeAllOffsets = UInt8(ascii: "-")

  /// The task of a row after a split.
  static func home(of key: RowKey) throws -> RowHome {
    let parts = key.parts
    switch (parts[0], parts.count) {
    case ("c", 2), ("c", 3), ("w", 3), ("d", 3), ("o", 2): return .taskOf(parts[1])
    case ("e", 3), ("e", 4): return .taskOf(parts[2])
    case ("f", 2) where key.bytes.count > 18:
      // The new task's own offsets begin at 0, and its fan-outs must come after the moved ones. So the first digit of a moved offset, which is
      // always 0, becomes a character that sorts before all digits.
      var moved = key.bytes
      moved[2] = beforeAllOffsets
      return .taskOf(String(decoding: key.bytes.dropFirst(18), as: UTF8.self), movedAs: RowKey(bytes: moved))
    // Erasures of conversations are in one task, those of people in every task. A hash does not tell which it is, so all go to every task.
    case ("x", 2): return .everyTask
    case ("y", 2) where parts[1].hasPrefix("u") || parts[1] == "p": return .everyTask
    case ("y", 2) where parts[1].hasPrefix("c"): return .taskOf(String(parts[1].dropFirst()))
    default:
      throw StoreFailure(
        operation: "move a row of ingest",
        reason: "its key is of no kind this version knows; was the state written by a newer version?")
    }
  }
}

import NudgeSchema
public import StreamRuntime

extension IngestStage {
  /// How its tasks are split: each passes on records that are not on their key's partition (M9). A record for every task reaches the tasks
  /// that exist when it is written, so it must be processed before the split.
  public static let splitRules = SplitRules(
    waiting: [
      .chatEvents: .passedOn, .userEvents: .passedOn, .deviceClaims: .passedOnUnless(header: ClaimWriter.everyTask),
    ],
    home: { key, _ in try IngestRow.home(of: key) })
}

extension IngestRow {
  /// Before the digits of all offsets, in the order of keys.
  private static let beforeAllOffsets = UInt8(ascii: "-")

  /// Where a row belongs when there are more tasks than before.
  static func home(of key: RowKey) throws -> RowHome {
    let parts = key.parts
    switch (parts[0], parts.count) {
    case ("c", 2), ("c", 3), ("w", 3), ("d", 3), ("o", 2): return .taskOf(parts[1])
    case ("e", 3), ("e", 4): return .taskOf(parts[2])
    case ("f", 2) where key.bytes.count > 18:
      // The new task's offsets begin at 0, and what it has pending must stay behind: the first digit of the offset, which is always 0,
      // becomes a character before all digits.
      var moved = key.bytes
      moved[2] = beforeAllOffsets
      return .taskOf(String(decoding: key.bytes.dropFirst(18), as: UTF8.self), movedAs: RowKey(bytes: moved))
    // Erasures of conversations are in one task, those of persons in each; a hash does not say which it is.
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

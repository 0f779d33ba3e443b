import NudgeSchema
public import StreamRuntime

extension AnalyzerStage {
  /// How its tasks are split. It does not pass records on: a candidate is for several people.
  public static let splitRules = SplitRules(
    home: { key, bytes in try AnalyzerRow.home(of: key, bytes) },
    // A replay has a row in each task, and a timer for it.
    homeOfTimer: { ReplayBudget.replayId(ofTimer: $0) == nil ? nil : .everyTask })
}

extension AnalyzerRow {
  /// Where a row belongs when there are more tasks than before.
  static func home(of key: RowKey, _ bytes: UnsafeRawBufferPointer) throws -> RowHome {
    let parts = key.parts
    switch (Kind(of: key), parts.count) {
    case (.user, 2), (.preferences, 2), (.learned, 2), (.conversation, 3), (.device, 3), (.receipts, 3), (.held, 4),
      (.missed, 3):
      return .taskOf(parts[1])
    case (.replay, 2): return .everyTask
    case (.replay, 3):
      guard Resend.isBucket(parts[1]) else { return .taskOf(parts[2]) }
      // A push that was made again, whose id does not name the person; or a person who was told.
      return Resend.person(ofKeyPart: parts[2]).map { RowHome.taskOf($0) } ?? .everyTask
    case (.erasure, 2):
      guard case .erasure(let row) = try AnalyzerRow(key: key, bytes: bytes, coder: RecordCoder()) else { break }
      return row.pendingUserId.map { RowHome.taskOf($0) } ?? .everyTask
    case (.user, _), (.preferences, _), (.learned, _), (.conversation, _), (.device, _), (.receipts, _), (.held, _),
      (.missed, _),
      (.replay, _),
      (.erasure, _), (nil, _):
      break
    }
    throw StoreFailure(
      operation: "move a row of the analyzer",
      reason: "its key is of no kind this version knows; was the state written by a newer version?")
  }
}

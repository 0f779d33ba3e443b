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
    switch Kind(of: key) {
    case .user, .preferences, .learned, .escalations, .told: if parts.count == 2 { return .taskOf(parts[1]) }
    case .conversation, .device, .receipts, .missed: if parts.count == 3 { return .taskOf(parts[1]) }
    case .held, .older: if parts.count == 4 { return .taskOf(parts[1]) }
    case .replay:
      if parts.count == 2 { return .everyTask }
      guard parts.count == 3 else { break }
      guard Resend.isBucket(parts[1]) else { return .taskOf(parts[2]) }
      // A push that was made again, whose id does not name the person; or a person who was told.
      return Resend.person(ofKeyPart: parts[2]).map { RowHome.taskOf($0) } ?? .everyTask
    case .erasure:
      guard parts.count == 2, case .erasure(let row) = try AnalyzerRow(key: key, bytes: bytes, coder: RecordCoder())
      else { break }
      return row.pendingUserId.map { RowHome.taskOf($0) } ?? .everyTask
    case nil: break
    }
    throw StoreFailure(
      operation: "move a row of the analyzer",
      reason: "its key is of no kind this version knows; was the state written by a newer version?")
  }
}

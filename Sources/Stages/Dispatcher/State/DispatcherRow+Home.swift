import NudgeSchema
public import StreamRuntime

extension DispatcherStage {
  /// How its tasks are split: rows are a person's. Pushes that wait in lanes move with their lanes.
  public static let splitRules = SplitRules(home: { key, _ in try DispatcherRow.home(of: key) })
}

extension DispatcherRow {
  /// Where a row belongs when there are more tasks than before.
  static func home(of key: RowKey) throws -> RowHome {
    let parts = key.parts
    switch (parts[0], parts.count) {
    case ("d", 3), ("o", 4): return .taskOf(parts[1])
    case ("w", 2): return .taskOf(String(decoding: DeviceKey(lane: key).userBytes, as: UTF8.self))
    default:
      throw StoreFailure(
        operation: "move a row of the dispatcher",
        reason: "its key is of no kind this version knows; was the state written by a newer version?")
    }
  }
}

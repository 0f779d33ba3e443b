import StreamRuntime

/// Reads the lane rows of a task that begins, a page at a time.
struct LaneLoader {
  typealias Found = (key: DeviceKey, row: LaneRow)

  /// Where the next page begins; nil: all rows were read.
  private var next: RowKey? = DeviceKey.allLanes

  var isDone: Bool { next == nil }

  /// The lanes of the next page, of at most `limit` rows in the store.
  mutating func nextPage(_ step: Step<DispatcherStage>, limit: Int) throws -> [Found] {
    guard let first = next else { return [] }
    let page = try step.page(below: DeviceKey.allLanes, from: first, limit: limit)
    next = page.next
    return Self.lanes(page)
  }

  /// All lanes of a person, which are neighbours in the store; none where all rows were read already.
  func lanes(of userId: String, _ step: Step<DispatcherStage>) throws -> [Found] {
    if isDone { return [] }
    let (first, end) = DeviceKey.lanes(of: userId)
    return Self.lanes(try step.page(below: DeviceKey.allLanes, from: first, before: end, limit: .max))
  }

  private static func lanes(_ page: RowPage<DispatcherRow>) -> [Found] {
    page.rows.compactMap { key, row in
      if case .lane(let lane) = row.content { (DeviceKey(lane: key), lane) } else { nil }
    }
  }
}

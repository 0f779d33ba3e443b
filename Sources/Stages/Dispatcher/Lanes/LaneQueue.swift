import NudgeSchema
import StreamRuntime

/// A device's lane in its rows: a queue in chunks, of which common operations touch only the first and the last.
struct LaneQueue {
  let key: DeviceKey
  let step: Step<DispatcherStage>

  /// The lane's row, which holds the front; nil: the lane is empty.
  func row() throws -> LaneRow? {
    guard case .lane(let row)? = try step.row(key.lane)?.content else { return nil }
    return row
  }

  private func overflow(_ number: Int) throws -> [WaitingPush] {
    guard case .overflow(let row)? = try step.row(key.overflow(number))?.content else { return [] }
    return row.items
  }

  private func set(_ row: LaneRow) throws { try step.set(DispatcherRow(.lane(row)), for: key.lane) }

  private func setOverflow(_ items: [WaitingPush], _ number: Int) throws {
    try step.set(DispatcherRow(.overflow(OverflowRow(items: items))), for: key.overflow(number))
  }

  /// The front: sent next, or in flight.
  func first() throws -> WaitingPush? { try row()?.items.first }

  func append(_ item: WaitingPush) throws {
    guard var row = try row() else { return try set(LaneRow(items: [item], count: 1)) }
    row.count += 1
    if row.firstOverflow == row.endOverflow {
      if Self.fits(item, behind: row.items) {
        row.items.append(item)
      } else {
        try setOverflow([item], row.endOverflow)
        row.endOverflow += 1
      }
    } else {
      var last = try overflow(row.endOverflow - 1)
      if Self.fits(item, behind: last) {
        last.append(item)
        try setOverflow(last, row.endOverflow - 1)
      } else {
        try setOverflow([item], row.endOverflow)
        row.endOverflow += 1
      }
    }
    try set(row)
  }

  func replaceFirst(_ item: WaitingPush) throws {
    guard var row = try row() else { return }
    row.items[0] = item
    try set(row)
  }

  /// Removes the front. Where that empties the lane's row, the first overflow row moves up.
  func removeFirst() throws {
    guard var row = try row() else { return }
    row.items.removeFirst()
    row.count -= 1
    while row.items.isEmpty, row.firstOverflow < row.endOverflow {
      row.items = try overflow(row.firstOverflow)
      try step.remove(key.overflow(row.firstOverflow))
      row.firstOverflow += 1
    }
    if row.items.isEmpty { try step.remove(key.lane) } else { try set(row) }
  }

  /// All pushes in order. Reads every row of the lane.
  func all() throws -> [WaitingPush] {
    guard let row = try row() else { return [] }
    return try (row.firstOverflow..<row.endOverflow).reduce(into: row.items) { $0 += try overflow($1) }
  }

  /// Removes and returns the pushes that match, from the `start`-th on, in order. If any does, every row of the lane is
  /// rewritten.
  func remove(from start: Int, where matches: (WaitingPush) -> Bool) throws -> [WaitingPush] {
    let items = try all()
    let removed = items.dropFirst(start).filter(matches)
    guard !removed.isEmpty, let row = try row() else { return [] }
    for number in row.firstOverflow..<row.endOverflow { try step.remove(key.overflow(number)) }
    try step.remove(key.lane)
    for item in items.prefix(start) { try append(item) }
    for item in items.dropFirst(start) where !matches(item) { try append(item) }
    return removed
  }

  /// Calls `change` with each push from the `start`-th on, and rewrites the rows of those for which it returns true.
  func update(from start: Int, _ change: (inout WaitingPush) -> Bool) throws {
    guard var row = try row() else { return }
    var changed = false
    for index in row.items.indices where index >= start && change(&row.items[index]) { changed = true }
    if changed { try set(row) }
    for number in row.firstOverflow..<row.endOverflow {
      var items = try overflow(number)
      var changed = false
      for index in items.indices where change(&items[index]) { changed = true }
      if changed { try setOverflow(items, number) }
    }
  }

  private static func fits(_ item: WaitingPush, behind items: [WaitingPush]) -> Bool {
    items.reduce(item.rowBytes) { $0 + $1.rowBytes } <= LaneRow.fillBytes
  }
}

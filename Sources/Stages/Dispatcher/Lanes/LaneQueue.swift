import NudgeSchema
import StreamRuntime

/// A device's lane in its rows. The queue is stored in several rows, so that common operations read and write only the first and the last.
struct LaneQueue {
  let key: DeviceKey
  let step: Step<DispatcherStage>

  /// The lane's first row, which contains the front; nil if the lane is empty.
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

  /// The front of the lane, which is sent next or is in flight.
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

  /// The answer to the front's request, which left in a former epoch, is here: the front waits no longer until none could come.
  /// - Returns: false where the front is another push, its last request another one, or it does not wait.
  func endWait(forReplyTo effect: EffectTicket) throws -> Bool {
    guard var item = try first(), item.inAir, item.notBefore > step.now, item.attempts == effect.attempt,
      item.effectKey == effect.effect
    else { return false }
    item.notBefore = step.now
    try replaceFirst(item)
    return true
  }

  /// Removes the front. If that empties the lane's row, the first overflow row moves up.
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

  /// Removes and returns the matching pushes in order, beginning with the `start`-th. If any matches, every row of the lane is rewritten.
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

  /// Calls `change` for each push, and rewrites the rows with a push for which it returned true.
  func update(_ change: (inout WaitingPush) -> Bool) throws {
    guard var row = try row() else { return }
    var changed = false
    for index in row.items.indices where change(&row.items[index]) { changed = true }
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

/// Reads the lane rows of a task that begins, page by page.
struct LaneLoader {
  typealias Found = (key: DeviceKey, row: LaneRow)

  /// Where the next page begins; nil once all rows were read.
  private var next: RowKey? = DeviceKey.allLanes

  var isDone: Bool { next == nil }

  /// The lanes of the next page, which has at most `limit` rows.
  mutating func nextPage(_ step: Step<DispatcherStage>, limit: Int) throws -> [Found] {
    guard let first = next else { return [] }
    let page = try step.page(below: DeviceKey.allLanes, from: first, limit: limit)
    next = page.next
    return Self.lanes(page)
  }

  /// All lanes of a person, which are adjacent in the store. Empty once all rows were read.
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

/// A binary heap of elements by time. Of elements with the same time, the one inserted first comes first.
struct DueQueue<Element> {
  private struct Entry {
    var time: Milliseconds
    var sequence: UInt64
    var element: Element
  }
  private var entries: [Entry] = []
  private var nextSequence: UInt64 = 0

  /// The earliest time.
  var first: Milliseconds? { entries.first?.time }

  mutating func insert(_ element: Element, at time: Milliseconds) {
    entries.append(Entry(time: time, sequence: nextSequence, element: element))
    nextSequence += 1
    var child = entries.count - 1
    while child > 0, precedes(child, (child - 1) / 2) {
      entries.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  mutating func pop() -> (element: Element, time: Milliseconds)? {
    guard let top = entries.first else { return nil }
    let last = entries.removeLast()
    if !entries.isEmpty {
      entries[0] = last
      var parent = 0
      while true {
        var least = parent
        for child in [2 * parent + 1, 2 * parent + 2] where child < entries.count && precedes(child, least) {
          least = child
        }
        if least == parent { break }
        entries.swapAt(parent, least)
        parent = least
      }
    }
    return (top.element, top.time)
  }

  private func precedes(_ a: Int, _ b: Int) -> Bool {
    (entries[a].time, entries[a].sequence) < (entries[b].time, entries[b].sequence)
  }
}

/// A queue: first in, first out.
struct Fifo<Element> {
  private var elements: [Element] = []
  private var head = 0

  var isEmpty: Bool { head == elements.count }

  var first: Element? { isEmpty ? nil : elements[head] }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func popFirst() -> Element? {
    guard head < elements.count else { return nil }
    defer {
      head += 1
      // Half of the array is unused: moves the rest down, so that each element is moved about once.
      if head > 64, head * 2 > elements.count {
        elements.removeFirst(head)
        head = 0
      }
    }
    return elements[head]
  }
}

/// A request of a task, in flight.
struct Flight {
  var lane: LaneSchedule.LaneID
  var scope: DeliveryScope
  /// Where it went. Meanwhile the push may have received another registration of the device.
  var target: PushTarget
  /// The breakers that this request probes.
  var probes: [DeliveryScope]
}

/// The requests of a task in flight, with a limit for each destination, so that a slow destination does not reduce the requests to others.
struct Flights {
  private struct Window {
    var window: FlightWindow
    var count = 0
  }

  private let limit: Int
  private var flights: [UInt64: Flight] = [:]
  private var windows: [Destination: Window] = [:]

  /// - Parameter limit: The most requests to one destination.
  init(limit: Int) { self.limit = limit }

  var count: Int { flights.count }

  /// Whether another request to a destination is allowed.
  func hasRoom(_ destination: Destination) -> Bool {
    windows[destination].map { $0.count < $0.window.size } ?? true
  }

  mutating func begin(_ id: UInt64, _ flight: Flight) {
    flights[id] = flight
    windows[flight.scope.destination, default: Window(window: FlightWindow(limit: limit))].count += 1
  }

  /// The request ends, whatever its answer. Returns nil if it belongs to an earlier epoch.
  mutating func end(_ id: UInt64) -> Flight? {
    guard let flight = flights.removeValue(forKey: id) else { return nil }
    windows[flight.scope.destination]?.count -= 1
    return flight
  }

  /// A request that has ended waited too long in the process.
  mutating func shrink(_ destination: Destination, now: Milliseconds) {
    let count = windows[destination]?.count ?? 0
    windows[destination]?.window.shrink(inFlight: count, now: now)
  }

  /// A request was answered.
  mutating func grow(_ destination: Destination) { windows[destination]?.window.grow() }
}

/// How many requests a task may have in flight. It shrinks when requests wait too long in the process, and grows by one with each round of
/// answers, like a TCP congestion window without slow start (RFC 5681, section 3.1). It shrinks to seven tenths (RFC 9438, section 4.6), so
/// that the connections stay busy.
struct FlightWindow {
  /// Requests wait too long in groups, and each group counts once.
  private static let shrinkInterval: Milliseconds = 1_000
  /// The smallest window, so that a task also sends if FCM takes seconds.
  static let least = 8

  private let limit: Int
  private(set) var size: Int
  /// Answers since the window last grew.
  private var answers = 0
  private var shrunkAt: Milliseconds?

  init(limit: Int) {
    self.limit = limit
    size = limit
  }

  /// A request waited too long in the process.
  mutating func shrink(inFlight: Int, now: Milliseconds) {
    if let shrunkAt, now - shrunkAt < Self.shrinkInterval { return }
    shrunkAt = now
    answers = 0
    size = min(size, max(inFlight * 7 / 10, Self.least))
  }

  /// A request was answered. A full window of answers allows one more request. If each answer did, the window would double with each round,
  /// and half of all requests would wait in vain.
  mutating func grow() {
    guard size < limit else { return }
    answers += 1
    if answers >= size {
      answers = 0
      size += 1
    }
  }
}

public import NudgeSchema

/// The timers of a task, which are rows of its state ordered by due time. Only a window of the next timers is in memory.
///
/// A timer costs a row when it is set and a tombstone when it has fired, however many other timers there are.
///
/// The row is removed in the transaction that processes the record `timer.fired`, which comes back through the stage's input. A timer
/// therefore fires exactly once: a second record (the embedded broker has no transactions) finds no row.
///
/// One thread owns the queue. As with `RowCache`, a step's changes can be undone, and the store is never ahead.
struct TimerQueue {
  /// The number of timers read from the store at a time. When four times as many are in memory, the later ones are dropped from it.
  let windowSize: Int
  /// The most fired timers whose records have not come back. Further due timers wait in the store.
  let maxFired: Int

  /// The bytes of a row. Absent for a removed row.
  private typealias Value = [UInt8]?

  /// Changes since the last transaction was sealed.
  private var open: [RowKey: Value] = [:]
  /// Changes of the sealed transaction.
  private var sealed: [RowKey: Value] = [:]
  /// Committed changes that the store lacks.
  private var unstored: [RowKey: Value] = [:]
  /// All timers before `horizon` that have not fired.
  private var window = SortedTimers()
  /// Timers that this owner has fired and whose records have not come back.
  private var fired: [RowKey: [UInt8]] = [:]
  /// The first timer that is not in the window but only in the store or among the changes. Absent if the window has all timers.
  private var horizon: RowKey? = TimerKey(due: 0, name: "").row
  private var journal: [(key: RowKey, change: Value?, inWindow: [UInt8]?, fired: [UInt8]?)] = []
  private let store: any RowStore

  init(store: any RowStore, windowSize: Int = 1024, maxFired: Int = 2000) {
    self.store = store
    self.windowSize = windowSize
    self.maxFired = maxFired
  }

  // MARK: State

  /// The number of timers changed since the last transaction was sealed.
  var openCount: Int { open.count }

  /// The number of committed changes that the store lacks.
  var unstoredCount: Int { unstored.count }

  /// The number of timers in memory.
  var count: Int { window.count + fired.count }

  private func isWithinHorizon(_ key: RowKey) -> Bool { horizon.map { key < $0 } ?? true }

  /// The row of a timer. Absent if the timer is not set.
  func value(_ key: RowKey) throws -> [UInt8]? {
    if let change = open[key] { return change }
    if let value = fired[key] { return value }
    if let change = sealed[key] ?? unstored[key] { return change }
    if isWithinHorizon(key) { return window[key] }
    return try store.withRow(key) { Array($0) }
  }

  // MARK: Steps

  /// Sets a timer, or replaces its cause.
  mutating func set(_ key: RowKey, _ value: [UInt8]) {
    change(key, to: value)
    if fired[key] != nil {
      fired[key] = value
    } else if isWithinHorizon(key) {
      window[key] = value
      if window.count > 4 * windowSize { horizon = window.shrink(to: windowSize) }
    }
  }

  /// Removes a timer, whether it is set or not.
  mutating func remove(_ key: RowKey) {
    change(key, to: nil)
    window[key] = nil
    fired[key] = nil
  }

  private mutating func change(_ key: RowKey, to value: Value) {
    journal.append((key, open[key], window[key], fired[key]))
    open[key] = .some(value)
  }

  /// Starts a step, whose changes can be undone.
  mutating func beginStep() {
    if !journal.isEmpty { journal.removeAll(keepingCapacity: true) }
  }

  /// Undoes the changes of the step.
  mutating func undoStep() {
    for (key, change, inWindow, wasFired) in journal.reversed() {
      open[key] = change
      fired[key] = wasFired
      // The window may have shrunk since. Later timers are in the store.
      window[key] = isWithinHorizon(key) ? inWindow : nil
    }
    journal.removeAll(keepingCapacity: true)
  }

  // MARK: Firing

  /// When the next timer may be due. Absent if there is no timer or enough timers have fired.
  var nextDue: Milliseconds? {
    guard fired.count < maxFired else { return nil }
    let first = window.first ?? horizon
    return first.flatMap { TimerKey(row: $0)?.due }
  }

  /// Whether due timers may be only in the store. If so, call `load`.
  func needsLoad(now: Milliseconds) -> Bool {
    guard window.first == nil, let horizon, let due = TimerKey(row: horizon)?.due else { return false }
    return due <= now && fired.count < maxFired
  }

  /// Reads the next window from the store, and merges the changes.
  mutating func load() throws {
    guard let from = horizon else { return }
    var last: RowKey?
    var count = 0
    try store.rows(from: from, to: TimerKey.end, limit: windowSize) { key, bytes in
      if fired[key] == nil { window[key] = Array(bytes) }
      last = key
      count += 1
    }
    // Just after the last key: that key and one more byte.
    horizon = count < windowSize ? nil : last.map { RowKey(bytes: $0.bytes + [0]) }
    for changes in [unstored, sealed, open] {
      for (key, value) in changes where key >= from && isWithinHorizon(key) && fired[key] == nil { window[key] = value }
    }
  }

  /// Removes and returns the next due timer, which counts as fired from now on. Absent if no timer is due or enough timers have fired.
  mutating func fireNext(now: Milliseconds) -> (key: TimerKey, row: [UInt8])? {
    guard fired.count < maxFired, let key = window.first, let timer = TimerKey(row: key), timer.due <= now,
      let value = window[key]
    else { return nil }
    window[key] = nil
    fired[key] = value
    return (timer, value)
  }

  // MARK: Transactions and store

  /// Seals the open changes and returns them in key order. Call only while nothing else is sealed.
  mutating func seal() -> [(key: RowKey, bytes: [UInt8]?)] {
    journal.removeAll(keepingCapacity: true)
    swap(&sealed, &open)
    return Self.rows(of: sealed)
  }

  /// Marks the sealed changes as committed.
  mutating func committed() {
    if unstored.isEmpty {
      swap(&unstored, &sealed)
    } else {
      unstored.merge(sealed) { $1 }
    }
    sealed.removeAll(keepingCapacity: true)
  }

  /// The committed changes that the store lacks, in key order.
  func unstoredRows() -> [(key: RowKey, bytes: [UInt8]?)] { Self.rows(of: unstored) }

  private static func rows(of changes: [RowKey: Value]) -> [(key: RowKey, bytes: [UInt8]?)] {
    changes.sorted { $0.key < $1.key }.map { (key: $0.key, bytes: $0.value) }
  }

  /// Marks all `unstoredRows` as stored.
  mutating func stored() { unstored.removeAll(keepingCapacity: true) }
}

/// Timers in memory: a dictionary, and a heap of its keys for the first one. Removed keys stay in the heap until they reach its top.
struct SortedTimers {
  private var values: [RowKey: [UInt8]] = [:]
  /// A binary heap with the least key first. It may have removed keys, and a key may be in it twice.
  private var heap: [RowKey] = []

  /// The number of timers.
  var count: Int { values.count }

  /// The first timer.
  var first: RowKey? { heap.first }

  /// The row of a timer. Absent if the timer is not here.
  subscript(key: RowKey) -> [UInt8]? {
    get { values[key] }
    set {
      guard let newValue else {
        if values.removeValue(forKey: key) != nil { dropRemoved() }
        return
      }
      if values.updateValue(newValue, forKey: key) == nil { push(key) }
    }
  }

  /// Keeps only the first `size` timers. Returns the first of the others.
  mutating func shrink(to size: Int) -> RowKey? {
    let keys = values.keys.sorted()
    guard keys.count > size else { return nil }
    for key in keys[size...] { values[key] = nil }
    // A sorted array is a heap.
    heap = Array(keys[..<size])
    return keys[size]
  }

  /// Removes keys without a timer from the top of the heap.
  private mutating func dropRemoved() {
    while let key = heap.first, values[key] == nil { pop() }
    // The heap is rebuilt when most of its keys were removed.
    if heap.count > 64, heap.count > 2 * values.count { heap = values.keys.sorted() }
  }

  private mutating func push(_ key: RowKey) {
    heap.append(key)
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child] < heap[parent] else { break }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  private mutating func pop() {
    guard let last = heap.popLast(), !heap.isEmpty else { return }
    heap[0] = last
    var parent = 0
    while true {
      let left = 2 * parent + 1
      guard left < heap.count else { return }
      let right = left + 1
      let child = right < heap.count && heap[right] < heap[left] ? right : left
      guard heap[child] < heap[parent] else { return }
      heap.swapAt(child, parent)
      parent = child
    }
  }
}

/// A due timer and its cause.
public struct DueTimer: Sendable {
  /// The stage's name of the timer.
  public let name: String
  /// When it is due, in milliseconds since the epoch.
  public let due: Milliseconds
  /// The id of the event that set it.
  public let eventId: String
  /// The record that set it.
  public let origin: Origin
  /// The chat or user event that started the chain.
  public let source: RecordPosition
}

/// The row of a timer, beside its key.
struct TimerRow: Codable, Equatable {
  /// The key of the `timer.fired` record.
  var key: String
  var eventId: String
  var origin: Origin
  var source: RecordPosition

  func due(_ timer: TimerKey) -> DueTimer {
    DueTimer(name: timer.name, due: timer.due, eventId: eventId, origin: origin, source: source)
  }

  /// The record for the stage's own input when the timer is due. A header names the timer, so that the runtime need not read the value.
  func record(of timer: TimerKey, value: [UInt8], to topic: Topic, partition: Int32) -> OutputRecord {
    OutputRecord(
      topic: topic, partition: partition, key: Array(key.utf8), value: value,
      headers: [RecordHeaderField(RecordHeader.timer, "\(timer.due) \(timer.name)")])
  }
}

extension TimerRow {
  /// Reads a row of a store.
  /// - Throws: `StoreFailure`, which ends the thread, for a row that is damaged or of a later release.
  init(_ bytes: [UInt8], store: some RowStore, coder: RecordCoder) throws(StoreFailure) {
    do {
      self = try coder.decode(TimerRow.self, from: bytes)
    } catch {
      store.suspectDamage()
      throw StoreFailure(
        operation: "read a timer",

        reason: "it is damaged, or of a later release: run the release that wrote it, or a later one")
    }
  }
}

extension TimerKey {
  /// The timer to which a record belongs, by its header. Fails for a record that is not a timer's.
  init?(firedBy record: InputRecord) {
    guard !record.headers.isEmpty, let header = record.header(RecordHeader.timer),
      let space = header.firstIndex(of: UInt8(ascii: " ")),
      let due = Milliseconds(String(decoding: header[..<space], as: UTF8.self))
    else { return nil }
    self.init(due: due, name: String(decoding: header[(space + 1)...], as: UTF8.self))
  }
}

/// The row key of a timer: `@timer`, the due time as 16 hexadecimal digits, and the name. Timers sort by due time. They come before
/// the rows of stages, whose keys begin with a letter.
struct TimerKey: Hashable, Comparable {
  /// The due time in milliseconds since the epoch, at least 0.
  let due: Milliseconds
  /// The stage's name for the timer.
  let name: String
  let row: RowKey

  private static let prefix = Array("@timer\u{0}".utf8)
  private static let digits = Array("0123456789abcdef".utf8)
  private static let headerLength = prefix.count + 16 + 1

  /// A key after all timers.
  static let end = RowKey(bytes: Array("@timer\u{1}".utf8))

  /// Makes the key of a timer. A due time before the epoch becomes 0.
  init(due: Milliseconds, name: String) {
    self.due = max(0, due)
    self.name = name
    var bytes = Self.prefix
    bytes.reserveCapacity(Self.headerLength + name.utf8.count)
    for shift in stride(from: 60, through: 0, by: -4) { bytes.append(Self.digits[Int(self.due >> shift & 15)]) }
    bytes.append(0)
    bytes.append(contentsOf: name.utf8)
    row = RowKey(bytes: bytes)
  }

  /// The timer of a row. Fails for a row that is not a timer.
  init?(row: RowKey) {
    guard Self.isTimer(row), row.bytes.count >= Self.headerLength else { return nil }
    let digits = row.bytes[Self.prefix.count..<(Self.headerLength - 1)]
    guard let due = Milliseconds(String(decoding: digits, as: UTF8.self), radix: 16), due >= 0 else { return nil }
    self.due = due
    name = String(decoding: row.bytes[Self.headerLength...], as: UTF8.self)
    self.row = row
  }

  static func isTimer(_ row: RowKey) -> Bool { row.bytes.starts(with: prefix) }

  static func == (a: TimerKey, b: TimerKey) -> Bool { a.row == b.row }
  func hash(into hasher: inout Hasher) { hasher.combine(row) }
  /// Orders by due time, then by name.
  static func < (a: TimerKey, b: TimerKey) -> Bool { a.row < b.row }
}

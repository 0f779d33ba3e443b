import NudgeSchema

/// The timers of a task: rows of its state, ordered by due time. A window of the next ones is in memory.
///
/// A timer costs a row when it is set and a tombstone when it has fired, however many others there are.
///
/// The row is removed in the transaction of the record `timer.fired`, after that has come back through the stage's input. So a timer
/// fires exactly once: a second record (the embedded broker has no transactions) finds no row.
///
/// One thread owns it. As with `RowCache`, a step's changes can be undone, and the store never leads.
struct TimerQueue {
  /// The number of timers read from the store at a time. With four times as many in memory, the later ones are dropped from it.
  let windowSize: Int
  /// The largest number of fired timers whose records have not come back. Further due timers wait in the store.
  let maxFired: Int

  /// The bytes of a row; nil: removed.
  private typealias Value = [UInt8]?

  /// Changed since the last transaction was sealed.
  private var open: [RowKey: Value] = [:]
  /// Changes of the sealed transaction.
  private var sealed: [RowKey: Value] = [:]
  /// Committed changes that the store lacks.
  private var unstored: [RowKey: Value] = [:]
  /// All timers before `horizon` that have not fired.
  private var window = SortedTimers()
  /// Timers fired by this owner whose records have not come back.
  private var fired: [RowKey: [UInt8]] = [:]
  /// Timers from here on are not in the window, only in the store or among the changes; nil: the window has all.
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

  /// The row of a timer; nil: it is not set.
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
      // The window may have shrunk since; later timers are in the store.
      window[key] = isWithinHorizon(key) ? inWindow : nil
    }
    journal.removeAll(keepingCapacity: true)
  }

  // MARK: Firing

  /// When the next timer may be due; nil: there is no timer, or enough have fired.
  var nextDue: Milliseconds? {
    guard fired.count < maxFired else { return nil }
    let first = window.first ?? horizon
    return first.flatMap { TimerKey(row: $0)?.due }
  }

  /// Whether due timers may be in the store only. Then call `load`.
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
    // Just after the last one: its key and one more byte.
    horizon = count < windowSize ? nil : last.map { RowKey(bytes: $0.bytes + [0]) }
    for changes in [unstored, sealed, open] {
      for (key, value) in changes where key >= from && isWithinHorizon(key) && fired[key] == nil { window[key] = value }
    }
  }

  /// Takes the next due timer, which counts as fired from now on; nil: no timer is due, or enough have fired.
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

  /// The sealed changes are committed.
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

  /// The store has all `unstoredRows` now.
  mutating func stored() { unstored.removeAll(keepingCapacity: true) }
}

/// Timers in memory: a dictionary, and a heap of its keys for the first one. Removed keys stay in the heap until they reach its top.
struct SortedTimers {
  private var values: [RowKey: [UInt8]] = [:]
  /// A binary heap with the least key first. It may have removed keys, and a key twice.
  private var heap: [RowKey] = []

  /// Timers held.
  var count: Int { values.count }

  /// The first timer.
  var first: RowKey? { heap.first }

  /// The row of a timer; nil: it is not here.
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
    // Rebuild the heap when most of its keys were removed.
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

import NudgeSchema

/// The timers of one task: rows of its state in the order of their due times, of which the next ones are in memory.
///
/// A timer costs a row when it is set and a tombstone when it has fired or is cancelled, however many others there are:
/// the store keeps them in order, and a window of the next ones is read at a time.
///
/// The row stays until the record `timer.fired` has come back through the stage's input and is processed; then it goes, in
/// that record's transaction. So a timer fires exactly once whatever happens in between: one that was written twice (on the
/// embedded broker, which has no transactions) finds its row gone the second time, and one that was cancelled when its record
/// was under way is not heard of any more.
///
/// One thread owns it. As with `RowCache`, a step's changes can be undone, and the store never leads.
struct TimerQueue {
  /// Timers read from the store at a time. Beyond four times as many in memory the later ones are left to the store.
  let windowSize: Int
  /// Timers fired whose records have not come back, beyond which no more are fired: a backlog waits in the store.
  let maxFired: Int

  /// A value of a row; nil: removed.
  private typealias Value = [UInt8]?

  /// Changed since the last transaction was sealed.
  private var open: [RowKey: Value] = [:]
  /// Of a transaction that is sealed and not committed.
  private var sealed: [RowKey: Value] = [:]
  /// Committed and not in the store yet.
  private var unstored: [RowKey: Value] = [:]
  /// All timers that are set, lie before `horizon` and have not fired.
  private var window = SortedTimers()
  /// Fired by this owner; their records have not come back.
  private var fired: [RowKey: [UInt8]] = [:]
  /// From here on timers are in the store only, or in what has changed; nil: there are none beyond the window.
  private var horizon: RowKey? = TimerKey(due: 0, name: "").row
  private var journal: [(key: RowKey, change: Value?, inWindow: [UInt8]?, fired: [UInt8]?)] = []
  private let store: any RowStore

  init(store: any RowStore, windowSize: Int = 1024, maxFired: Int = 2000) {
    self.store = store
    self.windowSize = windowSize
    self.maxFired = maxFired
  }

  // MARK: State

  /// Timers that have changed since the last transaction was sealed.
  var openCount: Int { open.count }

  /// Committed changes the store lacks.
  var unstoredCount: Int { unstored.count }

  /// Timers in memory.
  var count: Int { window.count + fired.count }

  private func isWithinHorizon(_ key: RowKey) -> Bool { horizon.map { key < $0 } ?? true }

  /// The row of a timer; nil where it is not set.
  func value(_ key: RowKey) throws -> [UInt8]? {
    if let change = open[key] { return change }
    if let value = fired[key] { return value }
    if let change = sealed[key] ?? unstored[key] { return change }
    if isWithinHorizon(key) { return window[key] }
    return try store.withRow(key) { Array($0) }
  }

  // MARK: Steps

  /// Sets a timer, or replaces what it says of its cause.
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

  /// From here on changes can be undone.
  mutating func beginStep() {
    if !journal.isEmpty { journal.removeAll(keepingCapacity: true) }
  }

  /// Undoes what the step changed.
  mutating func undoStep() {
    for (key, change, inWindow, wasFired) in journal.reversed() {
      open[key] = change
      fired[key] = wasFired
      // The window may have been cut since: what lies behind its end now is in the store.
      window[key] = isWithinHorizon(key) ? inWindow : nil
    }
    journal.removeAll(keepingCapacity: true)
  }

  // MARK: Firing

  /// When to look for timers that are due; nil: there are none, or enough have fired for now.
  var nextDue: Milliseconds? {
    guard fired.count < maxFired else { return nil }
    let first = window.first ?? horizon
    return first.flatMap { TimerKey(row: $0)?.due }
  }

  /// Whether timers that may be due are in the store only: `load` is to be called.
  func needsLoad(now: Milliseconds) -> Bool {
    guard window.first == nil, let horizon, let due = TimerKey(row: horizon)?.due else { return false }
    return due <= now && fired.count < maxFired
  }

  /// Reads the next window: of the store, and what has changed over it.
  mutating func load() throws {
    guard let from = horizon else { return }
    var last: RowKey?
    var count = 0
    try store.rows(from: from, to: TimerKey.end, limit: windowSize) { key, bytes in
      if fired[key] == nil { window[key] = Array(bytes) }
      last = key
      count += 1
    }
    // Behind the last one: its key and one byte more.
    horizon = count < windowSize ? nil : last.map { RowKey(bytes: $0.bytes + [0]) }
    for changes in [unstored, sealed, open] {
      for (key, value) in changes where key >= from && isWithinHorizon(key) && fired[key] == nil { window[key] = value }
    }
  }

  /// The next timer that is due, which counts as fired from now on; nil: none is, or enough have fired for now.
  mutating func fireNext(now: Milliseconds) -> (key: TimerKey, row: [UInt8])? {
    guard fired.count < maxFired, let key = window.first, let timer = TimerKey(row: key), timer.due <= now,
      let value = window[key]
    else { return nil }
    window[key] = nil
    fired[key] = value
    return (timer, value)
  }

  // MARK: Transactions and store

  /// Seals what is open, and returns it in key order. Only while nothing else is sealed.
  mutating func seal() -> [(key: RowKey, bytes: [UInt8]?)] {
    journal.removeAll(keepingCapacity: true)
    swap(&sealed, &open)
    return Self.rows(of: sealed)
  }

  /// What was sealed is committed.
  mutating func committed() {
    if unstored.isEmpty {
      swap(&unstored, &sealed)
    } else {
      unstored.merge(sealed) { $1 }
    }
    sealed.removeAll(keepingCapacity: true)
  }

  /// The committed rows the store lacks, in key order.
  func unstoredRows() -> [(key: RowKey, bytes: [UInt8]?)] { Self.rows(of: unstored) }

  private static func rows(of changes: [RowKey: Value]) -> [(key: RowKey, bytes: [UInt8]?)] {
    changes.sorted { $0.key < $1.key }.map { (key: $0.key, bytes: $0.value) }
  }

  /// The store has all of `unstoredRows` now.
  mutating func stored() { unstored.removeAll(keepingCapacity: true) }
}

/// Timers in memory, with the first at hand: a heap of keys beside a dictionary, in which a key that was removed stays
/// until it comes up.
struct SortedTimers {
  private var values: [RowKey: [UInt8]] = [:]
  /// A binary heap, the least key first; may hold keys that have no value any more, and a key twice.
  private var heap: [RowKey] = []

  /// Timers held.
  var count: Int { values.count }

  /// The first timer.
  var first: RowKey? { heap.first }

  /// What a timer says; nil: it is not here.
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

  /// Leaves only the first `size`; returns the first of the others.
  mutating func shrink(to size: Int) -> RowKey? {
    let keys = values.keys.sorted()
    guard keys.count > size else { return nil }
    for key in keys[size...] { values[key] = nil }
    // Sorted is a heap.
    heap = Array(keys[..<size])
    return keys[size]
  }

  /// The heap's first is a timer that is here.
  private mutating func dropRemoved() {
    while let key = heap.first, values[key] == nil { pop() }
    // Where most are gone, e.g. cancelled long before they are due, what is left is made anew.
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

import NudgeSchema
import TestSupport
import Testing

@testable import StreamRuntime

@Suite("The timers of a task")
struct TimerQueueTests {
  /// Does with a queue what a stream thread does, and compares it with a dictionary of the timers set.
  private struct Bench {
    var random: SeededGenerator
    let store = MemoryRowStore()
    var queue: TimerQueue
    /// The timers set, with the current step.
    var set: [TimerKey: [UInt8]] = [:]
    /// As of the last commit.
    var committed: [TimerKey: [UInt8]] = [:]
    /// Records of fired timers that are not processed yet, in order. Some may be from before a restart.
    var firedRecords: [TimerKey] = []
    /// Fired since the last seal.
    var openFired: [TimerKey] = []
    /// The sealed timers: those set, and those fired for it.
    var sealed: (set: [TimerKey: [UInt8]], fired: [TimerKey])?
    var processed: [TimerKey] = []
    var now: Milliseconds = 1000

    init(seed: UInt64) {
      random = SeededGenerator(seed: seed)
      queue = TimerQueue(store: store, windowSize: 8, maxFired: 12)
    }

    mutating func key() -> TimerKey {
      TimerKey(due: now + Milliseconds(random.below(400)) - 50, name: "n\(random.below(6))")
    }

    mutating func step() throws {
      queue.beginStep()
      let before = set
      for _ in 0...random.below(4) {
        if random.oneIn(4), let some = set.keys.sorted().randomElement(using: &random) {
          queue.remove(some.row)
          set[some] = nil
        } else {
          let key = key()
          let value = [UInt8(random.below(256))]
          queue.set(key.row, value)
          set[key] = value
        }
      }
      if random.oneIn(5) {
        queue.undoStep()
        set = before
      }
    }

    mutating func seal() {
      guard sealed == nil else { return }
      let changes = queue.seal()
      #expect(changes.map(\.key) == changes.map(\.key).sorted())
      sealed = (set, openFired)
      openFired = []
    }

    mutating func commit() {
      guard let sealed else { return }
      queue.committed()
      committed = sealed.set
      firedRecords += sealed.fired
      self.sealed = nil
    }

    mutating func flush() {
      store.apply(queue.unstoredRows())
      queue.stored()
    }

    mutating func fire() throws {
      while queue.needsLoad(now: now) { try queue.load() }
      while let (key, value) = queue.fireNext(now: now) {
        #expect(key.due <= now)
        #expect(set[key] == value)
        openFired.append(key)
      }
    }

    /// Processes the first record.
    mutating func process() throws {
      guard !firedRecords.isEmpty else { return }
      let key = firedRecords.removeFirst()
      queue.beginStep()
      let value = try queue.value(key.row)
      #expect(value == set[key])
      guard value != nil else { return }
      queue.remove(key.row)
      set[key] = nil
      processed.append(key)
    }

    /// A crash: uncommitted changes are lost, and the changelog restores the store.
    mutating func restart() {
      for (key, _) in store.rows { store.apply([(key, nil)]) }
      for (key, value) in committed { store.apply([(key.row, value)]) }
      queue = TimerQueue(store: store, windowSize: 8, maxFired: 12)
      set = committed
      openFired = []
      sealed = nil
    }
  }

  @Test(
    "in any order of set, undo, commit, fire and restart, each timer is processed once, and never before it is due",
    arguments: 1...60 as ClosedRange<UInt64>)
  func random(_ seed: UInt64) throws {
    var bench = Bench(seed: seed)
    for _ in 0..<400 {
      switch bench.random.below(12) {
      case 0...3: try bench.step()
      case 4: bench.seal()
      case 5: bench.commit()
      case 10:
        bench.flush()
        #expect(
          Dictionary(uniqueKeysWithValues: bench.committed.map { ($0.key.row, $0.value) }) == bench.store.rows,
          "seed \(seed): the store has what is committed")
      case 6: bench.now += Milliseconds(bench.random.below(60))
      case 7: try bench.fire()
      case 8: for _ in 0..<bench.random.below(6) { try bench.process() }
      default: if bench.random.oneIn(6) { bench.restart() }
      }
      for key in bench.set.keys { #expect(try bench.queue.value(key.row) == bench.set[key], "seed \(seed)") }
    }
    // All remaining timers fire, and no others.
    bench.now += 1000
    var turns = 0
    while !bench.set.isEmpty, turns < 1000 {
      turns += 1
      try bench.fire()
      bench.commit()
      bench.seal()
      bench.commit()
      while !bench.firedRecords.isEmpty { try bench.process() }
    }
    #expect(bench.set.isEmpty, "seed \(seed)")
    #expect(!bench.processed.isEmpty)
    try bench.fire()
    #expect(bench.openFired.isEmpty)
  }

  @Test("timers fire in the order of their due times, from the window and from the store")
  func order() throws {
    let store = MemoryRowStore()
    var writer = TimerQueue(store: store, windowSize: 16)
    var random = SeededGenerator(seed: 7)
    for number in (0..<500).shuffled(using: &random) {
      writer.set(TimerKey(due: Milliseconds(number), name: "t").row, [1])
    }
    #expect(writer.count <= 64, "the later ones are left to the store")
    _ = writer.seal()
    writer.committed()
    store.apply(writer.unstoredRows())
    writer.stored()

    var queue = TimerQueue(store: store, windowSize: 16, maxFired: .max)
    var fired: [Milliseconds] = []
    while fired.count < 500 {
      if queue.needsLoad(now: 1000) { try queue.load() }
      guard let (key, _) = queue.fireNext(now: 1000) else { break }
      fired.append(key.due)
    }
    #expect(fired == (0..<500).map(Milliseconds.init))
    if queue.needsLoad(now: 1000) { try queue.load() }
    #expect(queue.nextDue == nil)
  }

  @Test(
    "a timer that has fired is not read with the ones behind it when the window has shrunk to earlier ones",
    arguments: [false, true])
  func firedOnce(_ isStored: Bool) throws {
    let store = MemoryRowStore()
    var queue = TimerQueue(store: store, windowSize: 8)
    queue.set(TimerKey(due: 50, name: "t").row, [1])
    _ = queue.seal()
    queue.committed()
    if isStored {
      store.apply(queue.unstoredRows())
      queue.stored()
    }
    try queue.load()
    #expect(queue.fireNext(now: 100)?.key.due == 50)
    // Set after it, and due before it, so many that the window keeps the first eight only.
    for number in 0..<40 { queue.set(TimerKey(due: Milliseconds(number), name: "t").row, [1]) }
    #expect(queue.count <= 33)
    var fired: [Milliseconds] = []
    while fired.count < 100 {
      if queue.needsLoad(now: 100) { try queue.load() }
      guard let (key, _) = queue.fireNext(now: 100) else { break }
      fired.append(key.due)
    }
    #expect(fired == (0..<40).map(Milliseconds.init))
  }

  @Test("fired timers are bounded: the others wait until the records of earlier ones are processed")
  func bounded() throws {
    let store = MemoryRowStore()
    var queue = TimerQueue(store: store, maxFired: 3)
    for number in 0..<10 { queue.set(TimerKey(due: Milliseconds(number), name: "t").row, [1]) }
    _ = queue.seal()
    queue.committed()
    store.apply(queue.unstoredRows())
    queue.stored()
    try queue.load()
    var keys: [TimerKey] = []
    while let (key, _) = queue.fireNext(now: 100) { keys.append(key) }
    #expect(keys.count == 3)
    #expect(queue.nextDue == nil)
    queue.remove(keys[0].row)
    #expect(queue.fireNext(now: 100)?.key.due == 3)
  }

  @Test(
    "a key has the due time and the name, and keys sort by due time",
    arguments: [0, 1, 255, 1_795_275_600_250, .max] as [Int64])
  func keys(_ due: Milliseconds) throws {
    let key = TimerKey(due: due, name: "device/ann/phone 1")
    let read = try #require(TimerKey(row: key.row))
    #expect(read.due == due)
    #expect(read.name == key.name)
    #expect(key.row < TimerKey.end)
    if due < .max { #expect(key < TimerKey(due: due + 1, name: "")) }
    #expect(TimerKey(row: PositionRecord.key) == nil)
    #expect(TimerKey(due: -5, name: "x").due == 0)
  }
}

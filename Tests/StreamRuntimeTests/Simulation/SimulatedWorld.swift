import NudgeSchema

@testable import StreamRuntime

/// A few processes, their disks and a broker, moved on by one seeded generator: a seed is a schedule of turns, deliveries,
/// crashes, suspensions, lost and late answers, rebalances.
final class SimulatedWorld {
  /// A process: the very thread that runs in production, on the model's I/O.
  private final class Process {
    let name: String
    var thread: StreamThread<CountingStage, ModelIO>?
    var io: ModelIO?
    var isInTurn = false
    /// Not scheduled until then: SIGSTOP, a long pause.
    var suspendedUntil: Milliseconds = 0
    /// Not started again before then.
    var downUntil: Milliseconds = 0
    var lives = 0
    init(_ name: String) { self.name = name }
  }

  let broker: ModelBroker
  var random: SeededGenerator
  var faults: FaultRates
  let mutation: Mutation?
  private(set) var violations: [String] = []
  private var processes: [Process] = []
  private var stores: [String: ModelStore] = [:]
  private var depth = 0
  private var unsent: [(key: String, place: ModelPlace)] = []
  private let coder = RecordCoder()
  /// Position records decoded before, by their offset.
  private var knownPositions: [Int32: (index: Int, position: PositionRecord?)] = [:]
  /// What threads said, for a person who looks into a seed.
  var trace: [String] = []
  var isTracing = false

  static let input = Topic.timeline
  static let output = Topic.decisions

  /// Producers of a thread, used in turn: two, as in production; one, where a seed was found with one.
  let producers: Int

  init(
    seed: UInt64, mutation: Mutation? = nil, faults fixed: FaultRates? = nil, records: Int = 40, instances: Int = 2,
    producers: Int = 2
  ) {
    random = SeededGenerator(seed: seed)
    self.mutation = mutation
    self.producers = producers
    let drawn = FaultRates.drawn(&random)
    faults = fixed ?? drawn
    if producers > 1 {
      // By then the same producer must have its next transaction open, to be hit by a copy of its last request.
      faults.lateArrival = [6, 40, 120][random.below(3)]
    }
    broker = ModelBroker(partitions: 2, inputs: [Self.input])
    for index in 0..<records {
      let key = "k\(random.below(4))"
      let partition = Int32(key.utf8.last ?? 0) % 2
      let place = ModelPlace(topic: Self.input, partition: partition)
      if index < records / 2 {
        broker.append(place, key: Array(key.utf8), value: [1])
      } else {
        unsent.append((key, place))
      }
    }
    broker.onLateEnd = { [unowned self] in note($0) }
    for index in 0..<instances { processes.append(Process("p\(index)")) }
  }

  /// Adds a line to the trace.
  func note(_ line: @autoclosure () -> String) {
    if isTracing { trace.append("\(broker.now) \(line())") }
  }

  // MARK: Disks

  func store(_ process: String, _ task: Int32) -> ModelStore {
    let name = "\(process)/\(task)"
    if let store = stores[name] { return store }
    let store = ModelStore()
    store.onApply = { [unowned self] in checkLag($0, task: task, process: process) }
    stores[name] = store
    return store
  }

  // MARK: Schedule

  /// Lets the world move on; called from within calls of a process, too.
  func move(during name: String?) {
    broker.step(&random, faults: faults)
    guard depth == 0, random.oneIn(faults.interleave) else { return }
    depth += 1
    defer { depth -= 1 }
    let others = processes.filter { $0.name != name && !$0.isInTurn && $0.suspendedUntil <= broker.now }
    guard !others.isEmpty else { return }
    run(others[random.below(others.count)])
  }

  /// A process is stopped in the middle of a call, perhaps for longer than its session; the others go on.
  func stall(_ name: String) {
    guard depth == 0 else { return }
    depth += 1
    defer { depth -= 1 }
    let others = processes.filter { $0.name != name && !$0.isInTurn }
    guard !others.isEmpty else { return }
    let until = broker.now + Milliseconds(random.below(45_000))
    note("\(name) is stopped until \(until)")
    for _ in 0..<40 {
      run(others[random.below(others.count)])
      broker.now += (until - broker.now) / 20
      broker.step(&random, faults: faults)
    }
    broker.now = max(broker.now, until)
  }

  private func run(_ process: Process) {
    guard !process.isInTurn else { return }
    guard let thread = process.thread, let io = process.io else {
      start(process)
      return
    }
    process.isInTurn = true
    let exit = thread.turn()
    process.isInTurn = false
    if io.isDead || exit != nil {
      note("\(process.name) ended: \(exit.map { "\($0)" } ?? "died")")
      process.thread = nil
      process.io = nil
      process.downUntil = broker.now + Milliseconds(random.below(2000))
      if random.oneIn(faults.diskLoss) {
        for name in stores.keys where name.hasPrefix("\(process.name)/") { stores[name] = nil }
      }
    }
  }

  private func start(_ process: Process) {
    guard broker.now >= process.downUntil else {
      broker.now += 10
      return
    }
    process.lives += 1
    let io = ModelIO(process.name, self)
    var limits = StreamLimits()
    limits.maxUnstoredAge = Milliseconds(random.below(200))
    // Restores write their stores in many steps.
    limits.restoreBytes = 1000
    limits.maxBatchRecords = 1 + random.below(8)
    let name = process.name
    process.io = io
    process.thread = StreamThread(
      CountingStage(), io: io, topics: TopicNames(), partitionCounts: [Self.input: 2, Self.output: 2], limits: limits,
      writer: "\(process.name)/\(process.lives)",
      observe: { [unowned self] event in note("\(name) \(event)") })
    // A process that comes back within its session time-out under its name is a static member; here it joins anew.
    broker.join(process.name)
  }

  /// Runs the schedule: faults for so many turns, then none until everything is processed.
  func run(turns: Int = 300) {
    for _ in 0..<turns {
      if !unsent.isEmpty, random.oneIn(8) {
        let next = unsent.removeFirst()
        broker.append(next.place, key: Array(next.key.utf8), value: [1])
      }
      let process = processes[random.below(processes.count)]
      if process.suspendedUntil > broker.now {
        broker.now += 20
        move(during: nil)
        continue
      }
      if process.thread != nil, random.oneIn(120) {
        // Sometimes beyond the session time-out: the others take over.
        process.suspendedUntil = broker.now + Milliseconds(random.below(60_000))
        if random.oneIn(2) { broker.now += Milliseconds(random.below(20_000)) }
        continue
      }
      if random.oneIn(150) { broker.beginRebalance() }
      run(process)
      move(during: nil)
    }
    faults = .none
    for next in unsent { broker.append(next.place, key: Array(next.key.utf8), value: [1]) }
    unsent = []
    for process in processes { process.suspendedUntil = 0 }
    var left = 20_000
    while !isQuiet, left > 0 {
      left -= 1
      run(processes[random.below(processes.count)])
      move(during: nil)
    }
    if left == 0 { violations.append("stuck: not everything was processed") }
    check()
  }

  private var isQuiet: Bool {
    guard broker.delayedEnds.isEmpty else { return false }
    for it in broker.transactions.values {
      switch it.state {
      case .ongoing, .completing: return false
      case .empty, .complete: break
      }
    }
    for partition in 0..<broker.partitions {
      let place = ModelPlace(topic: Self.input, partition: partition)
      guard let position = lastPosition(partition), position.next(Self.input) == broker.log(place).high else {
        return false
      }
      if mutation != .offsetsLeftOut, broker.committed[place]?.metadata != position.offsetMetadata { return false }
    }
    return true
  }

  // MARK: The checker: by the logs alone

  private func lastPosition(_ partition: Int32) -> PositionRecord? {
    let place = ModelPlace(topic: CountingStage.definition.changelog, partition: partition)
    let entries = broker.log(place).entries
    guard
      let index = entries.lastIndex(where: { $0.status == .committed && $0.key ?? [] == PositionRecord.key.bytes })
    else { return nil }
    if let known = knownPositions[partition], known.index == index { return known.position }
    let position = try? coder.decode(PositionRecord.self, from: entries[index].value ?? [])
    knownPositions[partition] = (index, position)
    return position
  }

  /// A store may lag, never lead: what is written to it must be decided as committed.
  private func checkLag(_ header: StoreHeader, task: Int32, process: String) {
    guard let bytes = try? coder.encode(header.position) else { return }
    let place = ModelPlace(topic: CountingStage.definition.changelog, partition: task)
    let isCommitted = broker.log(place).entries.contains { entry in
      guard entry.value == bytes, entry.key == PositionRecord.key.bytes else { return false }
      if entry.status == .committed { return true }
      return entry.status == .open
        && broker.transactions.values.contains {
          $0.producer == entry.producer && $0.state == .completing(commit: true)
        }
    }
    if !isCommitted {
      violations.append("\(process): the store of task \(task) leads: sequence \(header.position.sequence)")
    }
  }

  private func check() {
    for partition in 0..<broker.partitions {
      checkOutputs(partition)
      checkState(partition)
    }
  }

  private func checkOutputs(_ partition: Int32) {
    var inputs: [String: [Int64]] = [:]
    let place = ModelPlace(topic: Self.input, partition: partition)
    for (offset, key, _) in broker.readCommitted(place) {
      inputs[String(decoding: key ?? [], as: UTF8.self), default: []].append(offset)
    }
    var outputs: [String: [(count: Int, origin: Int64)]] = [:]
    for (_, key, value) in broker.readCommitted(ModelPlace(topic: Self.output, partition: partition)) {
      let parts = String(decoding: value ?? [], as: UTF8.self).split(separator: " ")
      guard parts.count == 2, let count = Int(parts[0]), let origin = Int64(parts[1]) else { continue }
      let name = String(decoding: key ?? [], as: UTF8.self)
      // A repeat is recognised by its origin.
      if mutation != .repeatsKept, let last = outputs[name]?.last, origin <= last.origin {
        let first = outputs[name]?.first { $0.origin == origin }
        if first?.count != count {
          violations.append("\(partition)/\(name): origin \(origin) was \(first?.count ?? -1), then \(count)")
        }
        continue
      }
      outputs[name, default: []].append((count, origin))
    }
    for (name, offsets) in inputs {
      let found = outputs[name] ?? []
      if found.map(\.origin) != offsets {
        violations.append("\(partition)/\(name): inputs \(offsets), outputs \(found.map(\.origin))")
      } else if found.map(\.count) != Array(1...offsets.count) {
        violations.append("\(partition)/\(name): counts \(found.map(\.count))")
      }
    }
  }

  private func checkState(_ partition: Int32) {
    let place = ModelPlace(topic: CountingStage.definition.changelog, partition: partition)
    // As compaction would leave it: the last value of each key that is committed.
    var rows: [RowKey: [UInt8]] = [:]
    for (_, key, value) in broker.readCommitted(place) { rows[RowKey(bytes: key ?? [])] = value }
    rows[PositionRecord.key] = nil
    var expected: [String: Int] = [:]
    for (_, key, _) in broker.readCommitted(ModelPlace(topic: Self.input, partition: partition)) {
      expected[String(decoding: key ?? [], as: UTF8.self), default: 0] += 1
    }
    for (name, count) in expected {
      let found = rows[RowKey("k", name)].map { String(decoding: $0, as: UTF8.self) }
      if found != String(count) {
        violations.append("\(partition)/\(name): state \(found ?? "none"), should be \(count)")
      }
    }
    if mutation != .offsetsLeftOut,
      PositionRecord.sequence(
        inMetadata: broker.committed[ModelPlace(topic: Self.input, partition: partition)]?.metadata ?? "")
        != lastPosition(partition)?.sequence
    {
      violations.append("\(partition): committed offsets and position have different sequences")
    }
  }
}

import NudgeSchema
import TestSupport

@testable import StreamRuntime

/// A few processes, their disks and a broker, moved on by one seeded generator: a seed is a schedule of turns, deliveries,
/// crashes, suspensions, lost and late answers, rebalances.
final class SimulatedWorld {
  /// A process: the very thread that runs in production, on the model's I/O.
  private final class Process {
    let name: String
    /// One turn; why the thread ended, if it did.
    var turn: (() -> String?)?
    /// Drains and ends.
    var stop: (() -> Void)?
    var io: ModelIO?
    var isInTurn = false
    /// Between an assignment and the end of its restore.
    var restoring: Set<Int32> = []
    var isRestoring: Bool { !restoring.isEmpty }
    /// Not scheduled until then: SIGSTOP, a long pause.
    var suspendedUntil: Milliseconds = 0
    /// Not started again before then.
    var downUntil: Milliseconds = 0
    var lives = 0
    init(_ name: String) { self.name = name }
  }

  let seed: UInt64
  let broker: ModelBroker
  var random: SeededGenerator
  let features: ScheduleFeatures
  /// The generator for events of features.
  private var chance: SeededGenerator
  /// The definition of the stage.
  let definition: StageDefinition
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
  /// Events of threads, to look into a seed.
  var trace: [String] = []
  var isTracing = false

  private var ledger: EffectLedger?
  /// The reported gaps of each task.
  private var gaps: [Int32: [Range<Int64>]] = [:]
  /// The open rows of a changelog, as far as it was read.
  private struct ChangelogView {
    var next = 0
    /// Lanes that are not empty, timers that are set.
    var open: Set<[UInt8]> = []
  }
  private var views: [Int32: ChangelogView] = [:]
  private var histories: [Int32: ChangelogHistory] = [:]

  private var input: Topic { definition.inputs[0] }
  private var output: Topic { definition.outputs[0] }

  /// Producers of a thread, used in turn: two, as in production; one, where a seed was found with one.
  let producers: Int

  init(
    seed: UInt64, features: ScheduleFeatures = .none, mutation: Mutation? = nil,
    records: Int = 40, instances: Int = 2, producers: Int = 2
  ) {
    self.seed = seed
    self.features = features
    random = SeededGenerator(seed: seed)
    chance = ScheduleFeatures.generator(seed: seed)
    self.mutation = mutation
    self.producers = producers
    definition = features.effects ? SendingStage.definition : CountingStage.definition
    faults = .drawn(&random)
    if producers > 1 {
      // By then the same producer must have its next transaction open, to be hit by a copy of its last request.
      faults.lateArrival = [6, 40, 120][random.below(3)]
    }
    broker = ModelBroker(
      partitions: 2, inputs: definition.inputs, waitsForAll: features != .none, isFormer: features.former)
    for index in 0..<records {
      let key = "k\(random.below(4))"
      let partition = Int32(key.utf8.last ?? 0) % 2
      let place = ModelPlace(topic: input, partition: partition)
      if index < records / 2 {
        broker.append(place, key: Array(key.utf8), value: payload())
      } else {
        unsent.append((key, place))
      }
    }
    broker.onLateEnd = { [unowned self] in
      note($0)
    }
    broker.onExpelled = { [unowned self] in ledger?.expelled($0) }
    if features.effects {
      ledger = EffectLedger { [unowned self] in
        note($0)
        violations.append($0)
      }
    }
    for index in 0..<instances { processes.append(Process("p\(index)")) }
  }

  /// The value of a record, which may set a timer.
  private func payload() -> [UInt8] {
    guard features.timers, chance.oneIn(3) else { return [1] }
    return Array(CountingStage.timer(after: Milliseconds(chance.below(chance.oneIn(4) ? 60_000 : 2000))).utf8)
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
    store.hidesTimers = mutation == .timersUnseen
    if mutation == .storeRowLeftOut { store.losesRow = { [unowned self] in chance.oneIn(20) } }
    store.onApply = { [unowned self] in
      checkLag($0, task: task, process: process)
      checkStore($0, $1, task: task, process: process)
    }
    stores[name] = store
    return store
  }

  // MARK: Schedule

  /// Whether a broker refuses the offset that is read next: it leads the partition no more.
  func refusesOffset() -> Bool { features.formerLeaders && !isCalm && chance.oneIn(40) }

  /// Lets the world move on; called from within calls of a process, too.
  func move(during name: String?) {
    broker.step(&random, faults: faults)
    if features.outages, !isCalm, chance.oneIn(1500) { restartBroker() }
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
      // The others may take longer. Time must not go back.
      broker.now += max(0, until - broker.now) / 20
      broker.step(&random, faults: faults)
    }
    broker.now = max(broker.now, until)
  }

  private func run(_ process: Process) {
    guard !process.isInTurn else { return }
    guard let turn = process.turn, let io = process.io else {
      start(process)
      return
    }
    process.isInTurn = true
    let exit = turn()
    process.isInTurn = false
    if io.isDead || exit != nil { ended(process, exit ?? "died") }
  }

  private func ended(_ process: Process, _ exit: String) {
    note("\(process.name) ended: \(exit)")
    process.turn = nil
    process.stop = nil
    process.io = nil
    process.restoring = []
    ledger?.died(process.name)
    process.downUntil = broker.now + Milliseconds(random.below(2000))
    // Sometimes it is not back within its session.
    if features.returns, chance.oneIn(4) { process.downUntil += Milliseconds(chance.below(60_000)) }
    if random.oneIn(faults.diskLoss) {
      for name in stores.keys where name.hasPrefix("\(process.name)/") { stores[name] = nil }
    }
  }

  /// SIGTERM. A static member does not leave the group.
  private func stop(_ process: Process) {
    guard let stop = process.stop, !process.isInTurn else { return }
    process.isInTurn = true
    stop()
    process.isInTurn = false
    ended(process, "stopped")
    if !features.returns { broker.leave(process.name) }
  }

  private func start(_ process: Process) {
    guard broker.now >= process.downUntil else {
      broker.now += 10
      return
    }
    process.lives += 1
    process.restoring = []
    let performer = features.effects ? ModelPerformer(process.name, self) : nil
    let io = ModelIO(process.name, self, performer: performer)
    var limits = StreamLimits()
    limits.maxUnstoredAge = Milliseconds(random.below(200))
    // Restores write their stores in many steps.
    limits.restoreBytes = 1000
    limits.maxBatchRecords = 1 + random.below(8)
    if features.effects, chance.oneIn(4) { limits.maxEffects = 1 }
    // Half of it is how long a proof holds.
    if mutation == .proofForever { limits.sessionTimeout = .max / 4 }
    if mutation == .repliesForgotten { limits.maxOutlivingEffects = 0 }
    if mutation == .oldStoreKept { limits.maxStoreAge = .max }
    process.io = io
    ledger?.started(process.name)
    if let performer {
      launch(
        SendingStage(ledger: ledger, process: process.name), of: process, on: io, limits: limits, performer: performer)
    } else {
      launch(CountingStage(), of: process, on: io, limits: limits, performer: nil)
    }
    if !features.returns {
      broker.join(process.name)
    } else if broker.rejoin(process.name) {
      note("\(process.name) is back within its session")
    }
  }

  private func launch<S: Stage>(
    _ stage: S, of process: Process, on io: ModelIO, limits: StreamLimits,
    performer: (any EffectPerformer<S.Effect, S.Reply>)?
  ) {
    let thread = StreamThread(
      stage, io: io, topics: TopicNames(), partitionCounts: [input: 2, output: 2], limits: limits,
      writer: "\(process.name)/\(process.lives)", performer: performer,
      observe: { [unowned self, unowned process] in observed($0, of: process) })
    process.turn = { thread.turn().map { "\($0)" } }
    process.stop = { _ = thread.stop() }
  }

  private func observed(_ event: StreamEvent, of process: Process) {
    note("\(process.name) \(event)")
    ledger?.observed(event, of: process.name)
    switch event {
    case .assigned(let tasks): process.restoring = Set(tasks)
    case .running(let task, _, _, _, _): process.restoring.remove(task)
    case .released(let tasks, _): process.restoring.subtract(tasks)
    case .stateLost(let task): violations.append("\(process.name): the state of task \(task) was lost")
    case .gap(let task, _, let from, let to):
      if from >= to || to > broker.log(ModelPlace(topic: input, partition: task)).start {
        violations.append("\(process.name): a gap of task \(task) from \(from) to \(to) that is none")
      }
      gaps[task, default: []].append(from..<max(from, to))
    default: break
    }
  }

  /// The work of these tasks is in a transaction in flight.
  func handedOver(_ record: OutputRecord, by process: String) { ledger?.handedOver(record, by: process) }
  func sealed(_ tasks: [Int32], by process: String) { ledger?.sealed(tasks, by: process) }

  /// A process dies in a call.
  func died(_ process: String) { ledger?.died(process) }

  /// A request leaves a process; returns its number. nil: the process is dead, and so is its request.
  func performed(_ request: SendingRequest, by process: String) -> Int? {
    if processes.contains(where: { $0.name == process && $0.io?.isDead == true }) { return nil }
    note("\(process) sends \(request.task)/\(request.key) \(request.origin), attempt \(request.attempt)")
    return ledger?.performed(
      request, by: process, isOwner: broker.owns(process, request.task), at: broker.now)
  }

  /// An answer comes to a process.
  func delivered(_ reply: SendingReply, to process: String) {
    ledger?.delivered(reply, to: process, at: broker.now)
  }

  // MARK: Age

  /// Minutes or days pass, in which little happens; then changelogs are compacted and inputs cut.
  private func age() {
    // A process that reads a changelog for days would miss tombstones.
    guard !processes.contains(where: \.isRestoring) else { return }
    let minute: Milliseconds = 60_000
    let times = [11 * minute, 60 * minute, 1440 * minute, 6 * 1440 * minute, 8 * 1440 * minute]
    // Suspended processes stay suspended for all of that time.
    let awake = processes.filter { $0.turn != nil && $0.suspendedUntil <= broker.now }
    broker.now += times[chance.below(times.count)]
    note("time has passed")
    for process in awake { broker.keepAlive(process.name) }
    for partition in 0..<broker.partitions {
      let changelog = ModelPlace(topic: definition.changelog, partition: partition)
      broker.compact(changelog)
      cutInput(partition)
    }
  }

  /// Retention: what is processed goes, rarely some of what is not.
  private func cutInput(_ partition: Int32) {
    guard chance.oneIn(2), let position = lastPosition(partition)?.next(input) else { return }
    let place = ModelPlace(topic: input, partition: partition)
    let start =
      chance.oneIn(6)
      ? min(position + 1 + Int64(chance.below(3)), broker.log(place).high - 1) : position - Int64(chance.below(4))
    note("\(place.topic.rawValue)-\(partition) is cut to \(start)")
    broker.cut(place, to: start)
  }

  /// Runs the schedule: this many turns with faults, then turns without until everything is processed.
  func run(turns: Int = 300) {
    for _ in 0..<turns {
      if !unsent.isEmpty, random.oneIn(8) {
        let next = unsent.removeFirst()
        broker.append(next.place, key: Array(next.key.utf8), value: payload())
      }
      let process = processes[random.below(processes.count)]
      if process.suspendedUntil > broker.now {
        broker.now += 20
        move(during: nil)
        continue
      }
      if process.turn != nil, random.oneIn(120) {
        // Sometimes beyond the session time-out: the others take over.
        process.suspendedUntil = broker.now + Milliseconds(random.below(60_000))
        if random.oneIn(2) { broker.now += Milliseconds(random.below(20_000)) }
        continue
      }
      if random.oneIn(150) { broker.beginRebalance() }
      if features != .none { happen(to: process) }
      run(process)
      move(during: nil)
    }
    faults = .none
    isCalm = true
    for next in unsent { broker.append(next.place, key: Array(next.key.utf8), value: payload()) }
    unsent = []
    for process in processes { process.suspendedUntil = 0 }
    var left = 20_000
    while !isQuiet, left > 0 {
      left -= 1
      run(processes[random.below(processes.count)])
      move(during: nil)
      // Lanes wait for answers that do not come, timers to be due.
      if features.effects || features.timers { broker.now += 1000 }
    }
    if left == 0 { violations.append("stuck: not everything was processed") }
    check()
  }

  /// Events of features in a turn.
  private func happen(to process: Process) {
    if features.effects, chance.oneIn(12) { broker.now += Milliseconds(chance.below(6000)) }
    if features.ageing, chance.oneIn(40) { age() }
    if chance.oneIn(150) { stop(process) }
    if features.outages, chance.oneIn(80) { restartBroker() }
    if features.losses, chance.oneIn(40) { loseSessions() }
    if features.handovers, chance.oneIn(30) { loseBroker() }
  }

  /// The broker is away for longer than a session: each client gives its partitions up by itself. Answers come meanwhile.
  private func loseSessions() {
    note("all sessions expire")
    broker.now += broker.sessionTimeout + 1 + Milliseconds(chance.below(10_000))
    broker.advanceGroup()
  }

  /// As `loseSessions`, and the coordinator is away with the broker. Nothing is between two members but their common broker: what one knows
  /// when it is back, the others must know before they go on.
  private func loseBroker() {
    note("the broker is away, and back")
    broker.now += broker.sessionTimeout + 1 + Milliseconds(chance.below(30_000))
    ledger?.lost(by: Set(broker.members.filter { !$0.value.isExpelled }.keys), at: broker.now)
    broker.returned()
  }

  /// Nothing goes wrong any more.
  private(set) var isCalm = false

  /// The only broker stops and starts again.
  private func restartBroker() {
    note("the broker stops and starts again")
    broker.restart(&chance)
    for process in processes { process.io?.isCutOff = true }
  }

  private var isQuiet: Bool {
    guard broker.delayed.isEmpty else { return false }
    for it in broker.transactions.values {
      switch it.state {
      case .ongoing, .completing: return false
      case .empty, .complete: break
      }
      if !it.dangling.isEmpty { return false }
      if broker.logs.values.contains(where: { $0.openSince[it.producer] != nil }) { return false }
    }
    for partition in 0..<broker.partitions {
      let place = ModelPlace(topic: input, partition: partition)
      guard let position = lastPosition(partition), let next = position.next(input), !hasRecords(place, from: next)
      else { return false }
      if mutation != .offsetsLeftOut, broker.committed[place]?.metadata != position.offsetMetadata { return false }
    }
    return (0..<broker.partitions).allSatisfy(isNothingOpen)
  }

  /// Whether there is something to be read from an offset on. With timers there are markers among the records, and
  /// records that were cut after they had fired a second time.
  private func hasRecords(_ place: ModelPlace, from next: Int64) -> Bool {
    let log = broker.log(place)
    guard features.timers else { return next != log.high }
    let last = log.entries.lastIndex { $0.status == .plain || $0.status == .committed }
    return last.map { Int64($0) >= max(next, log.start) } ?? false
  }

  /// No lane has a push, no timer is set.
  private func isNothingOpen(_ partition: Int32) -> Bool {
    !(features.effects || features.timers) || view(of: partition).open.isEmpty
  }

  /// The changelog, read on from where it was read before.
  private func view(of partition: Int32) -> ChangelogView {
    let log = broker.log(ModelPlace(topic: definition.changelog, partition: partition))
    var view = views[partition] ?? ChangelogView()
    while view.next < Int(log.stable) {
      let entry = log.entries[view.next]
      view.next += 1
      guard entry.status == .committed || entry.status == .compacted, let key = entry.key else { continue }
      if entry.value != nil, goesWhenDone(key) { view.open.insert(key) } else { view.open.remove(key) }
    }
    views[partition] = view
    return view
  }

  /// A row that goes once all is done: a lane, a timer.
  private func goesWhenDone(_ key: [UInt8]) -> Bool {
    features.timers ? TimerKey.isTimer(RowKey(bytes: key)) : key.first != UInt8(ascii: "@")
  }

  // MARK: The checker: by the logs alone

  private func lastPosition(_ partition: Int32) -> PositionRecord? {
    let place = ModelPlace(topic: definition.changelog, partition: partition)
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
    let place = ModelPlace(topic: definition.changelog, partition: task)
    let isCommitted = broker.log(place).entries.contains { entry in
      guard entry.value == bytes, entry.key == PositionRecord.key.bytes else { return false }
      if entry.status == .committed || entry.status == .compacted { return true }
      return entry.status == .open && broker.isCommitted(entry, at: place)
    }
    if !isCommitted {
      violations.append("\(process): the store of task \(task) leads: sequence \(header.position.sequence)")
    }
  }

  /// A store holds what its header says: the rows of all transactions up to there.
  private func checkStore(_ header: StoreHeader, _ rows: [RowKey: [UInt8]], task: Int32, process: String) {
    let log = broker.log(ModelPlace(topic: definition.changelog, partition: task))
    histories[task, default: ChangelogHistory()].read(log)
    if let fault = histories[task]?.fault(in: rows, at: header.changelogOffset) {
      violations.append(
        "\(process): the store of task \(task), transaction \(header.position.sequence): \(fault)")
    }
  }

  private func check() {
    for partition in 0..<broker.partitions {
      checkOutputs(partition)
      checkState(partition)
      if features.timers { checkTimers(partition) }
    }
  }

  private func isCut(_ offset: Int64, _ partition: Int32) -> Bool {
    gaps[partition]?.contains { $0.contains(offset) } ?? false
  }

  /// The offsets of each key's records, without those that were cut before they could be processed.
  private func inputs(_ partition: Int32) -> [String: [Int64]] {
    var inputs: [String: [Int64]] = [:]
    for (offset, key, value) in broker.readCommitted(ModelPlace(topic: input, partition: partition)) {
      if isCut(offset, partition) || isTimerFired(value) || SendingStage.isHandover(value) || key == nil { continue }
      inputs[String(decoding: key ?? [], as: UTF8.self), default: []].append(offset)
    }
    return inputs
  }

  private func checkOutputs(_ partition: Int32) {
    // How often something was sent is not known of what was sent before a crash.
    let areCountsKnown = !features.effects
    var outputs: [String: [(count: Int, origin: Int64)]] = [:]
    for (_, key, value) in broker.readCommitted(ModelPlace(topic: output, partition: partition)) {
      let parts = String(decoding: value ?? [], as: UTF8.self).split(separator: " ")
      guard parts.count == 2, let count = Int(parts[0]), let origin = Int64(parts[1]), !isCut(origin, partition) else {
        continue
      }
      let name = String(decoding: key ?? [], as: UTF8.self)
      // A transaction is committed whole or not at all, and once.
      if let last = outputs[name]?.last, origin <= last.origin {
        violations.append("\(partition)/\(name): origin \(origin) came twice")
        continue
      }
      outputs[name, default: []].append((count, origin))
    }
    for (name, offsets) in inputs(partition) {
      let found = outputs[name] ?? []
      if found.map(\.origin) != offsets {
        violations.append("\(partition)/\(name): inputs \(offsets), outputs \(found.map(\.origin))")
      } else if areCountsKnown, found.map(\.count) != Array(1...offsets.count) {
        violations.append("\(partition)/\(name): counts \(found.map(\.count))")
      }
    }
  }

  private func isTimerFired(_ value: [UInt8]?) -> Bool { value?.first == UInt8(ascii: "{") }

  /// Every timer that was set is processed once, not before it is due. Its record may have been written more than once.
  private func checkTimers(_ partition: Int32) {
    var processed: [String: Set<String>] = [:]
    for (_, _, value) in broker.readCommitted(ModelPlace(topic: output, partition: partition)) {
      let words = String(decoding: value ?? [], as: UTF8.self).split(separator: " ").map(String.init)
      guard words.count == 4, words[0] == "fired", let late = Int64(words[2]) else { continue }
      processed[words[1], default: []].insert(words[3])
      if late < 0 { violations.append("\(partition): timer \(words[1]) was processed \(-late) ms before it was due") }
    }
    for (offset, key, value) in broker.readCommitted(ModelPlace(topic: input, partition: partition)) {
      guard String(decoding: value ?? [], as: UTF8.self).hasPrefix("timer "), !isCut(offset, partition) else {
        continue
      }
      let name = "\(String(decoding: key ?? [], as: UTF8.self))/\(offset)"
      let count = processed.removeValue(forKey: name)?.count ?? 0
      if count != 1 {
        violations.append("\(partition): timer \(name) was processed \(count) times")
      }
    }
    for (name, _) in processed { violations.append("\(partition): timer \(name) was never set") }
  }

  private func checkState(_ partition: Int32) {
    let place = ModelPlace(topic: definition.changelog, partition: partition)
    // As compaction would leave it: the last value of each key that is committed.
    var rows: [RowKey: [UInt8]] = [:]
    for (_, key, value) in broker.readCommitted(place) { rows[RowKey(bytes: key ?? [])] = value }
    rows[PositionRecord.key] = nil
    for key in rows.keys.sorted() where TimerKey.isTimer(key) { violations.append("\(partition): \(key) is left") }
    if features.effects {
      for key in rows.keys.sorted() { violations.append("\(partition): \(key) is left") }
    } else {
      for (name, offsets) in inputs(partition) {
        let found = rows[RowKey("k", name)].map { String(decoding: $0, as: UTF8.self) }
        if found != String(offsets.count) {
          violations.append("\(partition)/\(name): state \(found ?? "none"), should be \(offsets.count)")
        }
      }
    }
    if mutation != .offsetsLeftOut,
      PositionRecord.sequence(
        inMetadata: broker.committed[ModelPlace(topic: input, partition: partition)]?.metadata ?? "")
        != lastPosition(partition)?.sequence
    {
      violations.append("\(partition): committed offsets and position have different sequences")
    }
  }
}

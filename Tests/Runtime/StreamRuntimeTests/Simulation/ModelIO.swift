import NudgeSchema
import TestSupport

@testable import StreamRuntime

/// A store on the model's disk. It keeps what was written when its process dies.
final class ModelStore: TaskStore {
  private let disk = MemoryRowStore()
  private(set) var header: StoreHeader?
  /// A defect: timers are there and not found.
  var hidesTimers = false
  /// A defect: one row of those that are written is left out.
  var losesRow: () -> Bool = { false }
  /// Called with what is there after each writing that had a header.
  var onApply: ((StoreHeader, [RowKey: [UInt8]]) -> Void)?

  func read(_ key: RowKey, _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool { try disk.read(key, body) }

  func rows(
    from first: RowKey, to end: RowKey, limit: Int, _ body: (RowKey, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    if hidesTimers { return }
    try disk.rows(from: first, to: end, limit: limit, body)
  }

  func apply(_ rows: [(key: RowKey, bytes: [UInt8]?)], header: StoreHeader?) throws(StoreFailure) {
    disk.apply(!rows.isEmpty && losesRow() ? Array(rows.dropLast()) : rows)
    self.header = header
    if let header { onApply?(header, disk.rows) }
  }

  func wipe() throws(StoreFailure) {
    disk.apply(disk.rows.keys.map { ($0, nil) })
    header = nil
  }

  func close() {}
}

/// A defect put in on purpose: the checker must find each.
enum Mutation: String, CaseIterable {
  /// The store is written before the transaction commits.
  case storeBeforeCommit
  /// Offsets are left out of transactions: nothing fences a former owner.
  case offsetsLeftOut
  /// A restore ends at the first end it sees.
  case firstEnd
  /// A store lacks a row that its header says it has.
  case storeRowLeftOut
  /// A transaction of unknown outcome is taken as committed.
  case unknownMeansCommitted
  /// Timers that are in the store only are not found.
  case timersUnseen
  /// A record of a timer does not say that it is one, so that repeats of it are heard.
  case timerRepeatsHeard
  /// A proof of ownership never expires.
  case proofForever
  /// Replies to a former life of a task are taken for replies to this one.
  case formerLivesAccepted
  /// Replies to requests of tasks that were lost are dropped.
  case repliesForgotten
  /// They are kept by the process that has them, and not handed over to the tasks' next owners.
  case answersKept
  /// A store is used however old it is.
  case oldStoreKept
  /// A consumer whose offset is out of range continues at the start of the log without an error.
  case cutUnseen
  /// Missing markers are not written.
  case hangingLeft
  /// Missing markers are written as aborts, whatever the decision.
  case hangingAborted
  /// Transactions of version 1 share an epoch.
  case epochShared
  /// Offsets of a transaction of version 1 whose answer is lost are sent again.
  case repeatedInDoubt
}

/// Rates of faults: each happens once in this many calls or turns on average; 0: never. Every schedule draws its own, so that some have
/// many crashes, others many late markers or pauses.
struct FaultRates {
  /// The process dies in a call.
  var crash: UInt64 = 0
  /// A process is stopped inside a call, while the others go on.
  var stall: UInt64 = 0
  /// The answer to a commit is lost, with or without the request.
  var commitUnknown: UInt64 = 0
  /// A copy of a request to commit comes late.
  var delayedEnd: UInt64 = 0
  /// A produce is refused.
  var refusal: UInt64 = 0
  /// A process that died has lost its disk.
  var diskLoss: UInt64 = 0
  /// Another process has its turn inside a call.
  var interleave: UInt64 = 0
  /// A question about offsets fails, as while a partition's leader moves.
  var question: UInt64 = 0
  /// A marker is written, when the world moves.
  var marker: UInt64 = 1
  /// A late copy arrives, when the world moves.
  var lateArrival: UInt64 = 6

  static let none = FaultRates()

  static func drawn(_ random: inout SeededGenerator) -> FaultRates {
    func pick(_ choices: [UInt64]) -> UInt64 { choices[random.below(choices.count)] }
    return FaultRates(
      crash: pick([0, 60, 150, 400, 1000]), stall: pick([0, 200, 600]), commitUnknown: pick([0, 10, 40]),
      delayedEnd: pick([0, 3, 10, 40]), refusal: pick([0, 30, 100]), diskLoss: pick([0, 2, 8]),
      interleave: pick([0, 2, 4]), question: pick([0, 5, 30]), marker: pick([1, 2, 6, 20]))
  }
}

/// One process's I/O on the model. Each call is a place where the process can die, and where the world moves.
final class ModelIO: StreamIO {
  unowned let world: SimulatedWorld
  let name: String
  private var broker: ModelBroker { world.broker }

  /// A record of a transaction.
  private struct Queued {
    var place: ModelPlace
    var key: [UInt8]?
    var value: [UInt8]?
    var headers: [RecordHeaderField] = []
    /// The task whose position record it is.
    var position: Int32?
  }

  var isDead = false
  /// The producers, used alternately.
  private var producers: [(id: String, producer: Int, epoch: Int, isUsed: Bool)] = []
  /// Version 1: what is left to do before the records.
  private var preparations: [ModelBroker.FormerRequest.Kind] = []
  private var turn = 0
  /// The transaction in flight, and its unwritten records.
  private var sending: SealedTransaction?
  private var queue: [Queued] = []
  private var areOffsetsSent = false
  /// The position record that each task's last part had.
  private var sealedPositions: [Int32: [UInt8]] = [:]
  private var outcome: CommitOutcome?
  /// Whether a step of it is in progress.
  private var isSending = false
  private var ended: [EndedTransaction] = []
  /// The broker was away, and the next call says so.
  var isCutOff = false
  /// When the transaction began.
  private var began: Milliseconds = 0
  /// Its end was asked for.
  private var isEnding = false
  private var fetch: [ModelPlace: Int64] = [:]
  private var isPaused = false
  /// A partition of which an offset was refused, until that is reported. Records that came before are first.
  private var refused: String?
  private var wasRevoked = false
  private var changelogs: [Int32: Int64] = [:]
  private var endsTold: [Int32: Int64] = [:]
  private var positionOffsets: [Int32: Int64] = [:]
  private var generation = -1
  /// The group's generation when the transaction in flight began.
  private var memberGeneration = -1

  /// Performs the effects of the process; nil: its stage has none.
  private let performer: ModelPerformer?
  /// The client sends heartbeats whatever its owner does; else only polls count.
  private let sendsHeartbeats: Bool

  init(_ name: String, _ world: SimulatedWorld, performer: ModelPerformer? = nil) {
    self.name = name
    self.world = world
    self.performer = performer
    sendsHeartbeats = world.features != .none
  }

  static let died = IOFailure(kind: .fatal, operation: "simulation", reason: "the process died")

  /// The world moves before and after each call; the process may die here.
  private func touch() throws(IOFailure) {
    if isDead { throw Self.died }
    goOn()
    liveOn()
    world.move(during: name)
    if world.random.oneIn(world.faults.stall) {
      world.stall(name)
      liveOn()
    }
    if isDead { throw Self.died }
    if world.random.oneIn(world.faults.crash) {
      isDead = true
      world.died(name)
      throw Self.died
    }
  }

  /// The work of the process outside its stream thread.
  private func liveOn() {
    if sendsHeartbeats { broker.heartbeat(name) }
    performer?.deliver()
  }

  private func question(_ operation: String) throws(IOFailure) {
    guard world.random.oneIn(world.faults.question) else { return }
    throw IOFailure(kind: .retriable, operation: operation, reason: "not leader")
  }

  private func failure(_ refusal: ModelBroker.Refusal, _ operation: String) -> IOFailure {
    let kind: IOFailure.Kind =
      switch refusal {
      case .fenced: .fenced
      case .concurrent, .invalidState: .retriable
      case .illegalGeneration: .notMember
      case .unstable: .unstable
      }
    return IOFailure(kind: kind, operation: operation, reason: "\(refusal)")
  }

  private func ask<Value>(_ operation: String, _ body: () throws(ModelBroker.Refusal) -> Value) throws(IOFailure)
    -> Value
  {
    do throws(ModelBroker.Refusal) { return try body() } catch { throw failure(error, operation) }
  }

  // MARK: Clocks

  var wallClock: Milliseconds { broker.now }
  var steadyClock: Milliseconds { broker.now }
  func idle(atMost timeout: Milliseconds) {
    broker.now += min(max(timeout, 1), 50)
    if isDead { return }
    goOn()
    liveOn()
    world.move(during: name)
  }

  // MARK: Group and input

  func poll(timeout: Milliseconds, maxRecords: Int, maxBytes: Int) throws(IOFailure) -> PollResult {
    try touch()
    var result = PollResult()
    if let change = broker.poll(name) {
      if case .assigned = change { generation = broker.members[name]?.generation ?? -1 }
      if case .revoked = change { wasRevoked = true }
      if case .lost = change {
        wasRevoked = true
        fetch = [:]
      }
      result.change = change
      return result
    }
    if !isPaused {
      for place in fetch.keys.sorted() {
        if world.refusesOffset() {
          fetch[place] = nil
          refused = "\(place.topic.rawValue)-\(place.partition)"
          continue
        }
        let log = broker.log(place)
        if let offset = fetch[place], offset < log.start {
          guard world.mutation == .cutUnseen else {
            throw IOFailure(kind: .fatal, operation: "poll", reason: "the log was cut while it was read")
          }
          fetch[place] = log.start
        }
        while var offset = fetch[place], offset < log.stable, result.records.count < maxRecords {
          let entry = log.entries[Int(offset)]
          defer { fetch[place] = offset }
          if entry.status == .plain || entry.status == .committed {
            result.records.append(
              InputRecord(
                topic: place.topic, topicName: place.topic.rawValue, partition: place.partition, offset: offset,
                timestamp: broker.now, key: entry.key, value: entry.value,
                headers: hidesTimer(entry, at: Int(offset), of: log) ? [] : entry.headers))
          }
          offset += 1
          if world.random.oneIn(4) { break }
        }
      }
    }
    broker.now += result.records.isEmpty ? max(1, min(timeout, 20)) : 1
    if result.records.isEmpty { try reportRefusal() }
    return result
  }

  /// The partition is read no more until it is assigned again.
  private func reportRefusal() throws(IOFailure) {
    guard let place = refused else { return }
    refused = nil
    world.note("\(name) is refused an offset of \(place)")
    throw IOFailure(kind: .offsetRefused, operation: "poll", reason: "\(place): offset out of range")
  }

  /// The record repeats that of a timer, and the defect is not to recognise that.
  private func hidesTimer(_ entry: ModelBroker.Entry, at offset: Int, of log: ModelBroker.Log) -> Bool {
    world.mutation == .timerRepeatsHeard && !entry.headers.isEmpty
      && log.entries[..<offset].contains { $0.status == .committed && $0.headers == entry.headers }
  }

  func assign(_ starts: [InputPosition]) throws(IOFailure) {
    try touch()
    fetch = [:]
    for start in starts { fetch[ModelPlace(topic: start.topic, partition: start.task)] = start.offset }
    isPaused = false
    if wasRevoked {
      wasRevoked = false
      broker.answered(name, wasRevoked: true)
    }
  }

  func setPaused(_ paused: Bool) throws(IOFailure) { isPaused = paused }

  func committedOffsets(of tasks: [Int32]) throws(IOFailure) -> [CommittedInput] {
    try touch()
    let places = tasks.flatMap { task in broker.inputs.map { ModelPlace(topic: $0, partition: task) } }
    return try ask("committed") { () throws(ModelBroker.Refusal) in try broker.committedOffsets(places) }.map {
      CommittedInput(topic: $0.0.topic, task: $0.0.partition, offset: $0.1, metadata: $0.2)
    }
  }

  func inputEnds(of topic: Topic, task: Int32) throws(IOFailure) -> LogEnds {
    try question("log start")
    let log = broker.log(ModelPlace(topic: topic, partition: task))
    return LogEnds(start: log.start, high: log.high)
  }

  func handovers(in spans: [InputSpan]) throws(IOFailure) -> [InputRecord] {
    try question("handovers")
    return spans.flatMap { span -> [InputRecord] in
      let log = broker.log(ModelPlace(topic: span.topic, partition: span.task))
      return span.offsets.clamped(to: log.start..<log.high).compactMap { offset -> InputRecord? in
        let entry = log.entries[Int(offset)]
        guard entry.status == .plain, !entry.headers.isEmpty else { return nil }
        return InputRecord(
          topic: span.topic, topicName: span.topic.rawValue, partition: span.task, offset: offset,
          timestamp: entry.time, key: entry.key, value: entry.value, headers: entry.headers)
      }
    }
  }

  func handOver(_ records: [OutputRecord]) throws(IOFailure) {
    try touch()
    try question("hand over")
    if world.mutation == .answersKept { return }
    for record in records {
      world.note(
        "\(name) hands over \(record.partition)/\(String(decoding: record.key ?? [], as: UTF8.self)) "
          + String(decoding: record.value ?? [], as: UTF8.self))
      broker.append(
        ModelPlace(topic: record.topic, partition: record.partition), key: record.key, value: record.value,
        headers: record.headers)
      world.handedOver(record, by: name)
    }
  }

  /// Topics are not made again in the model.
  func topicIDs() throws(IOFailure) -> TopicIDs { TopicIDs() }

  // MARK: Transactions

  var hasLostBroker: Bool { isCutOff }

  func openProducers() throws(IOFailure) {
    isCutOff = false
    queue = []
    producers = []
    turn = 0
    for id in ["\(name)-a", "\(name)-b"].prefix(world.producers) {
      try touch()
      let (producer, epoch) = try ask("init transactions") { () throws(ModelBroker.Refusal) in
        try broker.initProducer(id)
      }
      producers.append((id, producer, epoch, isUsed: false))
    }
    try endHanging(producers.map(\.id))
  }

  func endHanging() throws(IOFailure) { try endHanging(broker.ids) }

  func watchTransactions() throws(IOFailure) {
    if world.features.outages { try endHanging(broker.ids) }
  }

  func takeEnded() -> [EndedTransaction] {
    defer { ended = [] }
    return ended
  }

  /// Marker by marker, and the process may die before each.
  private func endHanging(_ ids: [String]) throws(IOFailure) {
    guard world.mutation != .hangingLeft else { return }
    for id in ids {
      for (place, commit) in broker.missingMarkers(id) {
        try touch()
        // The leader holds the marker's epoch against the last it has seen.
        guard broker.missingMarkers(id).contains(where: { $0.place == place && $0.commit == commit }) else { continue }
        world.note("\(name) writes a marker that was left out: \(id), \(place.map { "\($0)" } ?? "offsets")")
        broker.writeMissing(id, place, commit: world.mutation == .hangingAborted ? false : commit)
        ended.append(
          EndedTransaction(transactionalID: id, isCommit: commit, partitions: [place.map { "\($0)" } ?? "offsets"]))
      }
    }
  }

  /// The connections broke when the broker stopped: whoever asks next is told so.
  private func checkConnection(_ operation: String) throws(IOFailure) {
    guard isCutOff else { return }
    isCutOff = false
    throw IOFailure(kind: .retriable, operation: operation, reason: "the broker was away")
  }

  private func current() throws(IOFailure) -> (id: String, producer: Int, epoch: Int, isUsed: Bool) {
    guard producers.count == world.producers else {
      throw IOFailure(kind: .retriable, operation: "produce", reason: "no producer")
    }
    return producers[turn]
  }

  /// As `TransactionalProducer` does it: records of different partitions in any order, then the offsets, then the end. A step at a time,
  /// while the thread does something else, or waits.
  func begin(_ transaction: SealedTransaction) {
    precondition(sending == nil && outcome == nil, "a transaction is on its way")
    sending = transaction
    // Retried parts were sealed before.
    let fresh = transaction.parts.filter { sealedPositions[$0.task] != $0.position }
    for part in fresh { sealedPositions[part.task] = part.position }
    world.sealed(fresh.map(\.task), by: name)
    isEnding = false
    areOffsetsSent = false
    positionOffsets = [:]
    memberGeneration = generation
    turn = (turn + 1) % world.producers
    queue = transaction.parts.flatMap { part in
      part.outputs.map {
        Queued(
          place: ModelPlace(topic: $0.topic, partition: $0.partition), key: $0.key, value: $0.value,
          headers: $0.headers)
      } + part.changes.map { Queued(place: changelog(part.task), key: $0.key.bytes, value: $0.bytes) }
        + [
          Queued(
            place: changelog(part.task), key: PositionRecord.key.bytes, value: part.position, position: part.task)
        ]
    }
    preparations = []
    if world.features.former, producers.count == world.producers {
      if producers[turn].isUsed, world.mutation != .epochShared { preparations.append(.epoch) }
      preparations += [.partitions(Set(queue.map(\.place))), .offsets]
      producers[turn].isUsed = true
    }
    if world.mutation == .storeBeforeCommit { transaction.parts.forEach(writeStoreEarly) }
    began = broker.now
  }

  func takeOutcome() -> CommitOutcome? {
    goOn()
    defer { outcome = nil }
    return outcome
  }

  #if DEBUG
    func interruptTransactions(_ fails: @escaping @Sendable (FailPoint) -> Bool) {}
  #endif

  /// Continues the transaction in flight by some steps, or none.
  private func goOn() {
    guard !isSending else { return }
    isSending = true
    defer { isSending = false }
    // In the end time passes fast; a commit would never be done in time.
    for _ in 0..<(world.isCalm ? .max : world.random.below(4)) {
      guard let transaction = sending else { return }
      do throws(IOFailure) {
        guard try sendNext(of: transaction) else { continue }
        outcome = .committed(positions: positionOffsets)
      } catch {
        outcome =
          switch error.kind {
          case .retriable, .offsetRefused, .unstable:
            isEnding ? .unknown(error.description) : .notCommitted(error.description)
          case .notMember: .notMember(error.description)
          case .fenced: .fenced(error.description)
          case .fatal: .refused(error.description)
          }
      }
      sending = nil
    }
  }

  /// One request of it; true where it was the last.
  private func sendNext(of transaction: SealedTransaction) throws(IOFailure) -> Bool {
    try touch()
    _ = try current()
    if let preparation = preparations.first {
      producers[turn].epoch = try sendFormer(preparation)
      preparations.removeFirst()
    } else if !queue.isEmpty {
      try writeNext()
    } else if !areOffsetsSent {
      areOffsetsSent = true
      if world.mutation != .offsetsLeftOut { try commitOffsets(transaction.offsets) }
    } else {
      try end()
      return true
    }
    return false
  }

  /// A request of version 1. Without an answer the client gives up; the request may arrive all the same.
  private func sendFormer(_ kind: ModelBroker.FormerRequest.Kind) throws(IOFailure) -> Int {
    let (id, producer, epoch, _) = try current()
    let request = ModelBroker.FormerRequest(id: id, producer: producer, epoch: epoch, kind: kind)
    try checkConnection("prepare")
    if world.random.oneIn(world.faults.refusal) {
      if world.random.oneIn(2) { broker.delayed.append(.former(request)) }
      if case .commitOffsets = kind, world.mutation == .repeatedInDoubt {
        broker.delayed.append(.former(request))
      } else {
        throw IOFailure(kind: .retriable, operation: "prepare", reason: "no answer")
      }
    }
    return try send("prepare") { () throws(ModelBroker.Refusal) in try broker.receive(request) }
  }

  private func writeStoreEarly(_ part: SealedTransaction.Part) {
    guard let position = try? RecordCoder().decode(PositionRecord.self, from: part.position) else { return }
    try? world.store(name, part.task).apply(
      part.changes.sorted { $0.key < $1.key },
      header: StoreHeader(
        position: position, changelogOffset: broker.log(changelog(part.task)).high, storedAt: broker.now))
  }

  /// Maps a refusal as the transactional client does: the coordinator may have ended the epoch after the transaction time-out.
  private func send<Value>(
    _ operation: String, _ body: () throws(ModelBroker.Refusal) -> Value
  ) throws(IOFailure) -> Value {
    var tries = 0
    while true {
      try touch()
      try checkConnection(operation)
      do throws(ModelBroker.Refusal) {
        return try body()
      } catch {
        tries += 1
        // The client repeats this by itself while the markers of the transaction before are being written.
        if error == .concurrent, tries < 200 { continue }
        if error == .fenced, broker.now - began >= broker.transactionTimeout {
          throw IOFailure(kind: .retriable, operation: operation, reason: "the transaction was open for too long")
        }
        throw failure(error, operation)
      }
    }
  }

  private func writeNext() throws(IOFailure) {
    let (id, producer, epoch, _) = try current()
    let places = Array(Set(queue.map(\.place))).sorted()
    let place = places[world.random.below(places.count)]
    guard let index = queue.firstIndex(where: { $0.place == place }) else { return }
    let record = queue.remove(at: index)
    let request = ModelBroker.Produce(
      id: id, producer: producer, epoch: epoch, place: place, key: record.key, value: record.value,
      headers: record.headers)
    try checkConnection("produce")
    if world.random.oneIn(world.faults.refusal) {
      // Given up by the client; it may arrive all the same.
      if world.random.oneIn(2) { broker.delayed.append(.produce(request)) }
      throw IOFailure(kind: .retriable, operation: "produce", reason: "simulated refusal")
    }
    let offset = try send("produce") { () throws(ModelBroker.Refusal) in try broker.produce(request) }
    world.note("\(id) wrote \(place.topic.rawValue)-\(place.partition)@\(offset)")
    if let task = record.position { positionOffsets[task] = offset }
  }

  private func commitOffsets(_ offsets: [CommittedInput]) throws(IOFailure) {
    let (id, producer, epoch, _) = try current()
    let (member, generation) = (name, memberGeneration)
    guard generation >= 0 else {
      throw IOFailure(kind: .notMember, operation: "send offsets", reason: "no generation")
    }
    var places: [ModelPlace: (offset: Int64, metadata: String)] = [:]
    for input in offsets {
      if let offset = input.offset {
        places[ModelPlace(topic: input.topic, partition: input.task)] = (offset, input.metadata)
      }
    }
    if world.features.former {
      _ = try sendFormer(.commitOffsets(member: member, generation: generation, places))
      return
    }
    try send("send offsets") { () throws(ModelBroker.Refusal) in
      try broker.commitOffsets(id, producer: producer, epoch: epoch, member: member, generation: generation, places)
    }
  }

  private func end() throws(IOFailure) {
    let (id, producer, epoch, _) = try current()
    isEnding = true
    try checkConnection("end transaction")
    let request = ModelBroker.EndRequest(id: id, producer: producer, epoch: epoch, commit: true)
    if world.random.oneIn(world.faults.delayedEnd) { broker.delayed.append(.end(request)) }
    if world.random.oneIn(world.faults.commitUnknown) {
      // The request, or its answer, is lost; it may still arrive, at once, late or never. Or its answer is lost and it is
      // sent again.
      switch world.random.below(4) {
      case 0: _ = try? broker.end(request)
      case 1: broker.delayed.append(.end(request))
      case 2 where !world.features.former:
        _ = try? broker.end(request)
        producers[turn].epoch = try send("end transaction again") { () throws(ModelBroker.Refusal) in
          try broker.end(request)
        }
        return
      default: break
      }
      broker.now += 50
      if world.mutation == .unknownMeansCommitted { return }
      throw IOFailure(kind: .retriable, operation: "end transaction", reason: "no answer")
    }
    producers[turn].epoch = try send("end transaction") { () throws(ModelBroker.Refusal) in try broker.end(request) }
    try touch()
  }

  // MARK: Changelog and store

  private func changelog(_ task: Int32) -> ModelPlace {
    ModelPlace(topic: world.definition.changelog, partition: task)
  }

  func changelogEnds(of task: Int32) throws(IOFailure) -> LogEnds {
    try touch()
    try question("changelog ends")
    let log = broker.log(changelog(task))
    return LogEnds(start: 0, high: world.mutation == .firstEnd ? 0 : log.high)
  }

  func readChangelogs(_ starts: [Int32: Int64]) throws(IOFailure) {
    try touch()
    changelogs = starts
    endsTold = [:]
  }

  func pollChangelogs(timeout: Milliseconds) throws(IOFailure) -> [ChangelogItem] {
    try touch()
    var items: [ChangelogItem] = []
    for task in changelogs.keys.sorted() {
      if items.isEmpty, world.refusesOffset() {
        changelogs[task] = nil
        world.note("\(name) is refused an offset of the changelog of \(task)")
        throw IOFailure(kind: .offsetRefused, operation: "read changelogs", reason: "\(task): offset out of range")
      }
      let log = broker.log(changelog(task))
      let from = changelogs[task] ?? 0
      let stable = log.stable
      var offset = from
      while offset < stable {
        let entry = log.entries[Int(offset)]
        if entry.status == .committed || entry.status == .plain {
          items.append(
            .record(
              task: task, offset: offset, timestamp: entry.time, key: RowKey(bytes: entry.key ?? []),
              bytes: entry.value))
        }
        offset += 1
      }
      changelogs[task] = offset
      if endsTold[task] != offset {
        endsTold[task] = offset
        items.append(.end(task: task, offset: offset))
      }
    }
    if items.isEmpty { broker.now += 5 }
    return items
  }

  func openStore(of task: Int32) throws -> ModelStore {
    let store = world.store(name, task)
    if store.header == nil { try store.wipe() }
    return store
  }
}

import NudgeSchema
import TestSupport

@testable import StreamRuntime

/// A partition of the model.
struct ModelPlace: Hashable, Comparable {
  var topic: Topic
  var partition: Int32
  static func < (a: ModelPlace, b: ModelPlace) -> Bool {
    (a.topic.rawValue, a.partition) < (b.topic.rawValue, b.partition)
  }
}

/// A small model of Kafka's broker side, by its documented rules: logs with transactions and their markers, last stable
/// offset, transaction coordinator (version 2 of the protocol: each transaction has an epoch of its own, and the first record
/// of a partition enlists it; version 1: see `ModelBroker+Former`), group coordinator with generations and unstable offsets.
final class ModelBroker {
  enum Status { case plain, open, committed, aborted, marker, compacted }

  struct Entry {
    var key: [UInt8]?
    var value: [UInt8]?
    var headers: [RecordHeaderField] = []
    var status: Status
    var producer: Int
    var time: Milliseconds
  }

  /// A class, so that appending to one of many does not copy it.
  final class Log {
    var entries: [Entry] = []
    /// The first offset that retention has left.
    var start: Int64 = 0
    /// The first offset of each producer's open transaction.
    var openSince: [Int: Int] = [:]
    /// The last epoch of each producer that a record or a marker here had.
    var epochs: [Int: Int] = [:]
    var high: Int64 { Int64(entries.count) }
    var stable: Int64 { Int64(openSince.values.min() ?? entries.count) }
  }

  /// Refusals, as the broker answers them.
  enum Refusal: Error { case fenced, concurrent, invalidState, illegalGeneration, unstable }

  enum TransactionState: Equatable { case empty, ongoing, completing(commit: Bool), complete(commit: Bool) }

  final class Coordinated {
    var producer: Int
    var epoch = 0
    /// Version 1: the epoch before, if its holder asked for this one.
    var epochBefore: Int?
    /// Version 1: the group's offsets are part of the transaction.
    var hasOffsets = false
    /// The last epoch in the log of the group's offsets.
    var offsetsEpoch = 0
    var state = TransactionState.empty
    /// The epoch of the last transaction that ended.
    var ended: (epoch: Int, commit: Bool)?
    var partitions: Set<ModelPlace> = []
    var offsets: [ModelPlace: CommittedOffset] = [:]
    var pendingMarkers: [ModelPlace] = []
    var offsetsMarkerPending = false
    var since: Milliseconds = 0
    /// The coordinator's log: how the last transaction with a partition, or with offsets, was decided.
    var decisions: [ModelPlace: Bool] = [:]
    var offsetsDecision: Bool?
    /// Offsets whose marker was left out: pending until a later one of this producer's comes.
    var dangling: [ModelPlace: CommittedOffset] = [:]
    init(producer: Int) { self.producer = producer }
  }

  /// An offset in the group's log.
  struct CommittedOffset {
    var offset: Int64
    var metadata: String
    /// Its place in the log: where the markers of two producers' transactions come in another order than their offsets
    /// did, the later offset stands.
    var place: Int
  }

  struct EndRequest {
    var id: String
    var producer: Int
    var epoch: Int
    var commit: Bool
  }

  struct Member {
    var generation = -1
    var lastSeen: Milliseconds = 0
    /// Has answered, and waits for the next generation.
    var hasJoined = true
    var tasks: [Int32] = []
    /// To be told at its next poll.
    var news: [GroupChange] = []
    /// Dropped by the coordinator; rejoins at its next poll.
    var isExpelled = false
  }

  var logs: [ModelPlace: Log] = [:]
  private(set) var transactions: [String: Coordinated] = [:]
  /// The keys of `transactions`, sorted.
  private var transactionIDs: [String] = []
  var committed: [ModelPlace: CommittedOffset] = [:]
  private var offsetsLogged = 0
  private(set) var members: [String: Member] = [:]
  /// The keys of `members`, sorted.
  private var memberNames: [String] = []
  var generation = 0
  var isRebalancing = false
  /// Late requests without a waiting sender: copies, and abandoned ones.
  var delayed: [Delayed] = []

  enum Delayed {
    case produce(Produce)
    case end(EndRequest)
    case former(FormerRequest)
  }

  /// A record in flight.
  struct Produce {
    var id: String
    var producer: Int
    var epoch: Int
    var place: ModelPlace
    var key: [UInt8]?
    var value: [UInt8]?
    var headers: [RecordHeaderField] = []
  }
  var now: Milliseconds = 1_000_000
  /// A generation waits for all members to give up what they had. Else it may begin without one that has not yet heard
  /// of the generation before.
  let waitsForAll: Bool
  /// Transactions are of version 1.
  let isFormer: Bool
  let partitions: Int32
  let inputs: [Topic]
  let sessionTimeout = StreamLimits().sessionTimeout
  static let heartbeatInterval: Milliseconds = 3000
  let transactionTimeout: Milliseconds = 5000
  private var producers = 0
  /// Told when a generation begins without a member that is silent.
  var onExpelled: ((String) -> Void)?
  /// Told when a late copy of an EndTxn did something.
  var onLateEnd: ((String) -> Void)?

  init(partitions: Int32, inputs: [Topic], waitsForAll: Bool, isFormer: Bool = false) {
    self.waitsForAll = waitsForAll
    self.isFormer = isFormer
    self.partitions = partitions
    self.inputs = inputs
  }

  // MARK: Logs

  func append(_ place: ModelPlace, key: [UInt8]?, value: [UInt8]?, headers: [RecordHeaderField] = []) {
    log(place).entries.append(
      Entry(key: key, value: value, headers: headers, status: .plain, producer: -1, time: now))
  }

  func log(_ place: ModelPlace) -> Log {
    if let log = logs[place] { return log }
    let log = Log()
    logs[place] = log
    return log
  }

  /// Committed records of a partition, in order.
  func readCommitted(_ place: ModelPlace) -> [(offset: Int64, key: [UInt8]?, value: [UInt8]?)] {
    log(place).entries.enumerated().compactMap { offset, entry in
      entry.status == .plain || entry.status == .committed ? (Int64(offset), entry.key, entry.value) : nil
    }
  }

  // MARK: Transactions

  func coordinated(_ id: String, producer: Int, epoch: Int) throws(Refusal) -> Coordinated {
    guard let it = transactions[id], it.producer == producer, it.epoch == epoch else { throw .fenced }
    return it
  }

  /// A new epoch; a transaction the old one left open is aborted first.
  /// - Parameter epoch: that of the producer that continues; nil: a new one.
  func initProducer(_ id: String, from epoch: Int? = nil) throws(Refusal) -> (producer: Int, epoch: Int) {
    let it: Coordinated
    if let known = transactions[id] {
      it = known
    } else {
      producers += 1
      it = Coordinated(producer: producers)
      transactions[id] = it
      transactionIDs = transactions.keys.sorted()
    }
    switch it.state {
    case .ongoing:
      complete(it, commit: false)
      throw .concurrent
    case .completing: throw .concurrent
    case .empty, .complete: break
    }
    if let epoch, epoch == it.epochBefore { return (it.producer, it.epoch) }
    guard epoch == nil || epoch == it.epoch else { throw .fenced }
    it.epochBefore = epoch
    it.epoch += 1
    it.ended = nil
    it.state = .empty
    return (it.producer, it.epoch)
  }

  /// A leader, or the group's coordinator, asks that a partition be part of the producer's transaction, which begins where
  /// there is none.
  func enlist(_ id: String, producer: Int, epoch: Int, _ place: ModelPlace?) throws(Refusal) -> Coordinated {
    let it = try coordinated(id, producer: producer, epoch: epoch)
    if case .completing = it.state { throw .concurrent }
    if it.state != .ongoing {
      it.state = .ongoing
      it.since = now
      it.partitions = []
      it.offsets = [:]
      it.hasOffsets = false
    }
    if let place { it.partitions.insert(place) }
    return it
  }

  func produce(_ request: Produce) throws(Refusal) -> Int64 {
    let (producer, epoch) = (request.producer, request.epoch)
    let log = log(request.place)
    if let known = log.epochs[producer], epoch < known { throw .fenced }
    // The leader does not verify a transaction that is open in its log with this epoch, even if a marker is in flight.
    if log.openSince[producer] == nil || log.epochs[producer] != epoch {
      if isFormer {
        try verify(request)
      } else {
        _ = try enlist(request.id, producer: producer, epoch: epoch, request.place)
      }
    }
    let offset = log.entries.count
    log.epochs[producer] = epoch
    log.openSince[producer] = log.openSince[producer] ?? offset
    log.entries.append(
      Entry(
        key: request.key, value: request.value, headers: request.headers, status: .open,
        producer: producer, time: now))
    return Int64(offset)
  }

  func commitOffsets(
    _ id: String, producer: Int, epoch: Int, member: String, generation: Int,
    _ offsets: [ModelPlace: (offset: Int64, metadata: String)]
  ) throws(Refusal) {
    // The member is looked at first: who is refused has enlisted nothing.
    guard generation == self.generation, members[member]?.generation == generation else { throw .illegalGeneration }
    var logged: [ModelPlace: CommittedOffset] = [:]
    for (place, offset) in offsets {
      offsetsLogged += 1
      logged[place] = CommittedOffset(offset: offset.offset, metadata: offset.metadata, place: offsetsLogged)
    }
    if isFormer { return try logOffsets(id, producer: producer, epoch: epoch, logged) }
    try enlist(id, producer: producer, epoch: epoch, nil).offsets.merge(logged) { $1 }
  }

  /// Ends a transaction, and its epoch; returns the next one's. The same again, after an answer that was lost, is answered
  /// the same until the next transaction begins.
  func end(_ request: EndRequest) throws(Refusal) -> Int {
    guard let it = transactions[request.id], it.producer == request.producer else { throw .fenced }
    if isFormer, request.epoch == it.epoch, it.state != .ongoing { return try endAgain(it, request) }
    if !isFormer, request.epoch == it.epoch - 1, let ended = it.ended, ended.epoch == request.epoch,
      it.state != .ongoing
    {
      guard ended.commit == request.commit else { throw .invalidState }
      return it.epoch
    }
    guard request.epoch == it.epoch else { throw .fenced }
    guard it.state == .ongoing else { throw .invalidState }
    complete(it, commit: request.commit)
    return it.epoch
  }

  private func complete(_ it: Coordinated, commit: Bool) {
    it.ended = (it.epoch, commit)
    // In version 1 only the coordinator's own aborts raise it.
    if !isFormer || !commit { it.epoch += 1 }
    it.state = .completing(commit: commit)
    it.pendingMarkers = it.partitions.sorted()
    it.offsetsMarkerPending = !it.offsets.isEmpty || it.hasOffsets
    for place in it.partitions { it.decisions[place] = commit }
    if it.offsetsMarkerPending { it.offsetsDecision = commit }
    finishIfDone(it)
  }

  private func finishIfDone(_ it: Coordinated) {
    guard case .completing(let commit) = it.state, it.pendingMarkers.isEmpty, !it.offsetsMarkerPending else { return }
    it.state = .complete(commit: commit)
  }

  /// Writes one marker of a decided transaction; false where none waits.
  func writeMarker(_ it: Coordinated, pick: (Int) -> Int) -> Bool {
    guard case .completing(let commit) = it.state else { return false }
    let choices = it.pendingMarkers.count + (it.offsetsMarkerPending ? 1 : 0)
    guard choices > 0 else { return false }
    let choice = pick(choices)
    if choice == it.pendingMarkers.count {
      markOffsets(it, commit)
      it.offsetsMarkerPending = false
    } else {
      mark(it.pendingMarkers.remove(at: choice), it, commit)
    }
    finishIfDone(it)
    return true
  }

  private func markOffsets(_ it: Coordinated, _ commit: Bool) {
    it.offsetsEpoch = max(it.offsetsEpoch, it.epoch)
    if commit {
      for (place, offset) in Array(it.dangling) + Array(it.offsets) where (committed[place]?.place ?? 0) < offset.place
      {
        committed[place] = offset
      }
    }
    it.dangling = [:]
  }

  /// Writes a marker, which ends all that is open of its producer.
  private func mark(_ place: ModelPlace, _ it: Coordinated, _ commit: Bool) {
    let log = log(place)
    log.epochs[it.producer] = max(log.epochs[it.producer] ?? 0, it.epoch)
    if let first = log.openSince.removeValue(forKey: it.producer) {
      for index in first..<log.entries.count
      where log.entries[index].producer == it.producer && log.entries[index].status == .open {
        log.entries[index].status = commit ? .committed : .aborted
      }
    }
    log.entries.append(Entry(key: nil, value: nil, status: .marker, producer: it.producer, time: now))
  }

  // MARK: A lone broker's stop

  /// Restarts the only broker. It leaves out some or all markers of decided transactions, and the coordinator lists these as complete.
  ///
  /// Late requests end with their connections. One that came after the restart would begin a transaction over records whose marker was
  /// left out, and its abort would take these along; a TCP connection does not outlive its broker, so that cannot be.
  func restart(_ random: inout SeededGenerator) {
    delayed = []
    for id in transactionIDs {
      guard let it = transactions[id], case .completing(let commit) = it.state, !random.oneIn(4) else { continue }
      let leavesAll = random.oneIn(2)
      it.pendingMarkers.removeAll { _ in leavesAll || random.oneIn(2) }
      if it.offsetsMarkerPending, leavesAll || random.oneIn(2) {
        it.dangling.merge(it.offsets) { $1 }
        it.offsetsMarkerPending = false
      }
      // Write the other markers before anything else happens.
      while !it.pendingMarkers.isEmpty || it.offsetsMarkerPending { _ = writeMarker(it) { _ in 0 } }
      it.state = .complete(commit: commit)
    }
  }

  /// Where markers of a producer's complete transactions are missing, and how those were decided; nil: of its offsets. Nothing
  /// is said while another one is open.
  func missingMarkers(_ id: String) -> [(place: ModelPlace?, commit: Bool)] {
    guard let it = transactions[id], it.state != .ongoing else { return [] }
    if case .completing = it.state { return [] }
    var missing: [(place: ModelPlace?, commit: Bool)] = it.decisions.sorted { $0.key < $1.key }
      .filter { logs[$0.key]?.openSince[it.producer] != nil }.map { ($0.key, $0.value) }
    if let commit = it.offsetsDecision, !it.dangling.isEmpty { missing.append((nil, commit)) }
    return missing
  }

  /// Writes a marker that was left out.
  func writeMissing(_ id: String, _ place: ModelPlace?, commit: Bool) {
    guard let it = transactions[id] else { return }
    if let place {
      mark(place, it, commit)
    } else {
      it.offsets = [:]
      markOffsets(it, commit)
    }
  }

  /// The transactional ids that there are.
  var ids: [String] { transactionIDs }

  /// Whether an entry belongs to a transaction that was decided as committed, whose marker was left out.
  func isCommitted(_ entry: Entry, at place: ModelPlace) -> Bool {
    transactions.values.contains {
      $0.producer == entry.producer && ($0.state == .completing(commit: true) || $0.decisions[place] == true)
    }
  }

  /// Aborts transactions beyond their time-out, and fences their producers.
  func expireTransactions() {
    for it in transactions.values where it.state == .ongoing && now - it.since > transactionTimeout {
      complete(it, commit: false)
    }
  }

  // MARK: Group

  func committedOffsets(_ places: [ModelPlace]) throws(Refusal) -> [(ModelPlace, Int64?, String)] {
    for it in transactions.values {
      let isPending = it.state == .ongoing || it.offsetsMarkerPending
      if places.contains(where: { (isPending && it.offsets[$0] != nil) || it.dangling[$0] != nil }) { throw .unstable }
    }
    return places.map { ($0, committed[$0]?.offset, committed[$0]?.metadata ?? "") }
  }

  func join(_ member: String) {
    var it = Member()
    it.lastSeen = now
    members[member] = it
    memberNames = members.keys.sorted()
    isRebalancing = true
  }

  /// A static member is back: within its session it keeps what it had, without a rebalance. False:
  /// it came too late.
  func rejoin(_ member: String) -> Bool {
    guard var it = members[member], !it.isExpelled, now - it.lastSeen <= sessionTimeout else {
      join(member)
      return false
    }
    it.lastSeen = now
    it.hasJoined = true
    if isRebalancing || it.generation < 0 {
      it.generation = -1
      it.tasks = []
      it.news = []
    } else {
      it.news = [.assigned(it.tasks)]
    }
    members[member] = it
    return true
  }

  /// The member's process runs: its client sends heartbeats by itself. One that comes too late changes nothing.
  func heartbeat(_ member: String) {
    guard let lastSeen = members[member]?.lastSeen, now - lastSeen >= Self.heartbeatInterval,
      now - lastSeen <= sessionTimeout
    else { return }
    members[member]?.lastSeen = now
  }

  /// Time has passed in which the member's client sent heartbeats.
  func keepAlive(_ member: String) { members[member]?.lastSeen = now }

  /// Whether a member is the owner of a task, by what the group knows now.
  func owns(_ member: String, _ task: Int32) -> Bool {
    guard let it = members[member], !it.isExpelled, now - it.lastSeen <= sessionTimeout else { return false }
    return it.tasks.contains(task)
  }

  func leave(_ member: String) {
    members[member] = nil
    memberNames = members.keys.sorted()
    isRebalancing = true
  }

  /// The coordinator was away for longer than a session and is back: each client has given its partitions up by itself and joins again.
  /// The coordinator knows the members, and their sessions begin anew: the next generation waits for all of them.
  func returned() {
    for name in memberNames {
      guard var it = members[name], !it.isExpelled else { continue }
      it.lastSeen = now
      it.generation = -1
      it.hasJoined = false
      it.news = [.lost(it.tasks)]
      it.tasks = []
      members[name] = it
    }
    isRebalancing = true
    isRoundOpen = true
  }

  /// The member polls: it is alive, and learns what is new.
  func poll(_ member: String) -> GroupChange? {
    guard var it = members[member] else { return nil }
    defer { members[member] = it }
    it.lastSeen = now
    if it.isExpelled {
      it.isExpelled = false
      it.hasJoined = false
      it.generation = -1
      isRebalancing = true
      let tasks = it.tasks
      it.tasks = []
      it.news = []
      return .lost(tasks)
    }
    guard let change = it.news.first else { return nil }
    it.news.removeFirst()
    // Its answer to an earlier change is none to this one.
    if case .lost = change { it.hasJoined = false }
    return change
  }

  /// The member has answered a change with an assignment of its own.
  func answered(_ member: String, wasRevoked: Bool) {
    guard wasRevoked, members[member]?.isExpelled == false else { return }
    members[member]?.tasks = []
    members[member]?.hasJoined = true
  }

  /// Everybody is to join again.
  func beginRebalance() {
    for name in memberNames {
      guard var it = members[name], !it.isExpelled else { continue }
      if it.generation >= 0, it.hasJoined, it.news.isEmpty || waitsForAll {
        it.hasJoined = false
        it.news.append(.revoked(it.tasks))
        members[name] = it
      }
    }
    isRebalancing = true
    isRoundOpen = true
  }

  private var isRoundOpen = false

  /// Moves the group on: expels who is silent, and begins a generation once all have joined.
  func advanceGroup() {
    for name in memberNames {
      guard let it = members[name], !it.isExpelled, now - it.lastSeen > sessionTimeout else { continue }
      members[name]?.isExpelled = true
      onExpelled?(name)
      members[name]?.generation = -1
      isRebalancing = true
    }
    guard isRebalancing else { return }
    if !isRoundOpen { beginRebalance() }
    let live = members.filter { !$0.value.isExpelled }
    guard live.values.allSatisfy({ $0.hasJoined && $0.news.isEmpty }) else { return }
    isRebalancing = false
    isRoundOpen = false
    generation += 1
    let names = live.keys.sorted()
    for (index, name) in names.enumerated() {
      let tasks = (0..<partitions).filter { Int($0) % names.count == index }
      members[name]?.generation = generation
      members[name]?.tasks = tasks
      members[name]?.news = [.assigned(tasks)]
    }
  }

  // MARK: The network

  /// Something that happens by itself: a marker is written, a late request arrives.
  func step(_ random: inout SeededGenerator, faults: FaultRates) {
    expireTransactions()
    advanceGroup()
    if !delayed.isEmpty, random.oneIn(faults.lateArrival) { arrive(delayed.remove(at: random.below(delayed.count))) }
    for id in transactionIDs {
      guard let it = transactions[id], random.oneIn(faults.marker) else { continue }
      _ = writeMarker(it) { random.below($0) }
    }
  }

  /// The sender has ended, so the answer is dropped.
  private func arrive(_ request: Delayed) {
    switch request {
    case .produce(let record): _ = try? produce(record)
    case .former(let request): _ = try? receive(request)
    case .end(let request):
      let before = transactions[request.id]?.state
      _ = try? end(request)
      if let after = transactions[request.id]?.state, after != before {
        onLateEnd?(
          "late \(request.commit ? "commit" : "abort") of \(request.id) turned \(before ?? .empty) into \(after)")
      }
    }
  }
}

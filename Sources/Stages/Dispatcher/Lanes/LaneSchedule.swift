import NudgeSchema
import StreamRuntime

/// The lanes of a task with work, and what each waits for: a time, its turn in a scope's queue, or an answer. It contains no rows and makes
/// no decisions about pushes.
///
/// Opening or closing a breaker moves nothing, because lanes wait in the queue of their scope whether or not sending is allowed. A lane
/// takes about 250 bytes, so 200,000 of them fit beside the rows. All times are on the steady clock, so setting the wall clock neither
/// delays nor hurries a lane.
struct LaneSchedule {
  /// Identifies a lane in queues and requests. The id of a removed lane is never reused.
  struct LaneID: Hashable {
    fileprivate var index: UInt32
    fileprivate var generation: UInt32
  }

  /// What to do next.
  enum Action: Equatable {
    /// Check a lane, because the time for which it waited has come.
    case check(LaneID)
    /// Check a lane, which is the next in its scope's queue, and send.
    case send(LaneID)
    /// Nothing can be done before this time; nil if nothing can be done before the next record or answer.
    case wait(until: Milliseconds?)
  }

  private enum Place: Equatable {
    /// The lane is being checked.
    case idle
    case inFlight
    case due(at: Milliseconds)
    /// The lane must be retried, because its scope failed; not before `earliest`, even if the scope recovers.
    case retry(at: Milliseconds, earliest: Milliseconds, queue: UInt32)
    /// The lane is in its scope's queue, since this time.
    case queued(since: Milliseconds)
  }

  private struct Lane {
    var key: DeviceKey
    var generation: UInt32
    var place = Place.idle
    /// When its first push was decided.
    var since: Milliseconds
    var pushes: Int32 = 0
    var bytes: Int32 = 0
    /// The queue with an entry of this lane; `none` if there is none.
    var queue = LaneSchedule.none
    /// The earliest entry in `due`.
    var nextDue = Milliseconds.max
    var nextOfPerson = LaneSchedule.none
  }

  private struct ScopeQueue {
    let scope: DeliveryScope
    /// It may contain ids of lanes that have left; `count` does not count them.
    var ids = Fifo<LaneID>()
    var count = 0
  }

  private static let none = UInt32.max
  /// The time until the next check whether the stream thread has room for more requests.
  private static let effectWait: Milliseconds = 20
  private static let noKey = DeviceKey(lane: RowKey(bytes: []))

  private var lanes: [Lane] = []
  private var free: [UInt32] = []
  private var generation: UInt32 = 0
  private var indexes: [RowKey: UInt32] = [:]
  /// The first lane of each person, by a hash of the user id. The others follow by `nextOfPerson`.
  private var persons: [Int: UInt32] = [:]
  private var due = DueQueue<LaneID>()
  private var queues: [ScopeQueue] = []
  private var queueOfScope: [DeliveryScope: UInt32] = [:]
  /// The queue whose turn is next.
  private var turn = 0
  /// The number of pushes in the lanes.
  private(set) var pushes = 0
  /// The approximate bytes of these pushes.
  private(set) var bytes = 0

  /// The number of lanes whose push must be retried.
  private(set) var retries = 0

  /// The number of lanes with work.
  var count: Int { indexes.count }

  /// The earliest `since` of all lanes. Reads every lane.
  var oldestSince: Milliseconds? { indexes.values.lazy.map { self.lanes[Int($0)].since }.min() }

  // MARK: Lanes

  func id(of key: DeviceKey) -> LaneID? {
    indexes[key.lane].map { LaneID(index: $0, generation: lanes[Int($0)].generation) }
  }

  func key(_ id: LaneID) -> DeviceKey { lanes[Int(id.index)].key }

  /// The lanes of a person, the oldest first.
  func lanes(of userId: String) -> [LaneID] {
    let user = DeviceKey(userId: userId, deviceId: "").userBytes
    var found: [LaneID] = []
    var next = persons[Self.hash(user)] ?? Self.none
    while next != Self.none {
      let lane = lanes[Int(next)]
      if lane.key.userBytes == user { found.append(LaneID(index: next, generation: lane.generation)) }
      next = lane.nextOfPerson
    }
    return found
  }

  mutating func add(_ key: DeviceKey, since: Milliseconds) -> LaneID {
    generation &+= 1
    let lane = Lane(key: key, generation: generation, since: since)
    let index: UInt32
    if let reused = free.popLast() {
      index = reused
      lanes[Int(index)] = lane
    } else {
      index = UInt32(lanes.count)
      lanes.append(lane)
    }
    indexes[key.lane] = index
    let hash = Self.hash(key.userBytes)
    if var last = persons[hash] {
      while lanes[Int(last)].nextOfPerson != Self.none { last = lanes[Int(last)].nextOfPerson }
      lanes[Int(last)].nextOfPerson = index
    } else {
      persons[hash] = index
    }
    return LaneID(index: index, generation: generation)
  }

  /// Sets when the lane's first push was decided.
  mutating func setSince(_ id: LaneID, _ since: Milliseconds) {
    if isCurrent(id) { lanes[Int(id.index)].since = since }
  }

  /// Removes a lane, which is empty.
  mutating func remove(_ id: LaneID) {
    guard isCurrent(id) else { return }
    setPlace(.idle, id)
    let lane = lanes[Int(id.index)]
    pushes -= Int(lane.pushes)
    bytes -= Int(lane.bytes)
    indexes[lane.key.lane] = nil
    unlink(id.index, lane)
    generation &+= 1
    lanes[Int(id.index)] = Lane(key: Self.noKey, generation: generation, since: 0)
    free.append(id.index)
    if indexes.isEmpty { self = LaneSchedule(after: self) }
  }

  init() {}

  /// A schedule without lanes, and without the memory that they used.
  private init(after emptied: LaneSchedule) { generation = emptied.generation }

  private mutating func unlink(_ index: UInt32, _ lane: Lane) {
    let hash = Self.hash(lane.key.userBytes)
    guard var previous = persons[hash] else { return }
    if previous == index {
      persons[hash] = lane.nextOfPerson == Self.none ? nil : lane.nextOfPerson
      return
    }
    while previous != Self.none {
      let next = lanes[Int(previous)].nextOfPerson
      if next == index { return lanes[Int(previous)].nextOfPerson = lane.nextOfPerson }
      previous = next
    }
  }

  /// Counts pushes that joined a lane, or left it if negative.
  mutating func count(_ id: LaneID, pushes: Int, bytes: Int) {
    guard isCurrent(id) else { return }
    let index = Int(id.index)
    // Bytes are an estimate. Those of a lane never fall below zero, and are removed with the lane.
    let change = max(bytes, -Int(lanes[index].bytes))
    lanes[index].pushes += Int32(clamping: pushes)
    lanes[index].bytes += Int32(clamping: change)
    self.pushes += pushes
    self.bytes += change
  }

  private static func hash(_ bytes: ArraySlice<UInt8>) -> Int {
    var hasher = Hasher()
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    return hasher.finalize()
  }

  // MARK: What lanes wait for

  private func isCurrent(_ id: LaneID) -> Bool {
    lanes.indices.contains(Int(id.index)) && lanes[Int(id.index)].generation == id.generation
  }

  private mutating func setPlace(_ place: Place, _ id: LaneID) {
    let index = Int(id.index)
    let queue = lanes[index].queue
    if case .queued = lanes[index].place, queue != Self.none { queues[Int(queue)].count -= 1 }
    if case .retry = lanes[index].place { retries -= 1 }
    if case .retry = place { retries += 1 }
    lanes[index].place = place
    if case .queued = place, queue != Self.none { queues[Int(queue)].count += 1 }
  }

  /// A request is in flight.
  mutating func setInFlight(_ id: LaneID) { setPlace(.inFlight, id) }

  func isInFlight(_ id: LaneID) -> Bool { lanes[Int(id.index)].place == .inFlight }

  /// The lane waits for nothing; the next check decides.
  mutating func setIdle(_ id: LaneID) { setPlace(.idle, id) }

  mutating func wait(_ id: LaneID, until time: Milliseconds) {
    setPlace(.due(at: time), id)
    recordDue(id, at: time)
  }

  /// The lane's push is retried at a time, because its scope failed.
  mutating func retry(_ id: LaneID, in scope: DeliveryScope, at time: Milliseconds, earliest: Milliseconds) {
    setPlace(.retry(at: time, earliest: min(earliest, time), queue: index(of: scope)), id)
    recordDue(id, at: time)
  }

  /// The scope's project works again: lanes that wait for a retry become due within `spread`, but not before their earliest time. Reads
  /// every lane.
  mutating func hurry(_ project: DeliveryScope, now: Milliseconds, spread: Milliseconds) {
    for index in indexes.values {
      guard case .retry(let time, let earliest, let queue) = lanes[Int(index)].place,
        queues[Int(queue)].scope.destination == project.destination
      else { continue }
      // Spreads the lanes evenly, whatever their number, by the fractional parts of multiples of the golden ratio.
      let share = (Double(index) * 0.618_033_988_749_895).truncatingRemainder(dividingBy: 1)
      let sooner = max(earliest, now + Milliseconds(Double(spread) * share))
      guard sooner < time else { continue }
      let id = LaneID(index: index, generation: lanes[Int(index)].generation)
      setPlace(.retry(at: sooner, earliest: earliest, queue: queue), id)
      recordDue(id, at: sooner)
    }
  }

  /// Of the project's lanes that wait for a retry and may be tried now, the one whose first push has waited longest. Reads every lane.
  func oldestRetry(_ project: DeliveryScope, now: Milliseconds) -> LaneID? {
    var oldest: (index: UInt32, since: Milliseconds)?
    for index in indexes.values {
      guard case .retry(let time, let earliest, let queue) = lanes[Int(index)].place, time > now, earliest <= now,
        queues[Int(queue)].scope.destination == project.destination
      else { continue }
      let since = lanes[Int(index)].since
      if let oldest, (oldest.since, oldest.index) < (since, index) { continue }
      oldest = (index, since)
    }
    return oldest.map { LaneID(index: $0.index, generation: lanes[Int($0.index)].generation) }
  }

  /// Whether the lane waits for an answer or for a later time.
  func isWaiting(_ id: LaneID, now: Milliseconds) -> Bool {
    switch lanes[Int(id.index)].place {
    case .inFlight: true
    case .due(let time), .retry(let time, _, _): time > now
    case .idle, .queued: false
    }
  }

  /// Adds the lane to the end of its scope's queue unless it is in the queue. It also becomes due for a check at `lookAt`.
  mutating func enqueue(_ id: LaneID, in scope: DeliveryScope, now: Milliseconds, checkAt: Milliseconds) {
    let queue = index(of: scope)
    let index = Int(id.index)
    defer { recordDue(id, at: checkAt) }
    if lanes[index].queue == queue {
      if case .queued = lanes[index].place { return }
    } else {
      setPlace(.idle, id)
      lanes[index].queue = queue
      queues[Int(queue)].ids.append(id)
    }
    setPlace(.queued(since: now), id)
  }

  /// Since when a lane has been in its queue; nil if it is in none.
  func queuedSince(_ id: LaneID) -> Milliseconds? {
    if case .queued(let since) = lanes[Int(id.index)].place { since } else { nil }
  }

  /// Whether lanes wait in the queues of a scope. For a project, those of all platforms count.
  func hasQueued(_ scope: DeliveryScope) -> Bool {
    if scope.platform != nil { return queueOfScope[scope].map { queues[Int($0)].count > 0 } ?? false }
    return queues.contains { $0.count > 0 && $0.scope.destination == scope.destination }
  }

  private mutating func index(of scope: DeliveryScope) -> UInt32 {
    if let index = queueOfScope[scope] { return index }
    let index = UInt32(queues.count)
    queues.append(ScopeQueue(scope: scope))
    queueOfScope[scope] = index
    return index
  }

  private mutating func recordDue(_ id: LaneID, at time: Milliseconds) {
    let index = Int(id.index)
    // An earlier check schedules the later one again.
    guard time < lanes[index].nextDue else { return }
    lanes[index].nextDue = time
    due.insert(id, at: time)
  }

  // MARK: What is next

  /// The next lane to check.
  ///
  /// - Parameters:
  ///   - hasRoom: Whether the task may have another request to a scope in flight.
  ///   - hasEffects: Whether the stream thread has room for another request to a scope.
  ///   - budget: Limits the work of a step. Each entry taken from a queue uses up one. At zero the action is to wait until now.
  mutating func next(
    now: Milliseconds, hasRoom: (DeliveryScope) -> Bool, breakers: CircuitBreakers, quotas: ProjectQuotas,
    hasEffects: (DeliveryScope) -> Bool, budget: inout Int
  ) -> Action {
    while let first = due.first, first <= now {
      guard budget > 0 else { return .wait(until: now) }
      budget -= 1
      guard let (id, time) = due.pop(), isCurrent(id), lanes[Int(id.index)].nextDue == time else { continue }
      lanes[Int(id.index)].nextDue = .max
      switch lanes[Int(id.index)].place {
      case .inFlight: continue
      // It now waits for longer than when the entry was made.
      case .due(let later) where later > now: recordDue(id, at: later)
      case .retry(let later, _, _) where later > now: recordDue(id, at: later)
      case .due, .retry, .idle, .queued: return .check(id)
      }
    }
    var earliest = due.first
    for offset in queues.indices {
      let index = (turn + offset) % queues.count
      guard queues[index].count > 0, hasRoom(queues[index].scope) else { continue }
      switch breakers.gate(queues[index].scope, now: now) {
      case .probing: continue
      case .closed(let until): earliest = min(earliest ?? until, until)
      case .open:
        if let wait = quotas.wait(queues[index].scope.destination, at: now) {
          earliest = min(earliest ?? .max, now + wait)
          continue
        }
        guard hasEffects(queues[index].scope) else {
          // An answer to another task of the thread may make room, but this task is not informed.
          earliest = min(earliest ?? .max, now + Self.effectWait)
          continue
        }
        while let id = queues[index].ids.first {
          guard budget > 0 else { return .wait(until: now) }
          budget -= 1
          _ = queues[index].ids.popFirst()
          guard isCurrent(id), lanes[Int(id.index)].queue == UInt32(index) else { continue }
          guard case .queued = lanes[Int(id.index)].place else {
            lanes[Int(id.index)].queue = Self.none
            continue
          }
          queues[index].count -= 1
          lanes[Int(id.index)].queue = Self.none
          turn = (index + 1) % queues.count
          return .send(id)
        }
      }
    }
    return .wait(until: earliest)
  }
}

import Dispatch
import Kafka
import NudgeSchema
import ServiceKit
import Synchronization

/// Reads the results of events while requests with `wait=decision` are open. It is for tests and trials, not for load.
final class DecisionTail: Sendable {
  /// How long a request waits, counted from its start.
  static let patience: Duration = .seconds(2)
  /// How long the tail continues to read after the last request.
  private static let idleTime: Duration = .seconds(30)
  private static let topics: [Topic] = [.timeline, .decisions, .deadLetters]

  /// The most requests that may wait, for one API key and in total.
  static let waitersOfACaller = 16
  static let allWaiters = 256

  /// If nothing was read about an event for this long, it may be a retry, and the results of the first attempt are searched. Most events
  /// are decided within a tenth of this time.
  private static let retryDelay: Duration = .milliseconds(300)

  private struct Waiter {
    var caller: String
    var positions: [RecordPosition]
    var deadline: ContinuousClock.Instant
    var finish: @Sendable ([RecordPosition: DecisionLog.Fate]) -> Void
  }

  private struct State {
    var log = DecisionLog()
    var isReading = false
    var starters: [@Sendable () -> Void] = []
    var waiters: [UInt64: Waiter] = [:]
    var lastWaiter: UInt64 = 0
    /// Admitted requests without an answer, by API key.
    var requests: [String: Int] = [:]
    var lastWanted = ContinuousClock.now
    var isClosed = false
  }

  private let configuration: ClientConfiguration
  private let retryConfiguration: ClientConfiguration
  private let names: TopicNames
  private let logger: Logger
  private let state = Mutex(State())
  private let wanted = DispatchSemaphore(value: 0)
  private let reader = ReaderThread("http-decisions")
  /// Searches for the results of earlier events, for one request after the other.
  private let retries = DispatchQueue(label: "nudge.http-retries")

  init(settings: ServiceSettings, logger: Logger) {
    names = TopicNames(prefix: settings.topicPrefix)
    self.logger = logger
    func consumer(reportsEndOfPartition: Bool) -> ClientConfiguration {
      .reader(
        settings, reportsEndOfPartition: reportsEndOfPartition,
        ["queued.max.messages.kbytes": "16384", "fetch.wait.max.ms": "20"])
    }
    configuration = consumer(reportsEndOfPartition: false)
    retryConfiguration = consumer(reportsEndOfPartition: true)
  }

  /// Starts the thread, which waits for requests.
  func start() { reader.start { [self] in run() } }

  /// Answers the waiting requests, and stops reading.
  func close() {
    guard state.withLock({ !$0.isClosed }) else { return }
    state.withLock { $0.isClosed = true }
    wanted.signal()
    reader.close()
    giveUp()
  }

  /// Whether another request of a caller may wait. If so, `wait` must be called once for it.
  func enter(_ caller: String) -> Bool {
    state.withLock { state in
      guard state.requests[caller, default: 0] < Self.waitersOfACaller,
        state.requests.values.reduce(0, +) < Self.allWaiters
      else { return false }
      state.requests[caller, default: 0] += 1
      state.log.begin()
      return true
    }
  }

  /// Calls `ready` once the tail reads, so that it sees what is published afterwards. It also calls `ready` if it cannot read.
  func prepare(_ ready: @escaping @Sendable () -> Void) {
    let isReady = state.withLock { state in
      state.lastWanted = .now
      if state.isReading || state.isClosed { return true }
      state.starters.append(ready)
      return false
    }
    if isReady { ready() } else { wanted.signal() }
  }

  /// Calls `finish` with the known results once all of these published events are decided or refused, and at `deadline` at the latest.
  /// Calls it at once if there are no events, or if the tail is not reading.
  func wait(
    for events: [EarlierEvents.Wanted], of caller: String, until deadline: ContinuousClock.Instant,
    _ finish: @escaping @Sendable ([RecordPosition: DecisionLog.Fate]) -> Void
  ) {
    let positions = events.map(\.position)
    let (known, id) = state.withLock { state -> ([RecordPosition: DecisionLog.Fate]?, UInt64) in
      state.lastWanted = .now
      state.lastWaiter += 1
      state.log.watch(positions, as: state.lastWaiter)
      let waiter = Waiter(caller: caller, positions: positions, deadline: deadline, finish: finish)
      guard state.isReading, !state.isClosed, !state.log.isDone(state.lastWaiter) else {
        return (Self.end(waiter, state.lastWaiter, in: &state), state.lastWaiter)
      }
      state.waiters[state.lastWaiter] = waiter
      return (nil, state.lastWaiter)
    }
    if let known { return finish(known) }
    retries.asyncAfter(deadline: .now() + Self.retryDelay.seconds) { [self] in
      findEarlier(events, waiter: id, until: deadline)
    }
  }

  /// Searches earlier records for the results of a request's events of which nothing was read.
  private func findEarlier(
    _ events: [EarlierEvents.Wanted], waiter id: UInt64, until deadline: ContinuousClock.Instant
  ) {
    let unseen = state.withLock { state -> [EarlierEvents.Wanted] in
      guard state.waiters[id] != nil, !state.isClosed else { return [] }
      let fates = state.log.fates(of: events.map(\.position))
      return events.filter { fates[$0.position]?.isUnseen == true }
    }
    guard !unseen.isEmpty else { return }
    do throws(KafkaError) {
      try EarlierEvents(configuration: retryConfiguration, names: names).find(unseen, until: deadline) {
        (position, report) in
        state.withLock { $0.log.record(position, report) }
      }
    } catch {
      logger.limited("retries", every: .seconds(60))?.warning(
        "wait=decision does not find earlier events", ["reason": .string("\(error.name): \(error.reason)")])
    }
  }

  /// Removes a request, and returns the known results of its events.
  private static func end(
    _ waiter: Waiter, _ id: UInt64, in state: inout State
  ) -> [RecordPosition: DecisionLog.Fate] {
    let fates = state.log.fates(of: waiter.positions)
    state.log.end(id, waiter.positions)
    state.waiters[id] = nil
    let left = state.requests[waiter.caller, default: 1] - 1
    state.requests[waiter.caller] = left > 0 ? left : nil
    return fates
  }

  // MARK: The thread

  private var isClosed: Bool { state.withLock { $0.isClosed } }
  private var isWanted: Bool { state.withLock { !$0.starters.isEmpty } }

  private func run() {
    while !isClosed {
      guard isWanted else {
        _ = wanted.wait(timeout: .now() + .milliseconds(500))
        continue
      }
      do throws(KafkaError) {
        try read()
      } catch {
        logger.limited("decisions", every: .seconds(60))?.warning(
          "wait=decision does not work", ["reason": .string("\(error.name): \(error.reason)")])
      }
      state.withLock { $0.isReading = false }
      giveUp()
    }
  }

  /// Answers all requests with the results known so far.
  private func giveUp() {
    let (starters, due) = state.withLock { state in
      let (starters, waiters) = (state.starters, state.waiters)
      state.starters = []
      return (starters, waiters.map { ($0.value, Self.end($0.value, $0.key, in: &state)) })
    }
    for start in starters { start() }
    for (waiter, fates) in due { waiter.finish(fates) }
  }

  /// Reads from the ends of the topics until no request has needed it for a while.
  private func read() throws(KafkaError) {
    let consumer = try Consumer(configuration, name: "nudge-ingest-decisions")
    defer { consumer.close() }
    let counts = try consumer.partitionCounts(
      of: Self.topics.map { names($0) }, timeout: .seconds(1))
    let places = Self.topics.flatMap { topic in
      (0..<Int32(clamping: counts[names(topic)] ?? 0)).map {
        TopicPartition(topic: names(topic), partition: $0)
      }
    }
    let ends = try consumer.offsets(
      forTimes: Dictionary(uniqueKeysWithValues: places.map { ($0, Offset.end) }),
      timeout: .seconds(1))
    try consumer.assign(
      places.map { TopicPartitionOffset($0, offset: (ends[$0] ?? nil) ?? Offset.end) })
    let starters = state.withLock { state in
      defer { state.starters = [] }
      state.isReading = true
      return state.starters
    }
    for start in starters { start() }
    let byName = Dictionary(uniqueKeysWithValues: Self.topics.map { (names($0), $0) })
    while !isClosed {
      let event = consumer.poll(maxRecords: 1_000, maxBytes: 4 << 20, timeout: .milliseconds(20)) {
        record in
        guard let topic = byName[record.topic] else { return }
        read(record, of: topic)
      }
      if case .error(let error)? = event, error.isFatal || error.isAuthorization { throw error }
      let (due, isIdle) = state.withLock { state in
        let now = ContinuousClock.now
        var due: [(Waiter, [RecordPosition: DecisionLog.Fate])] = []
        for (id, waiter) in state.waiters where waiter.deadline <= now || state.log.isDone(id) {
          due.append((waiter, Self.end(waiter, id, in: &state)))
        }
        // Decided within the lock, so that a new request either finds the tail reading or starts it again.
        let isIdle = state.requests.isEmpty && now - state.lastWanted > Self.idleTime
        if isIdle { state.isReading = false }
        return (due, isIdle)
      }
      for (waiter, fates) in due { waiter.finish(fates) }
      if isIdle { return }
    }
  }

  private func read(_ record: ConsumerRecord, of topic: Topic) {
    guard state.withLock({ $0.log.isWanted }) else { return }
    let coder = RecordCoder()
    switch topic {
    case .timeline:
      guard let value = record.value, let it = try? coder.decode(TimelineGlance.self, from: value),
        it.type != "message.sent"
      else { return }
      state.withLock { $0.log.record(it.source, .recipients(it.recipients)) }
    case .decisions:
      guard let value = record.value, let it = try? coder.decode(DecisionGlance.self, from: value)
      else { return }
      state.withLock { $0.log.record(it.source, .decided(it.decided)) }
    default:
      func header(_ name: String) -> String? {
        record.header(name).map { String(decoding: $0, as: UTF8.self) }
      }
      guard let topic = header(RecordHeader.originTopic),
        let partition = header(RecordHeader.originPartition).flatMap(Int32.init),
        let offset = header(RecordHeader.originOffset).flatMap(Int64.init)
      else { return }
      let refusal = DecisionLog.Fate.Refusal(
        code: header(RecordHeader.errorCode) ?? "unknown",
        message: header(RecordHeader.errorMessage) ?? "")
      state.withLock {
        $0.log.record(RecordPosition(topic: topic, partition: partition, offset: offset), .refused(refusal))
      }
    }
  }
}

import Dispatch
import Foundation
import Kafka
import NudgeSchema
import ServiceKit
import Synchronization

/// Reads what the pipeline makes of events, while requests with `wait=decision` are open: for tests and trials, not for load.
final class DecisionTail: Sendable {
  /// How long a request waits, from its begin.
  static let patience: Duration = .seconds(2)
  /// How long it reads on after the last request.
  private static let idleTime: Duration = .seconds(30)
  private static let topics: [Topic] = [.timeline, .decisions, .deadLetters]

  private struct Waiter {
    var positions: [RecordPosition]
    var deadline: ContinuousClock.Instant
    var finish: @Sendable ([RecordPosition: DecisionLog.Fate]) -> Void
  }

  private struct State {
    var log = DecisionLog()
    var isReading = false
    var starters: [@Sendable () -> Void] = []
    var waiters: [Waiter] = []
    var lastWanted = ContinuousClock.now
    var isClosed = false
  }

  private let configuration: ClientConfiguration
  private let names: TopicNames
  private let logger: Logger
  private let state = Mutex(State())
  private let wanted = DispatchSemaphore(value: 0)
  private let ended = DispatchSemaphore(value: 0)

  init(settings: ServiceSettings, logger: Logger) {
    names = TopicNames(prefix: settings.topicPrefix)
    self.logger = logger
    var configuration = ClientConfiguration.consumer(
      bootstrapServers: settings.bootstrapServers, group: nil, reportsEndOfPartition: false)
    configuration.set("queued.max.messages.kbytes", "16384")
    configuration.set("fetch.wait.max.ms", "20")
    self.configuration = configuration.merging(
      overrides: settings.kafkaProperties.sorted { $0.key < $1.key }.map {
        (name: $0.key, value: $0.value)
      })
  }

  /// Waits for requests from now on.
  func start() {
    let thread = Thread { [self] in
      run()
      ended.signal()
    }
    thread.name = "http-decisions"
    thread.start()
  }

  /// Answers those that wait, and ends.
  func close() {
    guard state.withLock({ !$0.isClosed }) else { return }
    state.withLock { $0.isClosed = true }
    wanted.signal()
    ended.wait()
    giveUp()
  }

  /// Calls `ready` once it reads: what is published then is seen. Where it cannot read, it calls `ready`, too.
  func prepare(_ ready: @escaping @Sendable () -> Void) {
    let isReady = state.withLock { state in
      state.lastWanted = .now
      if state.isReading || state.isClosed { return true }
      state.starters.append(ready)
      return false
    }
    if isReady { ready() } else { wanted.signal() }
  }

  /// Calls `finish` once all of these events are decided or refused, or the time is up.
  func wait(
    for positions: [RecordPosition], until deadline: ContinuousClock.Instant,
    _ finish: @escaping @Sendable ([RecordPosition: DecisionLog.Fate]) -> Void
  ) {
    let known = state.withLock { state -> [RecordPosition: DecisionLog.Fate]? in
      state.lastWanted = .now
      guard state.isReading, !state.isClosed, !Self.isComplete(positions, state.log) else {
        return Self.fates(positions, state.log)
      }
      state.waiters.append(Waiter(positions: positions, deadline: deadline, finish: finish))
      return nil
    }
    if let known { finish(known) }
  }

  private static func isComplete(_ positions: [RecordPosition], _ log: DecisionLog) -> Bool {
    positions.allSatisfy { log.fate(of: $0).isComplete }
  }

  private static func fates(_ positions: [RecordPosition], _ log: DecisionLog) -> [RecordPosition:
    DecisionLog.Fate]
  {
    Dictionary(positions.map { ($0, log.fate(of: $0)) }, uniquingKeysWith: { first, _ in first })
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
      state.withLock { state in
        state.isReading = false
        state.log.clear()
      }
      giveUp()
    }
  }

  /// Lets all go on with what is known.
  private func giveUp() {
    let (starters, waiters, log) = state.withLock { state in
      defer {
        state.starters = []
        state.waiters = []
      }
      return (state.starters, state.waiters, state.log)
    }
    for start in starters { start() }
    for waiter in waiters { waiter.finish(Self.fates(waiter.positions, log)) }
  }

  /// Reads from the ends of the topics on, until nobody has wanted it for a while.
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
        note(record, of: topic)
      }
      if case .error(let error)? = event, error.isFatal || error.isAuthorization { throw error }
      let (due, log, isIdle) = state.withLock { state in
        let now = ContinuousClock.now
        var due: [Waiter] = []
        let log = state.log
        state.waiters.removeAll { waiter in
          guard waiter.deadline <= now || Self.isComplete(waiter.positions, log) else {
            return false
          }
          due.append(waiter)
          return true
        }
        // In the lock: a request that comes now finds it reading, or starts it again.
        let isIdle = state.waiters.isEmpty && now - state.lastWanted > Self.idleTime
        if isIdle { state.isReading = false }
        return (due, log, isIdle)
      }
      for waiter in due { waiter.finish(Self.fates(waiter.positions, log)) }
      if isIdle { return }
    }
  }

  private struct TimelineGlance: Decodable {
    struct Conversation: Decodable { let memberCount: Int }
    let type: String
    let source: RecordPosition
    let conversation: Conversation?
  }

  private struct DecisionGlance: Decodable {
    let userId: String
    let outcome: String
    let reason: String
    let source: RecordPosition
  }

  private func note(_ record: ConsumerRecord, of topic: Topic) {
    let coder = RecordCoder()
    switch topic {
    case .timeline:
      guard let value = record.value, let it = try? coder.decode(TimelineGlance.self, from: value),
        it.type != "message.sent"
      else { return }
      let recipients =
        it.type == "message.candidate" ? max(0, (it.conversation?.memberCount ?? 1) - 1) : 0
      state.withLock { $0.log.note(it.source) { $0.recipients = recipients } }
    case .decisions:
      guard let value = record.value, let it = try? coder.decode(DecisionGlance.self, from: value)
      else { return }
      state.withLock {
        $0.log.note(it.source) {
          $0.add(.init(userId: it.userId, outcome: it.outcome, reason: it.reason))
        }
      }
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
        $0.log.note(RecordPosition(topic: topic, partition: partition, offset: offset)) {
          $0.refusal = refusal
        }
      }
    }
  }
}

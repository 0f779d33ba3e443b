import Foundation
import HTTPServer
import Kafka
import NudgeSchema
import ServiceKit
import Synchronization

/// Reads `nudge.dead-letters` without a group, and answers the producers that wait for rejections of theirs.
final class RejectionTail: Sendable {
  /// How far back it begins to read.
  static let memory: Milliseconds = 86_400_000
  /// Offsets of a partition it reads at most when it begins.
  private static let backlog: Int64 = 100_000
  /// How often a waiting request is looked at.
  private static let pollTime: Duration = .milliseconds(100)
  /// The most requests of one API key that wait.
  static let waitersOfAProducer = 16

  private struct Waiter {
    var producer: String
    var since: RejectionLog.Since
    var deadline: ContinuousClock.Instant
    var responder: HTTPResponder
  }

  private enum Condition {
    /// It has not reached the end yet.
    case starting
    case ready
    /// It cannot read the topic.
    case failed(String)
  }

  private struct State {
    var log = RejectionLog()
    var condition = Condition.starting
    var waiters: [Waiter] = []
    /// How many of them each API key has.
    var waiting: [String: Int] = [:]
    var isClosed = false
  }

  private let configuration: ClientConfiguration
  private let topic: String
  private let logger: Logger
  private let metrics: APIMetrics
  private let state = Mutex(State())
  private let reader = ReaderThread("http-rejections")

  init(settings: ServiceSettings, logger: Logger, metrics: APIMetrics) {
    topic = TopicNames(prefix: settings.topicPrefix)(.deadLetters)
    self.logger = logger
    self.metrics = metrics
    configuration = .reader(
      settings, ["queued.max.messages.kbytes": "4096", "fetch.message.max.bytes": "262144"])
  }

  /// Begins to read.
  func start() { reader.start { [self] in run() } }

  /// Answers those that wait, and ends.
  func close() {
    guard state.withLock({ !$0.isClosed }) else { return }
    state.withLock { $0.isClosed = true }
    reader.close()
    answer(
      state.withLock { state in
        defer {
          state.waiters = []
          state.waiting = [:]
        }
        return state.waiters
      })
  }

  // MARK: Requests

  /// Answers with a producer's rejections, at once where there are any, else when there are or the time is up. Returns how many it told.
  func ask(
    _ producer: String, since: RejectionLog.Since, wait: Duration, _ responder: HTTPResponder
  ) -> Int {
    enum Reply {
      case answer(HTTPServerResponse)
      case page(RejectionLog.Page)
    }
    let reply = state.withLock { state -> Reply? in
      switch state.condition {
      case .starting:
        return .answer(Self.unavailable("the rejections are being read: ask again in some seconds"))
      case .failed(let reason): return .answer(Self.unavailable("the rejections cannot be read: \(reason)"))
      case .ready: break
      }
      let page = state.log.page(of: producer, since: since)
      if !page.lines.isEmpty || wait <= .zero || state.isClosed { return .page(page) }
      guard state.waiting[producer, default: 0] < Self.waitersOfAProducer else {
        return .answer(
          .error(
            429, code: "too_many_requests",
            message:
              "\(Self.waitersOfAProducer) requests of this key may wait for rejections at a time: ask without wait"))
      }
      state.waiting[producer, default: 0] += 1
      state.waiters.append(
        Waiter(
          producer: producer, since: .cursor(page.next), deadline: .now + wait, responder: responder
        ))
      return nil
    }
    switch reply {
    case .answer(let answer): responder.respond(answer)
    // Outside of the lock: a page may have a megabyte.
    case .page(let page):
      responder.respond(Self.answer(page))
      return page.lines.count
    case nil: break
    }
    return 0
  }

  private static func unavailable(_ message: String) -> HTTPServerResponse {
    var response = HTTPServerResponse.error(503, code: "unavailable", message: message)
    response.headers.append(("Retry-After", "5"))
    return response
  }

  private static func answer(_ page: RejectionLog.Page) -> HTTPServerResponse {
    var body: [UInt8] = []
    body.reserveCapacity(page.lines.reduce(0) { $0 + $1.count })
    for line in page.lines { body += line }
    var headers: [(name: String, value: String)] = [
      ("Content-Type", "application/x-ndjson"), ("Nudge-Next", page.next.text),
      ("Cache-Control", "no-store"),
    ]
    if let time = page.forgottenAt { headers.append(("Nudge-Forgotten", RFC3339.text(time))) }
    return HTTPServerResponse(headers: headers, body: body)
  }

  /// Answers waiting requests with the rejections read so far.
  private func answer(_ waiters: [Waiter]) {
    for waiter in waiters {
      waiter.responder.respond(
        Self.answer(state.withLock { $0.log.page(of: waiter.producer, since: waiter.since) }))
    }
  }

  /// The waiting requests whose time is up, or for which there is something.
  private func takeDue(_ changed: Set<String>) -> [Waiter] {
    state.withLock { state in
      guard !state.waiters.isEmpty else { return [] }
      let now = ContinuousClock.now
      var due: [Waiter] = []
      state.waiters.removeAll { waiter in
        guard changed.contains(waiter.producer) || waiter.deadline <= now else { return false }
        due.append(waiter)
        let left = state.waiting[waiter.producer, default: 1] - 1
        state.waiting[waiter.producer] = left > 0 ? left : nil
        return true
      }
      return due
    }
  }

  // MARK: Reading

  private var isClosed: Bool { state.withLock { $0.isClosed } }

  private func run() {
    while !isClosed {
      do throws(KafkaError) {
        try read()
      } catch {
        let reason =
          error.isAuthorization
          ? "this service lacks the right Read on \(topic)" : "\(error.name): \(error.reason)"
        state.withLock { state in
          // Rejections that were read stay known.
          if case .ready = state.condition, !error.isAuthorization { return }
          state.condition = .failed(reason)
        }
        logger.limited("rejections", every: .seconds(60))?.warning(
          "rejections cannot be read for producers", ["reason": .string(reason)])
      }
      pause()
    }
  }

  /// Waits before it reads again; requests whose time is up are answered.
  private func pause() {
    let end = ContinuousClock.now + .seconds(5)
    while !isClosed, ContinuousClock.now < end {
      Thread.sleep(forTimeInterval: 0.1)
      answer(takeDue([]))
    }
  }

  /// Reads until it is closed. Throws where a new consumer is needed.
  private func read() throws(KafkaError) {
    let consumer = try Consumer(configuration, name: "nudge-ingest-rejections")
    defer { consumer.close() }
    guard var waiting = try assign(consumer) else { return }
    if waiting.isEmpty { state.withLock { $0.condition = .ready } }
    while !isClosed {
      var changed: Set<String> = []
      let event = consumer.poll(maxRecords: 1_000, maxBytes: 4 << 20, timeout: Self.pollTime) {
        record in
        let rejection = ProducerRejection(record)
        let line = rejection?.line ?? []
        state.withLock { state in
          if let rejection {
            state.log.add(
              line, of: rejection.producer, at: rejection.refusedAt, partition: record.partition, offset: record.offset)
            changed.insert(rejection.producer)
          } else {
            state.log.advance(record.partition, to: record.offset + 1)
          }
        }
        if let rejection, waiting.isEmpty { metrics.count(rejection) }
      }
      switch event {
      case .endOfPartition(let place, let offset):
        state.withLock { $0.log.advance(place.partition, to: offset) }
        if waiting.remove(place.partition) != nil, waiting.isEmpty {
          state.withLock { $0.condition = .ready }
        }
      case .error(let error)
      where error.isFatal || error.isAuthorization || error.isOffsetOutOfRange: throw error
      case nil, .record, .assigned, .revoked, .error: break
      }
      answer(takeDue(changed))
    }
  }

  /// Assigns all partitions, where it was, or some way back. Returns those that have records to read; nil: there is no topic.
  private func assign(_ consumer: Consumer) throws(KafkaError) -> Set<Int32>? {
    let timeout: Duration = .seconds(5)
    let counts = try consumer.partitionCounts(of: [topic], timeout: timeout)
    guard let count = counts[topic], count > 0 else {
      state.withLock { $0.condition = .failed("\(topic) does not exist") }
      return nil
    }
    let places = (0..<Int32(clamping: count)).map { TopicPartition(topic: topic, partition: $0) }
    func offsets(at time: Int64) throws(KafkaError) -> [TopicPartition: Int64] {
      try consumer.offsets(
        forTimes: Dictionary(uniqueKeysWithValues: places.map { ($0, time) }), timeout: timeout
      ).compactMapValues { $0 }
    }
    let low = try offsets(at: Offset.beginning)
    let high = try offsets(at: Offset.end)
    let recent = try offsets(at: SystemClock.milliseconds() - Self.memory)
    let known = state.withLock { $0.log.position }
    var open: Set<Int32> = []
    var starts: [TopicPartitionOffset] = []
    for place in places {
      let end = high[place] ?? 0
      let back = max(low[place] ?? 0, recent[place] ?? low[place] ?? 0, end - Self.backlog)
      let start = known[place.partition].map { min(max($0, low[place] ?? 0), end) } ?? back
      state.withLock { $0.log.advance(place.partition, to: start) }
      if start < end { open.insert(place.partition) }
      starts.append(TopicPartitionOffset(place, offset: start))
    }
    try consumer.assign(starts)
    return open
  }
}

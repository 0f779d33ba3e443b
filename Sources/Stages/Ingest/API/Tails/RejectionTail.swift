import Foundation
import HTTPServer
import Kafka
import NudgeSchema
import ServiceKit
import Synchronization

/// Reads `nudge.dead-letters` without a consumer group, and answers the requests of producers for their rejections.
final class RejectionTail: Sendable {
  private static let reach = TopicTail.Reach(time: 86_400_000, backlog: 100_000)
  /// The longest time between two checks of the waiting requests.
  private static let pollTime: Duration = .milliseconds(100)
  /// The most waiting requests of one API key.
  static let waitersOfAProducer = 16

  private struct Waiter {
    var producer: String
    var since: RejectionLog.Since
    var deadline: ContinuousClock.Instant
    var responder: HTTPResponder
  }

  private enum Condition {
    /// The reader has not caught up with the topic yet.
    case starting
    case ready
    /// The reader cannot read the topic, for this reason.
    case failed(String)
  }

  private struct State {
    var log = RejectionLog()
    var condition = Condition.starting
    var waiters: [Waiter] = []
    /// The number of waiting requests by API key.
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

  func start() { reader.start { [self] in run() } }

  /// Stops the reader, and answers the waiting requests with what it has read.
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

  /// Answers a request with a producer's rejections: at once if there are any, otherwise when one is read or after `wait`.
  /// - Returns: The number of rejections sent at once; 0 if the request waits.
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
        return .answer(
          .error(
            503, code: "unavailable", message: "the rejections are being read: ask again in some seconds", retryAfter: 5
          ))
      case .failed(let reason):
        return .answer(
          .error(503, code: "unavailable", message: "the rejections cannot be read: \(reason)", retryAfter: 5))
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
    // Outside the lock, because a page may have a megabyte.
    case .page(let page):
      responder.respond(Self.answer(page))
      return page.lines.count
    case nil: break
    }
    return 0
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

  /// Removes and returns the waiting requests that have timed out, and those of the producers with new rejections.
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
        let reason = error.readFailure(of: topic)
        state.withLock { state in
          // A reader that had caught up still serves what it has read. Only a loss of rights ends that.
          if case .ready = state.condition, !error.isAuthorization { return }
          state.condition = .failed(reason)
        }
        logger.limited("rejections", every: .seconds(60))?.warning(
          "rejections cannot be read for producers", ["reason": .string(reason)])
      }
      pause()
    }
  }

  /// Waits 5 s before the next attempt to read. Meanwhile it answers requests that time out.
  private func pause() {
    let end = ContinuousClock.now + .seconds(5)
    while !isClosed, ContinuousClock.now < end {
      Thread.sleep(forTimeInterval: 0.1)
      answer(takeDue([]))
    }
  }

  /// Reads until `close()`, or returns if the topic does not exist. Throws if a new consumer is needed.
  private func read() throws(KafkaError) {
    let consumer = try Consumer(configuration, name: "nudge-ingest-rejections")
    defer { consumer.close() }
    var tail = try TopicTail(topic, by: consumer, Self.reach, orFromStart: true)
    guard !tail.spans.isEmpty else {
      return state.withLock { $0.condition = .failed("\(topic) does not exist") }
    }
    let known = state.withLock { $0.log.position }
    try tail.begin { partition, span in
      let start = known[partition].map { min(max($0, span.low), span.high) } ?? span.recent
      state.withLock { $0.log.advance(partition, to: start) }
      return start
    }
    while !isClosed {
      let wasAtEnd = tail.isAtEnd
      if wasAtEnd { state.withLock { $0.condition = .ready } }
      var changed: Set<String> = []
      try tail.poll(timeout: Self.pollTime) { record in
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
        if let rejection, wasAtEnd { metrics.count(rejection) }
      } atEnd: { partition, offset in
        state.withLock { $0.log.advance(partition, to: offset) }
      }
      answer(takeDue(changed))
    }
  }
}

/// `GET /v1/rejections`: a backend's events that were accepted over HTTP and refused later.
final class RejectionsEndpoint: Sendable {
  /// The longest time for which a request waits, in seconds.
  static let longestWait = 25
  /// The cost of a request in the rate. Each rejection in its answer also counts as an event.
  private static let cost = 10
  static let parameters = [
    QueryParameter(
      name: "since",
      description: "A time (RFC 3339 or milliseconds), or Nudge-Next of an answer before. Default: an hour ago.",
      schema: #"{"type": "string"}"#, example: #""0""#),
    QueryParameter(
      name: "wait", description: "Seconds to wait for a rejection where there is none.",
      schema: #"{"type": "integer", "minimum": 0, "maximum": \#(longestWait), "default": 0}"#, example: "0"),
  ]

  private let credentials: Credentials
  private let rates: CallerRates
  private let tail: RejectionTail

  init(credentials: Credentials, rates: CallerRates, tail: RejectionTail) {
    self.credentials = credentials
    self.rates = rates
    self.tail = tail
  }

  /// The route.
  var route: HTTPRoute {
    HTTPRoute(.get, "/v1/rejections", query: Self.parameters, for: credentials, within: rates) { [self] in
      handle($0, $1, $2)
    }
  }

  private func handle(_ caller: Caller, _ request: HTTPServerRequest, _ responder: HTTPResponder) {
    rates.count(Self.cost, of: caller, now: SystemClock.steadyMilliseconds())
    guard case .backend(let name) = caller else {
      return responder.respond(
        .error(
          403, code: "forbidden", message: "rejections are told to backends, by their API keys"))
    }
    let now = SystemClock.milliseconds()
    guard let since = Self.since(request.query["since"], now: now) else {
      return responder.respond(
        .error(
          400, code: "bad_request",
          message:
            "since: a time (2026-11-22T10:30:00Z, or milliseconds), or Nudge-Next of an answer before"
        ))
    }
    let wait = request.query["wait"].map { Int($0) } ?? 0
    guard let wait, (0...Self.longestWait).contains(wait) else {
      return responder.respond(
        .error(
          400, code: "bad_request", message: "wait: whole seconds from 0 to \(Self.longestWait)"))
    }
    let sent = tail.ask(name, since: since, wait: .seconds(wait), responder)
    rates.count(sent, of: caller, now: SystemClock.steadyMilliseconds())
  }

  /// Without `since`, the rejections of the last hour.
  static func since(_ text: String?, now: Milliseconds) -> RejectionLog.Since? {
    guard let text else { return .time(now - 3_600_000) }
    if let time = Milliseconds(text), time >= 0 { return .time(time) }
    if let time = RFC3339.milliseconds(text) { return .time(time) }
    return RejectionLog.Cursor(text).map { .cursor($0) }
  }
}

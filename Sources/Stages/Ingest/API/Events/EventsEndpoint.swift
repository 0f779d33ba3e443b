import HTTPServer
import JSONCodec
import Kafka
import NudgeSchema
import ServiceKit
import Synchronization

/// `POST /v1/events`.
final class EventsEndpoint: Sendable {
  /// The additional cost of an event in the rate if its decision is awaited.
  private static let costOfWaiting = 10
  static let parameters = [
    QueryParameter(
      name: "wait",
      description:
        "For trials, with an API key: waits up to 2 s for what the pipeline makes of the events, and tells it as fate.",
      schema: #"{"enum": ["decision"]}"#)
  ]

  /// The parser and the rules. The handler's thread holds the lock while it reads.
  private struct Reader: ~Copyable {
    let parser = JSONParser(maximumDepth: 1_024, maximumBytes: RequestBody.maxBytes)
    let reading: EventReading
  }

  private let credentials: Credentials
  private let rates: CallerRates
  private let producer: EventProducer
  private let decisions: DecisionTail
  private let metrics: APIMetrics
  private let spans: (any SpanRecorder)?
  private let reader: Mutex<Reader>

  init(
    credentials: Credentials, rates: CallerRates, producer: EventProducer, decisions: DecisionTail,
    rules: IngestRules, metrics: APIMetrics,
    spans: (any SpanRecorder)?
  ) {
    self.credentials = credentials
    self.rates = rates
    self.producer = producer
    self.decisions = decisions
    self.metrics = metrics
    self.spans = spans
    reader = Mutex(Reader(reading: EventReading(rules)))
  }

  var route: HTTPRoute {
    HTTPRoute(
      .post, "/v1/events", query: Self.parameters, bodyLimit: RequestBody.maxBytes,
      contentTypes: [RequestBody.json, RequestBody.lines], for: credentials, within: rates
    ) { [self] in handle($0, $1, $2) }
  }

  // MARK: The request

  private func handle(_ caller: Caller, _ request: HTTPServerRequest, _ responder: HTTPResponder) {
    let wait = request.query["wait"]
    guard wait == nil || wait == "decision" && !caller.isUser else {
      return responder.respond(
        .error(400, code: "bad_request", message: "wait: decision is the only value, for API keys; or leave it out"))
    }
    // Only a valid traceparent is passed on, because it is copied to every record that the event causes.
    let now = SystemClock.steadyMilliseconds()
    var trace = request.headers[RecordHeader.traceparent].flatMap { TraceContext(traceparent: $0) }
    if trace?.isSampled == true, !rates.recordsTrace(of: caller, now: now) { trace = nil }
    let span = EventsSpan(trace, spans)
    do throws(BodyRefusal) {
      let body = try RequestBody.decoded(request.body, encoding: request.headers["Content-Encoding"])
      let refusal = rates.refusal(of: caller, bytes: body.count, now: now)
      rates.count(bytes: body.count, of: caller, now: now)
      if let refusal { return refuse(refusal, span, responder) }
      let batch = try read(body, request, caller)
      if let refusal = rates.take(batch.result.statuses.count, of: caller, now: now) {
        return refuse(refusal, span, responder)
      }
      metrics.count(batch.result, from: caller)
      publish(batch, from: caller, trace: span?.context ?? trace, span, waits: wait != nil, responder)
    } catch {
      rates.count(1, of: caller, now: now)
      let answer = Self.refusal(error)
      span?.end(answer, events: 0)
      responder.respond(answer)
    }
  }

  private func refuse(_ refusal: CallerRates.Refusal, _ span: EventsSpan?, _ responder: HTTPResponder) {
    let answer = CallerAdmission.tooMany(refusal)
    span?.end(answer, events: 0)
    responder.respond(answer)
  }

  /// A body without any event gets one result, so that clients find the reason in `results` too.
  private static func refusal(_ refusal: BodyRefusal) -> HTTPServerResponse {
    guard refusal.status == 400 else {
      return .error(refusal.status, code: refusal.code, message: refusal.message)
    }
    var answer = BatchResult(
      statuses: [.rejected(code: refusal.code, message: refusal.message)], eventIds: [nil]
    ).answer()
    answer.reason = refusal.code
    return answer
  }

  private struct Batch {
    var result: BatchResult
    var events: [EventProducer.Event] = []
    /// When the events occurred, by index.
    var times: [Int: Milliseconds] = [:]
    var ownEvents = 0
    var forbiddenEvents = 0

    /// Whether the request has a user's token but no event of that user.
    var isForbidden: Bool { forbiddenEvents > 0 && ownEvents == 0 }
  }

  private func read(
    _ body: [UInt8], _ request: HTTPServerRequest, _ caller: Caller
  ) throws(BodyRefusal) -> Batch {
    let now = SystemClock.milliseconds()
    return try reader.withLock { (reader) throws(BodyRefusal) in
      let items = try RequestBody.items(
        of: body, contentType: request.headers["Content-Type"], parser: reader.parser)
      var batch = Batch(
        result: BatchResult(
          statuses: Array(repeating: .accepted, count: items.count),
          eventIds: items.map { $0.eventId.flatMap { Self.isShown($0) ? $0 : nil } }))
      batch.events.reserveCapacity(items.count)
      for (index, item) in items.enumerated() {
        do {
          try Self.add(item, index, body, caller, now, reader.reading, to: &batch)
        } catch let rejection as Rejection {
          batch.result.statuses[index] = .rejected(code: rejection.code.rawValue, message: rejection.message)
        } catch {
          batch.result.statuses[index] = .rejected(
            code: DeadLetterCode.internal.rawValue, message: "the event could not be read")
        }
      }
      return batch
    }
  }

  /// Whether an id is repeated in the answer. An id that breaks the rules is not, because it may be as long as the body.
  private static func isShown(_ eventId: String) -> Bool {
    eventId.unicodeScalars.prefix(SchemaLimits.eventIdCharacters + 1).count <= SchemaLimits.eventIdCharacters
  }

  private static func add(
    _ item: RequestBody.Item, _ index: Int, _ body: [UInt8], _ caller: Caller, _ now: Milliseconds,
    _ reading: EventReading, to batch: inout Batch
  ) throws {
    if let fault = item.fault {
      throw Rejection(fault == .invalidUTF8 ? .invalidUTF8 : .invalidJSON, "the line is not JSON: \(fault)")
    }
    let value = Array(body[item.range])
    if caller.isUser, value.count > CallerRates.userEventBytes {
      throw Rejection(
        .tooLarge,
        "the event has \(value.count) bytes; at most \(CallerRates.userEventBytes) are allowed with a user's token")
    }
    let event = try reading.read(value, type: item.type, from: caller, now: now)
    if case .user(let id) = caller {
      guard let speaker = event.speaker, sameId(speaker, id) else {
        batch.forbiddenEvents += 1
        batch.result.statuses[index] = .rejected(
          code: "forbidden",
          message:
            "a user's token allows their own user events, and messages they sent, without conversation and sender")
        return
      }
    }
    batch.ownEvents += 1
    try reading.requireTime(of: event, now: now)
    let ignored = (event.ignored.isEmpty ? [] : [event.ignored.description]) + unknownFields(of: value, item.type)
    if !ignored.isEmpty { batch.result.ignored[index] = ignored.joined(separator: ", ") }
    batch.times[index] = event.envelope.occurredAt
    batch.events.append(EventProducer.Event(index: index, topic: event.topic, key: event.key, value: event.value))
  }

  /// The paths of fields that nobody reads, in an event that changes settings: a misspelt one is a change that is lost.
  private static func unknownFields(of value: [UInt8], _ type: String?) -> [String] {
    guard let type = type.flatMap(EventType.init(rawValue:)), let known = KnownFields.settings(of: type) else {
      return []
    }
    return known.unknown(in: value).map(\.path)
  }

  private func publish(
    _ batch: Batch, from caller: Caller, trace: TraceContext?, _ span: EventsSpan?, waits: Bool,
    _ responder: HTTPResponder
  ) {
    guard !batch.events.isEmpty else {
      metrics.count(batch.result)
      let answer = batch.result.answer(forbidden: batch.isForbidden)
      span?.end(answer, events: batch.result.statuses.count)
      return responder.respond(answer)
    }
    let bytes = batch.events.reduce(0) { $0 + $1.value.count }
    guard !producer.isFull(adding: batch.events.count, bytes: bytes) else {
      let answer = HTTPServerResponse.error(
        429, code: "too_many_requests", message: "too many events wait for Kafka: send them again in a second",
        retryAfter: 1)
      span?.end(answer, events: batch.result.statuses.count)
      return responder.respond(answer)
    }
    var headers: [Header] = trace.map { [(RecordHeader.traceparent, Array($0.traceparent.utf8))] } ?? []
    switch caller {
    case .backend(let name): headers.append((RecordHeader.producer, Array(name.utf8)))
    case .user: headers.append((RecordHeader.caller, Array(RecordHeader.user.utf8)))
    }
    guard waits, case .backend(let name) = caller else {
      return producer.publish(
        batch.events, batch.result, forbidden: batch.isForbidden, headers: headers, span: span, responder: responder)
    }
    // Waiting reads each record of the pipeline once more.
    rates.count(Self.costOfWaiting * batch.events.count, of: caller, now: SystemClock.steadyMilliseconds())
    guard decisions.enter(name) else {
      let answer = HTTPServerResponse.error(
        429, code: "too_many_requests",
        message:
          "\(DecisionTail.waitersOfACaller) requests of this key may wait for decisions at a time: send them again, or without wait",
        retryAfter: 1)
      span?.end(answer, events: batch.result.statuses.count)
      return responder.respond(answer)
    }
    let deadline = ContinuousClock.now + DecisionTail.patience
    let (events, result, isForbidden, times) = (batch.events, batch.result, batch.isForbidden, batch.times)
    let names = headers.map { ($0.name, $0.value) }
    decisions.prepare { [producer, decisions] in
      producer.publish(
        events, result, forbidden: isForbidden, headers: names, span: span, responder: responder,
        waiting: EventProducer.Wait(decisions: decisions, caller: name, deadline: deadline, times: times))
    }
  }
}

/// The span of a request to `POST /v1/events`, from its last byte to its answer. The spans of its events are its children.
struct EventsSpan: Sendable {
  /// The span that the events' records name in `traceparent`.
  let context: TraceContext
  private let parent: UInt64
  private let start: UInt64
  private let recorder: any SpanRecorder

  /// A span that begins now; nil if no spans are sent or the caller's trace is not recorded.
  init?(_ parent: TraceContext?, _ recorder: (any SpanRecorder)?) {
    guard let recorder, let parent, parent.isSampled else { return nil }
    var random = SystemRandomNumberGenerator()
    context = parent.child(using: &random)
    self.parent = parent.span
    start = recorder.now()
    self.recorder = recorder
  }

  /// The request is answered. By OpenTelemetry's conventions a refusal is the client's failure, not the server's.
  func end(_ answer: HTTPServerResponse, events: Int) {
    var attributes: [(name: String, value: Span.Value)] = [
      ("http.request.method", .string("POST")), ("http.route", .string("/v1/events")),
      ("http.response.status_code", .int(Int64(answer.status))), ("nudge.stage", .string("ingest")),
      ("nudge.http.events", .int(Int64(events))),
    ]
    if let reason = answer.reason { attributes.append(("nudge.http.reason", .string(reason))) }
    recorder.record(
      Span(
        context, parent: parent, name: "POST /v1/events", kind: .server, start: start, end: recorder.now(),
        attributes: attributes, failure: answer.status >= 500 ? answer.reason ?? "internal" : nil))
  }
}

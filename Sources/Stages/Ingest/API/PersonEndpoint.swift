import Foundation
import HTTPServer
import JSONCodec
import Kafka
import NudgeSchema
import ServiceKit
import Synchronization

/// `GET /v1/me`, `GET /v1/users/{id}` and `PATCH /v1/me/preferences`: what the pipeline knows of a person.
///
/// A question goes the way of the person's events, through `user.events` and the timeline, to the analyzer with the person's rows. The
/// answer comes back on `nudge.banners`. So the consumer group decides who owns the person, the answer has only committed rows, and it
/// reflects all earlier accepted events of the person.
final class PersonEndpoint: Sendable {
  /// The cost of a question, in events of the rate: it reads all rows of a person.
  static let cost = 5
  /// How long to wait for an answer.
  static let patience: Duration = .seconds(2)
  /// The wait before asking again, if the answer does not reflect a device's event.
  private static let pause: Duration = .milliseconds(50)
  /// The longest change of preferences in bytes.
  static let changeBytes = 48 << 10
  static let mergePatch = "application/merge-patch+json"
  /// The query parameters of the person's questions.
  static let parameters = [
    QueryParameter(
      name: "after",
      description: """
        The eventId of an event of the person that was accepted: the answer knows it. Events of user.events are known without; a \
        device's registration or sign-out may need it.
        """,
      schema: """
        {"type": "string", "minLength": 1, "maxLength": \(SchemaLimits.eventIdCharacters), "pattern": "^[^\\\\u0000-\\\\u001F\\\\u007F-\\\\u009F]*$"}
        """)
  ]

  private let credentials: Credentials
  private let rates: CallerRates
  private let producer: EventProducer
  private let questions: PersonQuestions
  private let reading: Mutex<Reader>
  private let apiMetrics: APIMetrics
  private let metrics: PersonMetrics
  /// Why answers are not being read; nil if they are. If nobody reads them yet, reading begins.
  private let obstacle: @Sendable () -> String?
  private let queue = DispatchQueue(label: "nudge.http-questions-again")

  private struct Reader: ~Copyable {
    let parser = JSONParser(maximumBytes: PersonEndpoint.changeBytes)
    let events: EventReading
    let coder = RecordCoder()
  }

  /// A waiting request.
  private struct Request: Sendable {
    let userId: String
    let caller: Caller
    /// Whether its answer must reflect the event `after`, which may be a device's.
    let isAfter: Bool
    /// The id of the change that was published before the question; nil if there is none.
    var changeId: String?
    let startedAt = ContinuousClock.now
    let responder: HTTPResponder

    var timeLeft: Duration { startedAt + PersonEndpoint.patience - .now }
  }

  init(
    credentials: Credentials, rates: CallerRates, producer: EventProducer, questions: PersonQuestions,
    rules: IngestRules, apiMetrics: APIMetrics, metrics: PersonMetrics, obstacle: @escaping @Sendable () -> String?
  ) {
    self.credentials = credentials
    self.rates = rates
    self.producer = producer
    self.questions = questions
    self.apiMetrics = apiMetrics
    self.metrics = metrics
    self.obstacle = obstacle
    reading = Mutex(Reader(events: EventReading(rules)))
  }

  var routes: [HTTPRoute] {
    [
      route(.get, "/v1/me") { $0.askOwn($1, $2, $3) },
      route(.get, "/v1/users/{id}") { $0.askOther($1, $2, $3) },
      HTTPRoute(
        .patch, "/v1/me/preferences", bodyLimit: Self.changeBytes, contentTypes: [RequestBody.json, Self.mergePatch],
        for: credentials, within: rates
      ) { [self] in handle($0, $1, $2) { $0.change($1, $2, $3) } },
    ]
  }

  private func route(
    _ method: HTTPMethod, _ path: String,
    _ handler: @escaping @Sendable (PersonEndpoint, HTTPServerRequest, Caller, HTTPResponder) -> Void
  ) -> HTTPRoute {
    HTTPRoute(method, path, query: Self.parameters, bodyLimit: 0, for: credentials, within: rates) { [self] in
      handle($0, $1, $2, handler)
    }
  }

  private func handle(
    _ caller: Caller, _ request: HTTPServerRequest, _ responder: HTTPResponder,
    _ handler: (PersonEndpoint, HTTPServerRequest, Caller, HTTPResponder) -> Void
  ) {
    rates.count(Self.cost, of: caller, now: SystemClock.steadyMilliseconds())
    if let after = request.query["after"], !SchemaLimits.isEventId(after) {
      return responder.respond(
        .error(
          400, code: "bad_request",
          message: "after: the eventId of an event of the person, 1 to \(SchemaLimits.eventIdCharacters) characters"))
    }
    handler(self, request, caller, responder)
  }

  // MARK: The calls

  private func askOwn(_ request: HTTPServerRequest, _ caller: Caller, _ responder: HTTPResponder) {
    guard case .user(let id) = caller else {
      return responder.respond(
        .error(403, code: "forbidden", message: "/v1/me is a user's: with an API key ask for /v1/users/{id}"))
    }
    ask(Request(userId: id, caller: caller, isAfter: request.query["after"] != nil, responder: responder))
  }

  private func askOther(_ request: HTTPServerRequest, _ caller: Caller, _ responder: HTTPResponder) {
    guard case .backend = caller else {
      return responder.respond(
        .error(403, code: "forbidden", message: "/v1/users/{id} is for backends: with a user's token ask for /v1/me"))
    }
    guard let id = request.parameters["id"], (1...SchemaLimits.idBytes).contains(id.utf8.count) else {
      return responder.respond(
        .error(400, code: "bad_request", message: "the user's id has 1 to \(SchemaLimits.idBytes) bytes"))
    }
    ask(Request(userId: id, caller: caller, isAfter: request.query["after"] != nil, responder: responder))
  }

  private func change(_ request: HTTPServerRequest, _ caller: Caller, _ responder: HTTPResponder) {
    guard case .user(let id) = caller else {
      return responder.respond(
        .error(
          403, code: "forbidden", message: "preferences are a user's: with an API key send preferences.updated"))
    }
    let eventId = UUID().uuidString
    let event: EventProducer.Event
    do {
      let body = try RequestBody.decoded(request.body, encoding: request.headers["Content-Encoding"])
      let now = SystemClock.steadyMilliseconds()
      rates.count(bytes: body.count, of: caller, now: now)
      event = try reading.withLock { reader in try Self.event(id, eventId, changing: body, caller, reader) }
    } catch let refusal as BodyRefusal {
      return responder.respond(.error(refusal.status, code: refusal.code, message: refusal.message))
    } catch let rejection as Rejection {
      return responder.respond(.error(400, code: rejection.code.rawValue, message: rejection.message))
    } catch {
      return responder.respond(.error(400, code: "invalid_json", message: "the body is not JSON"))
    }
    ask(
      Request(userId: id, caller: caller, isAfter: true, changeId: eventId, responder: responder), publishing: event)
  }

  /// A `preferences.updated` with these fields, validated as if it had come as an event.
  private static func event(
    _ userId: String, _ eventId: String, changing body: [UInt8], _ caller: Caller, _ reader: borrowing Reader
  ) throws -> EventProducer.Event {
    let isObject: Bool
    let unknown: KnownFields.Unknown?
    let nulls: KnownFields.Nulls?
    do {
      let fields = KnownFields.preferencesUpdated
      (isObject, unknown, nulls) = try reader.parser.parse(body) { body in
        (
          body.kind == .object, fields.unknown(in: body, part: "preferences").first,
          fields.nulls(in: body, part: "preferences")
        )
      }
    } catch {
      throw Rejection(.invalidJSON, "the body is not JSON: \(error)")
    }
    guard isObject else {
      throw Rejection(.schemaViolation, "the body must be an object with the preferences that change")
    }
    // Readers of events ignore unknown fields. Here that would answer a misspelt preference as if it were changed.
    if let unknown { throw Rejection(.schemaViolation, unknown.description) }
    // Readers of events take such a null for a field that is not there. Here that would answer a change that was not made.
    if let nulls { throw Rejection(.schemaViolation, nulls.description) }
    let now = SystemClock.milliseconds()
    var json = JSONWriter(capacity: 256 + body.count)
    json.beginObject()
    json.field("schemaVersion", currentSchemaVersion)
    json.field("type", EventType.preferencesUpdated.rawValue)
    json.field("eventId", eventId)
    json.field("occurredAt", now)
    json.field("userId", userId)
    json.endObject()
    let fields = json.bytes.dropLast()
    // A byte order mark may precede a document, but not within one.
    let object = body.starts(with: [0xEF, 0xBB, 0xBF]) ? body.dropFirst(3) : body[...]
    let value = fields + Array(#","preferences":"#.utf8) + object + [UInt8(ascii: "}")]
    let read = try reader.events.read(
      Array(value), type: EventType.preferencesUpdated.rawValue, from: caller, now: now)
    return EventProducer.Event(index: 0, topic: read.topic, key: read.key, value: read.value)
  }

  // MARK: The question

  private func ask(_ request: Request, publishing change: EventProducer.Event? = nil) {
    if let reason = obstacle() {
      return request.responder.respond(
        .error(503, code: "unavailable", message: "answers are not read: \(reason)", retryAfter: 1))
    }
    let id = UUID().uuidString
    let isWaiting = questions.add(
      id, about: request.userId, by: CallerAdmission.name(of: request.caller), atMost: max(request.timeLeft, .zero),
      .init { [self] in finish(request, $0) })
    guard isWaiting else {
      return request.responder.respond(
        .error(
          429, code: "too_many_requests",
          message: "too many questions wait for their answers: ask again in a second", retryAfter: 1))
    }
    var events = [change].compactMap { $0 }
    let bytes: [UInt8]
    do {
      bytes = try reading.withLock { reader in
        try reader.coder.encode(
          Event(
            Envelope(eventId: id, occurredAt: SystemClock.milliseconds()), PersonAsked(userId: request.userId)))
      }
    } catch {
      return questions.giveUp(id)
    }
    events.append(EventProducer.Event(index: events.count, topic: .userEvents, key: request.userId, value: bytes))
    guard !producer.isFull(adding: events.count, bytes: events.reduce(0) { $0 + $1.value.count }) else {
      return questions.giveUp(id)
    }
    publish(events, from: request, id)
  }

  private func publish(_ events: [EventProducer.Event], from request: Request, _ id: String) {
    // The change is published first and separately, because it has a header of its own and all events of a batch have the same headers.
    var rest = events
    let question = rest.removeLast()
    let ask = EventProducer.Completion { [self] result in
      if result.accepted < result.statuses.count { questions.giveUp(id) }
    }
    let header: [Header] = [(RecordHeader.question, [UInt8(ascii: "1")])]
    func publishQuestion() {
      producer.publish(
        [EventProducer.Event(index: 0, topic: question.topic, key: question.key, value: question.value)],
        BatchResult(statuses: [.unknown], eventIds: [id]), headers: header, then: ask)
    }
    guard !rest.isEmpty else { return publishQuestion() }
    let result = BatchResult(statuses: [.accepted], eventIds: [request.changeId])
    apiMetrics.count(result, from: request.caller)
    producer.publish(
      rest, result, headers: [(RecordHeader.caller, Array(RecordHeader.user.utf8))],
      then: EventProducer.Completion { [self] result in
        apiMetrics.count(result)
        // If Kafka did not acknowledge the change, it may or may not have been written, and the answer cannot say which.
        if result.accepted < result.statuses.count { questions.giveUp(id) }
      })
    publishQuestion()
  }

  private func finish(_ request: Request, _ outcome: PersonQuestions.Outcome) {
    if case .answered(_, isBehind: true) = outcome, request.isAfter {
      guard request.timeLeft > Self.pause * 2 else { return end(request, .unanswered) }
      return queue.asyncAfter(deadline: .now() + Self.pause.seconds) { [self] in ask(request) }
    }
    end(request, outcome)
  }

  private func end(_ request: Request, _ outcome: PersonQuestions.Outcome) {
    metrics.count(outcome, after: request.startedAt.duration(to: .now))
    switch outcome {
    case .answered(let person?, _):
      var response = HTTPServerResponse.json(bytes: Array(person.utf8))
      response.headers.append(("Cache-Control", "no-store"))
      request.responder.respond(response)
    case .answered(nil, _):
      request.responder.respond(
        .error(404, code: "not_found", message: "nothing is known of this person, or they were deleted"))
    case .unanswered:
      request.responder.respond(
        .error(
          503, code: "unavailable",
          message: request.changeId.map {
            "the change (event \($0)) may be taken or not; no answer came within \(Self.patience.components.seconds) s: ask GET /v1/me, or send it again"
          } ?? "no answer came within \(Self.patience.components.seconds) s: ask again", retryAfter: 1))
    }
  }
}

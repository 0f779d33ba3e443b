import HTTPServer
import NudgeSchema
import ServiceKit

/// `GET /v1/live`: streams what happens inside a user's app as Server-Sent Events, or with an API key decisions.
final class LiveEndpoint: Sendable {
  /// The cost of opening a stream, in events of the rate.
  private static let cost = 1
  private static let idSchema = #"{"type": "string", "minLength": 1, "maxLength": \#(SchemaLimits.idBytes)}"#
  static let parameters = [
    QueryParameter(name: "deviceId", description: "The device, as in its events.", schema: idSchema),
    QueryParameter(
      name: "answers",
      description: """
        With deviceId: the client answers the banners that it shows, by notification.received with banner; their pushes to the device \
        wait 2 s, and are not sent then. Default: false.
        """, schema: #"{"type": "boolean"}"#),
    QueryParameter(
      name: "userId", description: "With an API key: whose decisions. Default: everybody's.", schema: idSchema),
    // event-source-polyfill does so, by which browsers send a header with the token.
    QueryParameter(
      name: "lastEventId",
      description:
        "As the header Last-Event-ID, which counts first: some clients write it here when they connect again.",
      schema: #"{"type": "string"}"#),
  ]

  private let credentials: Credentials
  private let rates: CallerRates
  private let streams: LiveStreams
  private let decisions: DecisionStreams

  init(credentials: Credentials, rates: CallerRates, streams: LiveStreams, decisions: DecisionStreams) {
    self.credentials = credentials
    self.rates = rates
    self.streams = streams
    self.decisions = decisions
  }

  /// The route. Its handler only opens the stream.
  var route: HTTPRoute {
    HTTPRoute(
      .get, "/v1/live", query: Self.parameters.names, bodyLimit: 0,
      admit: { [self] in CallerAdmission.admitSession($0, credentials, rates) },
      answeringLater: { [self] in $1.respond(answer($0)) })
  }

  /// The last header makes nginx pass the answer on without buffering.
  private static let headers: [(name: String, value: String)] = [
    ("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"), ("X-Accel-Buffering", "no"),
  ]

  private func answer(_ request: HTTPServerRequest) -> HTTPServerResponse {
    guard let session = request.admitted as? CallerSession else {
      return .error(500, code: "internal", message: "the caller is not known")
    }
    let now = SystemClock.steadyMilliseconds()
    rates.count(Self.cost, of: session.caller, now: now)
    guard case .user(let userId) = session.caller, let until = session.expiresAt else {
      return answer(backend: session.caller, request)
    }
    if let device = request.query["deviceId"], !SchemaLimits.isId(device) {
      return .error(
        400, code: "bad_request",
        message: "deviceId: 1 to \(SchemaLimits.idBytes) bytes without control characters, as in device.registered")
    }
    let answering: StreamReports.Device?
    switch (request.query["answers"], request.query["deviceId"]) {
    case (nil, _), ("false", _): answering = nil
    case ("true", let device?): answering = StreamReports.Device(userId, device)
    case ("true", nil):
      return .error(400, code: "bad_request", message: "answers=true needs deviceId: the device that answers banners")
    default: return .error(400, code: "bad_request", message: "answers: true or false")
    }
    if request.method == .head { return HTTPServerResponse(headers: Self.headers) }
    let client = LiveStreams.Client(
      userId: userId, until: until, lastEventId: Self.lastEventId(request), answering: answering)
    switch streams.open(client, now: now) {
    case .opened(let stream): return HTTPServerResponse(headers: Self.headers, stream: stream)
    case .refused(let response): return response
    }
  }

  /// A backend gets decisions: those of all people, or of the person that it names.
  private func answer(backend caller: Caller, _ request: HTTPServerRequest) -> HTTPServerResponse {
    guard case .backend(let name) = caller else {
      return .error(403, code: "forbidden", message: "a user's stream needs a token that expires")
    }
    if let userId = request.query["userId"], !SchemaLimits.isId(userId) {
      return .error(
        400, code: "bad_request",
        message:
          "userId: 1 to \(SchemaLimits.idBytes) bytes without control characters; or leave it out for everybody's")
    }
    if request.method == .head { return HTTPServerResponse(headers: Self.headers) }
    let client = DecisionStreams.Client(
      name: name, userId: request.query["userId"], lastEventId: Self.lastEventId(request))
    guard let stream = decisions.open(client) else {
      return .error(
        429, code: "too_many_streams", message: "this key, or this instance, has as many streams open as it may",
        retryAfter: 5)
    }
    return HTTPServerResponse(headers: Self.headers, stream: stream)
  }

  private static func lastEventId(_ request: HTTPServerRequest) -> String? {
    request.headers["Last-Event-ID"] ?? request.query["lastEventId"]
  }
}

import HTTPServer
import NudgeSchema
import ServiceKit

/// `GET /v1/rejections`: a backend's events that were accepted over HTTP and refused later.
final class RejectionsEndpoint: Sendable {
  /// The longest time for which a request waits, in seconds.
  static let longestWait = 25
  /// The cost of a request in the rate. Each rejection in its answer also counts as an event.
  private static let cost = 10

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
    HTTPRoute(
      .get, "/v1/rejections", admit: { [self] in CallerAdmission.admit($0, credentials, rates) },
      inTurnOf: CallerAdmission.turn, { [self] in handle($0, $1) })
  }

  private func handle(_ request: HTTPServerRequest, _ responder: HTTPResponder) {
    guard let caller = request.admitted as? Caller else { return }  // the server answers 500
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
    let told = tail.ask(name, since: since, wait: .seconds(wait), responder)
    rates.count(told, of: caller, now: SystemClock.steadyMilliseconds())
  }

  /// Without `since`, the rejections of the last hour.
  static func since(_ text: String?, now: Milliseconds) -> RejectionLog.Since? {
    guard let text else { return .time(now - 3_600_000) }
    if let time = Milliseconds(text), time >= 0 { return .time(time) }
    if let time = RFC3339.milliseconds(text) { return .time(time) }
    return RejectionLog.Cursor(text).map { .cursor($0) }
  }
}

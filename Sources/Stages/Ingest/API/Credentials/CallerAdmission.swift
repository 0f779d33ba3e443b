import HTTPServer
import ServiceKit

/// Checks the sender of a request before the body is read.
enum CallerAdmission {
  /// The caller, or the refusal because of its credentials or its rate.
  static func admit(
    _ head: HTTPServerRequestHead, _ credentials: Credentials, _ rates: CallerRates
  ) -> HTTPAdmission {
    let admission = admitSession(head, credentials, rates)
    guard case .admitted(let session as CallerSession) = admission else { return admission }
    return .admitted(session.caller)
  }

  /// The caller as a `CallerSession`, or the refusal.
  static func admitSession(
    _ head: HTTPServerRequestHead, _ credentials: Credentials, _ rates: CallerRates
  ) -> HTTPAdmission {
    let session: CallerSession
    let now = SystemClock.steadyMilliseconds()
    do throws(Unauthorized) {
      session = try credentials.session(
        authorization: head.headers["Authorization"], from: head.remoteNetwork,
        now: SystemClock.milliseconds() / 1_000, steadily: now)
    } catch {
      if let seconds = error.comeBackAfter {
        return .refused(comeBack(after: seconds, code: "rate_limited", message: error.message))
      }
      var response = HTTPServerResponse.error(401, code: "unauthorized", message: error.message)
      response.headers.append(("WWW-Authenticate", "Bearer"))
      return .refused(response)
    }
    if let refusal = rates.refusal(of: session.caller, bytes: head.bodyLength, now: now) {
      return .refused(comeBack(refusal))
    }
    return .admitted(session)
  }

  /// The queue of a request: each API key and each user has its own.
  static func turn(_ request: HTTPServerRequest) -> String { (request.admitted as? Caller).map(name) ?? "" }

  /// A name that is unique to the caller.
  static func name(of caller: Caller) -> String {
    switch caller {
    case .backend(let name): "b" + name
    case .user(let id): "u" + id
    }
  }

  /// A 429 because of a rate.
  static func comeBack(_ refusal: CallerRates.Refusal) -> HTTPServerResponse {
    let answer = refusal.answer(refusal.isOfBytes ? "bytes" : "events")
    return comeBack(after: answer.seconds, code: "rate_limited", message: answer.message)
  }

  /// A 429 with the time to wait.
  static func comeBack(after seconds: Int, code: String, message: String) -> HTTPServerResponse {
    var response = HTTPServerResponse.error(429, code: code, message: message)
    response.headers.append(("Retry-After", String(seconds)))
    return response
  }
}

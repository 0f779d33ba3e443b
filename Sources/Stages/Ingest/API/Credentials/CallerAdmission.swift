import HTTPServer
import ServiceKit

/// Checks who sends a request, before its body is read.
enum CallerAdmission {
  /// The caller, or why it is refused: its credentials, or its rate.
  static func admit(
    _ head: HTTPServerRequestHead, _ credentials: Credentials, _ rates: CallerRates
  ) -> HTTPAdmission {
    let caller: Caller
    do throws(Unauthorized) {
      caller = try credentials.caller(
        authorization: head.headers["Authorization"], now: SystemClock.milliseconds() / 1_000)
    } catch {
      var response = HTTPServerResponse.error(401, code: "unauthorized", message: error.message)
      response.headers.append(("WWW-Authenticate", "Bearer"))
      return .refused(response)
    }
    if let wait = rates.wait(of: caller, now: SystemClock.steadyMilliseconds()) {
      return .refused(
        comeBack(
          after: wait.seconds, code: "rate_limited",
          message:
            "more events than this caller may send (\(wait.setting)): send them again in \(wait.seconds) s"
        ))
    }
    return .admitted(caller)
  }

  /// 429 with the time to wait.
  static func comeBack(after seconds: Int, code: String, message: String) -> HTTPServerResponse {
    var response = HTTPServerResponse.error(429, code: code, message: message)
    response.headers.append(("Retry-After", String(seconds)))
    return response
  }
}

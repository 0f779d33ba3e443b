import Dispatcher
import HTTPTransport
import NudgeSchema
import ServiceKit

// This machine's clock beside a push service's: a token that ends in the past, or later than 24 hours ahead, is refused.
extension DoctorChecks {
  /// How far apart the clocks may be: a service's is right, and its date has whole seconds.
  static let pushServiceTolerance: Milliseconds = 60_000

  /// Asks the service for its date.
  func examineClock(of url: String) -> Finding {
    let subject = "push service"
    let name = PublicText.origin(of: url)
    do throws(HTTPTransportError) {
      let client = try HTTPClient(HTTPClientConfiguration(keptHeaders: ["date"], plainProtocol: .http1))
      defer { client.shutdown(grace: .zero) }
      let before = SystemClock.milliseconds()
      let answer = try client.response(to: HTTPRequest(method: .get, url: url, timeout: Self.timeout)).get()
      guard let date = answer.headers["date"], let time = HTTPDate.milliseconds(Array(date.utf8)) else {
        return .notice(subject, "\(name) says no date", mend: "name another one with --push-service")
      }
      return Self.clock(ahead: (before + SystemClock.milliseconds()) / 2 - time, of: name)
    } catch {
      let reason = "\(error.kind): \(error.message)"
      return .problem(
        subject, "\(name) cannot be reached: \(reason)",
        mend: "check DNS, the firewall and the proxy of the dispatcher's hosts")
    }
  }

  /// The finding for a clock that is ahead of a push service's by this much.
  static func clock(ahead: Milliseconds, of name: String) -> Finding {
    let seconds = abs(ahead) / 1_000
    guard abs(ahead) > pushServiceTolerance else {
      return .good("push service", "this machine's clock is that of \(name), within \(pushServiceTolerance / 1_000) s")
    }
    return .problem(
      "push service",
      "this machine's clock is \(seconds) s \(ahead > 0 ? "ahead of" : "behind") that of \(name): push services refuse tokens of a "
        + "clock that is 12 hours wrong, and waits that they ask for by date come out wrong",
      mend: "synchronise the dispatchers' hosts by NTP")
  }
}

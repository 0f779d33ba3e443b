import HTTPTransport
import NudgeSchema
import WebPush

extension PushAnswer {
  /// Classifies an answer of a push service. An HTTP date in the header counts from `now`. Services word their errors in many ways; the
  /// status says it.
  init(webPush answer: WebPushAnswer, status: Int, retryAfter header: String?, now: Milliseconds) {
    let verdict: Verdict =
      switch answer {
      // The answer's `Location` would let anybody take the message back.
      case .sent: .sent(name: nil)
      case .gone: .invalidToken
      case .tooLong, .rejected: .rejected
      // Services count by subscription.
      case .later: status == 429 ? .quotaExceeded(.device) : .serverFailed
      case .keyRefused: .projectRefused
      }
    let isSent = answer == .sent
    self.init(
      verdict, httpStatus: status, errorCode: isSent ? nil : "HTTP_\(status)",
      retryAfter: isSent ? nil : header.flatMap { RetryAfter($0)?.wait(from: now) })
  }

  /// Classifies a request to a push service without an answer, and says whether it left the process. An address that may not be connected
  /// to, or a URL that cannot be sent, is the subscription's fault, not the service's.
  static func noWebPushAnswer(_ error: HTTPTransportError) -> (answer: PushAnswer, hasLeft: Bool) {
    switch error.kind {
    case .addressRefused: (PushAnswer(.rejected, errorCode: "address_refused"), false)
    case .invalidRequest: (PushAnswer(.rejected, errorCode: "invalid_request"), false)
    default: noAnswer(error)
    }
  }
}

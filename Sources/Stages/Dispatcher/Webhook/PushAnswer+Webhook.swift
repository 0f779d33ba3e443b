import NudgeSchema

extension PushAnswer {
  /// Classifies an answer of the webhook. A fault that an operator can mend (address, rights) stops all requests until then, so
  /// that no escalation is lost meanwhile; a redirection is one of these, because none is followed.
  init(webhookStatus status: Int, retryAfter header: String?, now: Milliseconds) {
    let verdict: Verdict =
      switch status {
      case 200..<300: .sent(name: nil)
      case 408, 425: .serverFailed
      case 429: .quotaExceeded(.device)
      case 300..<400, 401, 403, 404, 407, 410: .projectRefused
      case 400..<500: .rejected
      default: .serverFailed
      }
    let isSent = (200..<300).contains(status)
    self.init(
      verdict, httpStatus: status, errorCode: isSent ? nil : "HTTP_\(status)",
      retryAfter: isSent ? nil : header.flatMap { RetryAfter($0)?.wait(from: now) })
  }
}

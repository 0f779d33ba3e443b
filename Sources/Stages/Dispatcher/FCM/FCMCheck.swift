import Dispatch
import ServiceKit
import Synchronization

/// Checks whether FCM takes requests for a project, without sending anything: gets an access token and sends a `validate_only`
/// message to an invalid registration token. The answer "invalid token" shows that everything before it is right.
struct FCMCheck: Sendable {
  let account: ServiceAccount
  let client: FCMClient
  /// `--check` must end within 10 s.
  var timeout: DispatchTimeInterval = .seconds(8)

  /// The problem, and where to fix it.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// The result in a few words. Blocks until FCM has answered.
  func look() throws -> String {
    let request = SendRequest(
      id: 0, destination: .fcm(project: account.projectId),
      subject: .init(userId: "check", deviceId: "check", pushId: "check", attempt: 1), token: "nudge-check",
      body: Array(#"{"validate_only":true,"message":{"token":"nudge-check"}}"#.utf8))
    let box = Answer()
    client.perform(request) { box.set($0.answer) }
    guard box.wait(timeout), let answer = box.value else {
      throw Failure(description: "no answer from FCM for \(account); check --fcm-url and the network")
    }
    return try verdict(answer)
  }

  private func verdict(_ answer: PushAnswer) throws -> String {
    let code = (answer.errorCode ?? "") + (answer.httpStatus.map { ", HTTP \($0)" } ?? "")
    func fail(_ fix: String) -> Failure { Failure(description: "\(account): \(code): \(fix)") }
    switch answer.verdict {
    case .sent, .invalidToken, .rejected, .senderMismatch, .subscriptionRefused: return "\(account) may send"
    case .quotaExceeded: return "\(account) may send; its quota is used up at the moment"
    case .projectRefused:
      switch (answer.errorCode ?? "", answer.httpStatus ?? 0) {
      case (AccessTokenError.Kind.refused.rawValue, _):
        throw fail(
          "Google's token server refuses the account: does its key \(account.privateKeyId) still exist (console.cloud.google.com, "
            + "IAM, Service accounts, Keys), and is this machine's clock right?")
      case (AccessTokenError.Kind.unreachable.rawValue, _):
        throw fail("the token server \(account.tokenServer) cannot be reached; check the network and --fcm-ca-file")
      case (_, 403):
        throw fail(
          "enable the Firebase Cloud Messaging API of \(account.projectId), and give the account the role Firebase Cloud "
            + "Messaging API Admin (console.cloud.google.com, IAM)")
      case (_, 404): throw fail("there is no project \(account.projectId) at --fcm-url; check both")
      case ("tls", _): throw fail("the certificate is not trusted; check --fcm-url and --fcm-ca-file")
      default: throw fail("FCM refuses the credentials; make a new key in the Firebase console, Service accounts")
      }
    case .platformRefused: throw fail("FCM's key for APNs or Web Push is wrong: Firebase console, Cloud Messaging")
    case .serverFailed, .unreachable, .notSent:
      throw fail("FCM cannot be reached, or fails; check --fcm-url and the network")
    }
  }
}

/// Hands an answer to the thread that waits for it.
private final class Answer: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)
  private let answer = Mutex<PushAnswer?>(nil)

  var value: PushAnswer? { answer.withLock { $0 } }

  func set(_ value: PushAnswer) {
    answer.withLock { $0 = value }
    semaphore.signal()
  }

  func wait(_ timeout: DispatchTimeInterval) -> Bool { semaphore.wait(timeout: .now() + timeout) == .success }
}

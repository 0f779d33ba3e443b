import HTTPTransport
import ServiceKit
import Synchronization

/// The connections to FCM as a service: opens them at the start, with an access token for each project, so that the first push
/// waits for neither, and closes them at the end. While it runs it reads changed credential files again. A failure at the
/// start is reported by the first push.
final class FCMConnections: Service {
  let name = "fcm connections"
  private let client: FCMClient
  private let http: HTTPClientGroup
  private let log: Logger
  private let files: Mutex<AccountFiles>
  /// Checks credential files for changes.
  private let timer = RepeatingTimer("fcm-credentials", every: .seconds(5))

  init(client: FCMClient, http: HTTPClientGroup, files: AccountFiles, log: Logger) {
    self.client = client
    self.http = http
    self.log = log
    self.files = Mutex(files)
  }

  func start(_ onEnd: @escaping @Sendable (ServiceEnd) -> Void) {
    client.warmUp()
    timer.start { [weak self] in self?.reload() }
  }

  /// Uses the accounts of files that have changed. A file that cannot be used changes nothing.
  func reload() {
    for change in files.withLock({ $0.changes() }) {
      switch change {
      case .account(let account, let path):
        if client.replace(account) {
          log.notice(
            "FCM credentials were read again",
            ["file": .string(path), "project": .string(account.projectId), "key": .string(account.privateKeyId)])
        } else {
          log.error(
            "FCM credentials are of another project than at the start; restart to use it; the former account stays in use",
            ["file": .string(path), "project": .string(account.projectId)])
        }
      case .unusable(let path, let reason):
        log.error(
          "FCM credentials cannot be read again; the former account stays in use",
          ["file": .string(path), "reason": .string(reason)])
      }
    }
  }

  /// By now the stream threads have stopped and have the answers that they waited for.
  func stop() {
    timer.stop()
    http.shutdown(grace: .zero)
  }
}

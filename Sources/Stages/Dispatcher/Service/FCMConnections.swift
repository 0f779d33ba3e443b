import Dispatch
import HTTPTransport
import ServiceKit
import Synchronization

/// The connections to FCM as a service: opens them at the start, with an access token for each project, so that the first push
/// waits for neither, and closes them at the end. While it runs it reads changed credential files again. A failure at the
/// start is reported by the first push.
final class FCMConnections: Service {
  private struct State {
    var files: AccountFiles
    var timer: (any DispatchSourceTimer)?
  }

  let name = "fcm connections"
  private let client: FCMClient
  private let http: HTTPClientGroup
  private let log: Logger
  private let state: Mutex<State>

  /// How often credential files are checked for changes, in seconds.
  private static let checkInterval = 5.0

  init(client: FCMClient, http: HTTPClientGroup, files: AccountFiles, log: Logger) {
    self.client = client
    self.http = http
    self.log = log
    state = Mutex(State(files: files))
  }

  func start(_ onEnd: @escaping @Sendable (ServiceEnd) -> Void) {
    client.warmUp()
    state.withLock { state in
      let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "fcm-credentials"))
      timer.schedule(deadline: .now() + Self.checkInterval, repeating: Self.checkInterval)
      timer.setEventHandler { [weak self] in self?.reload() }
      timer.activate()
      state.timer = timer
    }
  }

  /// Uses the accounts of files that have changed. A file that cannot be used changes nothing.
  func reload() {
    for change in state.withLock({ $0.files.changes() }) {
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
    state.withLock { state in
      state.timer?.cancel()
      state.timer = nil
    }
    http.shutdown(grace: .zero)
  }
}

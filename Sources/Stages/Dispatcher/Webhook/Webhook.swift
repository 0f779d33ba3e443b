import Foundation
import HTTPTransport
import ServiceKit
import Synchronization

/// The webhook as a service: its client, and its secrets, which are read again when their file changes.
final class Webhook: Service {
  private struct State {
    var file: WatchedFile
    /// Reported already; nil: the file is in use.
    var fault: String?
  }

  let name = "webhook connections"
  let client: WebhookClient
  private let http: HTTPClientGroup
  private let log: Logger
  private let state: Mutex<State>

  /// Checks the file for changes.
  private let timer = RepeatingTimer("webhook-secrets", every: .seconds(5))
  /// Longer answers are of no use: the status counts.
  private static let maxResponseBytes = 4_096

  /// nil: no webhook is configured.
  ///
  /// - Throws: `SettingsError`: the URL or the secrets cannot be used.
  static func make(_ context: ServiceContext) throws -> Webhook? {
    let values = context.values
    let (url, path) = (values[DispatcherSettings.escalationURL], values[DispatcherSettings.escalationSecretFile])
    guard let url else {
      guard path == nil else { throw SettingsError("--escalation-secret-file: it needs --escalation-url") }
      return nil
    }
    guard let path else {
      throw SettingsError("--escalation-url: it needs --escalation-secret-file, with which requests are signed")
    }
    let allowsPrivate = values[DispatcherSettings.escalationAllowPrivate]
    try WebhookAddress.check(url, allowsPrivate: allowsPrivate)
    let authorities = values[DispatcherSettings.escalationCertificateAuthorities]
    if let authorities, !FileManager.default.isReadableFile(atPath: authorities) {
      throw SettingsError("--escalation-ca-file: \(authorities) cannot be read; it must be a PEM file")
    }
    return try Webhook(
      url: url, secretFile: path, certificateAuthorities: authorities, allowsPrivate: allowsPrivate,
      log: context.logger.with(label: "dispatcher.webhook"), monitor: WebhookMonitor(metrics: context.metrics))
  }

  init(
    url: String, secretFile: String, certificateAuthorities: String?, allowsPrivate: Bool, log: Logger,
    monitor: WebhookMonitor? = nil
  ) throws {
    var file = WatchedFile(path: secretFile)
    let secrets: WebhookSecrets
    do {
      secrets = try WebhookSecrets(contents: try file.changed(force: true) ?? [], name: secretFile)
    } catch let error as FileFailure {
      throw SettingsError("--escalation-secret-file: \(error.description)")
    }
    let http = try HTTPClientGroup(
      HTTPClientConfiguration(
        caFile: certificateAuthorities, maxResponseBytes: Self.maxResponseBytes,
        addresses: allowsPrivate ? .any : .publicOnly))
    client = WebhookClient(
      url: url, secrets: secrets, http: http, log: log, monitor: monitor,
      shutDown: { http.shutdown(grace: .seconds(1)) })
    self.http = http
    self.log = log
    state = Mutex(State(file: file))
  }

  func start(_ onEnd: @escaping @Sendable (ServiceEnd) -> Void) {
    timer.start { [weak self] in self?.reload() }
  }

  /// Uses the secrets of the file if it has changed. One that cannot be used changes nothing.
  func reload() {
    state.withLock { state in
      let path = state.file.path
      do {
        guard let contents = try state.file.changed(force: state.fault != nil) else { return }
        client.replace(try WebhookSecrets(contents: contents, name: path))
        state.fault = nil
        log.notice("the webhook's secrets were read again", ["file": .string(path)])
      } catch {
        let fault = "\(error)"
        guard state.fault != fault else { return }
        state.fault = fault
        log.error(
          "the webhook's secrets cannot be read again; the former ones stay in use",
          ["file": .string(path), "reason": .string(fault)])
      }
    }
  }

  func stop() {
    timer.stop()
    http.shutdown(grace: .zero)
  }
}

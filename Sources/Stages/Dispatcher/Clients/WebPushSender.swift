import Foundation
import HTTPTransport
import ServiceKit
import StreamRuntime
import Synchronization
import WebPush

/// Sending to Web Push subscriptions with the configured keys and rules.
struct WebPushSender {
  let client: WebPushClient
  let files: VAPIDKeyFiles
  let rules: WebPushRules
  /// The public keys.
  let keys: [String]
  let subject: String

  /// Longer answers are useless, because only the status counts.
  private static let maxResponseBytes = 16_384
  /// Connections to a host, each with up to 100 concurrent requests over HTTP/2.
  private static let connections = 4

  /// Nil if no VAPID key is configured.
  ///
  /// - Throws: `SettingsError` if a key or the subject cannot be used.
  static func make(
    _ context: ServiceContext, deliveries: DeliveryMonitor, spans: (any SpanRecorder)?
  ) throws -> WebPushSender? {
    let values = context.values
    let log = context.logger.with(label: "dispatcher.web-push")
    let signers: [VAPIDKey]
    let paths = VAPIDKey.paths(values[DispatcherSettings.vapidKey] ?? "")
    // Before the keys are read, so that a change in between is found later.
    let files = VAPIDKeyFiles.watched(paths)
    do { signers = try VAPIDKey.keys(inFiles: paths) } catch {
      throw SettingsError("--vapid-key: \(error.description)")
    }
    guard !signers.isEmpty else {
      log.notice(
        "no VAPID key is set: pushes to Web Push subscriptions end as cancelled (no_vapid_key); nudge vapid makes one, "
          + "--vapid-key names its file")
      return nil
    }
    let authorities = values[DispatcherSettings.webPushCertificateAuthorities]
    if let authorities, !FileManager.default.isReadableFile(atPath: authorities) {
      throw SettingsError("--web-push-ca-file: \(authorities) cannot be read; it must be a PEM file")
    }
    let endpoints = WebPushSettings.rules(values)
    let isRestricted = endpoints.hosts.isEmpty && !endpoints.allowsPrivateAddresses
    let rules = WebPushRules(
      endpoints: endpoints, services: WebPushServices(hosts: endpoints.hosts, salt: .random(in: .min ... .max)))
    let subject = subject(of: values)
    let connections = WebPushConnections(
      HTTPClientConfiguration(
        caFile: authorities, maxConnectionsPerHost: Self.connections, maxQueued: 2_000,
        maxResponseBytes: maxResponseBytes, plainProtocol: .http1, addresses: isRestricted ? .publicOnly : .any))
    context.metrics.gauge("nudge_web_push_connections", help: "Connections open to Web Push services.") {
      Double(connections.openConnections)
    }
    let client = WebPushClient(
      signers: signers, subject: subject, rules: rules, http: connections, log: log,
      monitor: WebPushMonitor(metrics: context.metrics, names: rules.services.patterns, deliveries: deliveries),
      spans: spans)
    return WebPushSender(
      client: client, files: VAPIDKeyFiles(files: files, keys: signers, log: log) { client.replace($0) }, rules: rules,
      keys: signers.map(\.publicKey), subject: subject)
  }

  /// How services can contact the operator. Some refuse a token without it.
  private static func subject(of values: SettingsValues) -> String {
    if let subject = values[DispatcherSettings.vapidSubject] { return subject }
    if let link = values[DispatcherSettings.webLink], let host = URLComponents(string: link)?.host {
      return "https://\(host)"
    }
    return "mailto:nudge@\(ProcessInfo.processInfo.hostName)"
  }
}

/// The files of `--vapid-key` as a service. They are read again when they change, so that keys are rotated without a restart.
final class VAPIDKeyFiles: Service {
  private struct State {
    var files: [WatchedFile]
    /// The keys in use.
    var publicKeys: [String]
    /// The error that was already reported; nil if the files are in use.
    var fault: String?
  }

  let name = "vapid keys"
  private let paths: [String]
  private let log: Logger
  private let use: @Sendable ([VAPIDKey]) -> Void
  private let state: Mutex<State>
  /// Checks the files for changes.
  private let timer = RepeatingTimer("vapid-keys", every: .seconds(5))

  /// - Parameters:
  ///   - files: Their state before `keys` were read from them.
  ///   - use: Receives the keys to use from then on.
  init(files: [WatchedFile], keys: [VAPIDKey], log: Logger, use: @escaping @Sendable ([VAPIDKey]) -> Void) {
    paths = files.map(\.path)
    self.log = log
    self.use = use
    state = Mutex(State(files: files, publicKeys: keys.map(\.publicKey)))
  }

  /// The files, with their current content marked as read.
  static func watched(_ paths: [String]) -> [WatchedFile] {
    paths.map { path in
      var file = WatchedFile(path: path)
      _ = try? file.changed(force: true)
      return file
    }
  }

  func start(_ onEnd: @escaping @Sendable (ServiceEnd) -> Void) {
    timer.start { [weak self] in self?.reload() }
  }

  /// Uses the keys of the files if one has changed. Files that cannot be used change nothing.
  func reload() {
    state.withLock { state in
      var hasChanged = state.fault != nil
      for index in state.files.indices {
        // A file that cannot be read counts as changed too.
        do { if try state.files[index].changed(force: false) != nil { hasChanged = true } } catch { hasChanged = true }
      }
      guard hasChanged else { return }
      do throws(VAPIDKey.Invalid) {
        let keys = try VAPIDKey.keys(inFiles: paths)
        state.fault = nil
        let publicKeys = keys.map(\.publicKey)
        guard publicKeys != state.publicKeys else { return }
        state.publicKeys = publicKeys
        use(keys)
        log.notice("VAPID keys were read again", ["keys": .string(publicKeys.joined(separator: ", "))])
      } catch {
        let fault = error.description
        guard state.fault != fault else { return }
        state.fault = fault
        log.error("VAPID keys cannot be read again; the former ones stay in use", ["reason": .string(fault)])
      }
    }
  }

  func stop() { timer.stop() }
}

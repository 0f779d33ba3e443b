import Foundation
import HTTPTransport
import ServiceKit
import StreamRuntime
import WebPush

/// Sending to Web Push subscriptions, as the settings have it: keys, rules, client.
struct WebPushSender {
  let client: WebPushClient
  let files: VAPIDKeyFiles
  let rules: WebPushRules
  /// The public keys.
  let keys: [String]
  let subject: String

  /// Longer answers are of no use: the status counts.
  private static let maxResponseBytes = 16_384
  /// Connections to a host, each with up to 100 requests at a time over HTTP/2.
  private static let connections = 4

  /// nil: no VAPID key is configured.
  ///
  /// - Throws: `SettingsError`: a key, or the subject, cannot be used.
  static func make(
    _ context: ServiceContext, deliveries: DeliveryMonitor, spans: (any SpanRecorder)?
  ) throws -> WebPushSender? {
    let values = context.values
    let log = context.logger.with(label: "dispatcher.web-push")
    let signers: [VAPIDKey]
    let paths = VAPIDKey.paths(values[DispatcherSettings.vapidKey] ?? "")
    // Before they are read: a change in between is found later.
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

  /// How services reach the operator. Some refuse a token without it.
  private static func subject(of values: SettingsValues) -> String {
    if let subject = values[DispatcherSettings.vapidSubject] { return subject }
    if let link = values[DispatcherSettings.webLink], let host = URLComponents(string: link)?.host {
      return "https://\(host)"
    }
    return "mailto:nudge@\(ProcessInfo.processInfo.hostName)"
  }
}

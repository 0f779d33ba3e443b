import Foundation
import HTTPTransport
import NudgeSchema
import OTLP
public import ServiceKit
import StreamRuntime

/// The dispatcher process: its settings, stream threads, FCM client and checks.
public enum DispatcherService {
  /// Settings, help, services and checks.
  public static let assembly = ServiceAssembly(
    name: "dispatcher",
    abstract: "Sends pushes through Firebase Cloud Messaging and Web Push, and records what became of each.",
    settings: DispatcherSettings.all,
    examples: [
      "nudge-dispatcher --bootstrap-servers kafka:9092 --fcm-credentials service-account.json --instance dispatcher-0",
      "nudge-dispatcher --bootstrap-servers kafka:9092 --fcm-credentials service-account.json --check",
    ],
    build: parts)

  private static func parts(_ context: ServiceContext) throws -> ServiceParts {
    let credentials = context.values[DispatcherSettings.credentials]
    guard credentials != nil || context.values[DispatcherSettings.vapidKey] != nil else {
      throw SettingsError(
        "nothing can be sent: set --fcm-credentials (NUDGE_FCM_CREDENTIALS, GOOGLE_APPLICATION_CREDENTIALS) for FCM, "
          + "--vapid-key (NUDGE_VAPID_KEY) for Web Push, or both")
    }
    let accountPaths = try credentials.map { try ServiceAccount.files(in: $0) } ?? []
    var accountFiles = AccountFiles(paths: accountPaths)
    // Mark the files before reading them. A file that changes in between then counts as changed, and is read again.
    accountFiles.markRead()
    let accounts = try ServiceAccount.all(in: accountPaths)
    let certificateAuthorities = context.values[DispatcherSettings.certificateAuthorities]
    // Checked here, because curl would report it only at the first push.
    if let file = certificateAuthorities, !FileManager.default.isReadableFile(atPath: file) {
      throw SettingsError("--fcm-ca-file: \(file) cannot be read; it must be a PEM file")
    }
    let url = context.values[DispatcherSettings.url]
    let log = context.logger.with(label: "dispatcher.fcm")
    let http = try HTTPClientGroup(
      DispatcherSettings.transport(from: context.values), count: DispatcherSettings.loopCount(from: context.values),
      log: { Self.log($1, at: $0, to: log) })
    let deliveries = DeliveryMonitor(metrics: context.metrics)
    let monitor = FCMMonitor(
      metrics: context.metrics, readiness: context.health.readiness, deliveries: deliveries)
    FCMMonitor.watch(http, metrics: context.metrics)
    let telemetry = try Telemetry(context)
    let spans = telemetry.spans
    let client = FCMClient(
      accounts: accounts, http: http, baseURL: url, log: log, monitor: monitor, spans: spans,
      timeout: context.values[DispatcherSettings.timeout])
    var rules = DispatcherSettings.rules(from: context.values, ownProjects: accounts.map(\.projectId))
    let webhook = try Webhook.make(context)
    rules.hasWebhook = webhook != nil
    let webPush = try WebPushSender.make(context, deliveries: deliveries, spans: spans)
    rules.webPush = webPush?.rules
    let lanes = LaneMonitor(
      metrics: context.metrics, readiness: context.health.readiness,
      rules: rules, threads: context.settings.threads, now: { SystemClock.milliseconds() })
    let streams = StreamService(
      .init(settings: context.settings, limits: DispatcherSettings.limits(from: context.values)),
      logger: context.logger, health: context.health, metrics: context.metrics,
      performer: PushSender(fcm: client, webPush: webPush?.client, webhook: webhook?.client), spans: spans,
      show: { lanes.report($0, thread: $1) }, makeStage: { [rules] in DispatcherStage(rules: rules) })
    return ServiceParts(
      services: telemetry.services + [
        webhook, webPush?.files,
        FCMConnections(client: client, http: http, files: accountFiles, log: log),
        DeliveryReporter(
          lanes: lanes, deliveries: deliveries, readiness: context.health.readiness, log: context.logger,
          metrics: context.metrics), streams,
      ],
      checks: [
        streams.topicCheck
      ]
        + accounts.map { account in
          ServiceCheck("fcm \(account.projectId)") {
            try FCMCheck(account: account, client: client).check() + " (\(PublicText.origin(of: url)))"
          }
        } + [
          ServiceCheck("vapid key") {
            webPush.map { "\($0.keys.joined(separator: ", ")), \($0.subject)" }
              ?? "none: pushes to Web Push subscriptions end as cancelled (--vapid-key)"
          },
          ServiceCheck("libcurl") {
            HTTPClient.resetsFinishedStreams
              ? "\(HTTPClient.libcurlVersion); older than 8.14, so connections are renewed every 900 requests"
              : HTTPClient.libcurlVersion
          },
        ])
  }

  private static func log(_ line: String, at level: HTTPClientLogLevel, to logger: Logger) {
    switch level {
    case .debug: logger.debug(line)
    case .info: logger.info(line)
    case .notice: logger.notice(line)
    case .warning: logger.warning(line)
    }
  }
}

/// Sends a push to its destination.
struct PushSender: EffectPerformer {
  let fcm: FCMClient
  /// Nil without a VAPID key; then the stage sends nothing to subscriptions.
  var webPush: WebPushClient?
  /// Nil without a webhook; then the stage sends nothing to it.
  let webhook: WebhookClient?

  func perform(_ effect: SendRequest, reply: @escaping @Sendable (SendReply) -> Void) {
    switch effect.destination {
    case .fcm: return fcm.perform(effect, reply: reply)
    case .webPush: if let webPush { return webPush.perform(effect, reply: reply) }
    case .webhook: if let webhook { return webhook.perform(effect, reply: reply) }
    }
    let now = SystemClock.milliseconds()
    reply(SendReply(id: effect.id, answer: PushAnswer(.notSent), requests: 0, startedAt: now, finishedAt: now))
  }

  func stop() {
    fcm.stop()
    webPush?.stop()
    webhook?.stop()
  }
}

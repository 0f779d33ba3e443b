import Foundation
import HTTPTransport
import NudgeSchema
import OTLP
public import ServiceKit
import StreamRuntime
import WebPush

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

enum DispatcherSettings {
  static let url = Setting<String>(
    "fcm-url", default: FCMClient.googleURL, placeholder: "URL", help: "Address of FCM, without a path.",
    check: { text in
      do throws(SettingValueError) {
        _ = try URL.parse(text)
        return nil
      } catch {
        return error.allowed
      }
    })

  static let credentials = Setting<String?>(
    "fcm-credentials", environment: .named(["NUDGE_FCM_CREDENTIALS", "GOOGLE_APPLICATION_CREDENTIALS"]), default: nil,
    placeholder: "FILES",
    help:
      "JSON file of the service account that sends. For several projects: files, or folders of .json files, "
      + "separated by commas; devices that name no project belong to the first. A file that changes is read "
      + "again within 5s. Default: none. Then --vapid-key is required, and pushes to devices with a token are "
      + "rejected.")

  static let projects = Setting<[String]>(
    "fcm-projects", default: [], placeholder: "ID,…",
    help:
      "Further FCM projects that devices may name. A push to a project that has no service account and is "
      + "not listed here is rejected.")

  static let certificateAuthorities = Setting<String?>(
    "fcm-ca-file", default: nil, placeholder: "FILE",
    help: "PEM file of the certificate authorities to trust for FCM and its token server. Default: the system's.")

  static let connections = Setting<Int>(
    "fcm-connections", default: 2, in: 1...64,
    help: "HTTP/2 connections to FCM. Each carries up to 100 requests at a time.")

  static let inFlight = Setting<Int>(
    "fcm-in-flight", default: 2_000, in: 1...10_000,
    help:
      "Requests in flight per stream thread, including those that wait for a connection.")

  static let loops = Setting<Int>(
    "fcm-loops", default: 1, in: 1...16,
    help:
      "Threads that carry requests to FCM and share the connections. Raise it if one core is not enough. "
      + "There is at least one for every four connections."
  )

  /// Connections of one thread. With 32 on a busy machine, a sixth of the requests timed out within libcurl while they waited for
  /// connections that were being opened; with 4 none did (docs/benchmarks.md).
  private static let connectionsPerLoop = 4

  static let quota = Setting<Int>(
    "fcm-quota", default: 600_000, in: 60...60_000_000,
    help:
      "Requests a minute to a project: FCM's quota. A stream thread's share of the quota is its share of "
      + "the partitions."
  )

  static let rampUp = Setting<Duration>(
    "fcm-ramp-up", default: .seconds(60), in: .zero...(.seconds(3_600)),
    help:
      "How long the rate of requests takes to grow to the quota. FCM asks for a minute; 0s for benchmarks.")

  static let timeBudget = Setting<Duration>(
    "fcm-time-budget", default: .seconds(7 * 86_400), in: .seconds(1)...(.seconds(7 * 86_400)),
    help:
      "How long a push is retried after a failure of FCM or the network, unless its freshness ends earlier. "
      + "Time while sending to its project is stopped does not count.")

  static let webLink = Setting<String?>(
    "web-link", default: nil, placeholder: "URL",
    help:
      "The page that a click on a notification in a browser opens: your app's https address of a "
      + "conversation, with {conversationId} and optionally {messageId}. Default: none; the app's service "
      + "worker decides.",
    check: { text in
      guard let text else { return nil }
      do throws(SettingValueError) {
        _ = try WebLink(text)
        return nil
      } catch {
        return error.allowed
      }
    })

  static let devicePerMinute = Setting<Int>(
    "fcm-device-per-minute", default: 240, in: 0...1_000_000,
    help: "Most requests a minute to one Android device; the default is FCM's limit; 0: no limit.")

  static let devicePerHour = Setting<Int>(
    "fcm-device-per-hour", default: 5_000, in: 0...60_000_000,
    help: "Most requests an hour to one Android device; the default is FCM's limit; 0: no limit.")

  static let awayAfter = Setting<Int>(
    "fcm-away-after", default: 60, in: 0...90,
    help:
      "Number of pushes that an Android device whose app sends reports has not confirmed, after which "
      + "further ones replace each other: FCM stores 100 for a device, and discards all of them when another "
      + "arrives. 0: never.")

  static let maxWaiting = Setting<Int>(
    "lane-pushes", default: 200_000, in: 0...100_000_000,
    help: "Pushes in a stream thread's lanes at which it stops reading; 0: no limit.")

  static let maxWaitingMegabytes = Setting<Int>(
    "lane-megabytes", default: 256, in: 0...1_000_000,
    help:
      "Approximate megabytes of pushes in a stream thread's lanes at which it stops reading; 0: no limit.")

  static let timeout = Setting<Duration>(
    "fcm-timeout", default: .seconds(15), in: .seconds(1)...(.seconds(60)),
    help:
      "How long a request to FCM may take. FCM takes more than 10s for some answers; with a shorter "
      + "time-out those pushes are sent twice."
  )

  static let vapidKey = Setting<String?>(
    "vapid-key", default: nil, placeholder: "FILES",
    help:
      "PEM file of the VAPID key that requests to Web Push services are signed with (nudge vapid makes one). While keys change: "
      + "several, in a file or in files separated by commas, the new one first. A file that changes is read again within "
      + "10s. Default: none, and nothing is sent to subscriptions.")

  static let vapidSubject = Setting<String?>(
    "vapid-subject", default: nil, placeholder: "ADDRESS",
    help:
      "How Web Push services reach you: mailto:… or https://…. Default: the host of --web-link, or a mailbox at this host.",
    check: { text in
      text.map(VAPIDTokens.isSubject) ?? true ? nil : "mailto: and an address, or an https URL"
    })

  static let webPushCertificateAuthorities = Setting<String?>(
    "web-push-ca-file", default: nil, placeholder: "FILE",
    help: "PEM file of the certificate authorities to trust for Web Push services. Default: the system's.")

  static let escalationURL = Setting<String?>(
    "escalation-url", default: nil, placeholder: "URL",
    help:
      "Webhook for messages of high priority that neither arrived nor were read; needs the analyzer's policy escalation. "
      + "https and a host name. Default: none.",
    // Many such URLs contain a token.
    secret: true)

  static let escalationSecretFile = Setting<String?>(
    "escalation-secret-file", default: nil, placeholder: "FILE",
    help:
      "File with the secrets that requests to the webhook are signed with, one a line (whsec_ and Base64). "
      + "A file that changes is read again within 10s.")

  static let escalationCertificateAuthorities = Setting<String?>(
    "escalation-ca-file", default: nil, placeholder: "FILE",
    help: "PEM file of the certificate authorities to trust for the webhook. Default: the system's.")

  static let escalationAllowPrivate = Setting<Bool>(
    "escalation-allow-private", default: false,
    help:
      "Allow a webhook on this host or in a private network. Without it, connections to such addresses are "
      + "refused, whatever the URL's host name.")

  /// All settings, in the order of the help.
  static let all: [any AnySetting] =
    [
      url, credentials, projects, certificateAuthorities, connections, loops, inFlight, quota, rampUp, timeout,
      timeBudget, webLink,
      devicePerMinute, devicePerHour, awayAfter, vapidKey, vapidSubject,
    ] + WebPushSettings.all + [
      webPushCertificateAuthorities, maxWaiting, maxWaitingMegabytes, escalationURL, escalationSecretFile,
      escalationCertificateAuthorities, escalationAllowPrivate,
    ]

  /// The longest time before a request leaves, in addition to its time-out.
  private static let beforeRequest: Duration = .seconds(10)

  /// The stage's rules. `ownProjects` are the projects of the service accounts, the default one first.
  static func rules(from values: SettingsValues, ownProjects: [String]) -> DispatcherRules {
    var rules = DispatcherRules()
    rules.projects = ownProjects + values[projects]
    // Above the runtime's limit; see `DispatcherRules.maxInFlight`.
    rules.maxInFlight = values[inFlight] + values[inFlight] / 4 + 1
    rules.requestsPerMinute = values[quota]
    rules.rampUp = values[rampUp].milliseconds
    rules.timeBudget = values[timeBudget].milliseconds
    // The setting's check has already accepted the link.
    rules.webLink = values[webLink].flatMap { try? WebLink($0) }
    rules.deviceRequestsPerMinute = values[devicePerMinute]
    rules.deviceRequestsPerHour = values[devicePerHour]
    rules.awayAfter = values[awayAfter]
    rules.maxWaiting = values[maxWaiting]
    rules.maxWaitingBytes = values[maxWaitingMegabytes] << 20
    rules.unansweredAfter = (values[timeout] + beforeRequest).milliseconds
    return rules
  }

  static func limits(from values: SettingsValues) -> StreamLimits {
    var limits = StreamLimits()
    limits.maxEffects = values[inFlight]
    return limits
  }

  /// The number of threads that carry requests: as configured, or as many as the connections need if that is more.
  static func loopCount(from values: SettingsValues) -> Int {
    max(values[loops], (values[connections] + connectionsPerLoop - 1) / connectionsPerLoop)
  }

  static func transport(from values: SettingsValues) -> HTTPClientConfiguration {
    HTTPClientConfiguration(
      caFile: values[certificateAuthorities], maxConnectionsPerHost: values[connections])
  }
}

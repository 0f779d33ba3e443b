public import NudgeSchema
import ServiceKit

/// The parameters of the dispatcher's decisions. Times are in milliseconds.
public struct DispatcherRules: Sendable {
  /// Represents a token in records and logs (T4): the first 32 hexadecimal digits of its SHA-256. It also shortens long ids.
  public var hash: @Sendable (String) -> String
  /// How long after it was requested a request counts as lost, if its process is gone: the request's time-out (15 s) and the time before it
  /// is made.
  public var unansweredAfter: Milliseconds = 25_000
  /// How long after its last check a request may leave this process. Later it is not sent, and the push is checked again.
  public var leaveWithin: Milliseconds = 1_000
  /// FCM projects that a push may name, the service account's own first; nil for any. A push to another project, which any app can invent,
  /// is rejected and nothing is kept for it.
  public var projects: [String]?
  /// Whether there is a webhook. Without one, escalations end as `cancelled`.
  public var hasWebhook = false
  /// Where pushes to Web Push subscriptions may go. Without a VAPID key it is nil, and they end as `cancelled`.
  var webPush: WebPushRules?
  /// Where a click on a notification leads on the web; nil to let the app's service worker decide.
  public var webLink: WebLink?
  /// Requests per minute to a project, which is FCM's quota; 0 for no limit. A stream thread uses its share of the partitions.
  public var requestsPerMinute = 0
  /// How long the rate of requests takes to rise to its full value (P5).
  public var rampUp: Milliseconds = 60_000
  /// Requests in flight of one task. Further lanes wait for their turn. The limit is above the runtime's limit of effects (2,000), so that
  /// a backlog stays on its topic instead of in the lanes. It applies when a task begins or a breaker closes.
  public var maxInFlight = 2_500
  /// The most lanes that one step takes from its queues, and the most rows that it loads. The next step continues.
  var lanesPerStep = 256
  /// How long a push is retried after the first request that failed because of FCM or the network (P3), unless freshness ends it earlier.
  /// Time with an open breaker does not count. A week is longer than any push is fresh.
  public var timeBudget: Milliseconds = 7 * 86_400_000
  /// The number of pushes in the lanes of a stream thread at which the stage stops reading. It continues at nine tenths; 0 for no limit.
  public var maxWaiting = 200_000
  /// The same limit for the approximate bytes of these pushes; 0 for no limit.
  public var maxWaitingBytes = 256 << 20
  /// Requests per minute to one Android device; 0 for no limit. FCM's own limit is 240.
  public var deviceRequestsPerMinute = 240
  /// Requests per hour to one Android device; 0 for no limit. FCM's own limit is 5,000.
  public var deviceRequestsPerHour = 5_000
  /// After this many unconfirmed pushes of an Android device, further pushes replace each other (P12); 0 turns this off. FCM stores 100,
  /// and discards all of them when another arrives.
  public var awayAfter = 60
  /// The most pushes that wait for one device. FCM stores as many for a device.
  public var maxLaneLength = 100
  /// The time from the opening of a breaker to its first probe. It doubles with each probe that fails.
  public var firstProbeAfter: Milliseconds = 5_000
  /// The longest wait between two probes, even if FCM asks for more.
  public var longestProbeInterval: Milliseconds = 300_000
  /// The number of a project's last answers that the breaker over invalid tokens considers.
  public var invalidTokenWindow = 200
  /// The breaker opens when the window is full and at least this share of it is invalid (T3).
  public var invalidTokenRatio = 0.5
  /// The number of consecutive probes that decide whether the breaker over invalid tokens closes.
  public var tokenTrialLength = 20

  /// The longest wait that a row may ask for. A later time in a row comes from a wall clock that was ahead.
  var longestStoredWait: Milliseconds { max(Backoff.longestWait, unansweredAfter) }

  public init(hash: @escaping @Sendable (String) -> String = DispatcherRules.sha256) { self.hash = hash }

  /// The error code of a push with a project that is not allowed.
  static let projectNotAllowed = "project_not_allowed"
  /// The error code of a push whose replay was stopped while it waited.
  static let replayStopped = "replay_stopped"
  /// The error code of an escalation if no webhook is configured.
  static let noWebhook = "no_webhook"
  /// The error code of a push whose ids alone exceed the service's limit.
  static let payloadTooLarge = "payload_too_large"
  /// The error code of a push to a subscription if no VAPID key is configured.
  static let noVAPIDKey = "no_vapid_key"
  /// The error code of a push to an endpoint that is unreadable or forbidden by the operator's rules.
  static let endpointNotAllowed = "endpoint_not_allowed"
  /// The error code of a push that shows nothing, to a browser whose app is not in the foreground.
  static let webInBackground = "web_in_background"

  /// Whether a push may go to a project; nil stands for the service account's own.
  func allows(project: String?) -> Bool {
    guard let projects else { return true }
    guard let project else { return !projects.isEmpty }
    return projects.contains { sameId($0, project) }
  }

  /// The first 32 hexadecimal digits of a text's SHA-256.
  public static let sha256: @Sendable (String) -> String = { TokenHash.of($0) }
}

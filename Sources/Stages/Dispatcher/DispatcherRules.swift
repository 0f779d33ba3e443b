public import NudgeSchema
import ServiceKit

/// The numbers behind the dispatcher's decisions; times in milliseconds.
public struct DispatcherRules: Sendable {
  /// Stands for a token in records and logs (T4): the first 32 hexadecimal digits of its SHA-256. Also shortens long ids.
  public var hash: @Sendable (String) -> String
  /// How long after it was asked for a request counts as lost, where the process that made it is gone: the request's time-out
  /// (15 s) and what may pass before it is made.
  public var unansweredAfter: Milliseconds = 25_000
  /// How long after its last look a request may leave this process. Later it is not sent, and the push is looked at again.
  public var leaveWithin: Milliseconds = 1_000
  /// FCM projects that a push may name, the service account's own first; nil: any. A push to another project, which any app
  /// can invent, is rejected, and nothing is kept for it.
  public var projects: [String]?
  /// Whether there is a webhook for escalations; without one they end as `cancelled`.
  public var hasWebhook = false
  /// Where pushes to subscriptions of Web Push may go; nil: there is no VAPID key, and they end as `cancelled`.
  var webPush: WebPushRules?
  /// Where a click on a notification leads on the web; nil: the app's service worker decides.
  public var webLink: WebLink?
  /// Requests a minute to a project, FCM's quota, of which a stream thread uses its share of the partitions; 0: no limit.
  public var requestsPerMinute = 0
  /// How long the rate of requests takes to grow to its full height (P5).
  public var rampUp: Milliseconds = 60_000
  /// Requests in flight of one task; further lanes wait their turn. Above the runtime's limit of effects (2,000), so that a
  /// backlog stays on its topic rather than in the lanes. This limit holds where a task begins, or a breaker closes.
  public var maxInFlight = 2_500
  /// The most lanes that one step takes from its queues, and the most rows that it loads. The next step takes the rest.
  var lanesPerStep = 256
  /// How long a push is tried again, from the first request that FCM or the network failed (P3), where freshness does not end it
  /// earlier. Time with an open breaker does not count. A week is more than any push is fresh for.
  public var timeBudget: Milliseconds = 7 * 86_400_000
  /// The stage stops reading at this number of pushes in the lanes of a stream thread, and reads on at nine tenths of it; 0:
  /// no limit.
  public var maxWaiting = 200_000
  /// The same for the approximate bytes of these pushes; 0: no limit.
  public var maxWaitingBytes = 256 << 20
  /// Requests a minute to one Android device; 0: no limit. FCM's own limit is 240.
  public var deviceRequestsPerMinute = 240
  /// Requests an hour to one Android device; 0: no limit. FCM's own limit is 5,000.
  public var deviceRequestsPerHour = 5_000
  /// Pushes that an Android device has not confirmed, after which further ones replace each other (P12); 0: they never do. FCM stores
  /// 100 and throws all of them away at the next.
  public var awayAfter = 60
  /// Pushes that wait for one device. FCM stores as many for one.
  public var maxLaneLength = 100
  /// From the opening of a breaker to its first probe. The wait doubles with each probe that fails.
  public var firstProbeAfter: Milliseconds = 5_000
  /// The longest wait between two probes, whatever FCM asks for.
  public var longestProbeInterval: Milliseconds = 300_000
  /// The breaker over invalid tokens looks at this many of a project's last answers.
  public var invalidTokenWindow = 200
  /// The breaker opens when the window is full and this share of it says invalid (T3).
  public var invalidTokenRatio = 0.5
  /// Probes, one after the other, that decide whether the breaker over invalid tokens closes.
  public var tokenTrialLength = 20

  /// The longest wait that a row may ask for. A later time in a row comes from a wall clock that was ahead.
  var longestStoredWait: Milliseconds { max(Backoff.longestWait, unansweredAfter) }

  public init(hash: @escaping @Sendable (String) -> String = DispatcherRules.sha256) { self.hash = hash }

  /// The error code of a push that names a project it may not.
  static let projectNotAllowed = "project_not_allowed"
  /// The error code of a push whose replay was stopped while it waited.
  static let replayStopped = "replay_stopped"
  /// The error code of an escalation where no webhook is configured.
  static let noWebhook = "no_webhook"
  /// The error code of a push whose ids alone are longer than its service takes.
  static let payloadTooLarge = "payload_too_large"
  /// The error code of a push to a subscription where no VAPID key is configured.
  static let noVAPIDKey = "no_vapid_key"
  /// The error code of a push to an endpoint that cannot be read, or that the operator's rules do not allow.
  static let endpointNotAllowed = "endpoint_not_allowed"
  /// The error code of a push that shows nothing, to a browser whose app is not in the foreground.
  static let webInBackground = "web_in_background"

  /// Whether a push may go to a project; nil: the service account's own.
  func allows(project: String?) -> Bool {
    guard let projects else { return true }
    guard let project else { return !projects.isEmpty }
    return projects.contains { sameId($0, project) }
  }

  /// The first 32 hexadecimal digits of a text's SHA-256.
  public static let sha256: @Sendable (String) -> String = { TokenHash.of($0) }
}

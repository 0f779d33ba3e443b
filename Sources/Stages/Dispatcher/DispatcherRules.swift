public import NudgeSchema
import ServiceKit

/// What the dispatcher's decisions are made by; times in milliseconds.
public struct DispatcherRules: Sendable {
  /// Stands for a token in records and logs (T4): the first 32 hexadecimal digits of its SHA-256. Also makes short names
  /// of long ids.
  public var hash: @Sendable (String) -> String
  /// After this long without an answer a request counts as lost, where the process that made it is gone: the request's
  /// time-out (15 s) and what may pass between asking for it and making it.
  public var unansweredAfter: Milliseconds = 25_000
  /// FCM projects that a push may name; nil: any. What names another, which any app can invent, is rejected, and nothing is
  /// kept for it.
  public var projects: [String]?
  /// Requests in the air for one task; lanes beyond wait their turn. Above the runtime's own bound on effects (2,000), so
  /// that a backlog stays on its topic rather than in the lanes; this one holds where a task begins, or a pause ends.
  public var maxInFlight = 2_500
  /// How long a push is tried again, from the first request that FCM, or the way to it, failed (P3). Its freshness ends it
  /// too. A pause does not count against it.
  public var timeBudget: Milliseconds = 600_000
  /// Pushes in the lanes of a stream thread from which on nothing more is read; 0: no bound. It goes on at nine tenths.
  public var maxWaiting = 200_000
  /// Bytes, about, of the same; 0: no bound.
  public var maxWaitingBytes = 256 << 20
  /// Requests in a minute to one Android device; 0: no bound. FCM's own is 240.
  public var deviceRequestsPerMinute = 240
  /// Requests in an hour to one Android device; 0: no bound. FCM's own is 5,000.
  public var deviceRequestsPerHour = 5_000
  /// Pushes that wait for one device, as many as FCM itself stores for one.
  public var maxLaneLength = 100
  /// While a project or platform is paused, one request is tried after this long, then after twice as long, and so on.
  public var firstProbeAfter: Milliseconds = 5_000
  /// The longest time between two tries.
  public var longestProbeInterval: Milliseconds = 300_000
  /// The breaker over tokens FCM calls invalid looks at this many of a project's last answers.
  public var invalidTokenWindow = 200
  /// It trips when the window is full and this part of it says invalid (T3).
  public var invalidTokenRatio = 0.5
  /// Requests, one after the other, by which an open breaker finds out whether it may close.
  public var tokenTrialLength = 20

  /// Rules with their defaults.
  public init(hash: @escaping @Sendable (String) -> String = DispatcherRules.sha256) { self.hash = hash }

  /// Whether a push may go to a project; nil is the service account's own.
  func allows(project: String?) -> Bool {
    guard let project, let projects else { return true }
    return projects.contains { $0.utf8.elementsEqual(project.utf8) }
  }

  /// The first 32 hexadecimal digits of a text's SHA-256.
  public static let sha256: @Sendable (String) -> String = { TokenHash.of($0) }
}

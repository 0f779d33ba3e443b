import Dispatcher
import Kafka
import NudgeSchema

/// The pushes without an outcome, of what was read of `nudge.pushes` and `nudge.outcomes`. A value with a bound on memory. Whatever keeps pushes
/// from leaving, they are here: FCM away or refusing, a quota, a paused project, a full lane, a dispatcher that is down.
struct OpenPushes: Sendable {
  private static let judged: Set<OutcomeResult> = [.sent, .invalidToken, .quarantined, .rejected]

  /// When each was decided, by push and device.
  private var open: [UInt64: Milliseconds] = [:]
  /// Outcomes of pushes that were not read yet, with their times.
  private var early: [UInt64: Milliseconds] = [:]
  private var judgedAt: Milliseconds?
  private let most: Int
  /// Pushes were left out, because there are more than fit.
  private(set) var isFull = false

  /// - Parameter most: The most pushes and devices that are followed; some 50 bytes each.
  init(most: Int = 1_000_000) { self.most = most }

  /// A push for a device was decided.
  mutating func decided(_ pushId: String, on deviceId: String, at time: Milliseconds) {
    let key = DeliveryGlance.key(push: FNV1a.hash(pushId), deviceId: deviceId)
    if early.removeValue(forKey: key) != nil { return }
    guard open.count < most else { return isFull = true }
    open[key] = time
  }

  /// - Parameter attempts: Requests that were made; 0: the destination was not asked.
  mutating func ended(
    _ pushId: String, on deviceId: String, _ result: OutcomeResult, attempts: Int, at time: Milliseconds
  ) {
    let key = DeliveryGlance.key(push: FNV1a.hash(pushId), deviceId: deviceId)
    if attempts > 0, Self.judged.contains(result) { judgedAt = max(judgedAt ?? 0, time) }
    if open.removeValue(forKey: key) == nil { early[key] = time }
  }

  /// Forgets what is older: pushes of that time have an outcome, or their records are gone.
  mutating func forget(before time: Milliseconds) {
    open = open.filter { $0.value >= time }
    early = early.filter { $0.value >= time }
    if open.count < most { isFull = false }
  }

  /// How they stand.
  func standing(now: Milliseconds) -> DeliveryStanding {
    DeliveryStanding(
      waiting: open.count, oldestAge: open.values.min().map { max(0, now - $0) },
      sinceJudged: judgedAt.map { max(0, now - $0) })
  }
}

/// Messages that are held (`deferred`) and have no final decision yet. A value.
struct OpenHolds: Sendable {
  /// Messages are held for minutes at most.
  static let longest: Milliseconds = 15 * 60_000

  /// Until when each is held.
  private var held: [UInt64: Milliseconds] = [:]

  mutating func decided(_ user: String, _ conversation: String, _ message: String, heldUntil: Milliseconds?) {
    let key = FNV1a.hash("\(user)\u{1}\(conversation)\u{1}\(message)")
    held[key] = heldUntil
  }

  var count: Int { held.count }

  /// How long the most overdue of them has been due; nil if none is late.
  func lateness(now: Milliseconds) -> Milliseconds? { held.values.min().flatMap { $0 < now ? now - $0 : nil } }
}

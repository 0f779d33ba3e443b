import Dispatcher
import JSONCodec
import Kafka
import NudgeSchema

/// Tracks deliveries without an outcome, from records of `nudge.pushes` and `nudge.outcomes`. It finds pushes that do not leave, whatever the
/// reason: FCM is unavailable or refuses, a quota is used up, a project is paused, a lane is full, a dispatcher is down.
struct OpenPushes: Sendable {
  private static let judged: Set<OutcomeResult> = [.sent, .invalidToken, .quarantined, .rejected]

  /// When each push was decided, by delivery.
  private var open: [UInt64: Milliseconds] = [:]
  /// The times of outcomes whose pushes were not read yet, by delivery.
  private var early: [UInt64: Milliseconds] = [:]
  private var judgedAt: Milliseconds?
  private let most: Int
  /// Whether deliveries were left out at the limit.
  private(set) var isFull = false

  /// - Parameter most: The most open deliveries to track, at about 50 bytes each.
  init(most: Int = 1_000_000) { self.most = most }

  /// A push for a device was decided.
  mutating func decided(_ pushId: String, on deviceId: String, at time: Milliseconds) {
    let key = DeliveryGlance.key(push: FNV1a.hash(pushId), deviceId: deviceId)
    if early.removeValue(forKey: key) != nil { return }
    guard open.count < most else { return isFull = true }
    open[key] = time
  }

  /// A delivery got its outcome.
  /// - Parameter attempts: The number of requests; 0 if the destination received none.
  mutating func ended(
    _ pushId: String, on deviceId: String, _ result: OutcomeResult, attempts: Int, at time: Milliseconds
  ) {
    let key = DeliveryGlance.key(push: FNV1a.hash(pushId), deviceId: deviceId)
    if attempts > 0, Self.judged.contains(result) { judgedAt = max(judgedAt ?? 0, time) }
    if open.removeValue(forKey: key) == nil { early[key] = time }
  }

  /// Drops older pushes, which have an outcome or whose records are gone.
  mutating func forget(before time: Milliseconds) {
    open = open.filter { $0.value >= time }
    early = early.filter { $0.value >= time }
    if open.count < most { isFull = false }
  }

  /// The state of these pushes.
  func standing(now: Milliseconds) -> DeliveryStanding {
    DeliveryStanding(
      waiting: open.count, oldestAge: open.values.min().map { max(0, now - $0) },
      sinceJudged: judgedAt.map { max(0, now - $0) })
  }
}

/// Tracks messages that are held (`deferred`) and have no final decision yet.
struct OpenHolds: Sendable {
  /// The longest time for which messages are held.
  static let longest: Milliseconds = 15 * 60_000

  /// When each hold is due to end.
  private var held: [UInt64: Milliseconds] = [:]

  mutating func decided(_ user: String, _ conversation: String, _ message: String, heldUntil: Milliseconds?) {
    let key = FNV1a.hash("\(user)\u{1}\(conversation)\u{1}\(message)")
    held[key] = heldUntil
  }

  var count: Int { held.count }

  /// How long the most overdue of them has been due; nil if none is late.
  func lateness(now: Milliseconds) -> Milliseconds? { held.values.min().flatMap { $0 < now ? now - $0 : nil } }
}

/// Reads the deliveries without an outcome. The first reading covers the latest records, and each later one only new records, so its cost
/// follows the load.
struct OpenPushesReading: Sendable {
  /// How far back the first reading goes. It is longer than the usual freshness, within which every push gets its outcome.
  private static let window: Milliseconds = 2 * 3_600_000
  /// The most records of `nudge.pushes` in the first reading, newest first.
  private static let most: Int64 = 200_000

  private var pushes = OpenPushes()
  private var next: [TopicPartition: Int64] = [:]
  private var since: Milliseconds?
  /// Whether older pushes were not read, so that the numbers are lower bounds.
  private(set) var isPartial = false

  /// Reads the new records.
  mutating func read(_ browser: TopicBrowser, now: Milliseconds) throws -> DeliveryStanding {
    let isFirst = since == nil
    // The end of pushes is fixed before that of outcomes. So every outcome that exists for a push read here is read too.
    var decided = try browser.ranges(of: .pushes, from: isFirst ? now - Self.window : nil)
    if isFirst {
      let share = max(1, Self.most / Int64(max(1, decided.count)))
      for index in decided.indices where decided[index].count > share {
        decided[index].from = decided[index].to - share
        isPartial = true
      }
    }
    goOn(&decided)
    var first = now - Self.window
    let parser = JSONParser(maximumDepth: 512)
    var begun: Set<Int32> = []
    try browser.read(decided, "reading \(browser.names(.pushes))") { record in
      if isFirst, isPartial, begun.insert(record.partition).inserted { first = max(first, record.timestamp) }
      Self.readPush(record, parser, &pushes)
      return true
    }
    if let since { first = max(since, now - Self.window) }
    since = first
    var ended = try browser.ranges(of: .outcomes, from: isFirst ? first : nil)
    goOn(&ended)
    try browser.read(ended, "reading \(browser.names(.outcomes))") { record in
      Self.readOutcome(record, parser, &pushes)
      return true
    }
    pushes.forget(before: first)
    if pushes.isFull { isPartial = true }
    return pushes.standing(now: now)
  }

  /// Leaves out of the ranges what was read before, and stores their ends for the next reading.
  private mutating func goOn(_ ranges: inout [PartitionRange]) {
    for index in ranges.indices {
      let place = ranges[index].place
      ranges[index].from = max(ranges[index].from, next[place] ?? 0)
      next[place] = max(ranges[index].to, next[place] ?? 0)
    }
  }

  private static func readPush(_ record: ConsumerRecord, _ parser: JSONParser, _ pushes: inout OpenPushes) {
    guard let value = record.value, let node = try? parser.parse(value),
      node["type"]?.string == EventType.push.rawValue,
      let pushId = node["pushId"]?.string
    else { return }
    let time = node["decidedAt"]?.int64 ?? record.timestamp
    if node["kind"]?.string == Push.Kind.escalation.rawValue {
      pushes.decided(pushId, on: PushTarget.webhookDevice, at: time)
    }
    guard let targets = node["targets"]?.elements else { return }
    for target in targets {
      if let deviceId = target["deviceId"]?.string { pushes.decided(pushId, on: deviceId, at: time) }
    }
  }

  private static func readOutcome(_ record: ConsumerRecord, _ parser: JSONParser, _ pushes: inout OpenPushes) {
    guard let value = record.value, let node = try? parser.parse(value),
      let result = node["result"]?.string.flatMap(OutcomeResult.init(rawValue:)), let pushId = node["pushId"]?.string,
      let deviceId = node["deviceId"]?.string
    else { return }
    pushes.ended(
      pushId, on: deviceId, result, attempts: Int(node["attempts"]?.int64 ?? 0),
      at: node["finishedAt"]?.int64 ?? record.timestamp)
  }
}

import NudgeSchema
import StreamRuntime
import Wording

/// What all tasks of a stream thread share: limits of devices, quotas of destinations, and which destinations fail or work again.
struct SendLimits: Sendable {
  var devices: DeviceLimits
  var quotas: ProjectQuotas
  var failing = FailingProjects()
  var recoveries = Recoveries()
  /// The number of tasks.
  var tasks = 0

  init(rules: DispatcherRules) {
    devices = DeviceLimits(perMinute: rules.deviceRequestsPerMinute, perHour: rules.deviceRequestsPerHour)
    quotas = ProjectQuotas(
      perMinute: rules.requestsPerMinute, rampUp: rules.rampUp, ownProject: rules.projects?.first)
  }
}

/// The quota of each destination, for FCM of each project (P5). If the quota is used up, a lane waits in its queue, where a cancellation
/// can still reach it.
struct ProjectQuotas: Sendable {
  private let perMinute: Int
  private let rampUp: Milliseconds
  /// Devices that name no project use this one's quota.
  private let ownProject: String
  private var share = 1.0
  private var rates: [Destination: SendRate] = [:]

  /// `perMinute` is the number of requests per minute to each project; 0 for no limit.
  init(perMinute: Int, rampUp: Milliseconds, ownProject: String?) {
    self.perMinute = perMinute
    self.rampUp = rampUp
    self.ownProject = ownProject ?? ""
  }

  /// Sets the stream thread's share of the partitions, and thus of each quota.
  mutating func setShare(_ share: Double) {
    guard share != self.share else { return }
    self.share = share
    for destination in rates.keys { rates[destination]?.setShare(share) }
  }

  /// How long until a request to a destination may be sent; nil if it may be sent now.
  func wait(_ destination: Destination, at now: Milliseconds) -> Milliseconds? {
    perMinute == 0 ? nil : rates[owner(of: destination)]?.wait(at: now)
  }

  mutating func take(_ destination: Destination, at now: Milliseconds) {
    guard perMinute > 0 else { return }
    let owner = owner(of: destination)
    if rates[owner] == nil {
      var rate = SendRate(perMinute: perMinute, rampUp: rampUp, start: now)
      rate.setShare(share)
      rates[owner] = rate
    }
    _ = rates[owner]?.take(at: now)
  }

  /// The destination answered that it received too many requests.
  mutating func halve(_ destination: Destination, at now: Milliseconds) {
    rates[owner(of: destination)]?.halve(at: now)
  }

  private func owner(of destination: Destination) -> Destination {
    if case .fcm(nil) = destination { .fcm(project: ownProject) } else { destination }
  }
}

/// The rate of requests to a project (P5): a token bucket whose rate rises linearly to its full value, as Google asks for. The bucket holds
/// the requests of a tenth of a second, so that there are no bursts. Times are on a steady clock.
struct SendRate: Sendable {
  /// The initial share of the full rate. A small deployment does not notice the ramp.
  static let firstShare = 0.05
  /// For this long after a 429 halved the rate, further ones are ignored, because they answer earlier requests.
  static let halvingInterval: Milliseconds = 5_000
  /// In each step of this length, the rate recovers by a tenth of its full value.
  static let recoveryStep: Milliseconds = 10_000
  /// The smallest share of the full rate that remains after 429s. If necessary, the breaker stops requests completely.
  static let leastRestraint = 1.0 / 64
  /// The shortest wait that `wait` returns, so that waiting lanes are sent in groups instead of each at its own time.
  static let shortestWait: Milliseconds = 5

  /// Requests per millisecond for the whole project.
  private let project: Double
  /// This stream thread's share of them.
  private var share = 1.0
  /// The share that remains after 429s.
  private(set) var restraint = 1.0
  private var restrainedAt: Milliseconds?
  private let rampUp: Milliseconds
  private let start: Milliseconds
  private var allowance: Double
  private var updatedAt: Milliseconds

  /// A rate that reaches `perMinute` requests per minute `rampUp` milliseconds after `start`.
  init(perMinute: Int, rampUp: Milliseconds, start: Milliseconds) {
    project = Double(max(perMinute, 1)) / 60_000
    self.rampUp = max(rampUp, 1)
    self.start = start
    allowance = 0
    updatedAt = start
    allowance = bucket(at: start)
  }

  private func rate(at now: Milliseconds) -> Double {
    project * share * restraint * min(1, max(Self.firstShare, Double(now - start) / Double(rampUp)))
  }

  private func bucket(at now: Milliseconds) -> Double { max(1, rate(at: now) * 100) }

  private func allowance(at now: Milliseconds) -> Double {
    min(bucket(at: now), allowance + rate(at: now) * Double(max(0, now - updatedAt)))
  }

  /// Sets the stream thread's share of the partitions, 0 to 1.
  mutating func setShare(_ share: Double) { self.share = min(max(share, 0.001), 1) }

  /// FCM answered that the project sent too many requests.
  mutating func halve(at now: Milliseconds) {
    recover(at: now)
    if let restrainedAt, restraint < 1, now - restrainedAt < Self.halvingInterval { return }
    restraint = max(restraint / 2, Self.leastRestraint)
    restrainedAt = now
    allowance = min(allowance, bucket(at: now))
  }

  /// Raises the rate for the complete steps since the last change.
  private mutating func recover(at now: Milliseconds) {
    guard restraint < 1, let since = restrainedAt else { return }
    let steps = (now - since) / Self.recoveryStep
    guard steps > 0 else { return }
    restraint = min(1, restraint + 0.1 * Double(steps))
    restrainedAt = since + steps * Self.recoveryStep
  }

  /// How long until the next request may be sent; nil if it may be sent now.
  func wait(at now: Milliseconds) -> Milliseconds? {
    let allowance = allowance(at: now)
    if allowance >= 1 { return nil }
    // The rate a little later, because on the first millisecond of a short ramp it is far too low.
    let rate = rate(at: now + Self.shortestWait)
    return max(Self.shortestWait, Milliseconds(((1 - allowance) / rate).rounded(.up)))
  }

  /// Counts a request. Returns false if none may be sent now.
  mutating func take(at now: Milliseconds) -> Bool {
    recover(at: now)
    allowance = allowance(at: now)
    updatedAt = max(updatedAt, now)
    guard allowance >= 1 else { return false }
    allowance -= 1
    return true
  }
}

/// Destinations that work again: one task of a stream thread finds it out, and all tasks send. Times are on the steady clock.
struct Recoveries: Sendable {
  /// A task's finding about a destination.
  struct Recovery: Hashable, Sendable {
    enum Kind: Sendable {
      /// There is a judgement again after a long failure.
      case judges
      /// A breaker closed.
      case takes
    }
    var scope: DeliveryScope
    var kind: Kind
  }

  /// Pushes that are retried after a recovery leave within this time.
  static let spread: Milliseconds = 5_000
  /// How often a task checks whether another one found a recovery.
  static let interval: Milliseconds = 2_000

  /// The number of recoveries so far.
  private(set) var count = 0
  /// The number of the last recovery of each kind.
  private var last: [Recovery: Int] = [:]

  mutating func record(_ scope: DeliveryScope, _ kind: Recovery.Kind) {
    count += 1
    last[Recovery(scope: scope, kind: kind)] = count
  }

  /// Ends a task's waits for what recovered after recovery `number`, with its next request spread over time.
  func apply(
    since number: Int, to schedule: inout LaneSchedule, _ breakers: inout CircuitBreakers, nextRequest: UInt64,
    now: Milliseconds
  ) {
    guard number < count else { return }
    for recovery in last.filter({ $0.value > number }).keys {
      switch recovery.kind {
      case .judges: schedule.hurry(recovery.scope.project, now: now, spread: Self.spread)
      case .takes:
        let share = Milliseconds(FNV1a.spread(nextRequest) % UInt64(Self.spread))
        breakers.hurry(recovery.scope, until: now + share)
      }
    }
  }
}

extension SendLimits {
  /// When a task should check whether a destination must be tried or has recovered; nil if none of its pushes waits for that.
  ///
  /// - Parameters:
  ///   - hasRetries: Whether a push to it must be retried.
  ///   - hasBreakers: Whether a breaker of it is open.
  func nextCheck(hasRetries: Bool, hasBreakers: Bool, now: Milliseconds) -> Milliseconds? {
    let next = hasRetries ? failing.nextCheck(now: now) : nil
    guard tasks > 1, next != nil || hasBreakers else { return next }
    return min(next ?? .max, now + Recoveries.interval)
  }
}

/// FCM's limits for one Android device (P5), per minute and per hour. A push above them waits in its lane, so that it does not use up the
/// project's quota on a 429. Times are on a steady clock.
///
/// Requests are counted in a count-min sketch: two tables with different hashes of the device's key; the lower of the two counts is used.
/// Memory does not grow with the number of devices, and no count is too low. A count is too high if busy devices share both places; at the
/// full quota of a project that affects some hundred devices an hour.
struct DeviceLimits: Sendable {
  private var minute: SlidingCounts
  private var hour: SlidingCounts

  /// 0 means no limit.
  init(perMinute: Int, perHour: Int) {
    minute = SlidingCounts(limit: perMinute, window: 60_000)
    hour = SlidingCounts(limit: perHour, window: 3_600_000)
  }

  /// Counts a request to a device. If it is above a limit, returns how long to wait before asking again, in milliseconds.
  mutating func take(_ device: DeviceKey, at now: Milliseconds) -> Milliseconds? {
    let hash = device.lane.stableHash
    if let wait = minute.wait(hash, at: now) ?? hour.wait(hash, at: now) { return wait }
    minute.add(hash, at: now)
    hour.add(hash, at: now)
    return nil
  }
}

/// Estimates the count of the last `window` milliseconds: the current fixed window, plus the overlapping share of the previous one.
private struct SlidingCounts: Sendable {
  /// Half a megabyte for both windows.
  private static let places = 1 << 15
  private let limit: Int
  private let window: Milliseconds
  private var number: Milliseconds = 0
  private var current: [UInt16] = []
  private var former: [UInt16] = []

  init(limit: Int, window: Milliseconds) {
    self.limit = limit
    self.window = window
  }

  mutating func wait(_ hash: UInt64, at now: Milliseconds) -> Milliseconds? {
    guard limit > 0 else { return nil }
    advance(to: now)
    let left = Double(window - now % window) / Double(window)
    let count = places(of: hash).map { Double(current[$0]) + Double(former[$0]) * left }.min() ?? 0
    return count + 1 > Double(limit) ? window / 10 : nil
  }

  mutating func add(_ hash: UInt64, at now: Milliseconds) {
    guard limit > 0 else { return }
    advance(to: now)
    for place in places(of: hash) where current[place] < .max { current[place] += 1 }
  }

  private mutating func advance(to now: Milliseconds) {
    let next = now / window
    if current.isEmpty {
      current = [UInt16](repeating: 0, count: 2 * Self.places)
      former = current
    } else if next != number {
      former = next == number + 1 ? current : [UInt16](repeating: 0, count: 2 * Self.places)
      current = [UInt16](repeating: 0, count: 2 * Self.places)
    }
    number = next
  }

  private func places(of hash: UInt64) -> [Int] {
    [Int(hash & UInt64(Self.places - 1)), Self.places + Int(hash >> 32 & UInt64(Self.places - 1))]
  }
}

extension RowKey {
  fileprivate var stableHash: UInt64 {
    var hash = FNV1a()
    hash.combine(bytes)
    return hash.spread
  }
}

extension RecipientDeviceRow {
  /// Applies the sign of life in a push. A later one, or another registration, restarts the count at zero.
  mutating func recordSign(by target: PushTarget, _ rules: DispatcherRules) {
    guard rules.awayAfter > 0, target.platform == .android, target.webPush == nil, let seenAt = target.seenAt else {
      unconfirmed = nil
      return
    }
    if unconfirmed?.seenAt != seenAt || unconfirmed?.version != target.version {
      unconfirmed = Unconfirmed(seenAt: seenAt, version: target.version)
    }
  }
}

extension WaitingPush {
  /// Before a push's first request, counts it among those that FCM may store, and decides whether it replaces others. The push stores that
  /// decision, so that a repeat is the same request. Pushes that only wait are not counted, because an outage of FCM says nothing about the
  /// device.
  mutating func countAsUnconfirmed(_ key: DeviceKey, _ step: Step<DispatcherStage>, _ rules: DispatcherRules) throws {
    // A push of only the badge replaces the former one anyway.
    guard rules.awayAfter > 0, !isCounted, !isBadgeOnly, !isEscalation,
      case .device(var device)? = try step.row(key.device)?.content, var unconfirmed = device.unconfirmed,
      unconfirmed.version == target.version
    else { return }
    isCounted = true
    collapse = unconfirmed.take(push, after: rules.awayAfter)
    device.unconfirmed = unconfirmed
    try step.set(DispatcherRow(.device(device)), for: key.device)
  }

  /// The push in the form in which it is sent: a catch-up if it stands for further messages.
  var sentPush: Push {
    guard let collapse, collapse.kind == .rest, collapse.messages > (push.digest?.messages ?? 1) else { return push }
    var sent = push
    var lines = push.digest?.lines ?? []
    if push.kind == .message, let conversationId = push.conversationId, let messageId = push.messageId {
      lines = [
        Digest.Line(
          conversationId: conversationId, messageId: messageId, title: push.title ?? "",
          text: TextCut.shortened(push.body ?? "", toBytes: Self.lineBytes) ?? "")
      ]
    }
    sent.kind = .digest
    sent.digest = Digest(messages: collapse.messages, conversations: collapse.conversations, lines: lines)
    sent.title = Wording(locale: push.language).catchUp(
      messages: collapse.messages, conversations: collapse.conversations)
    sent.body = lines.isEmpty ? nil : lines.map { "\($0.title): \($0.text)" }.joined(separator: "\n")
    (sent.conversationId, sent.messageId, sent.senderId, sent.conversation) = (nil, nil, nil, nil)
    (sent.imageUrl, sent.avatarUrl) = (nil, nil)
    return sent
  }

  /// The most bytes of a line's text.
  private static let lineBytes = 512
}

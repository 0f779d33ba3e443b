import NudgeSchema
import StreamRuntime
import Wording

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

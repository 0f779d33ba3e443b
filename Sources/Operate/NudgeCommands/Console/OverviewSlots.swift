import NudgeSchema

/// The counts of a pipeline in time slots. It is a value that receives what was read, and when.
struct OverviewSlots {
  /// The counts of a slot.
  struct Slot: Encodable, Equatable {
    /// The slot's beginning, in milliseconds since the epoch.
    var at: Milliseconds
    var messages = 0
    /// By reason.
    var decisions: [String: Int] = [:]
    /// By `alert`, `silent`, `badge` or `none`.
    var shapes: [String: Int] = [:]
    /// Outcomes by result, one per push and device.
    var outcomes: [String: Int] = [:]
    /// Pushes of the messages decided in the slot, by their current end state (`PushEndState`), one per device. A push without an outcome
    /// counts once.
    var ends: [String: Int] = [:]
    /// From a message's own time until the push service accepted its push; nil if none was accepted.
    var taken: Quantiles?
    /// From a message's own time, or that of a later push of it, until a device received it; nil if no device reported one.
    var arrived: Quantiles?
    var deadLetters = 0
    /// The largest age seen of a stage's oldest waiting record, in milliseconds.
    var lag: [String: Milliseconds] = [:]
  }

  /// In milliseconds.
  struct Quantiles: Encodable, Equatable {
    var p50: Milliseconds
    var p99: Milliseconds
  }

  /// The latencies of a slot: all of them up to a limit, then an even sample.
  private struct Latencies {
    private static let most = 8_192
    private var kept: [Milliseconds] = []
    private var stride = 1
    private var count = 0

    mutating func add(_ latency: Milliseconds) {
      count += 1
      guard count % stride == 0 else { return }
      kept.append(latency)
      guard kept.count > Self.most else { return }
      kept = kept.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
      stride *= 2
    }

    var quantiles: Quantiles? {
      let sorted = kept.sorted()
      guard let p50 = sorted.quantile(0.5), let p99 = sorted.quantile(0.99) else { return nil }
      return Quantiles(p50: p50, p99: p99)
    }
  }

  /// A slot's length, in milliseconds.
  let step: Milliseconds
  let count: Int
  private var slots: [Milliseconds: Slot] = [:]
  private var untilTaken: [Milliseconds: Latencies] = [:]
  private var untilArrived: [Milliseconds: Latencies] = [:]
  private var ends: PushEnds

  /// - Parameter followed: The most pushes and devices whose end state is tracked.
  init(step: Milliseconds = 15_000, count: Int = 60, followed: Int = 1_000_000) {
    self.step = step
    self.count = count
    ends = PushEnds(most: followed)
  }

  /// Whether some end states are missing, because there are too many pushes.
  var isPartial: Bool { ends.isFull }

  /// The beginning of the first slot that is shown at a time.
  func start(now: Milliseconds) -> Milliseconds { now / step * step - Milliseconds(count - 1) * step }

  mutating func message(at time: Milliseconds) { slot(time) { $0.messages += 1 } }

  /// `pushId` is the id of a push that notifies; nil if there is none, or if it only changes the badge.
  mutating func decision(at time: Milliseconds, reason: String, shape: String, pushId: String?) {
    slot(time) {
      $0.decisions[reason, default: 0] += 1
      $0.shapes[shape, default: 0] += 1
    }
    if let pushId { ends.decided(pushId, in: place(time)) }
  }

  /// `latency` is given for a push that a push service accepted and that no replay made.
  mutating func outcome(
    at time: Milliseconds, of pushId: String, on deviceId: String, _ result: OutcomeResult, errorCode: String?,
    latency: Milliseconds?
  ) {
    slot(time) { $0.outcomes[result.rawValue, default: 0] += 1 }
    ends.ended(pushId, on: deviceId, result, errorCode: errorCode)
    if let latency { untilTaken[place(time), default: Latencies()].add(max(0, latency)) }
  }

  /// `latency` is given for a push that arrived.
  mutating func receipt(
    at time: Milliseconds, of pushId: String, on deviceId: String, _ state: ReceiptState, latency: Milliseconds?
  ) {
    ends.reached(state, pushId, on: deviceId)
    if let latency { untilArrived[place(time), default: Latencies()].add(max(0, latency)) }
  }

  mutating func deadLetter(at time: Milliseconds) { slot(time) { $0.deadLetters += 1 } }

  mutating func lag(at time: Milliseconds, stage: String, age: Milliseconds) {
    slot(time) { $0.lag[stage] = max($0.lag[stage] ?? 0, age) }
  }

  /// The slots up to a time, including those without events. Earlier ones are dropped.
  mutating func slots(now: Milliseconds) -> [Slot] {
    let first = start(now: now)
    slots = slots.filter { $0.key >= first }
    untilTaken = untilTaken.filter { $0.key >= first }
    untilArrived = untilArrived.filter { $0.key >= first }
    ends.forget(before: first)
    return (0..<count).map { index in
      let at = first + Milliseconds(index) * step
      var slot = slots[at] ?? Slot(at: at)
      slot.taken = untilTaken[at]?.quantiles
      slot.arrived = untilArrived[at]?.quantiles
      for (state, number) in ends.counts[at] ?? [:] where number > 0 { slot.ends[state.rawValue] = number }
      return slot
    }
  }

  private func place(_ time: Milliseconds) -> Milliseconds { time / step * step }

  private mutating func slot(_ time: Milliseconds, _ change: (inout Slot) -> Void) {
    let at = place(time)
    change(&slots[at, default: Slot(at: at)])
  }
}

/// Counts pushes of messages by end state, in time slots. A push counts in the slot of its decision, and changes its state there as
/// outcomes and receipts arrive. It is a value with bounded memory.
/// outcomes and receipts come. A value with a bound on memory.
struct PushEnds {
  private struct Push {
    var slot: Milliseconds
    /// Whether it is counted per device. Before its first outcome it counts once.
    var hasDevices = false
  }

  private struct Delivery {
    var slot: Milliseconds
    var glance = DeliveryGlance()
  }

  /// By slot.
  private(set) var counts: [Milliseconds: [PushEndState: Int]] = [:]
  /// Whether pushes were left out, because there are too many.
  private(set) var isFull = false
  private let most: Int
  /// By the hash of the push's id.
  private var pushes: [UInt64: Push] = [:]
  /// By the hash of push and device.
  private var deliveries: [UInt64: Delivery] = [:]

  /// - Parameter most: The most pushes and devices to track, at about 50 bytes each.
  init(most: Int = 1_000_000) { self.most = most }

  /// A push was decided. Do not call it for a push that only changes the badge, because such pushes have no receipts.
  mutating func decided(_ pushId: String, in slot: Milliseconds) {
    let key = FNV1a.hash(pushId)
    guard pushes[key] == nil, hasRoom() else { return }
    pushes[key] = Push(slot: slot)
    count(.waiting, in: slot, 1)
  }

  mutating func ended(_ pushId: String, on deviceId: String, _ result: OutcomeResult, errorCode: String?) {
    change(pushId, deviceId) { $0.end(result, errorCode: errorCode) }
  }

  mutating func reached(_ state: ReceiptState, _ pushId: String, on deviceId: String) {
    change(pushId, deviceId) { $0.reach(state) }
  }

  /// Drops the pushes of earlier slots.
  mutating func forget(before slot: Milliseconds) {
    guard counts.contains(where: { $0.key < slot }) else { return }
    counts = counts.filter { $0.key >= slot }
    pushes = pushes.filter { $0.value.slot >= slot }
    deliveries = deliveries.filter { $0.value.slot >= slot }
    if pushes.count + deliveries.count < most { isFull = false }
  }

  /// Ignores pushes without a decision in a slot: older ones, and those that only remove a notification.
  private mutating func change(_ pushId: String, _ deviceId: String, _ change: (inout DeliveryGlance) -> Void) {
    let key = FNV1a.hash(pushId)
    guard let push = pushes[key] else { return }
    let place = DeliveryGlance.key(push: key, deviceId: deviceId)
    let known = deliveries[place]
    guard known != nil || hasRoom() else { return }
    var delivery = known ?? Delivery(slot: push.slot)
    if known != nil {
      count(delivery.glance.state, in: push.slot, -1)
    } else if !push.hasDevices {
      pushes[key]?.hasDevices = true
      count(.waiting, in: push.slot, -1)
    }
    change(&delivery.glance)
    deliveries[place] = delivery
    count(delivery.glance.state, in: push.slot, 1)
  }

  private mutating func hasRoom() -> Bool {
    if pushes.count + deliveries.count >= most { isFull = true }
    return !isFull
  }

  private mutating func count(_ state: PushEndState, in slot: Milliseconds, _ change: Int) {
    counts[slot, default: [:]][state, default: 0] += change
  }
}

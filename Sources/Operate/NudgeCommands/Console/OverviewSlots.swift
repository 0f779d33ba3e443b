import NudgeSchema

/// The counts of a pipeline in slots of time. A value: it is told what was read, and when.
struct OverviewSlots {
  /// A slot's counts.
  struct Slot: Encodable, Equatable {
    /// Its beginning, in milliseconds since the epoch.
    var at: Milliseconds
    var messages = 0
    /// By reason.
    var decisions: [String: Int] = [:]
    /// By `alert`, `silent`, `badge` or `none`.
    var shapes: [String: Int] = [:]
    /// Outcomes by their results, one a push and device.
    var outcomes: [String: Int] = [:]
    /// Pushes of the messages decided about in the slot, by how they stand now (`PushEndState`), one a device. A push without an
    /// outcome counts once.
    var ends: [String: Int] = [:]
    /// From a message's own time until the push service took its push; nil: none was taken.
    var taken: Quantiles?
    /// From a message's own time, or from that of a later push of it, until a device had it; nil: none reported one.
    var arrived: Quantiles?
    var deadLetters = 0
    /// The age of a stage's oldest record that waits, in milliseconds, the largest that was seen.
    var lag: [String: Milliseconds] = [:]
  }

  /// In milliseconds.
  struct Quantiles: Encodable, Equatable {
    var p50: Milliseconds
    var p99: Milliseconds
  }

  /// Latencies of a slot: all of them up to a number, then evenly some.
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
      guard !kept.isEmpty else { return nil }
      let sorted = kept.sorted()
      func quantile(_ share: Double) -> Milliseconds {
        sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
      }
      return Quantiles(p50: quantile(0.5), p99: quantile(0.99))
    }
  }

  /// A slot's length, in milliseconds.
  let step: Milliseconds
  let count: Int
  private var slots: [Milliseconds: Slot] = [:]
  private var untilTaken: [Milliseconds: Latencies] = [:]
  private var untilArrived: [Milliseconds: Latencies] = [:]
  private var ends: PushEnds

  /// - Parameter followed: The most pushes and devices whose end is followed.
  init(step: Milliseconds = 15_000, count: Int = 60, followed: Int = 1_000_000) {
    self.step = step
    self.count = count
    ends = PushEnds(most: followed)
  }

  /// Whether the ends of some pushes are not counted, because there are too many.
  var isPartial: Bool { ends.isFull }

  /// The beginning of the first slot that is shown at a time.
  func start(now: Milliseconds) -> Milliseconds { now / step * step - Milliseconds(count - 1) * step }

  mutating func message(at time: Milliseconds) { slot(time) { $0.messages += 1 } }

  /// `pushId`: of a push that notifies; nil: there is none, or it changes the badge alone.
  mutating func decision(at time: Milliseconds, reason: String, shape: String, pushId: String?) {
    slot(time) {
      $0.decisions[reason, default: 0] += 1
      $0.shapes[shape, default: 0] += 1
    }
    if let pushId { ends.decided(pushId, in: place(time)) }
  }

  /// `latency`: of one that a push service took, and that no replay made.
  mutating func outcome(
    at time: Milliseconds, of pushId: String, on deviceId: String, _ result: OutcomeResult, errorCode: String?,
    latency: Milliseconds?
  ) {
    slot(time) { $0.outcomes[result.rawValue, default: 0] += 1 }
    ends.ended(pushId, on: deviceId, result, errorCode: errorCode)
    if let latency { untilTaken[place(time), default: Latencies()].add(max(0, latency)) }
  }

  /// `latency`: of one that arrived.
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

  /// The slots up to a time, also those in which nothing happened. Earlier ones are forgotten.
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

/// Counts pushes of messages by how they stand, in slots of time. A push is in the slot of its decision, and moves from state to state there as
/// outcomes and receipts come. A value with a bound on memory.
struct PushEnds {
  private struct Push {
    var slot: Milliseconds
    /// Whether it is counted by its devices; before, it counts once.
    var hasDevices = false
  }

  private struct Delivery {
    var slot: Milliseconds
    var glance = DeliveryGlance()
  }

  /// By slot.
  private(set) var counts: [Milliseconds: [PushEndState: Int]] = [:]
  /// Whether pushes were left out, because there are more than fit.
  private(set) var isFull = false
  private let most: Int
  /// By the hash of the push's id.
  private var pushes: [UInt64: Push] = [:]
  /// By the hash of push and device.
  private var deliveries: [UInt64: Delivery] = [:]

  /// - Parameter most: The most pushes and devices that are followed; some 50 bytes each.
  init(most: Int = 1_000_000) { self.most = most }

  /// A push was decided for. One that changes the badge alone is not to be told of: it has no receipts.
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

  /// Forgets the pushes of earlier slots.
  mutating func forget(before slot: Milliseconds) {
    guard counts.contains(where: { $0.key < slot }) else { return }
    counts = counts.filter { $0.key >= slot }
    pushes = pushes.filter { $0.value.slot >= slot }
    deliveries = deliveries.filter { $0.value.slot >= slot }
    if pushes.count + deliveries.count < most { isFull = false }
  }

  /// Leaves out pushes that no decision of a slot asked for: older ones, and those that only remove a notification.
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

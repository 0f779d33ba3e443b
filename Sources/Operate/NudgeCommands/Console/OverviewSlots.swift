import NudgeSchema

/// What a pipeline did, in slots of time. A value: it is told what was read, and when.
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
    /// Pushes by how they ended, one a device.
    var outcomes: [String: Int] = [:]
    /// From a message's own time until FCM took its push, in milliseconds; nil: none was taken.
    var p50: Milliseconds?
    var p99: Milliseconds?
    var deadLetters = 0
    /// The age of a stage's oldest record that waits, in milliseconds, the largest that was seen.
    var lag: [String: Milliseconds] = [:]
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

    func quantile(_ share: Double) -> Milliseconds? {
      guard !kept.isEmpty else { return nil }
      let sorted = kept.sorted()
      return sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
    }
  }

  /// A slot's length, in milliseconds.
  let step: Milliseconds
  let count: Int
  private var slots: [Milliseconds: Slot] = [:]
  private var latencies: [Milliseconds: Latencies] = [:]

  init(step: Milliseconds = 15_000, count: Int = 60) {
    self.step = step
    self.count = count
  }

  /// The beginning of the first slot that is shown at a time.
  func start(now: Milliseconds) -> Milliseconds { now / step * step - Milliseconds(count - 1) * step }

  mutating func message(at time: Milliseconds) { slot(time) { $0.messages += 1 } }

  mutating func decision(at time: Milliseconds, reason: String, shape: String) {
    slot(time) {
      $0.decisions[reason, default: 0] += 1
      $0.shapes[shape, default: 0] += 1
    }
  }

  /// `latency`: of one that FCM took, and that no replay made.
  mutating func outcome(at time: Milliseconds, result: String, latency: Milliseconds?) {
    slot(time) { $0.outcomes[result, default: 0] += 1 }
    if let latency { latencies[time / step * step, default: Latencies()].add(max(0, latency)) }
  }

  mutating func deadLetter(at time: Milliseconds) { slot(time) { $0.deadLetters += 1 } }

  mutating func lag(at time: Milliseconds, stage: String, age: Milliseconds) {
    slot(time) { $0.lag[stage] = max($0.lag[stage] ?? 0, age) }
  }

  /// The slots up to a time, also those in which nothing happened. Earlier ones are forgotten.
  mutating func slots(now: Milliseconds) -> [Slot] {
    let first = start(now: now)
    slots = slots.filter { $0.key >= first }
    latencies = latencies.filter { $0.key >= first }
    return (0..<count).map { index in
      let at = first + Milliseconds(index) * step
      var slot = slots[at] ?? Slot(at: at)
      slot.p50 = latencies[at]?.quantile(0.5)
      slot.p99 = latencies[at]?.quantile(0.99)
      return slot
    }
  }

  private mutating func slot(_ time: Milliseconds, _ change: (inout Slot) -> Void) {
    let at = time / step * step
    change(&slots[at, default: Slot(at: at)])
  }
}

import NudgeSchema

/// The rebuild of a task's lost state: records processed before the loss are processed again, for their rows only.
struct StateRebuild {
  /// The offset of the last record to rebuild from, for each unfinished input.
  private(set) var remaining: [Topic: Int64]
  /// The number of records processed since the task started.
  private(set) var records = 0
  /// When the task started, by the steady clock.
  let startedAt: Milliseconds
  private var clock: Milliseconds = 0

  /// The rebuild that a position asks for; nil: none, or no record to rebuild from is left.
  init?(of position: PositionRecord?, next: [Topic: Int64], startedAt: Milliseconds) {
    guard let to = position?.rebuildTo else { return nil }
    remaining = [:]
    for (topic, offset) in next {
      if let end = to[topic.rawValue], offset <= end { remaining[topic] = end }
    }
    if remaining.isEmpty { return nil }
    self.startedAt = startedAt
  }

  /// The remaining inputs for a position record; nil: all are done.
  var byName: [String: Int64]? {
    remaining.isEmpty ? nil : Dictionary(uniqueKeysWithValues: remaining.map { ($0.key.rawValue, $0.value) })
  }

  /// The time of a step on a record: when it was written, as the best estimate of when it was processed. It never goes back, although
  /// writers' clocks differ, and is never in the future.
  mutating func time(of record: InputRecord, wallNow: Milliseconds) -> Milliseconds {
    clock = min(max(clock, record.timestamp), wallNow)
    return clock
  }

  /// Notes a processed record. Returns whether its input is finished.
  mutating func advance(past record: InputRecord) -> Bool {
    records += 1
    guard let end = remaining[record.topic], record.offset >= end else { return false }
    remaining[record.topic] = nil
    return true
  }
}

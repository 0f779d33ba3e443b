import NudgeSchema

/// A task's state while it is rebuilt from the inputs: records that were processed before the loss are processed once more,
/// for their rows only.
struct StateRebuild {
  /// Of each input that is not done, the offset of the last record that only rebuilds.
  private(set) var remaining: [Topic: Int64]
  /// Records processed since the task began.
  private(set) var records = 0
  /// When the task began, by the steady clock.
  let startedAt: Milliseconds
  private var clock: Milliseconds = 0

  /// What a position asks for, with the next offsets of the inputs; nil: nothing, or no record of it is left.
  init?(of position: PositionRecord?, next: [Topic: Int64], startedAt: Milliseconds) {
    guard let to = position?.rebuildTo else { return nil }
    remaining = [:]
    for (topic, offset) in next {
      if let end = to[topic.rawValue], offset <= end { remaining[topic] = end }
    }
    if remaining.isEmpty { return nil }
    self.startedAt = startedAt
  }

  /// As in a position record; nil: all inputs are done.
  var byName: [String: Int64]? {
    remaining.isEmpty ? nil : Dictionary(uniqueKeysWithValues: remaining.map { ($0.key.rawValue, $0.value) })
  }

  /// When a record was processed before, as near as it can be known: when it was written. Never before what came earlier,
  /// whose writers' clocks may differ, nor in the future.
  mutating func time(of record: InputRecord, wallNow: Milliseconds) -> Milliseconds {
    clock = min(max(clock, record.timestamp), wallNow)
    return clock
  }

  /// A record has been processed. Returns whether its input is done with it.
  mutating func advance(past record: InputRecord) -> Bool {
    records += 1
    guard let end = remaining[record.topic], record.offset >= end else { return false }
    remaining[record.topic] = nil
    return true
  }
}

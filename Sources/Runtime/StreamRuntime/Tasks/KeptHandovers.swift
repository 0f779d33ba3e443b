import NudgeSchema

/// What former owners of a task have handed over, by the effect, until the task has used it. Positions say where it is in the input, so that
/// a restart finds it although the position is past it.
struct KeptHandovers {
  private struct Entry {
    var offset: Int64
    /// Until when it may be needed, by the wall clock.
    var until: Milliseconds
    /// Whether it is a reply that ends the effect.
    var decides: Bool
  }

  private var entries: [RowKey: Entry] = [:]

  /// The record at this offset says what is known of an effect. A later one takes the place of an earlier one that does not end the effect.
  mutating func add(_ effect: RowKey, at offset: Int64, until: Milliseconds, decides: Bool) {
    if let known = entries[effect], known.offset > offset || (known.decides && !decides) { return }
    entries[effect] = Entry(offset: offset, until: until, decides: decides)
  }

  /// The task has processed a reply to the effect. `decides`: it ends the effect; otherwise one that does is still needed.
  mutating func remove(_ effect: RowKey, decides: Bool) {
    if let entry = entries[effect], decides || !entry.decides { entries[effect] = nil }
  }

  /// Where the records are that may be needed; nil: none is.
  mutating func range(at now: Milliseconds) -> HandoverRange? {
    guard !entries.isEmpty else { return nil }
    entries = entries.filter { now < $0.value.until }
    var range: HandoverRange?
    for entry in entries.values {
      let (from, to) = (range?.from ?? entry.offset, range?.to ?? entry.offset + 1)
      range = HandoverRange(from: min(from, entry.offset), to: max(to, entry.offset + 1))
    }
    return range
  }
}

import NudgeSchema

extension ModelBroker {
  /// The changelogs' `delete.retention.ms`.
  static let deleteRetention: Milliseconds = 7 * 86_400_000

  /// Compaction of a partition: of what is stable the last record of each key stays, and that goes
  /// too where it is a tombstone older than its retention. Offsets stay, so the log has holes.
  func compact(_ place: ModelPlace) {
    let log = log(place)
    var seen: Set<[UInt8]> = []
    for index in (0..<Int(log.stable)).reversed() {
      let entry = log.entries[index]
      guard entry.status == .committed, let key = entry.key else { continue }
      let isLast = seen.insert(key).inserted
      if !isLast || (entry.value == nil && entry.time < now - Self.deleteRetention) {
        log.entries[index].status = .compacted
      }
    }
  }

  /// Retention: an input's log begins at an offset now.
  func cut(_ place: ModelPlace, to start: Int64) {
    let log = log(place)
    log.start = max(log.start, min(start, log.stable))
  }
}

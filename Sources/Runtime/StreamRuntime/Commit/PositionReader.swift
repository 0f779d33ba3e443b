import NudgeSchema
import ServiceKit

/// Looks up in the changelogs what was committed.
struct PositionReader<IO: StreamIO> {
  typealias Found = (position: PositionRecord, offset: Int64)

  private let context: StreamContext<IO>
  private let hanging: HangingWatch<IO>
  private let restorer: TaskRestorer<IO>

  init(_ context: StreamContext<IO>, _ hanging: HangingWatch<IO>, _ restorer: TaskRestorer<IO>) {
    self.context = context
    self.hanging = hanging
    self.restorer = restorer
  }

  /// Reads the last position record of each task, from an offset of its changelog.
  ///
  /// Reads until every transaction that has begun by now has ended.
  /// - Throws: a retriable `IOFailure` after `positionPatience`; `StoreFailure` for a position record that cannot be read.
  func read(_ starts: [Int32: Int64], tellTrouble: () -> Void) throws -> [Int32: Found] {
    let io = context.io
    var found: [Int32: Found] = [:]
    var targets: [Int32: Int64] = [:]
    for task in starts.keys.sorted() { targets[task] = try io.changelogEnds(of: task).high }
    // The restore of other tasks uses the same reader.
    restorer.interrupted()
    try io.readChangelogs(starts)
    var unread = Set(targets.keys)
    let start = io.steadyClock
    let deadline = start + context.limits.positionPatience
    var hasSuspected = false
    while !unread.isEmpty {
      for item in try io.pollChangelogs(timeout: context.limits.maxPollWait) {
        switch item {
        case .record(let task, let offset, _, let key, let bytes):
          guard key == PositionRecord.key else { continue }
          found[task] = (try PositionRecord(bytes, offset: offset, coder: context.coder), offset)
        case .end(let task, let offset):
          if let target = targets[task], offset >= target { unread.remove(task) }
        }
      }
      tellTrouble()
      if !unread.isEmpty, !hasSuspected, io.steadyClock - start >= context.limits.markerPatience {
        hasSuspected = true
        try hanging.suspect("the changelogs of tasks \(unread.sorted()) after an unknown outcome")
      }
      guard io.steadyClock < deadline else {
        throw IOFailure(
          kind: .retriable, operation: "checking positions",
          reason: "the changelogs of tasks \(unread.sorted()) have not come to their ends")
      }
    }
    try io.readChangelogs([:])
    return found
  }
}

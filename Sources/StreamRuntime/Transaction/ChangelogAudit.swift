import NudgeSchema

/// Counts what comes to lie in a task's changelog against what its owner has written.
///
/// A former owner that is stopped inside a transaction and goes on may write rows, and a late copy of the request that
/// ended its transaction before may commit them. The owner's own transactions succeed all the while: that there is more in
/// the log than it wrote is all it can notice, by the offsets of its position records. Then it looks at the log and writes
/// the keys of such rows again, before compaction can remove what they hide.
///
/// Between two position records lie the rows of the later one's transaction, and markers of transactions before: the broker
/// writes them after it has answered the commit. A marker that has not come is owed, so the sum is exact; the record of a
/// stranger can pass for an owed marker only until that comes, at the latest until the stranger's own marker does, without
/// which its record does not count. And where the log's end is just where it must be with all markers that are owed, there
/// is no stranger's record in it.
struct ChangelogAudit {
  /// A place in the changelog before which every row has been judged, or is written again.
  struct Mark: Codable, Equatable {
    /// The next offset to judge.
    var offset: Int64
    /// The sequence of the last position record before it; 0: none.
    var sequence: Int64
  }

  /// A stranger's transaction cannot be open for longer, in milliseconds: the coordinator ends it after
  /// `transaction.timeout.ms` (5 s), which it looks for every 10 s.
  static let longestTransaction: Milliseconds = 20_000
  /// After how long the log's end is asked for where nothing was written since it last was as expected, in milliseconds. With
  /// what it takes to write the keys again well below the changelogs' `min.compaction.lag.ms`.
  static let quietInterval: Milliseconds = 120_000
  /// After how long where something was: it bounds what is read to judge it.
  static let interval: Milliseconds = 5000

  /// Where to begin to look, should something be wrong; for who opens the store, too. At most twice `longestTransaction`
  /// behind while there are transactions, where the log's end can be asked for some `interval`.
  private(set) var mark: Mark
  /// There is more in the log than this owner has written.
  private(set) var isSuspicious = false
  /// When the log was last compared, by the steady clock.
  private var comparedAt: Milliseconds
  /// Behind all that has been counted, and the sequence of the last position record.
  private var end: Int64
  private var sequence: Int64
  /// Own transactions that have committed and whose markers have not been counted.
  private var owedMarkers: Int64 = 0
  /// There are rows to be written again. The next transaction does.
  private var isTorn: Bool
  /// The next mark, and since when: it counts once no transaction can be open that was open then.
  private var nextMark: Mark
  private var nextMarkAt: Milliseconds

  /// Begins where the changelog was read to its last stable offset.
  /// - Parameters:
  ///   - end: the last stable offset.
  ///   - sequence: of the last position record.
  ///   - tornSince: where to look from as long as there are rows to be written again; nil: there are none.
  init(readTo end: Int64, sequence: Int64, tornSince mark: Mark?, steadyNow: Milliseconds) {
    nextMark = Mark(offset: end, sequence: sequence)
    self.mark = mark ?? nextMark
    isTorn = mark != nil
    nextMarkAt = steadyNow
    comparedAt = steadyNow
    self.end = end
    self.sequence = sequence
  }

  /// A transaction has committed. `offset`: of its position record, nil where the broker did not tell; `rows`: before it.
  mutating func committed(rows: Int, positionAt offset: Int64?, sequence: Int64, steadyNow: Milliseconds) {
    guard !isSuspicious else { return }
    let others = (offset ?? .max) - end - Int64(rows)
    guard (0...owedMarkers).contains(others), let offset else {
      isSuspicious = true
      return
    }
    owedMarkers += 1 - others
    end = offset + 1
    self.sequence = sequence
    isTorn = false
    guard steadyNow - nextMarkAt >= Self.longestTransaction else { return }
    mark = nextMark
    nextMark = Mark(offset: end, sequence: sequence)
    nextMarkAt = steadyNow
  }

  /// Everything up to the last position record is known to be judged.
  var isSettled: Bool { mark.offset >= end }

  /// Whether the log's end is to be asked for.
  func isDue(steadyNow: Milliseconds) -> Bool {
    !isSuspicious && steadyNow - comparedAt >= (isSettled ? Self.quietInterval : Self.interval)
  }

  /// The log's end was asked for while no transaction was under way, and perhaps told: the high watermark.
  mutating func compared(high: Int64?, steadyNow: Milliseconds) {
    comparedAt = steadyNow
    guard let high, !isSuspicious else { return }
    if high > end + owedMarkers { isSuspicious = true }
    if high == end + owedMarkers && !isTorn {
      mark = Mark(offset: end, sequence: sequence)
      nextMark = mark
      nextMarkAt = steadyNow
    }
  }

  /// The changelog was read from `mark` to its last stable offset. `isWhole`: there is nothing to be written again.
  mutating func read(to end: Int64, sequence: Int64, isWhole: Bool, steadyNow: Milliseconds) {
    self = ChangelogAudit(
      readTo: end, sequence: sequence, tornSince: isWhole ? nil : mark, steadyNow: steadyNow)
  }
}

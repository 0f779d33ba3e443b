import NudgeSchema

/// Decides how long a stage waits for company between two transactions.
///
/// A transaction costs the broker milliseconds of CPU, however little it carries. While records come one by one, a stage that commits
/// whenever it can uses up a core for them, and every transaction of all stages takes longer. So after a transaction that carried little the
/// next one waits, as long as that one took: half of the time then goes to transactions. Enough records end the wait. A record that comes
/// after the wait is committed at once.
struct CommitPacing {
  /// The longest wait, in milliseconds; 0: there is none.
  let longestWait: Milliseconds
  /// The records, or bytes of outputs, from which a transaction is worth its cost.
  let company: (records: Int, bytes: Int)
  /// When the wait ends, by the steady clock.
  private(set) var notBefore: Milliseconds = .min

  init(_ limits: StreamLimits) {
    longestWait = limits.maxCommitWait
    company = (limits.commitCompany, limits.commitCompanyBytes)
  }

  private func isEnough(_ work: PendingWork) -> Bool { work.records >= company.records || work.bytes >= company.bytes }

  /// Notes a transaction that was committed.
  mutating func committed(_ work: PendingWork, took: Milliseconds, at steadyNow: Milliseconds) {
    notBefore = isEnough(work) ? .min : steadyNow + min(max(took, 0), longestWait)
  }

  /// Whether this work may be committed now.
  func isDue(_ work: PendingWork, at steadyNow: Milliseconds) -> Bool { steadyNow >= notBefore || isEnough(work) }
}

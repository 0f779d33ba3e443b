import NudgeSchema

/// Decides what a thread must do before its next transaction, without I/O.
///
/// The thread keeps a transaction's content until it knows that the transaction is committed, so one recovery serves all failures:
///
/// 1. Open new producers. Their new epoch fences late requests of the old ones, and ends the open transaction without an abort request.
/// 2. Read the changelogs, which show what was committed.
/// 3. Commit again what was not.
///
/// Inputs are never rewound, and replies to effects are not lost.
struct CommitStateMachine {
  /// The thread's progress towards a transaction.
  enum State: Equatable {
    /// There is no producer yet.
    case noProducer
    /// A transaction may begin at this time of the steady clock or later.
    case ready(notBefore: Milliseconds)
    /// A commit failed, or the broker was away.
    case uncertain(producerReplaced: Bool)
    /// Another producer has this thread's transactional id.
    case fenced
  }

  /// The caller's next action before a transaction can begin.
  enum Action: Equatable {
    /// Begin the transaction.
    case begin
    /// Wait until a time of the steady clock.
    case wait(until: Milliseconds)
    case openProducer
    /// Read the changelogs of all tasks to their ends, and compare their positions.
    case checkPositions
    /// Send nothing more, and exit with `ExitCode.fenced`.
    case exitFenced
  }

  /// The shortest and the longest wait before a failed transaction is retried, in milliseconds.
  static let retryWait: ClosedRange<Milliseconds> = 10...1000

  private(set) var state: State = .noProducer
  private var failures = 0
  private var producerNotBefore: Milliseconds = 0

  /// The next action at this time of the steady clock.
  func next(steadyNow: Milliseconds) -> Action {
    switch state {
    case .ready(let notBefore): notBefore > steadyNow ? .wait(until: notBefore) : .begin
    case .uncertain(producerReplaced: true): .checkPositions
    case .noProducer, .uncertain(producerReplaced: false):
      producerNotBefore > steadyNow ? .wait(until: producerNotBefore) : .openProducer
    case .fenced: .exitFenced
    }
  }

  mutating func producerOpened() {
    switch state {
    case .noProducer: state = .ready(notBefore: 0)
    case .uncertain: state = .uncertain(producerReplaced: true)
    case .ready, .fenced: break
    }
  }

  /// Asks for new producers after their broker was away. Call it only while no transaction is in flight.
  mutating func producerLost() {
    switch state {
    case .noProducer, .fenced, .uncertain(producerReplaced: false): break
    case .ready, .uncertain(producerReplaced: true): state = .uncertain(producerReplaced: false)
    }
  }

  /// Whether producers must be opened or changelogs read even without work to commit.
  var isCheckDue: Bool {
    switch state {
    case .uncertain: true
    case .noProducer, .ready, .fenced: false
    }
  }

  /// Handles a failure to open producers: `next` asks for them again after a wait, unless the failure is `fenced`. The caller ends the thread
  /// if it is `fatal`.
  mutating func producerFailed(_ failure: IOFailure, steadyNow: Milliseconds) {
    if failure.kind == .fenced { state = .fenced }
    failures += 1
    producerNotBefore = steadyNow + wait
  }

  /// Handles the end of `checkPositions`: each task's last commit is known.
  mutating func positionsChecked(steadyNow: Milliseconds) {
    state = .ready(notBefore: failures > 0 ? steadyNow + wait : 0)
  }

  mutating func committed() {
    failures = 0
    state = .ready(notBefore: 0)
  }

  /// Handles a transaction that was not committed or whose outcome is unknown.
  mutating func failed(isFenced: Bool) {
    failures += 1
    state = isFenced ? .fenced : .uncertain(producerReplaced: false)
  }

  private var wait: Milliseconds {
    min(Self.retryWait.lowerBound << min(Milliseconds(failures - 1), 16), Self.retryWait.upperBound)
  }
}

/// A thread's current commit, from the sealing of a transaction until it is known to be committed.
enum Commit {
  /// Nothing is sealed.
  case none
  /// Kafka has had the content since this time of the steady clock. The outcome is not known yet.
  case inFlight(Content, since: Milliseconds)
  /// The commit failed, or its outcome is unknown. The content is committed again if the changelogs do not have it.
  case failed(Content)

  struct Content {
    var transaction: SealedTransaction
    /// The size of the content's work.
    let work: PendingWork
  }
}

/// Decides how long a stage waits for further records between two transactions.
///
/// A transaction costs the broker milliseconds of CPU, however few records it has. A stage that committed every record as it came would
/// keep one of the broker's cores busy, and slow down the transactions of all stages. After a transaction with few records the stage
/// therefore waits for as long as that transaction took, at most `longestWait`, so that transactions take about half of the time. The wait
/// ends early once enough records have come. A record that comes after it is committed at once.
struct CommitPacing {
  /// The longest wait, in milliseconds; 0 to commit without waiting.
  let longestWait: Milliseconds
  /// The number of records, or of bytes of outputs, that makes a transaction worth its cost.
  let worthwhile: (records: Int, bytes: Int)
  /// When the wait ends, by the steady clock.
  private(set) var notBefore: Milliseconds = .min

  init(_ limits: StreamLimits) {
    longestWait = limits.maxCommitWait
    worthwhile = (limits.worthwhileRecords, limits.worthwhileBytes)
  }

  private func isEnough(_ work: PendingWork) -> Bool {
    work.records >= worthwhile.records || work.bytes >= worthwhile.bytes
  }

  /// Records a committed transaction.
  mutating func committed(_ work: PendingWork, took: Milliseconds, at steadyNow: Milliseconds) {
    notBefore = isEnough(work) ? .min : steadyNow + min(max(took, 0), longestWait)
  }

  /// Whether this work may be committed now.
  func isDue(_ work: PendingWork, at steadyNow: Milliseconds) -> Bool { steadyNow >= notBefore || isEnough(work) }
}

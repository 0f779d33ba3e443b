import NudgeSchema

/// Decides what a thread must do before its next transaction, without I/O.
///
/// A transaction's content is kept until it is known to be committed, so all failures have the same recovery: open a producer, whose
/// new epoch fences the late requests of the old one and ends its open transaction; read the changelogs, which show what was
/// committed; commit the same content again where it was not. The new epoch replaces an abort. Inputs are never rewound, and replies
/// to effects are not lost.
struct CommitStateMachine {
  /// Where the thread stands.
  enum State: Equatable {
    /// There is no producer yet.
    case noProducer
    /// A transaction may begin, not before a time of the steady clock.
    case ready(notBefore: Milliseconds)
    /// A commit failed, or the broker was away.
    case uncertain(producerReplaced: Bool)
    /// Another producer has this thread's transactional id.
    case fenced
  }

  /// The caller's next action before a transaction can begin.
  enum Action: Equatable {
    /// Nothing: begin.
    case begin
    /// Wait until a time of the steady clock.
    case wait(until: Milliseconds)
    case openProducer
    /// Read the changelogs of all tasks to their ends, and compare their positions.
    case checkPositions
    /// Send nothing more, and exit with 75.
    case exitFenced
  }

  /// Shortest and longest wait before a failed transaction is retried.
  static let retryWait: ClosedRange<Milliseconds> = 10...1000

  private(set) var state: State = .noProducer
  private var failures = 0
  private var producerNotBefore: Milliseconds = 0

  /// What to do before the next transaction.
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

  /// New producers must be opened, because the old ones' broker was away. Call only while no transaction is in flight.
  mutating func producerLost() {
    switch state {
    case .noProducer, .fenced, .uncertain(producerReplaced: false): break
    case .ready, .uncertain(producerReplaced: true): state = .uncertain(producerReplaced: false)
    }
  }

  /// Whether producers must be opened or changelogs read, even without work to commit.
  var isCheckDue: Bool {
    switch state {
    case .uncertain: true
    case .noProducer, .ready, .fenced: false
    }
  }

  /// Opening a producer failed. It is retried later, unless the failure is `fenced` or `fatal`.
  mutating func producerFailed(_ failure: IOFailure, steadyNow: Milliseconds) {
    if failure.kind == .fenced { state = .fenced }
    failures += 1
    producerNotBefore = steadyNow + wait
  }

  /// The positions were read: each task's last commit is known.
  mutating func positionsChecked(steadyNow: Milliseconds) {
    state = .ready(notBefore: failures > 0 ? steadyNow + wait : 0)
  }

  mutating func committed() {
    failures = 0
    state = .ready(notBefore: 0)
  }

  /// A transaction was not committed, or its outcome is unknown.
  mutating func failed(isFenced: Bool) {
    failures += 1
    state = isFenced ? .fenced : .uncertain(producerReplaced: false)
  }

  private var wait: Milliseconds {
    min(Self.retryWait.lowerBound << min(Milliseconds(failures - 1), 16), Self.retryWait.upperBound)
  }
}

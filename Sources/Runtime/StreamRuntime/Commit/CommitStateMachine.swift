import NudgeSchema

/// The decisions about a thread's transactions, apart from the I/O.
///
/// What is to be committed is kept whole until it is known to be committed, so every failure has one recovery: a new
/// producer, whose epoch shuts out all that the old one left on its way and ends what it left open; a look at the
/// changelogs, which tells what was committed; and the same content again where it was not. There is no abort: the new epoch
/// is one. That is also why no input is ever rewound here, and why an answer of FCM is never forgotten.
struct CommitStateMachine {
  /// Where the thread stands.
  enum State: Equatable {
    /// There is no producer yet.
    case noProducer
    /// A transaction may begin, not before a time of the steady clock.
    case ready(notBefore: Milliseconds)
    /// A transaction is on its way.
    case committing
    /// Something failed, or the broker was away.
    case uncertain(producerReplaced: Bool)
    /// Somebody else has this thread's name.
    case fenced
  }

  /// What the caller must do before the next transaction can begin.
  enum Action: Equatable {
    /// Nothing: begin.
    case begin
    /// Wait until a time of the steady clock.
    case wait(until: Milliseconds)
    /// Wait for the outcome of the transaction that is on its way: one at a time.
    case awaitOutcome
    /// Open a producer.
    case openProducer
    /// Read the changelogs of all tasks to their ends, and judge by their positions.
    case checkPositions
    /// Send nothing more; exit with 75.
    case exitFenced
  }

  /// First and longest wait before a refused transaction is tried again.
  static let retryWait: ClosedRange<Milliseconds> = 10...1000

  private(set) var state: State = .noProducer
  private var failures = 0
  private var producerNotBefore: Milliseconds = 0

  /// What to do before the next transaction.
  func next(steadyNow: Milliseconds) -> Action {
    switch state {
    case .ready(let notBefore): notBefore > steadyNow ? .wait(until: notBefore) : .begin
    case .committing: .awaitOutcome
    case .uncertain(producerReplaced: true): .checkPositions
    case .noProducer, .uncertain(producerReplaced: false):
      producerNotBefore > steadyNow ? .wait(until: producerNotBefore) : .openProducer
    case .fenced: .exitFenced
    }
  }

  /// A producer was opened.
  mutating func producerOpened() {
    switch state {
    case .noProducer: state = .ready(notBefore: 0)
    case .uncertain: state = .uncertain(producerReplaced: true)
    case .ready, .committing, .fenced: break
    }
  }

  /// New producers are to be opened, whatever became of the old ones' transactions. Not while one is on its way.
  mutating func producerLost() {
    switch state {
    case .noProducer, .committing, .fenced, .uncertain(producerReplaced: false): break
    case .ready, .uncertain(producerReplaced: true): state = .uncertain(producerReplaced: false)
    }
  }

  /// Something is to be done though there may be nothing to commit: producers to be opened, the changelogs to be looked at.
  var isCheckDue: Bool {
    switch state {
    case .uncertain: true
    case .noProducer, .ready, .committing, .fenced: false
    }
  }

  /// Opening a producer failed: it is tried again later, unless the failure is `fenced` or `fatal`.
  mutating func producerFailed(_ failure: IOFailure, steadyNow: Milliseconds) {
    if failure.kind == .fenced { state = .fenced }
    failures += 1
    producerNotBefore = steadyNow + wait
  }

  /// The positions were read: for every task it is known what was committed.
  mutating func positionsChecked(steadyNow: Milliseconds) {
    state = .ready(notBefore: failures > 0 ? steadyNow + wait : 0)
  }

  /// A transaction was sent.
  mutating func began() { state = .committing }

  /// A transaction has committed.
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

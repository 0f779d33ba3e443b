import NudgeSchema

/// The decisions about a thread's transactions, apart from the I/O.
///
/// What is to be committed is kept whole until it is known to be committed, so that every recovery is the same: make sure
/// of the outcome, then commit the same content again. That is why an abort never rewinds an input here, and why an
/// answer of FCM is never forgotten.
struct TransactionMachine {
  /// Where the thread stands.
  enum State: Equatable {
    /// There is no producer that could be used.
    case noProducer
    /// A transaction may begin, not before a time of the steady clock.
    case ready(notBefore: Milliseconds)
    /// Between begin and the end of a commit or abort.
    case open
    /// A transaction's outcome is unknown: a new producer, then a look at the log.
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
    /// Open a producer.
    case openProducer
    /// Read the changelogs of all tasks with something uncommitted, and judge by their positions.
    case checkPositions
    /// Send nothing more; exit with 75.
    case exitFenced
  }

  /// What a failure inside a transaction asks for.
  enum Recovery: Equatable {
    /// Abort; then the same content again.
    case abort
    /// The outcome is unknown.
    case uncertain
    /// Exit.
    case exitFenced
  }

  /// A commit that took longer than this may have been committed by an earlier copy of its own request, and a late copy
  /// of it may still be on its way.
  static let slowCommit: Milliseconds = 1000
  /// First and longest wait before a refused transaction is tried again.
  static let retryWait: ClosedRange<Milliseconds> = 10...1000

  private(set) var state: State = .noProducer
  private var refusals = 0

  /// What to do before the next transaction.
  func next(steadyNow: Milliseconds) -> Action {
    switch state {
    case .noProducer: .openProducer
    case .ready(let notBefore): notBefore > steadyNow ? .wait(until: notBefore) : .begin
    case .open: .begin
    case .uncertain(let replaced): replaced ? .checkPositions : .openProducer
    case .fenced: .exitFenced
    }
  }

  /// A producer was opened.
  mutating func producerOpened() {
    switch state {
    case .noProducer: state = .ready(notBefore: 0)
    case .uncertain: state = .uncertain(producerReplaced: true)
    case .ready, .open, .fenced: break
    }
  }

  /// Opening a producer failed. Returns the time of the steady clock to try again at; nil: exit.
  mutating func producerFailed(_ failure: IOFailure, steadyNow: Milliseconds) -> Milliseconds? {
    if failure.kind == .fenced { state = .fenced }
    if failure.kind == .fenced || failure.kind == .fatal { return nil }
    refusals += 1
    return steadyNow + wait
  }

  /// The positions were read: for every task it is known what was committed.
  mutating func positionsChecked(steadyNow: Milliseconds) { state = .ready(notBefore: steadyNow) }

  /// A transaction begins.
  mutating func began() { state = .open }

  /// The commit succeeded after so many milliseconds.
  mutating func committed(took: Milliseconds) {
    refusals = 0
    // The content is committed all the same: the check finds its positions, and the new epoch shuts out late copies.
    state = took > Self.slowCommit ? .uncertain(producerReplaced: false) : .ready(notBefore: 0)
  }

  /// A call inside the transaction failed.
  mutating func failed(_ failure: IOFailure, inCommit: Bool) -> Recovery {
    switch failure.kind {
    case .fenced:
      state = .fenced
      return .exitFenced
    case .abortable, .unstable: return .abort
    case .retriable where !inCommit: return .abort
    case .retriable, .uncertain, .fatal:
      state = .uncertain(producerReplaced: false)
      return .uncertain
    }
  }

  /// The abort succeeded: nothing was committed.
  mutating func aborted(steadyNow: Milliseconds) {
    refusals += 1
    state = .ready(notBefore: steadyNow + wait)
  }

  /// The abort failed: the outcome is unknown.
  mutating func abortFailed(_ failure: IOFailure) {
    state = failure.kind == .fenced ? .fenced : .uncertain(producerReplaced: false)
  }

  private var wait: Milliseconds {
    min(Self.retryWait.lowerBound << min(Milliseconds(refusals), 16), Self.retryWait.upperBound)
  }
}

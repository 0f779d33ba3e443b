/// The work that a stream thread may take into its open transaction. Every bound on it is here, and the loop asks nothing else: polling,
/// pausing, processing, waiting and committing follow from it.
enum Intake: Equatable {
  /// Nothing.
  case closed(Reason)
  /// Replies, wake-ups and timers. Records wait.
  case repliesOnly
  /// Everything.
  /// - room: How many polled records may wait. At 0 the inputs are paused, and those that were polled before are processed.
  case open(room: Int)

  /// Why nothing may be taken.
  enum Reason: Equatable {
    /// A commit failed, perhaps with an unknown outcome. Until its content is committed, no work is added behind it.
    case commitFailed
    /// The open work fills a transaction.
    /// - endsSoon: The one before it is about to end. A pause would drop fetched records for nothing.
    case transactionFull(endsSoon: Bool)
  }

  /// - Parameters:
  ///   - work: The open transaction's size.
  ///   - outcomeIsNear: Another transaction is in flight, and not for long. Asked only where it matters: it reads the clock.
  ///   - effects: The number of effects that wait or are in flight.
  ///   - stageHolds: The stage's own bound is reached.
  ///   - isPaused: The inputs are paused.
  init(
    _ work: PendingWork, commitFailed: Bool, outcomeIsNear: @autoclosure () -> Bool, effects: Int, stageHolds: Bool,
    isPaused: Bool, _ limits: StreamLimits
  ) {
    let holdsRecords = stageHolds || effects > limits.maxEffects
    if commitFailed {
      self = .closed(.commitFailed)
    } else if work.isFull(limits) {
      self = .closed(.transactionFull(endsSoon: !isPaused && !holdsRecords && outcomeIsNear()))
    } else if holdsRecords {
      self = .repliesOnly
    } else {
      // Each pause drops fetched records: inputs that effects have paused stay so until half of the effects are done.
      self = .open(room: isPaused && effects > limits.maxEffects / 2 ? 0 : limits.maxBatchRecords)
    }
  }

  var isClosed: Bool { if case .closed = self { true } else { false } }

  /// Whether records may be processed.
  var takesRecords: Bool { if case .open = self { true } else { false } }

  /// How many polled records may wait.
  var room: Int { if case .open(let room) = self { room } else { 0 } }

  /// Whether the inputs are paused: their records could not be processed.
  var pausesInputs: Bool { self != .closed(.transactionFull(endsSoon: true)) && room == 0 }
}

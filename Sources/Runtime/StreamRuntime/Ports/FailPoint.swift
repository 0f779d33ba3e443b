#if DEBUG
  import NudgeSchema

  /// A named place in a stream thread where a debug build can die, stall or fail. The crash table of docs/architecture.md says which rows
  /// each one tests. The names are those that `NUDGE_FAIL_POINTS` takes.
  enum FailPoint: String, CaseIterable {
    /// Before a transaction begins. No processed work has left the process yet.
    case beforeTransaction = "before-transaction"
    /// Outputs and rows are acknowledged; offsets and positions are not sent.
    case midTransaction = "mid-transaction"
    /// Everything is sent except the request to commit.
    case beforeCommit = "before-commit"
    /// The broker has committed. A failure here loses its answer.
    case commitSent = "commit-sent"
    /// Before a producer is opened: at the start, and as the first step of recovery.
    case producerOpen = "producer-open"
    /// Before a changelog is read: for a restore, or to look up what was committed.
    case restoreRead = "restore-read"
    /// Before a task's store is opened.
    case storeOpen = "store-open"
    /// Before committed or restored rows are written to a store.
    case storeWrite = "store-write"
    /// Effects were performed, and the transaction with their replies has not begun.
    case effectSent = "effect-sent"
  }

  /// The action at a fail-point.
  enum FailAction: Equatable {
    /// The process kills itself, as `kill -9` does.
    case die
    /// The thread stalls for this many milliseconds.
    case stall(Milliseconds)
    /// The call fails, as if a broker or disk had refused it.
    case fail
  }
#endif

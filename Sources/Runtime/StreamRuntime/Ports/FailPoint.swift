#if DEBUG
  import NudgeSchema

  /// A named place in a stream thread where a debug build can die, stall or fail: at least one for each row of the crash table
  /// (docs/architecture.md, Crashes). `NUDGE_FAIL_POINTS` uses the names.
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
    /// Before the transaction with replies to effects begins.
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

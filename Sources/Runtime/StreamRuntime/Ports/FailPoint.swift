#if DEBUG
  import NudgeSchema

  /// A named place of a stream thread's work where a process can be told to die, stall or fail: one or more for each row
  /// of the crash table (docs/architecture.md, Crashes). The names are what `NUDGE_FAIL_POINTS` has.
  enum FailPoint: String, CaseIterable {
    /// A transaction is about to begin. Before that, nothing of what was processed is outside the process.
    case beforeTransaction = "before-transaction"
    /// Outputs and rows are acknowledged; offsets and positions are not sent.
    case midTransaction = "mid-transaction"
    /// All is sent but the request to commit.
    case beforeCommit = "before-commit"
    /// The broker has committed, and nobody here knows: to fail here is to lose the answer.
    case commitSent = "commit-sent"
    /// A producer is about to be opened: at the start, and as the first step of the recovery from a failure.
    case producerOpen = "producer-open"
    /// A changelog is about to be read: for a restore, or to find out what was committed.
    case restoreRead = "restore-read"
    /// A task's store is about to be opened.
    case storeOpen = "store-open"
    /// Committed rows, or restored ones, are about to be written to a store.
    case storeWrite = "store-write"
    /// Answers to effects have come, and the transaction that would record them is about to begin.
    case effectSent = "effect-sent"
  }

  /// What happens where a fail-point is reached.
  enum FailAction: Equatable {
    /// The process kills itself, as `kill -9` would.
    case die
    /// The thread that came there stands still for so many milliseconds; then all goes on.
    case stall(Milliseconds)
    /// The call fails, as the real one does when a broker or a disk refuses.
    case fail
  }
#endif

import NudgeSchema

/// A thread's present commit: from the sealing of a transaction until it is known to be committed.
enum Commit {
  /// Nothing is sealed.
  case none
  /// Kafka has the content since a time of the steady clock, and its outcome has not come.
  case inFlight(Content, since: Milliseconds)
  /// It failed, or its outcome is unknown. The same content is committed again where the changelogs do not have it.
  case failed(Content)

  struct Content {
    var transaction: SealedTransaction
    /// The size of the work in it.
    let work: PendingWork
  }
}

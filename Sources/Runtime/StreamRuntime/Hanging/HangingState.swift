/// The hanging transactions of a stage.
public struct HangingState: Sendable, Equatable {
  /// Transactions whose decision is known. They can be ended, or were.
  public var transactions: [EndedTransaction]
  /// Open transactions whose decision is not in the coordinator's log, as `topic-partition of producer ID`. They are left alone, because
  /// a wrong marker cannot be undone.
  public var unexplained: [String]

  init(_ look: HangingTransactions.Look) {
    transactions = HangingTransactions.transactions(look.found)
    unexplained = look.unexplained.map(HangingTransactions.shown)
  }
}

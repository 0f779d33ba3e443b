/// Transactions of a stage that hang.
public struct HangingState: Sendable, Equatable {
  /// Those of which it is known how they were decided: to be ended so, or ended.
  public var transactions: [EndedTransaction]
  /// Where a transaction is open of which the coordinator's log does not say how it was decided, `topic-partition of producer
  /// ID`. Nothing is done about them: a marker with the wrong result cannot be taken back.
  public var unexplained: [String]

  init(_ look: HangingTransactions.Look) {
    transactions = HangingTransactions.transactions(look.found)
    unexplained = look.unexplained.map(HangingTransactions.shown)
  }
}

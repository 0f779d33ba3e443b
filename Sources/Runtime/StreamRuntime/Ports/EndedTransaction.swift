/// A transaction that was decided, whose markers a broker had left out on some partitions, and that was ended there as it was
/// decided.
public struct EndedTransaction: Sendable, Equatable, Encodable {
  /// Whose it was.
  public var transactionalID: String
  /// How it was decided.
  public var isCommit: Bool
  /// The partitions without a marker, as `topic-partition`, sorted.
  public var partitions: [String]

  private enum CodingKeys: String, CodingKey {
    case transactionalID = "transactionalId"
    case isCommit = "commit"
    case partitions
  }
}

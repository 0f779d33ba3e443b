/// A hanging transaction whose missing markers were written, as it was decided.
public struct EndedTransaction: Sendable, Equatable, Encodable {
  /// The producer's transactional id.
  public var transactionalID: String
  /// Whether it was committed, or aborted.
  public var isCommit: Bool
  /// The partitions without a marker, as `topic-partition`, sorted.
  public var partitions: [String]

  private enum CodingKeys: String, CodingKey {
    case transactionalID = "transactionalId"
    case isCommit = "commit"
    case partitions
  }
}

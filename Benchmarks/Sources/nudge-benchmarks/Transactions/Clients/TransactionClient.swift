/// A client whose transactions are compared. All commit the same: records, then the offsets of the first topic's partitions among
/// those written, alternating between two transactional ids.
protocol TransactionClient: AnyObject {
  var name: String { get }
  /// Commits this many transactions, one after the other.
  func run(_ shape: TransactionShape, transactions: Int) throws -> TransactionRun
  func close()
}

/// How many partitions a transaction touches, and how many records go to all of them together.
struct TransactionShape: CustomStringConvertible {
  var partitions: Int
  var records: Int

  var description: String { "\(partitions) partition\(partitions == 1 ? "" : "s"), \(records) records" }

  struct Place {
    var topic: Int
    var partition: Int32
    var records: Int
  }

  /// The partitions that a transaction writes: partition 0 of each topic, then partition 1, and so on, with records spread evenly.
  /// `touch_loop.c` and `TouchTransactions.java` do the same.
  func places(topicCount: Int) -> [Place] {
    (0..<partitions).map {
      Place(
        topic: $0 % topicCount, partition: Int32($0 / topicCount),
        records: records / partitions + ($0 < records % partitions ? 1 : 0))
    }
  }
}

/// The cost of transactions.
struct TransactionRun {
  /// Milliseconds of each, from its beginning to the end of its commit.
  var latencies: [Double]
  /// CPU seconds of the client's process, all threads.
  var cpuSeconds: Double
}

/// The settings that all clients share.
struct TransactionTarget {
  let bootstrapServers: String
  let topics: [String]
  let group: String
  /// The group member that commits offsets.
  let member: String
  let generation: Int32
  /// Bytes of a record's value.
  let recordBytes: Int
}

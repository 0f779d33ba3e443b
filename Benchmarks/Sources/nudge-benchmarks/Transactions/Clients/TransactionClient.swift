/// One of the clients whose transactions are compared. Each commits the same: the records, then the offsets of the first
/// topic's partitions among those touched, by two transactional ids in turn.
protocol TransactionClient: AnyObject {
  static var name: String { get }
  /// Commits so many transactions, one after the other.
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

  /// The first so many partitions, one topic after the other of each number; the records are spread evenly. `touch_loop.c`
  /// and `TouchTransactions.java` do the same.
  func places(topicCount: Int) -> [Place] {
    (0..<partitions).map {
      Place(
        topic: $0 % topicCount, partition: Int32($0 / topicCount),
        records: records / partitions + ($0 < records % partitions ? 1 : 0))
    }
  }
}

/// What transactions took.
struct TransactionRun {
  /// Milliseconds of each, from its beginning to the end of its commit.
  var latencies: [Double]
  /// Of the client's process, all threads.
  var cpuSeconds: Double
}

/// What all clients have in common.
struct TransactionTarget {
  let bootstrapServers: String
  let topics: [String]
  let group: String
  /// Who commits the group's offsets.
  let member: String
  let generation: Int32
  /// Of a record's value.
  let recordBytes: Int
}

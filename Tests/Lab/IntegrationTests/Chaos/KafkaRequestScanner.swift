/// One of the two brokers that a service of a group needs besides the leaders of its partitions.
enum KafkaCoordinator: Equatable, Sendable {
  /// Of the group: members and their offsets.
  case group
  /// Of the transactions.
  case transactions

  /// The requests that it alone answers, by their numbers in Kafka's protocol.
  var requests: Set<Int16> {
    switch self {
    // OffsetCommit, OffsetFetch, JoinGroup, Heartbeat, LeaveGroup, SyncGroup, TxnOffsetCommit.
    case .group: [8, 9, 11, 12, 13, 14, 28]
    // InitProducerId, AddPartitionsToTxn, AddOffsetsToTxn, EndTxn.
    case .transactions: [22, 24, 25, 26]
    }
  }
}

/// Finds where requests begin in the bytes that a client sends to a broker: each has its length (4 bytes), and then its kind
/// (2 bytes).
struct KafkaRequestScanner {
  /// The first bytes of a request whose kind is not known yet.
  private var head: [UInt8] = []
  /// How many bytes of the present request are still to come.
  private var remaining = 0

  /// Takes the next bytes, all of them.
  ///
  /// - Returns: where a request begins that only `coordinator` answers, counted in these bytes: the first one's place. 0 where
  ///   it began with bytes before, which have passed: a broker waits for the rest of a request. Nil where there is none.
  mutating func scan(_ bytes: [UInt8], for coordinator: KafkaCoordinator?) -> Int? {
    let wanted = coordinator?.requests ?? []
    var found: Int?
    var index = 0
    while index < bytes.count {
      if remaining > 0 {
        let step = min(remaining, bytes.count - index)
        remaining -= step
        index += step
        continue
      }
      let start = index - head.count
      let missing = min(6 - head.count, bytes.count - index)
      head += bytes[index..<index + missing]
      index += missing
      guard head.count == 6 else { break }
      let length = head[0..<4].reduce(0) { ($0 << 8) | Int($1) }
      if found == nil, wanted.contains(Int16(head[4]) * 256 + Int16(head[5])) { found = max(0, start) }
      // The kind's two bytes are the first of the length.
      remaining = max(0, length - 2)
      head = []
    }
    return found
  }
}

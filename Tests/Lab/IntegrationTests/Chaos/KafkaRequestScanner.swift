/// A coordinator that a service needs besides the leaders of its partitions.
enum KafkaCoordinator: Equatable, Sendable {
  /// The group's: members and offsets.
  case group
  /// The transactions'.
  case transactions

  /// The API keys of requests that only this coordinator answers.
  var requests: Set<Int16> {
    switch self {
    // OffsetCommit, OffsetFetch, JoinGroup, Heartbeat, LeaveGroup, SyncGroup, TxnOffsetCommit.
    case .group: [8, 9, 11, 12, 13, 14, 28]
    // InitProducerId, AddPartitionsToTxn, AddOffsetsToTxn, EndTxn.
    case .transactions: [22, 24, 25, 26]
    }
  }
}

/// Finds requests in the bytes that a client sends to a broker. Each begins with its length (4 bytes) and API key (2 bytes).
struct KafkaRequestScanner {
  /// The first bytes of a request whose API key is not complete.
  private var head: [UInt8] = []
  /// Bytes of the current request still to come.
  private var remaining = 0

  /// Scans the next bytes.
  ///
  /// - Returns: the index in these bytes of the first request that only `coordinator` answers. 0 if it began in earlier bytes, which
  ///   have passed: a broker waits for the rest of a request. Nil if there is no such request.
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
      // The length does not include its own four bytes.
      remaining = max(0, length - 2)
      head = []
    }
    return found
  }
}

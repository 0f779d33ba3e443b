/// What the transaction coordinator has decided, read from its log: the topic `__transaction_state`, whose partition is
/// found by the transactional id. There it says, before any marker is written, how a transaction ends and on which
/// partitions. (Formats: `TransactionLogKey.json`, `TransactionLogValue.json`, versions 0 and 1, of Apache Kafka.)
enum TransactionLog {
  /// The topic.
  static let topic = "__transaction_state"

  /// The coordinator's partition of a transactional id: Java's `String.hashCode`, made positive.
  static func partition(of transactionalID: String, count: Int32) -> Int32 {
    var hash: Int32 = 0
    for unit in transactionalID.utf16 { hash = hash &* 31 &+ Int32(unit) }
    return hash == .min ? 0 : abs(hash) % count
  }

  /// A transaction whose end was decided.
  struct Decision: Equatable {
    var isCommit: Bool
    /// All that were part of it.
    var partitions: [Partition]
  }

  /// A partition that was part of a transaction.
  struct Partition: Hashable {
    var topic: String
    var partition: Int32
  }

  /// The transactional id of a record's key; nil where it is of a kind not known here.
  static func transactionalID(key: [UInt8]) -> String? {
    var reader = Reader(bytes: key[...])
    guard reader.int16() == 0, let length = reader.int16(), length >= 0 else { return nil }
    return reader.text(Int(length))
  }

  /// The decision a record's value says; nil where it says something else, or is of a version not known here.
  static func decision(value: [UInt8]) -> Decision? {
    var reader = Reader(bytes: value[...])
    guard let version = reader.int16(), version == 0 || version == 1 else { return nil }
    let isFlexible = version == 1
    // The producer's id, its epoch and its time-out.
    guard reader.skip(8 + 2 + 4), let status = reader.byte() else { return nil }
    let isCommit: Bool
    switch status {
    case 2: isCommit = true  // PrepareCommit
    case 3: isCommit = false  // PrepareAbort
    default: return nil
    }
    guard let topics = reader.count(isFlexible) else { return nil }
    var partitions: [Partition] = []
    for _ in 0..<topics {
      guard let length = isFlexible ? reader.count(true) : reader.int16().map(Int.init), length >= 0,
        let topic = reader.text(length), let count = reader.count(isFlexible)
      else { return nil }
      for _ in 0..<count {
        guard let partition = reader.int32() else { return nil }
        partitions.append(Partition(topic: topic, partition: partition))
      }
      if isFlexible, !reader.skipTaggedFields() { return nil }
    }
    return Decision(isCommit: isCommit, partitions: partitions)
  }

  /// Reads Kafka's primitive types; nil where the bytes end.
  private struct Reader {
    var bytes: ArraySlice<UInt8>

    mutating func byte() -> UInt8? { bytes.popFirst() }

    mutating func skip(_ count: Int) -> Bool {
      guard count >= 0, bytes.count >= count else { return false }
      bytes.removeFirst(count)
      return true
    }

    private mutating func bigEndian(_ count: Int) -> UInt64? {
      guard bytes.count >= count else { return nil }
      var value: UInt64 = 0
      for _ in 0..<count { value = value << 8 | UInt64(bytes.removeFirst()) }
      return value
    }

    mutating func int16() -> Int16? { bigEndian(2).map { Int16(truncatingIfNeeded: $0) } }
    mutating func int32() -> Int32? { bigEndian(4).map { Int32(truncatingIfNeeded: $0) } }

    private mutating func varint() -> Int? {
      var value = 0
      var shift = 0
      while shift < 35, let byte = byte() {
        value |= Int(byte & 0x7f) << shift
        if byte < 0x80 { return value }
        shift += 7
      }
      return nil
    }

    /// A length: in flexible versions one more than it is, 0 for null.
    mutating func count(_ isFlexible: Bool) -> Int? {
      guard isFlexible else { return int32().map { max(0, Int($0)) } }
      return varint().map { max(0, $0 - 1) }
    }

    mutating func text(_ length: Int) -> String? {
      guard length >= 0, bytes.count >= length else { return nil }
      defer { bytes.removeFirst(length) }
      return String(decoding: bytes.prefix(length), as: UTF8.self)
    }

    mutating func skipTaggedFields() -> Bool {
      guard let count = varint() else { return false }
      for _ in 0..<count {
        guard varint() != nil, let size = varint(), skip(size) else { return false }
      }
      return true
    }
  }
}

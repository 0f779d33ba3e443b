/// What the transaction coordinator has noted of one transactional id, read from its log, the topic `__transaction_state`.
/// There it says, before any marker is written, how a transaction ends and on which
/// partitions, and when it takes that to be done. (Formats: `TransactionLogKey.json`, `TransactionLogValue.json`, versions 0
/// and 1, of Apache Kafka.)
struct TransactionLog {
  /// The topic.
  static let topic = "__transaction_state"

  /// The transactional id of a record's key; nil where it is of a kind not known here.
  static func transactionalID(key: [UInt8]) -> String? {
    var reader = Reader(bytes: key[...])
    guard reader.int16() == 0, let length = reader.int16(), length >= 0 else { return nil }
    return reader.text(Int(length))
  }

  /// A partition that was part of a transaction.
  struct Place: Hashable {
    var topic: String
    var partition: Int32
  }

  /// A state that the coordinator noted.
  struct Entry: Equatable {
    enum Status: Int8 {
      case empty = 0
      case ongoing
      case prepareCommit
      case prepareAbort
      case completeCommit
      case completeAbort
      case dead
      case prepareEpochFence
    }
    var producerID: Int64
    var epoch: Int16
    var status: Status
    /// All that are part of the transaction; not with every status.
    var places: Set<Place>
  }

  /// In the order they were noted in.
  private(set) var entries: [Entry] = []

  init(_ entries: [Entry] = []) { self.entries = entries }

  /// The next record of the id. One that is not understood takes away all that was known: nothing is concluded from a log
  /// with holes.
  mutating func read(value: [UInt8]?) {
    if let value, let entry = Self.entry(value: value) { entries.append(entry) } else { entries = [] }
  }

  /// What is known of the transaction that a producer has open in a partition.
  enum Finding: Equatable {
    /// The coordinator takes it for complete: the marker that is missing does not come. It was to be a commit, or an abort.
    case leftOut(isCommit: Bool)
    /// It goes on, or is being ended.
    case underWay
    /// The log does not say.
    case unknown
  }

  /// With transactions of version 2 every transaction has an epoch of its own, and the record of its decision a higher one,
  /// which is that of the next transaction at most. So of a producer the first decision behind its epoch is that of the
  /// transaction; that the epoch itself is in the log before shows that none is missing in between.
  func finding(of place: Place, producerID: Int64, epoch: Int16) -> Finding {
    guard let begin = entries.firstIndex(where: { $0.producerID == producerID && $0.epoch == epoch }) else {
      return .unknown
    }
    let later = entries[begin...]
    guard
      let decided = later.firstIndex(where: {
        $0.producerID == producerID && $0.epoch > epoch && ($0.status == .prepareCommit || $0.status == .prepareAbort)
      })
    else {
      // A later epoch without a decision between would be something that is not known here.
      return later.allSatisfy { $0.producerID == producerID && $0.epoch == epoch } ? .underWay : .unknown
    }
    guard entries[decided].places.contains(place) else { return .unknown }
    guard decided + 1 < entries.count else { return .underWay }
    switch (entries[decided].status, entries[decided + 1].status) {
    case (.prepareCommit, .completeCommit): return .leftOut(isCommit: true)
    case (.prepareAbort, .completeAbort): return .leftOut(isCommit: false)
    default: return .unknown
    }
  }

  private static func entry(value: [UInt8]) -> Entry? {
    var reader = Reader(bytes: value[...])
    guard let version = reader.int16(), version == 0 || version == 1 else { return nil }
    let isFlexible = version == 1
    guard let producerID = reader.int64(), let epoch = reader.int16(), reader.int32() != nil,
      let status = reader.int8().flatMap(Entry.Status.init(rawValue:)), let topics = reader.count(isFlexible)
    else { return nil }
    var places: Set<Place> = []
    for _ in 0..<topics {
      guard let length = isFlexible ? reader.count(true) : reader.int16().map(Int.init), length >= 0,
        let topic = reader.text(length), let count = reader.count(isFlexible)
      else { return nil }
      for _ in 0..<count {
        guard let partition = reader.int32() else { return nil }
        places.insert(Place(topic: topic, partition: partition))
      }
      if isFlexible, !reader.skipTaggedFields() { return nil }
    }
    return Entry(producerID: producerID, epoch: epoch, status: status, places: places)
  }

  /// Reads Kafka's primitive types; nil where the bytes end.
  private struct Reader {
    var bytes: ArraySlice<UInt8>

    private mutating func bigEndian(_ count: Int) -> UInt64? {
      guard bytes.count >= count else { return nil }
      var value: UInt64 = 0
      for _ in 0..<count { value = value << 8 | UInt64(bytes.removeFirst()) }
      return value
    }

    mutating func int8() -> Int8? { bigEndian(1).map { Int8(truncatingIfNeeded: $0) } }
    mutating func int16() -> Int16? { bigEndian(2).map { Int16(truncatingIfNeeded: $0) } }
    mutating func int32() -> Int32? { bigEndian(4).map { Int32(truncatingIfNeeded: $0) } }
    mutating func int64() -> Int64? { bigEndian(8).map { Int64(truncatingIfNeeded: $0) } }

    private mutating func varint() -> Int? {
      var value = 0
      var shift = 0
      while shift < 35, let byte = bytes.popFirst() {
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
        guard varint() != nil, let size = varint(), size <= bytes.count else { return false }
        bytes.removeFirst(size)
      }
      return true
    }
  }
}

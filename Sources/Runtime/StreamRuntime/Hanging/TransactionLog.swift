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
    /// The version of transactions; 0 where the record does not say.
    var version: Int16 = 0
    /// The producer id that follows when this one's epochs are used up; nil in most records.
    var nextProducerID: Int64?

    var isDecision: Bool { status == .prepareCommit || status == .prepareAbort }
  }

  /// In the order they were noted in.
  private(set) var entries: [Entry] = []

  init(_ entries: [Entry] = []) { self.entries = entries }

  /// The next record of the id. One that is not understood takes away all that was known: nothing is concluded from a log
  /// with holes.
  ///
  /// - Parameter keepsPlaces: whether the partitions of an entry matter.
  mutating func read(value: [UInt8]?, keepsPlaces: (Entry) -> Bool = { _ in true }) {
    guard let value, var entry = Self.entry(value: value) else {
      entries = []
      return
    }
    if !keepsPlaces(entry) { entry.places = [] }
    entries.append(entry)
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

  /// With transactions of version 2 every transaction has an epoch of its own, and the record of its decision the one above,
  /// whoever decides: the client, the coordinator after the transaction's time-out, or a new holder of the id (Apache Kafka
  /// 4.3.1: `TransactionLogTests` has the records). So that record is about this transaction and no other, also where records
  /// between are missing. All that is around it in the log must fit nevertheless: a marker with the wrong result cannot be
  /// taken back.
  func finding(of place: Place, producerID: Int64, epoch: Int16) -> Finding {
    func isOngoing(_ entry: Entry) -> Bool {
      entry.status == .ongoing && entry.producerID == producerID && entry.epoch == epoch && entry.version >= 2
        && entry.places.contains(place)
    }
    guard let last = entries.last, epoch < .max else { return .unknown }
    // In version 1 many transactions have the same epoch, and the one that a new holder aborts is decided in version 2.
    let isOfOneTransaction = entries.allSatisfy {
      $0.producerID != producerID || $0.epoch != epoch || $0.status == .empty || $0.version >= 2
    }
    guard isOfOneTransaction else { return .unknown }
    let decisions = entries.indices.filter {
      entries[$0].producerID == producerID && entries[$0].epoch == epoch + 1 && entries[$0].isDecision
    }
    guard let index = decisions.first else { return isOngoing(last) ? .underWay : .unknown }
    let decision = entries[index]
    guard decisions.count == 1, decision.version >= 2, decision.places.contains(place) else { return .unknown }
    guard index > 0, isOngoing(entries[index - 1]) else { return .unknown }
    // The coordinator is still writing markers.
    guard index + 1 < entries.count else { return .underWay }
    let end = entries[index + 1]
    let isSameID = end.producerID == producerID && end.epoch == decision.epoch
    let isNextID = end.producerID == decision.nextProducerID && end.epoch == 0
    guard isSameID || isNextID else { return .unknown }
    switch (decision.status, end.status) {
    case (.prepareCommit, .completeCommit): return .leftOut(isCommit: true)
    case (.prepareAbort, .completeAbort): return .leftOut(isCommit: false)
    default: return .unknown
    }
  }

  /// The partition of the log that has an id's records.
  static func partition(of transactionalID: String, count: Int) -> Int32 {
    // Java's hash of a string.
    let hash = transactionalID.utf16.reduce(Int32(0)) { $0 &* 31 &+ Int32($1) }
    return hash == .min ? 0 : Int32(Int(abs(hash)) % count)
  }

  /// The producer id in a record's value; nil where there is none, or it is of a kind not known here.
  static func producerID(value: [UInt8]?) -> Int64? {
    guard let value else { return nil }
    var reader = Reader(bytes: value[...])
    guard let version = reader.int16(), version == 0 || version == 1 else { return nil }
    return reader.int64()
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
      if isFlexible, reader.taggedFields() == nil { return nil }
    }
    // When it was updated last, and when it began.
    guard reader.int64() != nil, reader.int64() != nil else { return nil }
    var entry = Entry(producerID: producerID, epoch: epoch, status: status, places: places)
    guard isFlexible else { return entry }
    guard let tagged = reader.taggedFields() else { return nil }
    if let bytes = tagged[1] {
      var field = Reader(bytes: bytes)
      guard let next = field.int64() else { return nil }
      if next >= 0 { entry.nextProducerID = next }
    }
    if let bytes = tagged[2] {
      var field = Reader(bytes: bytes)
      guard let version = field.int16() else { return nil }
      entry.version = version
    }
    return entry
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

    /// By their tags.
    mutating func taggedFields() -> [Int: ArraySlice<UInt8>]? {
      guard let count = varint() else { return nil }
      var fields: [Int: ArraySlice<UInt8>] = [:]
      for _ in 0..<count {
        guard let tag = varint(), let size = varint(), size >= 0, size <= bytes.count else { return nil }
        fields[tag] = bytes.prefix(size)
        bytes.removeFirst(size)
      }
      return fields
    }
  }
}

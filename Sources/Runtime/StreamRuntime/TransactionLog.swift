/// The transaction coordinator's log of one transactional id, from the topic `__transaction_state`.
///
/// The coordinator logs the decision and the partitions of a transaction before it writes markers. It logs again when it considers the
/// transaction complete. (Formats: `TransactionLogKey.json` and `TransactionLogValue.json` of Apache Kafka, versions 0 and 1.)
struct TransactionLog {
  static let topic = "__transaction_state"

  /// The transactional id of a record's key. Absent if the key has an unknown format.
  static func transactionalID(key: [UInt8]) -> String? {
    var reader = Reader(bytes: key[...])
    guard reader.int16() == 0, let length = reader.int16(), length >= 0 else { return nil }
    return reader.text(Int(length))
  }

  /// A partition in a transaction.
  struct Place: Hashable {
    var topic: String
    var partition: Int32
  }

  /// A logged state of a transaction.
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
    /// The partitions of the transaction. Not every status has them.
    var places: Set<Place>
    /// The transaction version. 0 if the record has none.
    var version: Int16 = 0
    /// The next producer id, when the present one's epochs are used up. Absent in most records.
    var nextProducerID: Int64?

    var isDecision: Bool { status == .prepareCommit || status == .prepareAbort }
  }

  /// The entries in the order of the log.
  private(set) var entries: [Entry] = []

  init(_ entries: [Entry] = []) { self.entries = entries }

  /// Reads the next record of the id. An unreadable record clears all entries, because a log with holes proves nothing.
  ///
  /// - Parameter keepsPlaces: Returns whether the partitions of an entry are needed.
  mutating func read(value: [UInt8]?, keepsPlaces: (Entry) -> Bool = { _ in true }) {
    guard let value, var entry = Self.entry(value: value) else {
      entries = []
      return
    }
    if !keepsPlaces(entry) { entry.places = [] }
    entries.append(entry)
  }

  /// The state of a transaction that is open in a partition.
  enum Finding: Equatable {
    /// The coordinator considers it complete and will not write the missing marker.
    case leftOut(isCommit: Bool)
    /// It is open, or its markers are being written.
    case ongoing
    /// The log does not show its state.
    case unknown
  }

  /// Looks up the decision of an open transaction.
  ///
  /// With version 2 every transaction has its own epoch, and its decision is logged with the next epoch, whether the client, the
  /// transaction time-out or a new producer decides (Apache Kafka 4.3.1; `TransactionLogTests` has records). The record therefore belongs
  /// to this transaction even if records in between are missing. The surrounding records must be consistent too, because a wrong marker
  /// cannot be undone.
  ///
  /// In version 1 a commit is logged with the transaction's own epoch, and an abort by the coordinator with the next one. Nudge takes a new
  /// epoch for each transaction. The log shows that by a first record of the epoch that has no transaction yet, and by one decision.
  func finding(of place: Place, producerID: Int64, epoch: Int16) -> Finding {
    let own = entries.filter { $0.producerID == producerID && $0.epoch == epoch && $0.status != .empty }
    let isFormer = own.contains { $0.version < 2 }
    func isOngoing(_ entry: Entry) -> Bool {
      entry.status == .ongoing && entry.producerID == producerID && entry.epoch == epoch
        && (entry.version < 2) == isFormer && entry.places.contains(place)
    }
    guard let last = entries.last, epoch < .max else { return .unknown }
    // A transaction of version 1 that a new producer aborts may be decided in version 2, by other epochs.
    guard own.allSatisfy({ ($0.version < 2) == isFormer }) else { return .unknown }
    if isFormer, !isAlone(producerID, epoch) { return .unknown }
    let decisions = entries.indices.filter {
      guard entries[$0].producerID == producerID, entries[$0].isDecision else { return false }
      guard isFormer else { return entries[$0].epoch == epoch + 1 }
      return entries[$0].epoch == epoch || (entries[$0].epoch == epoch + 1 && entries[$0].status == .prepareAbort)
    }
    guard let index = decisions.first else { return isOngoing(last) ? .ongoing : .unknown }
    let decision = entries[index]
    guard decisions.count == 1, (decision.version < 2) == isFormer, decision.places.contains(place) else {
      return .unknown
    }
    guard index > 0, isOngoing(entries[index - 1]) else { return .unknown }
    // The coordinator is still writing markers.
    guard index + 1 < entries.count else { return .ongoing }
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

  /// Whether the log shows that only one transaction of version 1 has had the epoch: its first record is of the epoch's beginning, and
  /// after its decision no transaction of the epoch begins.
  private func isAlone(_ producerID: Int64, _ epoch: Int16) -> Bool {
    let statuses = entries.filter { $0.producerID == producerID && $0.epoch == epoch }.map(\.status)
    guard statuses.first == .empty, let decided = statuses.firstIndex(where: { $0 != .empty && $0 != .ongoing }) else {
      return statuses.first == .empty
    }
    return !statuses[decided...].contains { $0 == .ongoing || $0 == .empty }
  }

  /// The partition of the log with an id's records.
  static func partition(of transactionalID: String, count: Int) -> Int32 {
    // Java's hash of a string.
    let hash = transactionalID.utf16.reduce(Int32(0)) { $0 &* 31 &+ Int32($1) }
    return hash == .min ? 0 : Int32(Int(abs(hash)) % count)
  }

  /// The producer id in a record's value. Absent if there is none or the format is unknown.
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
    // The times of the last update and of the beginning.
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

  /// Reads Kafka's primitive types. Each read returns nil at the end of the bytes.
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

    /// A length. Flexible versions encode it plus one, and null as 0.
    mutating func count(_ isFlexible: Bool) -> Int? {
      guard isFlexible else { return int32().map { max(0, Int($0)) } }
      return varint().map { max(0, $0 - 1) }
    }

    mutating func text(_ length: Int) -> String? {
      guard length >= 0, bytes.count >= length else { return nil }
      defer { bytes.removeFirst(length) }
      return String(decoding: bytes.prefix(length), as: UTF8.self)
    }

    /// Tagged fields by tag.
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

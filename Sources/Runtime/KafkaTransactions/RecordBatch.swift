internal import CCRC32C
internal import CLZ4

/// Encoded records of one partition (record batch format v2), all with the same timestamp. Producer and sequence are filled in when the
/// batch is sent.
struct RecordBatch {
  /// The size of the header in bytes.
  static let headerSize = 61
  /// Offsets of the header's fields.
  private enum Field {
    static let length = 8
    static let crc = 17
    static let attributes = 21
    static let lastOffsetDelta = 23
    static let producerID = 43
    static let producerEpoch = 51
    static let baseSequence = 53
    static let count = 57
  }
  /// Whether the batch is transactional, and, in the three lowest bits, the compression of the records.
  private let attributes: Int16
  /// The size in bytes below which batches are not compressed.
  private static let leastCompressed = 128

  /// The header, without the fields that are known only when the batch is sent, and the records.
  private var bytes: [UInt8]
  private(set) var count = 0

  init(timestamp: Int64, isTransactional: Bool = true) {
    attributes = isTransactional ? 0x10 : 0
    bytes = []
    reset(timestamp: timestamp)
  }

  var size: Int { bytes.count }

  /// Empties the batch and keeps its memory.
  mutating func reset(timestamp: Int64) {
    count = 0
    bytes.removeAll(keepingCapacity: true)
    bytes.reserveCapacity(1024)
    var header = WireWriter(reserving: Self.headerSize)
    header.int64(0)  // base offset: set by the broker
    header.int32(0)  // length
    header.int32(-1)  // partition leader epoch: set by the broker
    header.int8(2)  // format
    header.int32(0)  // CRC
    header.int16(attributes)
    header.int32(0)  // last offset delta
    header.int64(timestamp)  // of the first record
    header.int64(timestamp)  // the largest
    header.int64(-1)  // producer's id
    header.int16(-1)  // epoch
    header.int32(-1)  // sequence
    header.int32(0)  // records
    bytes.append(contentsOf: header.bytes)
  }

  /// The greatest encoded size of a record in bytes.
  static func size(key: Int, value: Int, headers: Int) -> Int { key + value + headers + 48 }

  mutating func append(key: [UInt8]?, value: [UInt8]?, headers: [(name: String, value: [UInt8]?)]) {
    var size = 1 + 1 + zigzagSize(Int64(count))
    size += key.map { zigzagSize(Int64($0.count)) + $0.count } ?? 1
    size += value.map { zigzagSize(Int64($0.count)) + $0.count } ?? 1
    size += zigzagSize(Int64(headers.count))
    for header in headers {
      let name = header.name.utf8.count
      size += zigzagSize(Int64(name)) + name
      size += header.value.map { zigzagSize(Int64($0.count)) + $0.count } ?? 1
    }
    bytes.appendZigzag(Int64(size))
    bytes.append(0)  // attributes
    bytes.append(0)  // timestamp delta
    bytes.appendZigzag(Int64(count))
    Self.append(key, to: &bytes)
    Self.append(value, to: &bytes)
    bytes.appendZigzag(Int64(headers.count))
    for header in headers {
      let name = header.name.utf8
      bytes.appendZigzag(Int64(name.count))
      bytes.append(contentsOf: name)
      Self.append(header.value, to: &bytes)
    }
    count += 1
  }

  private static func append(_ value: [UInt8]?, to bytes: inout [UInt8]) {
    guard let value else { return bytes.appendZigzag(-1) }
    bytes.appendZigzag(Int64(value.count))
    bytes.append(contentsOf: value)
  }

  /// The greatest number of bytes that `seal` appends.
  func sealedBound(_ compression: Compression) -> Int {
    compression == .lz4
      ? Self.headerSize + max(bytes.count, nudge_lz4_bound(bytes.count - Self.headerSize)) : bytes.count
  }

  /// Appends the complete batch to a request. Records that compression does not shrink stay uncompressed.
  func seal(into request: inout [UInt8], producer: ProducerIdentity, sequence: Int32, compression: Compression) {
    let start = request.count
    if let records = compress(compression) {
      request.append(contentsOf: bytes[..<Self.headerSize])
      request.append(contentsOf: records)
      request.store(attributes | compression.rawValue, at: start + Field.attributes)
    } else {
      request.append(contentsOf: bytes)
    }
    request.store(Int32(request.count - start - 12), at: start + Field.length)
    request.store(Int32(max(0, count - 1)), at: start + Field.lastOffsetDelta)
    request.store(producer.id, at: start + Field.producerID)
    request.store(producer.epoch, at: start + Field.producerEpoch)
    request.store(sequence, at: start + Field.baseSequence)
    request.store(Int32(count), at: start + Field.count)
    let crc = request.withUnsafeBytes { request in
      nudge_crc32c(0, request.baseAddress! + start + Field.attributes, request.count - start - Field.attributes)
    }
    request.store(crc, at: start + Field.crc)
  }

  /// The compressed records. Absent if the records stay uncompressed.
  private func compress(_ compression: Compression) -> [UInt8]? {
    let length = bytes.count - Self.headerSize
    guard compression == .lz4, length >= Self.leastCompressed else { return nil }
    let compressed = [UInt8](unsafeUninitializedCapacity: nudge_lz4_bound(length)) { target, count in
      count = bytes.withUnsafeBytes {
        nudge_lz4_compress(target.baseAddress, target.count, $0.baseAddress! + Self.headerSize, length)
      }
    }
    return compressed.isEmpty || compressed.count >= length ? nil : compressed
  }
}

/// The compression of a batch's records, with its number in the batch's attributes.
enum Compression: Int16, Sendable {
  case none = 0
  case lz4 = 3
}

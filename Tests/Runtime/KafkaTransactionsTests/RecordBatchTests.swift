import CCRC32C
import CLZ4
import Testing
import TestSupport

@testable import KafkaTransactions

/// A reader of record batches (format v2), written from the protocol's description and not from the writer.
struct ReadBatch: Equatable {
  struct Record: Equatable {
    var offsetDelta: Int64
    var key: [UInt8]?
    var value: [UInt8]?
    var headers: [String: [UInt8]?]
  }
  var attributes: Int16
  var producer: ProducerIdentity
  var sequence: Int32
  var timestamp: Int64
  var records: [Record]

  init(_ bytes: [UInt8]) throws {
    var reader = WireReader(bytes)
    let (baseOffset, length) = (try reader.int64(), try reader.int32())
    #expect(baseOffset == 0)
    #expect(Int(length) == bytes.count - 12)
    _ = try reader.int32()
    let format = try reader.int8()
    #expect(format == 2)
    let crc = UInt32(bitPattern: try reader.int32())
    #expect(crc == nudge_crc32c_table(0, Array(bytes[21...]), bytes.count - 21))
    attributes = try reader.int16()
    let last = try reader.int32()
    timestamp = try reader.int64()
    let largest = try reader.int64()
    #expect(largest == timestamp)
    producer = ProducerIdentity(id: try reader.int64(), epoch: try reader.int16())
    sequence = try reader.int32()
    let count = try reader.int32()
    #expect(last == count - 1)
    records = []
    if attributes & 7 == 3 { reader = WireReader(try Self.decompress(Array(bytes[61...]))) }
    func zigzag() throws -> Int64 {
      var value: UInt64 = 0
      var shift: UInt64 = 0
      while true {
        let byte = UInt8(bitPattern: try reader.int8())
        value |= UInt64(byte & 0x7f) << shift
        if byte < 0x80 { return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1) }
        shift += 7
      }
    }
    func field() throws -> [UInt8]? {
      let length = try zigzag()
      if length < 0 { return nil }
      return try (0..<length).map { _ in UInt8(bitPattern: try reader.int8()) }
    }
    for _ in 0..<count {
      let size = try zigzag()
      let before = reader.remaining
      _ = try reader.int8()
      let timestampDelta = try zigzag()
      #expect(timestampDelta == 0)
      let delta = try zigzag()
      let (key, value) = (try field(), try field())
      var headers: [String: [UInt8]?] = [:]
      for _ in 0..<(try zigzag()) {
        let name = String(decoding: try field() ?? [], as: UTF8.self)
        headers[name] = .some(try field())
      }
      #expect(Int64(before - reader.remaining) == size)
      records.append(Record(offsetDelta: delta, key: key, value: value, headers: headers))
    }
    #expect(reader.remaining == 0)
  }
}

extension ReadBatch {
  /// One LZ4 frame, by the library's decoder.
  static func decompress(_ frame: [UInt8]) throws -> [UInt8] {
    var context: OpaquePointer?
    try #require(LZ4F_isError(LZ4F_createDecompressionContext(&context, UInt32(LZ4F_VERSION))) == 0)
    defer { LZ4F_freeDecompressionContext(context) }
    var found: [UInt8] = []
    var rest = frame[...]
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while !rest.isEmpty {
      var (written, read) = (buffer.count, rest.count)
      let code = Array(rest).withUnsafeBytes {
        LZ4F_decompress(context, &buffer, &written, $0.baseAddress, &read, nil)
      }
      try #require(LZ4F_isError(code) == 0)
      found += buffer[..<written]
      rest = rest.dropFirst(read)
      if code == 0 { break }
    }
    #expect(rest.isEmpty)
    return found
  }
}

@Suite("Record batches")
struct RecordBatchTests {
  @Test(
    "any records come back, with the producer they were sent by, compressed where that makes them smaller",
    arguments: [Compression.none, .lz4])
  func anyRecords(_ compression: Compression) throws {
    var random = SeededGenerator(announcedFor: "record batches")
    for _ in 0..<30 {
      var batch = RecordBatch(timestamp: 1_700_000_000_000)
      var expected: [ReadBatch.Record] = []
      func bytes(_ most: Int) -> [UInt8]? {
        random.oneIn(4) ? nil : (0..<random.below(most)).map { _ in UInt8.random(in: .min ... .max, using: &random) }
      }
      for index in 0...random.below(100) {
        let headers = (0..<random.below(3)).map { (name: "h\($0)é", value: bytes(20)) }
        let (key, value) = (bytes(40), bytes(random.oneIn(20) ? 20_000 : 300))
        batch.append(key: key, value: value, headers: headers)
        expected.append(
          .init(
            offsetDelta: Int64(index), key: key, value: value,
            headers: Dictionary(uniqueKeysWithValues: headers.map { ($0.name, $0.value) })))
      }
      let producer = ProducerIdentity(
        id: Int64.random(in: 0...(.max), using: &random), epoch: Int16.random(in: 0...(.max), using: &random))
      var request: [UInt8] = [1, 2, 3]
      batch.seal(into: &request, producer: producer, sequence: 41, compression: compression)
      #expect(request.count <= 3 + batch.sealedBound(compression))
      #expect(request.count - 3 <= batch.size)
      let read = try ReadBatch(Array(request.dropFirst(3)))
      #expect(read.records == expected)
      #expect(read.producer == producer)
      #expect(read.sequence == 41)
      #expect(read.attributes & ~7 == 0x10)
      #expect(read.attributes & 7 == 0 || compression == .lz4)
      #expect(read.timestamp == 1_700_000_000_000)
    }
  }

  @Test("content is split into batches of the size that is allowed; a record that is larger has one of its own")
  func splitting() throws {
    var content = TransactionContent(topics: ["t"], timestamp: 1, maxBatchBytes: 10_000)
    for size in [4000, 4000, 4000, 20_000, 100, 4000] {
      content.append(topic: 0, partition: 2, key: nil, value: [UInt8](repeating: 1, count: size))
    }
    #expect(content.topics[0].partitions[0].used == 0)
    let partition = content.topics[0].partitions[2]
    #expect(partition.batches[..<partition.used].map(\.count) == [2, 1, 1, 2])
    #expect(partition.batches[..<partition.used].filter { $0.size > 10_100 }.map(\.count) == [1])
  }

  @Test("text becomes much smaller; batches that are too small to gain stay uncompressed")
  func compression() throws {
    var batch = RecordBatch(timestamp: 1)
    let value = Array(#"{"schema":1,"userId":"u-17","conversationId":"c-3","notify":true,"reason":"mentioned"}"#.utf8)
    for _ in 0..<500 { batch.append(key: [1], value: value, headers: []) }
    var bytes: [UInt8] = []
    batch.seal(into: &bytes, producer: .init(id: 1, epoch: 1), sequence: 0, compression: .lz4)
    #expect(bytes.count * 5 < batch.size)
    let read = try ReadBatch(bytes)
    #expect(read.attributes == 0x13)
    #expect(read.records.count == 500)
    #expect(read.records.allSatisfy { $0.value == value })
    batch.reset(timestamp: 1)
    batch.append(key: [1], value: [2], headers: [])
    bytes = []
    batch.seal(into: &bytes, producer: .init(id: 1, epoch: 1), sequence: 0, compression: .lz4)
    #expect(try ReadBatch(bytes).attributes == 0x10)
  }

  @Test("reset content is empty")
  func reset() throws {
    var content = TransactionContent(topics: ["t"], timestamp: 1)
    content.append(topic: 0, partition: 0, key: [1], value: [2])
    content.offsets = TransactionOffsets(
      group: "g", memberID: "m", generation: 1, instanceID: nil,
      offsets: [.init(topic: "t", partition: 0, offset: 1, metadata: "")])
    #expect(!content.isEmpty)
    content.reset(timestamp: 7)
    #expect(content.isEmpty)
    content.append(topic: 0, partition: 0, key: [3], value: nil)
    var bytes: [UInt8] = []
    content.topics[0].partitions[0].batches[0].seal(
      into: &bytes, producer: .init(id: 1, epoch: 1), sequence: 0, compression: .lz4)
    let read = try ReadBatch(bytes)
    #expect(read.timestamp == 7)
    #expect(read.records == [.init(offsetDelta: 0, key: [3], value: nil, headers: [:])])
  }
}

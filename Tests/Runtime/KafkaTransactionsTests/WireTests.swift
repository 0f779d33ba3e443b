import CCRC32C
import Testing
import TestSupport

@testable import KafkaTransactions

@Suite("The wire format")
struct WireTests {
  @Test("numbers of every size come back", arguments: [0, 1, 127, 128, 300, 16_383, 16_384, 1 << 28, Int(UInt32.max)])
  func varints(_ value: Int) throws {
    var writer = WireWriter()
    writer.unsignedVarint(value)
    #expect(writer.bytes.count == varintSize(UInt64(value)))
    var reader = WireReader(writer.bytes)
    let read = try reader.unsignedVarint()
    #expect(read == value)
    #expect(reader.remaining == 0)
  }

  @Test("a number of more than 32 bits is refused, however it goes on")
  func longVarints() {
    for bytes: [UInt8] in [[0xff, 0xff, 0xff, 0xff, 0x1f], [0x80, 0x80, 0x80, 0x80, 0x80, 0x01]] {
      var reader = WireReader(bytes)
      #expect(throws: WireError.badNumber) { try reader.unsignedVarint() }
    }
  }

  @Test("zigzag sizes match the written bytes")
  func zigzag() {
    for value: Int64 in [0, -1, 1, -64, 64, 8191, -8193, .max, .min] {
      var bytes: [UInt8] = []
      bytes.appendZigzag(value)
      #expect(bytes.count == zigzagSize(value), "\(value)")
    }
  }

  @Test("a length beyond the bytes there are allocates nothing and is refused")
  func lengths() {
    var text = WireReader([0xff, 0xff, 0xff, 0x7f, 1, 2])
    #expect(throws: WireError.truncated) { try text.nullableText() }
    var array = WireReader([0xff, 0xff, 0xff, 0xff, 0x0f, 1, 2])
    #expect(throws: WireError.badLength) { try array.array { (reader) throws(WireError) in try reader.int8() } }
    var old = WireReader([0x80, 0, 0, 0])
    #expect(throws: WireError.badLength) { try old.oldArray { (reader) throws(WireError) in try reader.int8() } }
    var negative = WireReader([0xff, 0xff, 1])
    #expect(throws: WireError.badLength) { try negative.oldText() }
  }

  @Test("tagged fields that are not known are skipped, and cannot be read past their end")
  func tags() throws {
    var reader = WireReader([2, 5, 1, 9, 7, 2, 0, 3, 42])
    var seen: [Int] = []
    try reader.tags { (tag, field) throws(WireError) in
      seen.append(tag)
      if tag == 7 {
        let value = try field.int16()
        #expect(value == 3)
        #expect(field.remaining == 0)
      }
    }
    #expect(seen == [5, 7])
    let next = try reader.int8()
    #expect(next == 42)
  }

  @Test("CRC-32C has the published value, and the instruction agrees with the table")
  func crc() {
    #expect(nudge_crc32c(0, "123456789", 9) == 0xe306_9283)
    #expect(nudge_crc32c_table(0, "123456789", 9) == 0xe306_9283)
    var random = SeededGenerator(announcedFor: "CRC-32C")
    for _ in 0..<200 {
      let bytes = (0..<random.below(300)).map { _ in UInt8.random(in: .min ... .max, using: &random) }
      let start = UInt32.random(in: .min ... .max, using: &random)
      #expect(nudge_crc32c(start, bytes, bytes.count) == nudge_crc32c_table(start, bytes, bytes.count))
    }
  }
}

import NudgeCodec
import NudgeSchema
import TestSupport
import Testing

@Suite("Packed rows")
struct RowCodingTests {
  @Test("numbers and texts come back as they were, whatever they are")
  func values() throws {
    var fields = FieldGenerator(SeededGenerator(announcedFor: "values"))
    for _ in 0..<2_000 {
      let (signed, unsigned, fixed) = (fields.integer(), UInt64(bitPattern: fields.integer()), fields.random.next())
      let (text, byte) = (fields.text(), UInt8(truncatingIfNeeded: fixed))
      var writer = RowWriter(version: 7)
      writer.signed(signed)
      writer.text(text)
      writer.unsigned(unsigned)
      writer.fixed(fixed)
      writer.byte(byte)
      writer.blob(Array(text.utf8))
      try writer.bytes.withUnsafeBytes { bytes in
        var reader = try RowReader(bytes, versions: 7...7, row: "row")
        #expect(try reader.signed() == signed)
        #expect(try reader.text().utf8.elementsEqual(text.utf8))
        #expect(try reader.unsigned() == unsigned)
        #expect(try reader.fixed() == fixed)
        #expect(!reader.isAtEnd)
        #expect(try reader.byte() == byte)
        #expect(try reader.blob() == Array(text.utf8))
        try reader.end()
      }
    }
  }

  @Test("origins come back as they were; one without a generation has the bytes that it had before there were any")
  func origins() throws {
    var fields = FieldGenerator(SeededGenerator(announcedFor: "origins"))
    for _ in 0..<2_000 {
      let origin = fields.origin()
      var writer = RowWriter(version: 1)
      origin.pack(into: &writer)
      try writer.bytes.withUnsafeBytes { bytes in
        var reader = try RowReader(bytes, versions: 1...1, row: "row")
        #expect(try Origin(packed: &reader) == origin)
        try reader.end()
        // An earlier release stops at a generation.
        var earlier = try RowReader(bytes, versions: 1...1, row: "row")
        _ = try earlier.text()
        if origin.generation == nil {
          #expect(try Int32(packed: &earlier) == origin.partition)
        } else {
          #expect(throws: RowFormatError.self) { try Int32(packed: &earlier) }
        }
      }
    }
  }

  @Test("any bytes are read or refused, never beyond their end")
  func anyBytes() {
    var random = SeededGenerator(announcedFor: "anyBytes")
    for _ in 0..<5_000 {
      let bytes = [1] + (0..<random.below(30)).map { _ in random.oneIn(3) ? 0xFF : UInt8(random.below(256)) }
      bytes.withUnsafeBytes { bytes in
        guard var reader = try? RowReader(bytes, versions: 1...1, row: "row") else { return }
        while !reader.isAtEnd {
          let wasRead: Bool
          switch random.below(6) {
          case 0: wasRead = (try? reader.text()) != nil
          case 1: wasRead = (try? reader.signed()) != nil
          case 2: wasRead = (try? reader.fixed()) != nil
          case 3: wasRead = (try? Int32(packed: &reader)) != nil
          case 4: wasRead = (try? reader.choice(of: ["a", "b"])) != nil
          default: wasRead = (try? Origin(packed: &reader)) != nil
          }
          if !wasRead { return }
        }
      }
    }
  }

  @Test("a row of another version is refused with what to do")
  func version() {
    let error = #expect(throws: RowFormatError.self) {
      try [UInt8]([2, 0]).withUnsafeBytes { _ = try RowReader($0, versions: 1...1, row: "user") }
    }
    #expect(error?.description.contains("\"user\"") == true)
    #expect(error?.description.contains("version is 2") == true)
    #expect(throws: RowFormatError.self) {
      try [UInt8]().withUnsafeBytes { _ = try RowReader($0, versions: 1...1, row: "user") }
    }
  }
}

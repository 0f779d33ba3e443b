import Foundation
import JSONCodec
import TestSupport
import Testing

@Suite("JSONCodec: writing")
struct JSONWriterTests {
  @Test("objects and arrays, empty and nested, have their commas where they belong")
  func structure() {
    let bytes = written { writer in
      writer.beginObject()
      writer.field("a", 1)
      writer.key("b")
      writer.beginArray()
      writer.beginObject()
      writer.endObject()
      writer.beginArray()
      writer.endArray()
      writer.value("{")
      writer.value("[")
      writer.value(":")
      writer.value(",")
      writer.null()
      writer.endArray()
      writer.field("c", "x")
      writer.field("e", true)
      writer.field("f", 0.5)
      writer.key("g")
      writer.beginObject()
      writer.field("h", false)
      writer.endObject()
      writer.endObject()
    }
    #expect(
      String(decoding: bytes, as: UTF8.self)
        == #"{"a":1,"b":[{},[],"{","[",":",",",null],"c":"x","e":true,"f":0.5,"g":{"h":false}}"#)
  }

  @Test("an optional text is left out when nil and written when not")
  func optionals() {
    let bytes = written { writer in
      writer.beginObject()
      writer.field("a", ifPresent: nil)
      writer.field("b", ifPresent: "x")
      writer.endObject()
    }
    #expect(String(decoding: bytes, as: UTF8.self) == #"{"b":"x"}"#)
  }

  @Test("every character up to U+3000, and some beyond, is escaped as JSONEncoder escapes it, at any place of a word")
  func escapes() throws {
    for value in Array(UInt32(0)...0x3000) + [0xD7FF, 0xE000, 0xFEFF, 0xFFFF, 0x1_0000, 0x1_F642, 0x10_FFFF] {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let character = String(scalar)
      for padding in value < 0x80 ? 0...9 : 0...0 {
        let text = String(repeating: "x", count: padding) + character + "y" + character + character
        #expect(written { $0.value(text) } == (try foundationJSON(text)), "U+\(String(value, radix: 16)) at \(padding)")
      }
    }
  }

  @Test("strings of any length are written as JSONEncoder writes them")
  func lengths() throws {
    for length in Array(0...40) + [1_000, 16_384, 1_000_000] {
      for text in [String(repeating: "a", count: length), String(repeating: "\u{1}", count: length)] {
        #expect(written { $0.value(text) } == (try foundationJSON(text)))
      }
    }
  }

  @Test("a string that is a slice of another is written as any other")
  func slice() {
    let slice = String("xxhello".dropFirst(2))
    #expect(written { $0.value(slice) } == Array(#""hello""#.utf8))
  }

  @Test("integers are written to their extremes")
  func integers() throws {
    var powers: [Int64] = [0, .min, .max, .min + 1]
    var power: Int64 = 1
    while power < .max / 10 {
      powers += [power, -power, power - 1, power + 1, 1 - power]
      power *= 10
    }
    for value in powers + [power, power - 1, -power] {
      #expect(written { $0.value(value) } == Array(String(value).utf8))
      #expect(written { $0.value(Int(value)) } == Array(String(value).utf8))
    }
    for value in [0, 9, 10, UInt64.max, UInt64.max - 1, 9_999_999_999_999_999_999, 10_000_000_000_000_000_000] {
      #expect(written { $0.value(value) } == Array(String(value).utf8))
    }
  }

  @Test("doubles are written as JSONEncoder writes them and read back as they were")
  func doubles() throws {
    let fixed: [Double] = [
      0, -0.0, 1, -1, 0.1, 100, 1e15, 1e16, 1e21, 1e22, 1e-5, 0.0001, .leastNonzeroMagnitude, .greatestFiniteMagnitude,
      .leastNormalMagnitude, .pi, 1 / 3,
    ]
    var generator = SeededGenerator(announcedFor: "doubles")
    let seed = generator.seed
    let random = (0..<20_000).map { _ in Double(bitPattern: generator.next()) }.filter(\.isFinite)
    // Scores and weights: to three digits. And what is next to such a number.
    let rounded = (0..<20_000).map { _ in
      (Double(Int64(truncatingIfNeeded: generator.next()) >> Int64(generator.next() % 50 + 10)) / 1_000)
    }
    let besides = rounded.flatMap { [$0.nextUp, $0.nextDown] }
    let parser = JSONParser()
    for value in fixed + random + rounded + besides {
      let bytes = written { $0.value(value) }
      #expect(bytes == (try foundationJSON(value)), "\(value), seed \(seed)")
      #expect(try parser.parse(bytes) { $0.double } == value, "seed \(seed)")
    }
  }

  @Test("numbers that JSON lacks are written as null")
  func notFinite() {
    for value in [Double.nan, .infinity, -.infinity] { #expect(written { $0.value(value) } == Array("null".utf8)) }
  }

  @Test("a reset writer is empty")
  func reuse() {
    var writer = JSONWriter()
    for value in 0..<3 {
      writer.removeAll()
      writer.beginArray()
      writer.value(value)
      writer.endArray()
      let copy = writer.bytes
      let count = writer.count
      #expect(copy == Array("[\(value)]".utf8))
      #expect(count == 3)
    }
  }
}

import Foundation
import JSONCodec
import TestSupport
import Testing

@Suite("JSONCodec: held to Foundation's coders by random values")
struct JSONPropertyTests {
  let parser = JSONParser()

  @Test("a random value is written byte for byte as by JSONEncoder, and read alike by both from either")
  func roundTrip() throws {
    var generator = SeededGenerator(announcedFor: "roundTrip")
    let seed = generator.seed
    let decoder = JSONDecoder()
    for round in 0..<2_000 {
      let value = generator.value()
      let ours = written { value.write(to: &$0) }
      let theirs = try foundationJSON(value)
      #expect(ours == theirs, "seed \(seed), round \(round)")
      #expect(try parser.parse(theirs, JSONValue.init) == value, "seed \(seed), round \(round)")
      #expect(try decoder.decode(JSONValue.self, from: Data(ours)) == value, "seed \(seed), round \(round)")
    }
  }

  @Test("JSONSerialization's output, pretty or not, is read correctly")
  func serialization() throws {
    var generator = SeededGenerator(announcedFor: "serialization")
    let seed = generator.seed
    for round in 0..<500 {
      let value = JSONValue.array([generator.value()])
      let object = try JSONSerialization.jsonObject(with: Data(written { value.write(to: &$0) }))
      for options in [[], .prettyPrinted] as [JSONSerialization.WritingOptions] {
        let data = try JSONSerialization.data(withJSONObject: object, options: options)
        let expected = try JSONDecoder().decode(JSONValue.self, from: data)
        #expect(try parser.parse([UInt8](data), JSONValue.init) == expected, "seed \(seed), round \(round)")
      }
    }
  }

  @Test("no beginning of a document is a document, and none crashes the parser")
  func truncation() throws {
    var generator = SeededGenerator(announcedFor: "truncation")
    let seed = generator.seed
    for round in 0..<100 {
      let bytes = written { JSONValue.array([generator.value()]).write(to: &$0) }
      for length in 0..<bytes.count {
        #expect(throws: JSONParseError.self, "seed \(seed), round \(round), length \(length)") {
          try parser.parse(Array(bytes[..<length])) { _ in }
        }
      }
    }
  }

  @Test("bytes changed at random are refused with a reason, or read as JSONDecoder reads them")
  func mutation() throws {
    var generator = SeededGenerator(announcedFor: "mutation")
    let seed = generator.seed
    let decoder = JSONDecoder()
    var accepted = 0
    for round in 0..<5_000 {
      var bytes = written { JSONValue.array([generator.value()]).write(to: &$0) }
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let index = Int.random(in: 0..<bytes.count, using: &generator)
        let syntax = Array(#"{}[]:,"\0123456789-+.eEtfn "#.utf8)
        bytes[index] =
          .random(using: &generator)
          ? UInt8.random(in: 0...255, using: &generator) : syntax.randomElement(using: &generator) ?? 0
      }
      do {
        let ours = try parser.parse(bytes, JSONValue.init)
        accepted += 1
        // JSONDecoder refuses a number too small for a double; the parser takes it for 0.
        guard let theirs = try? decoder.decode(JSONValue.self, from: Data(bytes)) else {
          let text = String(decoding: bytes, as: UTF8.self)
          #expect(text.contains(/[eE]-[0-9]{3}/), "seed \(seed), round \(round): \(text)")
          continue
        }
        #expect(ours.agrees(with: theirs), "seed \(seed), round \(round): \(String(decoding: bytes, as: UTF8.self))")
      } catch is JSONParseError {
        continue
      }
    }
    #expect(accepted > 0)
  }

  @Test("random bytes never crash the parser")
  func noise() {
    var generator = SeededGenerator(announcedFor: "noise")
    for _ in 0..<20_000 {
      let bytes = (0..<Int.random(in: 0..<200, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
      do {
        try parser.parse(bytes) { _ = JSONValue($0) }
      } catch {
        #expect(error is JSONParseError)
      }
    }
  }
}

import Foundation
import JSONCodec
import NudgeSchema
import TestSupport
import Testing

@testable import Ingest

@Suite("HTTP API: bodies")
struct RequestBodyTests {
  /// Bodies that once were, or look like, trouble, by their names. A new one is a new file.
  private static func corpus() throws -> [(name: String, bytes: [UInt8])] {
    let folder = Repository.file("Tests/Corpus/request-bodies")
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map {
      ($0, Array(try Data(contentsOf: folder.appendingPathComponent($0))))
    }
  }

  private let parser = JSONParser(maximumDepth: 1_024, maximumBytes: RequestBody.maxBytes)
  private let directory: TemporaryDirectory
  private let inputs: HTTPInputs

  init() throws {
    directory = try TemporaryDirectory()
    inputs = try HTTPInputs(directory: directory.path)
  }

  private func check(_ body: [UInt8], type: String, encoding: String?, _ name: String) {
    let violation = inputs.body(body, type: type, encoding: encoding)
    #expect(violation == nil, "\(name)")
  }

  private func check(_ body: [UInt8], _ name: String) {
    for type in [RequestBody.json, RequestBody.lines] {
      check(body, type: type, encoding: nil, name)
      check(body, type: type, encoding: "gzip", name)
    }
  }

  @Test("every body of the corpus is refused, or read as the events it holds")
  func corpus() throws {
    let corpus = try Self.corpus()
    #expect(corpus.count > 30)
    for (name, bytes) in corpus { check(bytes, name) }
    func items(_ name: String, _ type: String) throws -> [RequestBody.Item] {
      let body = try #require(corpus.first { $0.name == name }?.bytes)
      let encoding = name.hasSuffix(".gz") ? "gzip" : nil
      return try RequestBody.items(
        of: try RequestBody.decoded(body, encoding: encoding), contentType: type, parser: parser)
    }
    #expect(try items("array-blanks.json", RequestBody.json).map(\.eventId) == ["e1", "e2"])
    #expect(try items("lines-crlf-blank.ndjson", RequestBody.lines).map(\.eventId) == ["e1", "e2"])
    #expect(try items("array-of-scalars.json", RequestBody.json).count == 8)
    #expect(try items("strings-with-brackets.json", RequestBody.json).count == 6)
    #expect(try items("escaped-keys.json", RequestBody.json).map(\.type) == ["message.read"])
    #expect(try items("two-members.json.gz", RequestBody.json).map(\.eventId) == ["e1"])
    #expect(throws: BodyRefusal.self) { try items("bomb.json.gz", RequestBody.json) }
    #expect(throws: BodyRefusal.self) { try items("cut-off.json.gz", RequestBody.json) }
  }

  /// Longer by FUZZ_BODIES=1000000.
  @Test(
    "bodies of the corpus with bytes changed, left out, doubled and mixed are refused, or read as the events they hold")
  func mutated() throws {
    var random = SeededGenerator(announcedFor: "mutated bodies")
    let corpus = try Self.corpus().map(\.bytes).filter { !$0.isEmpty && $0.count < 4_096 }
    let count: Int = runParameter("FUZZ_BODIES") ?? 4_000
    let structure = Array("[]{},:\"\\ \n\r0e-".utf8) + [0x00, 0xFF, 0xC3, 0xEF, 0x1F]
    for number in 0..<count {
      var body = corpus[random.below(corpus.count)]
      for _ in 0...random.below(4) where !body.isEmpty {
        let place = random.below(body.count)
        switch random.below(6) {
        case 0: body[place] = UInt8(random.below(256))
        case 1: body[place] = structure[random.below(structure.count)]
        case 2: body.remove(at: place)
        case 3: body.insert(structure[random.below(structure.count)], at: place)
        case 4: body.removeSubrange(place..<min(body.count, place + random.below(32)))
        default:
          let other = corpus[random.below(corpus.count)]
          body.insert(contentsOf: other[..<random.below(other.count)], at: place)
        }
      }
      if random.oneIn(4) { body = Array("[".utf8) + body + Array(",".utf8) + body + Array("]".utf8) }
      check(body, "seed \(random.seed), body \(number)")
    }
  }
}

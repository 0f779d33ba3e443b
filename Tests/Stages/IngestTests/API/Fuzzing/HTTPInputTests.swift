import Foundation
import TestSupport
import Testing

@testable import Ingest

@Suite("HTTP API: whatever comes from outside")
struct HTTPInputTests {
  private static let corpus = Repository.file("Tests/Corpus/fuzz")

  /// Inputs that take ways of their own through the code, and whatever once broke a rule.
  private static func files() throws -> [(name: String, bytes: [UInt8])] {
    try FileManager.default.contentsOfDirectory(atPath: corpus.path).sorted().map {
      ($0, Array(try Data(contentsOf: corpus.appendingPathComponent($0))))
    }
  }

  @Test("every input of the corpus is read or refused, and lets in nobody it should not")
  func corpus() throws {
    let directory = try TemporaryDirectory()
    let inputs = try HTTPInputs(directory: directory.path)
    let files = try Self.files()
    var kinds: [UInt8: Int] = [:]
    for (name, bytes) in files {
      if let kind = bytes.first { kinds[kind, default: 0] += 1 }
      let violation = inputs.violation(of: bytes)
      #expect(violation == nil, "\(name)")
    }
    for kind in HTTPInputs.Kind.allCases { #expect(kinds[kind.rawValue] ?? 0 > 0, "no input of \(kind)") }
  }

  @Test("who has the key or a token is let in, and somebody else who is breaks a rule")
  func letIn() throws {
    let directory = try TemporaryDirectory()
    let inputs = try HTTPInputs(directory: directory.path)
    for text in ["aBearer \(HTTPInputs.apiKey)", "t\(TokenVectors.rs256)", "t\(TokenVectors.es256)"] {
      #expect(inputs.violation(of: Array(text.utf8)) == nil)
    }
    let other = String(repeating: "x", count: 40)
    let lax = try HTTPInputs(directory: directory.path, otherKeys: "other \(other)\n")
    #expect(lax.violation(of: Array("aBearer \(other)".utf8)) != nil)
  }
}

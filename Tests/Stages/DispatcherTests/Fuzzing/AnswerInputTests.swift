import Foundation
import TestSupport
import Testing

@Suite("What strangers answer, and addresses that apps choose")
struct AnswerInputTests {
  private static let corpus = Repository.file("Tests/Corpus/fuzz")

  @Test("every input of the corpus is read as libcurl reads it, or refused")
  func corpus() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.corpus.path).sorted()
    var kinds: [UInt8: Int] = [:]
    for name in names {
      let bytes = Array(try Data(contentsOf: Self.corpus.appendingPathComponent(name)))
      if let kind = bytes.first { kinds[kind, default: 0] += 1 }
      let violation = AnswerInputs.violation(of: bytes)
      #expect(violation == nil, "\(name)")
    }
    for kind in AnswerInputs.Kind.allCases { #expect(kinds[kind.rawValue] ?? 0 > 1, "too few inputs of \(kind)") }
  }
}

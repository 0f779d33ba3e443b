import Foundation
import TestSupport
import Testing

@Suite("The threat model")
struct ThreatModelTests {
  @Test("each line of docs/threat-model.md names tests that exist, and every table's line names one")
  func tests() throws {
    let page = try String(contentsOf: Repository.file("docs/threat-model.md"), encoding: .utf8)
    var sources: [String: String] = [:]
    for file in Repository.swiftFiles(in: Repository.file("Tests")) {
      sources[file.deletingPathExtension().lastPathComponent, default: ""] += try String(
        contentsOf: file, encoding: .utf8)
    }
    let lines = page.split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasSuffix("| held by |") }
    #expect(lines.count > 20)
    for line in lines {
      let named = line.matches(of: /`(\w+Tests)\.(\w+)`/)
      #expect(!named.isEmpty, "\(line)")
      for test in named {
        let source = sources[String(test.output.1)] ?? ""
        #expect(source.contains("func \(test.output.2)("), "\(test.output.0)")
      }
    }
  }
}

import Foundation
import TestSupport
import Testing

@Suite("Paths in documents")
struct DocumentPathsTests {
  /// The paths below Sources that a text names in backticks. `*` stands for anything in a name.
  private static func paths(in text: String) -> [String] {
    text.matches(of: /`(Sources\/[\w.+*\/-]+)`/).map { String($0.1) }
  }

  private static func exists(_ path: String) -> Bool {
    guard path.contains("*") else { return FileManager.default.fileExists(atPath: Repository.file(path).path) }
    var found: [URL] = [Repository.url]
    for part in path.split(separator: "/") {
      let pattern = part.split(separator: "*", omittingEmptySubsequences: false)
      found = found.flatMap { folder in
        (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
      }.filter { file in
        let name = file.lastPathComponent
        guard pattern.count > 1 else { return name == part }
        return name.hasPrefix(pattern[0]) && name.hasSuffix(pattern[pattern.count - 1])
      }
    }
    return !found.isEmpty
  }

  @Test("each file or folder of Sources that a document names is there")
  func sources() throws {
    let documents =
      Repository.files(in: Repository.file("docs"), withExtension: "md")
      + Repository.files(in: Repository.file("Schemas"), withExtension: "md")
      + ["README.md", "CONTRIBUTING.md"].map(Repository.file)
    var named = 0
    for document in documents {
      let text = try String(contentsOf: document, encoding: .utf8)
      for path in Self.paths(in: text) {
        named += 1
        #expect(Self.exists(path), "\(document.lastPathComponent): \(path)")
      }
    }
    #expect(named > 30)
  }

  @Test("the path of a message names files and folders that are there")
  func wayOfAMessage() throws {
    let page = try String(contentsOf: Repository.file("docs/architecture.md"), encoding: .utf8)
    let section = try #require(page.components(separatedBy: "## The path of a message").last)
    let table = section.prefix(upTo: try #require(section.range(of: "\n## ")).lowerBound)
    let paths = table.matches(of: /`((?:Stages|Contract)\/[\w.+\/-]+)`/).map { String($0.1) }
    #expect(paths.count > 10)
    for path in paths { #expect(Self.exists("Sources/\(path)"), "\(path)") }
  }

  @Test("a path that is gone is found")
  func finds() {
    #expect(Self.paths(in: "see `Sources/Stages/Gone/A+B.swift`, and `Sources/Stages/*/Erasure`").count == 2)
    #expect(Self.exists("Sources/Stages") && !Self.exists("Sources/Stages/Gone/A+B.swift"))
    #expect(Self.exists("Sources/Stages/*/Users*") && !Self.exists("Sources/Stages/*/Gone"))
  }
}

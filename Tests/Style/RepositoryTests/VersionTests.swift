import Foundation
import TestSupport
import Testing

@Suite("The version")
struct VersionTests {
  private func text(_ path: String) throws -> String {
    try String(contentsOf: Repository.file(path), encoding: .utf8)
  }

  @Test("the first section of CHANGELOG.md that has a number has the version of the programs")
  func changelog() throws {
    let source = try text("Sources/Platform/ServiceKit/NudgeVersion.swift")
    let version = try #require(source.firstMatch(of: /current = "([0-9.]+)"/)?.1)
    let released = try text("CHANGELOG.md").firstMatch(of: /(?m)^## (\d+\.\d+\.\d+)/)?.1
    #expect(released == version)
  }

  @Test("the version stands in one source file")
  func once() throws {
    let source = try text("Sources/Platform/ServiceKit/NudgeVersion.swift")
    let version = try #require(source.firstMatch(of: /current = ("[0-9.]+")/)?.1)
    // The history of levels names the release that raised each.
    let others = ["NudgeVersion.swift", "FormatLevel.swift"]
    for file in Repository.swiftFiles(in: Repository.file("Sources")) where !others.contains(file.lastPathComponent) {
      #expect(try !String(contentsOf: file, encoding: .utf8).contains(version), "\(file.path)")
    }
  }
}

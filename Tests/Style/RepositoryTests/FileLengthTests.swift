import Foundation
import TestSupport
import Testing

@Suite("Lengths of files")
struct FileLengthTests {
  @Test("a file of Sources has at most 400 lines, or docs/style.md names it with the reason")
  func sources() throws {
    let style = try String(contentsOf: Repository.file("docs/style.md"), encoding: .utf8)
    let long = try Repository.swiftFiles(in: Repository.file("Sources")).filter { file in
      try String(contentsOf: file, encoding: .utf8).utf8.count { $0 == UInt8(ascii: "\n") } > 400
    }
    #expect(long.map(\.lastPathComponent).contains("RelevanceWeights.swift"))
    for file in long {
      #expect(style.contains("`\(file.lastPathComponent)`"), "\(file.path) has more than 400 lines")
    }
  }
}

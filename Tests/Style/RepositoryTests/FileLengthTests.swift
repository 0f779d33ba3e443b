import Foundation
import TestSupport
import Testing

@Suite("Lengths of files")
struct FileLengthTests {
  @Test("a file of Sources has at most 400 lines")
  func sources() throws {
    let files = Repository.swiftFiles(in: Repository.file("Sources"))
    #expect(files.count > 400)
    let long = try files.filter { file in
      try String(contentsOf: file, encoding: .utf8).utf8.count { $0 == UInt8(ascii: "\n") } > 400
    }
    #expect(long.isEmpty, "more than 400 lines: \(long.map(\.lastPathComponent))")
  }
}

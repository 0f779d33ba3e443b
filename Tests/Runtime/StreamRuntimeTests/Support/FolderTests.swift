import Foundation
import TestSupport
import Testing

@Suite("Folders of StreamRuntime")
struct FolderTests {
  /// Comments and texts name types that the code does not use.
  private func code(of file: URL) throws -> String {
    try String(contentsOf: file, encoding: .utf8)
      .replacing(#/"(\\.|[^"\\\n])*"/#, with: "")
      .replacing(#/\/\/[^\n]*/#, with: "")
  }

  @Test("no two folders use types of each other")
  func circles() throws {
    let root = Repository.file("Sources/Runtime/StreamRuntime")
    var code: [(folder: String, text: String)] = []
    for path in try FileManager.default.subpathsOfDirectory(atPath: root.path).sorted() where path.hasSuffix(".swift") {
      let folder = String(path.prefix { $0 != "/" })
      code.append((folder, try self.code(of: root.appendingPathComponent(path))))
    }
    // Types at the top level that other files can see.
    let declaration =
      #/^(?:@\w+(?:\([^)\n]*\))? )*(?:public |final |indirect )*(?:class|struct|enum|protocol|typealias) (\w+)/#
      .anchorsMatchLineEndings()
    var folders: [Substring: Set<String>] = [:]
    for (folder, text) in code {
      for match in text.matches(of: declaration) { folders[match.1, default: []].insert(folder) }
    }
    #expect(folders.count > 80, "\(folders.count) types were found")
    var uses: [String: [String: Set<Substring>]] = [:]
    for (folder, text) in code {
      for match in text.matches(of: #/\b[A-Z]\w*/#) {
        guard let owners = folders[match.0], !owners.contains(folder) else { continue }
        for owner in owners { uses[folder, default: [:]][owner, default: []].insert(match.0) }
      }
    }
    #expect(uses["Thread"]?["Ports"] != nil)
    for (folder, used) in uses {
      for (other, types) in used where folder < other {
        if let back = uses[other]?[folder] {
          Issue.record("\(folder) uses \(types.sorted()) of \(other), and \(other) uses \(back.sorted()) of \(folder)")
        }
      }
    }
  }
}

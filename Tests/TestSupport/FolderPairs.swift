public import Foundation

/// Finds folders of a module that use each other's types.
public enum FolderPairs {
  /// Each pair of folders that use each other's top-level types, with the types, in one line. Files in the module's root are left out.
  public static func twoWay(in root: URL) throws -> [String] {
    var code: [(folder: String, text: String)] = []
    for path in try FileManager.default.subpathsOfDirectory(atPath: root.path).sorted()
    where path.hasSuffix(".swift") && path.contains("/") {
      let text = try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
        // Comments and texts name types that the code does not use.
        .replacing(#/"(\\.|[^"\\\n])*"/#, with: "").replacing(#/\/\/[^\n]*/#, with: "")
      code.append((String(path.prefix { $0 != "/" }), text))
    }
    let declaration = #/^(?:public |final |indirect )*(?:class|struct|enum|protocol|typealias) (\w+)/#
      .anchorsMatchLineEndings()
    var owners: [Substring: Set<String>] = [:]
    for (folder, text) in code {
      for match in text.matches(of: declaration) { owners[match.1, default: []].insert(folder) }
    }
    var uses: [String: [String: Set<Substring>]] = [:]
    for (folder, text) in code {
      for match in text.matches(of: #/\b[A-Z]\w*/#) {
        guard let folders = owners[match.0], !folders.contains(folder) else { continue }
        for owner in folders { uses[folder, default: [:]][owner, default: []].insert(match.0) }
      }
    }
    var pairs: [String] = []
    for (folder, used) in uses {
      for (other, types) in used where folder < other {
        guard let back = uses[other]?[folder] else { continue }
        pairs.append("\(folder) uses \(types.sorted()) of \(other), which uses \(back.sorted())")
      }
    }
    return pairs.sorted()
  }
}

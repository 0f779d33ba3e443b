import Foundation
import TestSupport

/// Which folders of a module use types that other folders of it declare. Files in the module's root are left out: they
/// put the folders together.
struct FolderDependencies {
  /// Folders used by a folder, with one `File.swift: Type` as the reason.
  private(set) var edges: [String: [String: String]] = [:]

  /// - Parameter sources: Text of each file by its path in the module, such as `Demo/DemoRun.swift`.
  init(_ sources: [String: String]) {
    var folderOfType: [String: String] = [:]
    for (path, text) in sources {
      guard let folder = Self.folder(path) else { continue }
      let declared = /(?m)^(?:public |package |final |indirect )*(?:struct|class|enum|protocol|actor|typealias) (\w+)/
      for match in text.matches(of: declared) { folderOfType[String(match.1)] = folder }
    }
    for (path, text) in sources.sorted(by: { $0.key < $1.key }) {
      guard let folder = Self.folder(path) else { continue }
      for match in text.replacing(/\/\/.*/, with: "").matches(of: /\b[A-Z]\w+/) {
        guard let used = folderOfType[String(match.0)], used != folder else { continue }
        edges[folder, default: [:]][used] = edges[folder]?[used] ?? "\(path): \(match.0)"
      }
    }
  }

  /// A module by its folder.
  init(module folder: URL) throws {
    var sources: [String: String] = [:]
    for file in Repository.swiftFiles(in: folder) {
      sources[String(file.path.dropFirst(folder.path.count + 1))] = try String(contentsOf: file, encoding: .utf8)
    }
    self.init(sources)
  }

  private static func folder(_ path: String) -> String? {
    path.contains("/") ? String(path.prefix { $0 != "/" }) : nil
  }

  /// Folders that depend on each other, directly or through others, each with the reason for its next edge.
  var circles: [String] {
    edges.keys.sorted().compactMap { start in
      guard let path = path(from: start, to: start) else { return nil }
      return zip(path, path.dropFirst()).map { "\($0) -> \($1) (\(edges[$0]?[$1] ?? ""))" }.joined(separator: ", ")
    }
  }

  /// A shortest way along edges, of at least one edge.
  private func path(from start: String, to end: String) -> [String]? {
    var paths = [[start]]
    var seen: Set<String> = []
    while !paths.isEmpty {
      let path = paths.removeFirst()
      for next in edges[path[path.count - 1], default: [:]].keys.sorted() {
        if next == end { return path + [next] }
        if seen.insert(next).inserted { paths.append(path + [next]) }
      }
    }
    return nil
  }
}

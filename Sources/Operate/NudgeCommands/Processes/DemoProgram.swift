import Foundation

/// A program of Nudge's that a demo runs as a process of its own.
enum DemoProgram: String, CaseIterable, Sendable {
  case emulator = "fcm-emulator"
  case ingest = "nudge-ingest"
  case analyzer = "nudge-analyzer"
  case dispatcher = "nudge-dispatcher"

  /// The three stages, in the order of the data's way.
  static let services: [DemoProgram] = [.ingest, .analyzer, .dispatcher]

  /// What people call it.
  var shortName: String {
    switch self {
    case .emulator: "emulator"
    case .ingest: "ingest"
    case .analyzer: "analyzer"
    case .dispatcher: "dispatcher"
    }
  }

  /// Whether a line of its output says that it is ready.
  func isReadyLine(_ line: String) -> Bool {
    switch self {
    case .emulator: line.contains(#""ready":true"#)
    case .ingest, .analyzer, .dispatcher: line.contains(#""message":"ready""#)
    }
  }

  /// Finds all of them in a directory. Throws which are missing.
  static func find(in directory: URL) throws(DemoError) -> [DemoProgram: URL] {
    var found: [DemoProgram: URL] = [:]
    for program in allCases {
      let url = directory.appendingPathComponent(program.rawValue)
      if FileManager.default.isExecutableFile(atPath: url.path) { found[program] = url }
    }
    let missing = allCases.filter { found[$0] == nil }.map(\.rawValue)
    guard missing.isEmpty else {
      throw DemoError(
        "\(missing.joined(separator: ", ")) not found in \(directory.path), where nudge itself is: build the whole "
          + "package (swift build), or install all programs in one directory")
    }
    return found
  }

  /// Where the running program is.
  static func directoryOfThisProgram() -> URL {
    let path =
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    return URL(fileURLWithPath: path).standardizedFileURL.deletingLastPathComponent()
  }
}

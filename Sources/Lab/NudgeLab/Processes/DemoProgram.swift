import Foundation
import NudgeCommands

/// A program that the demo runs as a process.
enum DemoProgram: String, CaseIterable, Sendable {
  case emulator = "fcm-emulator"
  case ingest = "nudge-ingest"
  case analyzer = "nudge-analyzer"
  case dispatcher = "nudge-dispatcher"

  /// The three services, in the order of the data flow.
  static let services: [DemoProgram] = [.ingest, .analyzer, .dispatcher]

  /// The name on the display.
  var shortName: String {
    switch self {
    case .emulator: "emulator"
    case .ingest: "ingest"
    case .analyzer: "analyzer"
    case .dispatcher: "dispatcher"
    }
  }

  /// Whether a line of output announces readiness.
  func isReadyLine(_ line: String) -> Bool {
    switch self {
    case .emulator: line.contains(#""ready":true"#)
    case .ingest, .analyzer, .dispatcher: line.contains(#""message":"ready""#)
    }
  }

  /// Finds all programs in a directory.
  /// - Throws: `CommandError` with the names of missing programs.
  static func find(in directory: URL) throws(CommandError) -> [DemoProgram: URL] {
    var found: [DemoProgram: URL] = [:]
    for program in allCases {
      let url = directory.appendingPathComponent(program.rawValue)
      if FileManager.default.isExecutableFile(atPath: url.path) { found[program] = url }
    }
    let missing = allCases.filter { found[$0] == nil }.map(\.rawValue)
    guard missing.isEmpty else {
      throw CommandError(
        "\(missing.joined(separator: ", ")) not found in \(directory.path), where nudge itself is: build the whole "
          + "package (swift build), or install all programs in one directory")
    }
    return found
  }

  /// The directory of the running program.
  static func directoryOfThisProgram() -> URL {
    let path =
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    return URL(fileURLWithPath: path).standardizedFileURL.deletingLastPathComponent()
  }
}

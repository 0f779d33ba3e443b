import Foundation

/// Programs that are run to their end.
enum Program {
  /// Where a program of this name is: in a folder, if one is given and has it, else where `PATH` says; nil: nowhere.
  static func find(_ name: String, in folder: String? = nil) -> String? {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let folders = (folder.map { [$0] } ?? []) + path.split(separator: ":").map { String($0) }
    return folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// Runs one. Returns all that it printed, errors too.
  ///
  /// - Throws: with what it printed, where it does not end with 0.
  @discardableResult
  static func run(_ path: String, _ arguments: [String]) throws -> String {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      throw BenchmarkFailure("\(path) ended with status \(process.terminationStatus): \(text)")
    }
    return text
  }
}

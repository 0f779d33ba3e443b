import Foundation

/// Runs programs to their end.
enum Program {
  /// The path of a program: in the folder, if one is given and has it, else by `PATH`; nil: not found.
  static func find(_ name: String, in folder: String? = nil) -> String? {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let folders = (folder.map { [$0] } ?? []) + path.split(separator: ":").map { String($0) }
    return folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// Runs a program. Returns its output, including standard error.
  ///
  /// - Throws: its output, if it does not end with 0.
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

import Foundation
import Testing

/// A service that SwiftPM builds beside the tests.
enum BuiltService {
  /// Absent where only the tests were built.
  static let path: String? = {
    guard let tests = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else { return nil }
    let path = (tests as NSString).deletingLastPathComponent + "/nudge-analyzer"
    return FileManager.default.isExecutableFile(atPath: path) ? path : nil
  }()

  static let missing: Comment = "nudge-analyzer is not built beside the tests: swift build"
}

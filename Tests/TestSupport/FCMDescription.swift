public import Foundation

/// Google's own description of the FCM API as a judge of bodies: `Tests/check-fcm-bodies`.
public enum FCMDescription {
  public static let missing = "google-api-python-client is not installed: make tools"

  /// Whether the description is installed.
  public static let isInstalled: Bool = {
    (try? judge(lines: [#"{"message":{"token":"t"}}"#]).status) == 0
  }()

  /// Judges bodies, or recorded requests of `fcm-emulator --record`, a line each.
  /// - Returns: 0 where none has a fault, and what the judge printed.
  public static func judge(lines: [String]) throws -> (status: Int32, output: String) {
    let directory = try TemporaryDirectory()
    let file = URL(fileURLWithPath: directory.path + "/bodies.jsonl")
    try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: file)
    return try judge(file)
  }

  /// Judges the lines of a file.
  public static func judge(_ file: URL) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = Repository.file("Tests/check-fcm-bodies")
    process.arguments = [file.path]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let printed = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: printed, as: UTF8.self))
  }
}

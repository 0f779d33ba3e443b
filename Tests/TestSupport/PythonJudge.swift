import Foundation

/// Other people's implementations of Web Push, from PyPI (`make tools`): a test asks them what they think of ours.
public enum PythonJudge {
  private static let python = Repository.file(".build/python/bin/python").path

  public static let missing = "http-ece and py-vapid are not installed: make tools"

  /// Whether they are installed.
  public static let isInstalled: Bool = {
    guard FileManager.default.isExecutableFile(atPath: python) else { return false }
    return (try? run("import http_ece, py_vapid", "").status) == 0
  }()

  /// Runs a script on a file with this input, whose path is its first argument.
  public static func run(_ script: String, _ input: String) throws -> (status: Int32, lines: [String]) {
    let folder = try TemporaryDirectory()
    let (source, output) = (folder.path + "/in", folder.path + "/out")
    try Data(input.utf8).write(to: URL(fileURLWithPath: source))
    try Data().write(to: URL(fileURLWithPath: output))
    let process = Process()
    process.executableURL = URL(fileURLWithPath: python)
    process.arguments = ["-c", script, source]
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: output))
    process.standardOutput = file
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    let text = try String(contentsOfFile: output, encoding: .utf8)
    return (process.terminationStatus, text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
  }
}

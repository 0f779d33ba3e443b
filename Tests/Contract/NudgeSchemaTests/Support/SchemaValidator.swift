import Foundation

/// `Schemas/validate.py`, an independent implementation of JSON Schema.
struct SchemaValidator: Sendable {
  struct Verdict: Decodable {
    var file: String
    var valid: Bool
    var message: String?
  }

  private var python: String

  /// The first python3 that has `jsonschema`; nil where none has.
  static let installed: SchemaValidator? = ["python3", "/usr/bin/python3"].first { python in
    (try? run(python, ["-c", "from jsonschema import Draft202012Validator"]).status) == 0
  }.map { SchemaValidator(python: $0) }

  /// Holds the examples in the folders against the schemas.
  func verdicts(of folders: [URL]) throws -> [Verdict] {
    let script = SchemaFolder.url.appending(path: "validate.py").path
    let (status, output) = try Self.run(python, [script, "--json"] + folders.map(\.path))
    guard status != 2 else { throw SchemaError("validate.py could not check anything") }
    return try JSONDecoder().decode([Verdict].self, from: output)
  }

  /// Output goes to a file: a pipe could fill, or be held open by another test's child.
  private static func run(_ program: String, _ arguments: [String]) throws -> (status: Int32, output: Data) {
    let file = FileManager.default.temporaryDirectory.appending(path: "nudge-schema-\(UUID().uuidString).out")
    try Data().write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [program] + arguments
    process.standardOutput = try FileHandle(forWritingTo: file)
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return (process.terminationStatus, try Data(contentsOf: file))
  }
}

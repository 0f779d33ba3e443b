import Foundation
import JSONCodec
import NudgeSchema
import TestSupport
import Testing

@testable import Ingest

@Suite("Schemas/openapi.yaml and Schemas/asyncapi.yaml", .serialized)
struct APIDocumentsTests {
  private static let openAPI = SchemaTexts.schemas.appendingPathComponent("openapi.yaml")
  private static let asyncAPI = SchemaTexts.schemas.appendingPathComponent("asyncapi.yaml")
  private static let fix = "write it anew with: NUDGE_WRITE_DOCS=1 swift test --filter APIDocumentsTests"

  private func hold(_ file: URL, _ text: String) throws {
    if ProcessInfo.processInfo.environment["NUDGE_WRITE_DOCS"] != nil { try Data(text.utf8).write(to: file) }
    #expect(try String(contentsOf: file, encoding: .utf8) == text, "\(Self.fix)")
  }

  @Test("openapi.yaml is what the API serves as openapi.json")
  func openAPI() throws {
    try hold(
      Self.openAPI,
      try YAMLText.of(
        OpenAPIDocument.json,
        comment: "Written from the code by a test (APIDocumentsTests): GET /v1/openapi.json as YAML."))
  }

  @Test("asyncapi.yaml has every topic that is not a changelog, and every type that has a schema")
  func asyncAPI() throws {
    try hold(
      Self.asyncAPI,
      try YAMLText.of(AsyncAPIDocument.json(), comment: "Written from the code by a test (APIDocumentsTests)."))
  }

  @Test("the types that have a schema are those the code reads")
  func types() throws {
    #expect(try AsyncAPIDocument.types(of: .chatEvents) == ChatEventBody.types.map(\.rawValue).sorted())
    #expect(try AsyncAPIDocument.types(of: .userEvents) == UserEventBody.types.map(\.rawValue).sorted())
    #expect(try AsyncAPIDocument.types(of: .timeline) == TimelineEventBody.types.map(\.rawValue).sorted())
  }

  @Test(
    "YAML that was written is the same value to a YAML reader",
    .enabled(if: PythonTools.directory != nil, "\(PythonTools.missing)"))
  func yaml() throws {
    let directory = try TemporaryDirectory()
    let file = directory.path + "/document.json"
    try Data(OpenAPIDocument.json).write(to: URL(fileURLWithPath: file))
    let script = """
      import json, sys, yaml
      sys.exit(0 if yaml.safe_load(open(sys.argv[1])) == json.load(open(sys.argv[2])) else 1)
      """
    #expect(try PythonTools.run("python", ["-c", script, Self.openAPI.path, file]).status == 0)
  }

  @Test(
    "openapi-spec-validator finds nothing",
    .enabled(if: PythonTools.directory != nil, "\(PythonTools.missing)"))
  func valid() throws {
    let (status, output) = try PythonTools.run("openapi-spec-validator", [Self.openAPI.path])
    #expect(status == 0, "\(output)")
  }

  /// Longer by SCHEMATHESIS_SECONDS=600.
  @Test(
    "schemathesis finds no answer that is not as described",
    .enabled(if: PythonTools.directory != nil, "\(PythonTools.missing)"))
  func schemathesis() throws {
    let api = try APIUnderTest(["--http-rate", "10000000"], topics: [.chatEvents, .userEvents, .banners])
    let pipeline = AnsweringPipeline(api.broker)
    defer { pipeline.close() }
    func count(_ status: String, _ reason: String) -> Int {
      api.counter("nudge_http_requests_total", ["status": status, "reason": reason])
    }
    // With an API key a stream never ends: DecisionStreamTests looks at it.
    try schemathesis(api, token: APIUnderTest.key, paths: ["--exclude-path", "/v1/live"]) {
      count("202", "accepted") > 0
    }
    #expect(count("400", "rejected") > 0)
    #expect(count("202", "accepted") > 0)
  }

  @Test(
    "schemathesis finds no answer to a user that is not as described",
    .enabled(if: PythonTools.directory != nil, "\(PythonTools.missing)"))
  func schemathesisOfAUser() throws {
    let api = try APIUnderTest(["--http-user-rate", "1000000"], topics: [.chatEvents, .userEvents, .banners])
    let pipeline = AnsweringPipeline(api.broker)
    defer { pipeline.close() }
    let hasAnswers = { api.counter("nudge_person_questions_total", ["result": "answered"]) > 0 }
    try schemathesis(
      api, token: APIUnderTest.token(user: "ann", expiresIn: 3_600), paths: ["--include-path-regex", "^/v1/me"],
      until: hasAnswers)
    #expect(hasAnswers())
  }

  /// Runs it until `reached`, in up to four runs of twice the time each: it would show little if nothing that it sends were accepted, and
  /// on a loaded machine its time may end before it comes to that.
  private func schemathesis(
    _ api: APIUnderTest, token: String, paths: [String], until reached: () -> Bool
  ) throws {
    let seconds: Int = runParameter("SCHEMATHESIS_SECONDS") ?? 20
    for run in 0..<4 where run == 0 || !reached() {
      let (status, output) = try PythonTools.run(
        "schemathesis",
        [
          "run", "http://127.0.0.1:\(api.api.port)/v1/openapi.json", "--header", "Authorization: Bearer \(token)",
          "--max-time", String(seconds << run), "--phases", "examples,coverage,fuzzing", "--workers", "1", "--no-color",
          // A long poll takes up to 25 s; schemathesis gives up after ten by default.
          "--request-timeout", "40",
          // Events have rules that a schema cannot say, such as how old they may be, and a batch is accepted in part.
          "--exclude-checks", "positive_data_acceptance,negative_data_rejection",
          "--suppress-health-check", "all", "--warnings", "off",
        ] + paths,
        environment: [
          "PYTHONPATH": Repository.file("Tests").path,
          "SCHEMATHESIS_HOOKS": "schemathesis_hooks",
        ])
      #expect(status == 0, "\(output.suffix(6_000))")
    }
  }
}

/// The programs of PyPI that `make tools` installs.
enum PythonTools {
  /// Where they are; nil where they are not installed.
  static let directory: String? = {
    let directory =
      ProcessInfo.processInfo.environment["NUDGE_PYTHON_TOOLS"]
      ?? Repository.file(".build/python/bin").path
    return FileManager.default.isExecutableFile(atPath: directory + "/schemathesis") ? directory : nil
  }()

  static let missing = "schemathesis and openapi-spec-validator are not installed: make tools"

  /// Runs one to its end, with these variables besides its own environment.
  static func run(
    _ program: String, _ arguments: [String], environment: [String: String] = [:]
  ) throws -> (status: Int32, output: String) {
    let directory = try TemporaryDirectory()
    let file = URL(fileURLWithPath: directory.path + "/output")
    try Data().write(to: file)
    let output = try FileHandle(forWritingTo: file)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: (Self.directory ?? "") + "/" + program)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.currentDirectoryURL = URL(fileURLWithPath: directory.path)
    process.standardOutput = output
    process.standardError = output
    try process.run()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: try Data(contentsOf: file), as: UTF8.self))
  }
}

import Foundation
import Testing

@testable import NudgeLab

@Suite("nudge demo, end to end")
struct DemoEndToEndTests {
  /// Where the programs are: beside the bundle of the tests, as SwiftPM builds them.
  static let programs: URL? = {
    guard let bundle = CommandLine.arguments.first(where: { $0.contains(".xctest") }) else { return nil }
    let directory = URL(fileURLWithPath: bundle).deletingLastPathComponent()
    let nudge = directory.appendingPathComponent("nudge")
    guard FileManager.default.isExecutableFile(atPath: nudge.path), (try? DemoProgram.find(in: directory)) != nil else {
      return nil
    }
    return directory
  }()

  private struct Summary: Decodable {
    struct Account: Decodable {
      struct Check: Decodable {
        let name: String
        let expected: Int
        let found: Int
        let ok: Bool
      }
      let balanced: Bool
      let checks: [Check]
    }
    let messages: Int
    let candidates: Int
    let decisions: [String: Int]
    let outcomes: [String: Int]
    let requests: Int
    let account: Account
  }

  @Test(
    "runs the three services on the embedded broker, accounts for everything and leaves nothing behind",
    .enabled(if: programs != nil, "nudge and the services are not built beside the tests: swift build --build-tests"),
    .timeLimit(.minutes(5)))
  func embedded() throws {
    let programs = try #require(Self.programs)
    let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("demo-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: scratch) }
    let process = Process()
    process.executableURL = programs.appendingPathComponent("nudge")
    process.arguments = ["demo", "--duration", "3s", "--rate", "20", "--json"]
    process.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": scratch.path]) { $1 }
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    // Progress is a few lines; a pipe holds them.
    let json = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    let progress = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    #expect(process.terminationStatus == 0, "\(progress)")
    let summary = try JSONDecoder().decode(Summary.self, from: json)
    #expect(summary.account.balanced)
    #expect(summary.account.checks.count >= 8 && summary.account.checks.allSatisfy(\.ok))
    #expect(summary.messages == 60)
    // People join a conversation with their first message, so that the first message of a group has no recipients.
    #expect(summary.candidates > summary.messages / 2)
    #expect(summary.decisions.values.reduce(0, +) == summary.candidates)
    #expect(summary.outcomes["sent", default: 0] > 0)
    #expect(summary.requests == summary.outcomes["sent"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == [])
  }
}

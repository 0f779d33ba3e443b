import Foundation
import ServiceKit
import Testing

@testable import NudgeLab

@Suite("A command's standard output", .enabled(if: DemoEndToEndTests.programs != nil, "the programs are not built"))
struct StandardOutputTests {
  @Test(
    "a disk that is full is an error, whatever the command prints: nothing reads half an answer as the whole",
    arguments: [["--help"], ["completion", "bash"], ["policy", "--help"], ["--version"]])
  func full(_ arguments: [String]) throws {
    let process = Process()
    process.executableURL = try #require(DemoEndToEndTests.programs).appendingPathComponent("nudge")
    process.arguments = arguments
    process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: "/dev/full"))
    let errors = Pipe()
    process.standardError = errors
    try process.run()
    let text = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == ExitCode.failure)
    #expect(text.contains("standard output could not be written"), "\(text)")
  }
}

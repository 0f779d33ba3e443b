import Foundation
import Kafka
import NudgeSchema
import Testing

@testable import NudgeCommands
@testable import NudgeLab

/// The broker and the programs of the suite. The broker starts with the first test and ends with the process.
enum RealKafka {
  /// Why the suite cannot run here, with the fix; nil if it can.
  static let missing: String? = {
    if LocalBroker.find() == nil { return "set KAFKA_HOME=/path/to/kafka to run it" }
    do {
      _ = try DemoProgram.find(in: DemoProgram.directoryOfThisProgram())
      return nil
    } catch {
      return "\(error)"
    }
  }()

  /// The folder of broker, logs and state. Files of passed tests are removed; files of failed ones stay.
  static let directory = FileManager.default.temporaryDirectory
    .appendingPathComponent("nudge-integration-\(UUID().uuidString)")

  private static let broker: Result<LocalBroker, any Error> = Result {
    guard let home = LocalBroker.find() else { throw CommandError("KAFKA_HOME is not set") }
    let broker = try LocalBroker(home: home, directory: directory.appendingPathComponent("kafka"))
    try broker.start()
    atexit {
      if case .success(let broker) = RealKafka.broker { broker.kill() }
      try? FileManager.default.removeItem(at: RealKafka.directory.appendingPathComponent("kafka"))
      // Fails if a test left something, as it should.
      rmdir(RealKafka.directory.path)
    }
    return broker
  }

  /// Starts the broker, and returns its address.
  static func bootstrapServers() throws -> String { try broker.get().bootstrapServers }

  /// Runs a script of the distribution, and returns its output.
  static func run(_ script: String, _ arguments: [String]) throws -> (status: Int32, output: String) {
    guard let home = LocalBroker.find() else { throw CommandError("KAFKA_HOME is not set") }
    return try run(home.appendingPathComponent("bin/\(script)"), arguments)
  }

  /// Runs a program, and returns its status and output, with standard error where `withErrors` says so. Without, errors go to the tests' own.
  static func run(
    _ program: URL, _ arguments: [String], withErrors: Bool = true
  ) throws -> (status: Int32, output: String) {
    let process = Process()
    let output = Pipe()
    process.executableURL = program
    process.arguments = arguments
    process.standardOutput = output
    if withErrors { process.standardError = output }
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text)
  }
}

/// One test at a time, so that each has the machine to itself and its times are meaningful.
@Suite(
  "The pipeline on a real Kafka", .serialized, .enabled(if: RealKafka.missing == nil, "\(RealKafka.missing ?? "")"))
enum PipelineTests {}

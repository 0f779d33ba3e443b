import Foundation
import Kafka
import NudgeSchema
import TestSupport
import Testing

/// A demo whose load has been played, with its console, and the commands on its broker.
final class DemoWithConsole {
  let url: String
  let bootstrapServers: String
  /// The page with the phones.
  let phones: String
  /// The HTTP API with a backend's key; nil: the demo has none.
  let api: (url: String, key: String)?
  private let process: Process
  private let programs: URL
  private let scratch: URL

  /// - Parameters:
  ///   - kafkaHome: A distribution of Kafka; nil: the embedded broker.
  ///   - hasAPI: With the HTTP API.
  init(programs: URL, kafkaHome: String? = nil, hasAPI: Bool = false) throws {
    self.programs = programs
    scratch = FileManager.default.temporaryDirectory.appendingPathComponent("console-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
    let log = scratch.appendingPathComponent("demo.log")
    _ = FileManager.default.createFile(atPath: log.path, contents: nil)
    let process = Process()
    process.executableURL = programs.appendingPathComponent("nudge")
    process.arguments =
      ["demo", "--console", "--duration", "6s", "--rate", "15"]
      + (kafkaHome.map { ["--kafka-home", $0] } ?? []) + (hasAPI ? ["--http"] : [])
    process.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": scratch.path]) { $1 }
    process.standardOutput = try FileHandle(forWritingTo: log)
    process.standardError = FileHandle.nullDevice
    try process.run()
    self.process = process
    func found(_ pattern: String) -> String? {
      guard let text = try? String(contentsOf: log, encoding: .utf8),
        let regex = try? Regex<(Substring, Substring)>(pattern)
      else { return nil }
      return text.firstMatch(of: regex).map { String($0.1) }
    }
    wait(for: "the demo's load", atMost: 180) {
      found("(the console stays at)") != nil || !process.isRunning
    }
    url = found(#"the console stays at (\S+)"#) ?? ""
    bootstrapServers = found(#" at (\S+); starting the emulator"#) ?? ""
    phones = found(#"the phones, live: (\S+)"#) ?? ""
    let key = found(#"events with the key (\S+)"#)
    api = found(#"over HTTP: (\S+)/v1/events"#).flatMap { url in key.map { (url, $0) } }
    #expect(!url.isEmpty && !bootstrapServers.isEmpty, "\((try? String(contentsOf: log, encoding: .utf8)) ?? "")")
  }

  deinit {
    process.interrupt()
    process.waitUntilExit()
    try? FileManager.default.removeItem(at: scratch)
  }

  /// Runs a command of `nudge` on the demo's broker, and returns what it prints.
  func nudge(_ arguments: String...) throws -> String { try run(arguments) }

  func run(_ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = programs.appendingPathComponent("nudge")
    process.arguments = arguments + ["--bootstrap-servers", bootstrapServers]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self)
  }

  /// The object that a command prints with `--json`.
  func object(_ text: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
  }

  /// The records of a topic that `nudge tail` prints.
  func records(_ topic: String, _ arguments: String...) throws -> [[String: Any]] {
    try run(["tail", topic, "--since", "1h", "--limit", "100000", "--json"] + arguments).split(separator: "\n").map {
      try #require(try object(String($0))["record"] as? [String: Any])
    }
  }

  /// Writes an event as a careless producer would.
  func produce(_ event: [String: Any], key: String, to topic: Topic) throws {
    let own: [String: Any] = [
      "schemaVersion": 1, "eventId": "e-\(UUID().uuidString)",
      "occurredAt": Int64(Date().timeIntervalSince1970 * 1_000),
    ]
    let value = try JSONSerialization.data(withJSONObject: own.merging(event) { $1 })
    let producer = try Producer(
      .producer(bootstrapServers: bootstrapServers, transactionalID: nil), name: "careless")
    defer { producer.close() }
    try producer.produce(
      topic: try producer.topic(topic.rawValue), partition: Murmur2.partition(of: Array(key.utf8), count: 4),
      key: Array(key.utf8), value: Array(value))
    try producer.flush(timeout: .seconds(30))
  }
}

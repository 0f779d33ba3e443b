import Foundation

/// What `wrk` saw of a run.
struct WrkSummary: Decodable {
  let seconds: Double
  let requests: Int
  /// Events that were acknowledged.
  let accepted: Int
  let readErrors: Int
  let timeouts: Int
  /// Milliseconds.
  let p50: Double
  let p99: Double
  let answered202: Int
  let answered503: Int
  let answeredOther: Int
}

/// Runs of `wrk` with one thread against one API.
struct WrkLoad {
  let port: Int
  let key: String
  let directory: URL

  func run(_ name: String, batch: Int, connections: Int, seconds: Int) throws -> WrkSummary {
    try start(name, batch: batch, connections: connections, seconds: seconds).wait()
  }

  func start(
    _ name: String, batch: Int, connections: Int, seconds: Int, acknowledged: String? = nil
  ) throws -> WrkRun {
    var environment = [
      "KEY": key, "BATCH": String(batch), "RUN": name, "NOW": String(Int(Date().timeIntervalSince1970 * 1_000)),
    ]
    environment["ACKNOWLEDGED"] = acknowledged
    return try WrkRun(
      ["-t1", "-c\(connections)", "-d\(seconds)s", "--timeout", "20s"], environment: environment, port: port,
      summary: directory.appendingPathComponent("\(name).json"))
  }
}

final class WrkRun {
  static let program = "/usr/bin/wrk"
  private let process = Process()
  private let summary: URL

  init(_ arguments: [String], environment: [String: String], port: Int, summary: URL) throws {
    self.summary = summary
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("events.lua")
    process.executableURL = URL(fileURLWithPath: Self.program)
    process.arguments = arguments + ["-s", script.path, "http://127.0.0.1:\(port)/v1/events"]
    process.environment = environment.merging(["SUMMARY": summary.path]) { $1 }
    process.standardOutput = FileHandle.nullDevice
    try process.run()
  }

  func wait() throws -> WrkSummary {
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw BenchmarkFailure("wrk ended with \(process.terminationStatus)") }
    return try JSONDecoder().decode(WrkSummary.self, from: Data(contentsOf: summary))
  }
}

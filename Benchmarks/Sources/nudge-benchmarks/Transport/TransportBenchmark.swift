import Foundation
import HTTPTransport
import Synchronization

/// Requests to FCM over TLS and HTTP/2 by one thread: a bare corked loop in C, Nudge's transport, and firebase-admin for
/// Python, one after the other against one emulator, with answers at once and after 50 ms.
enum TransportBenchmark: Benchmark {
  static let name = "transport"
  static let abstract =
    "requests to FCM over TLS: a corked C loop, HTTPTransport and firebase-admin, one after the other"
  static let needsKafka = false

  static func run(_ context: BenchmarkContext) throws {
    let programs = URL(fileURLWithPath: context.options.services).standardizedFileURL
    let emulator = programs.appendingPathComponent("fcm-emulator").path
    guard FileManager.default.isExecutableFile(atPath: emulator) else {
      return context.report.note(
        "skipped \(name): \(emulator) is missing; make bench builds it, --services says where it is")
    }
    context.report.note(
      "libcurl \(HTTPClient.libcurlVersion), \(context.options.requests) requests a run; 50 ms: on 32 connections")
    try TransportComparison(context, programs: programs, delay: 0, connections: 2, limit: 25).run()
    try TransportComparison(context, programs: programs, delay: 50, connections: 32, limit: 50).run()
  }
}

/// Where requests go, and what they are.
struct TransportTarget {
  var url: String
  var caFile: String
  var headers: [(String, String)]
  var body: [UInt8]
}

/// What a run took.
struct TransportRun {
  var answered: Int
  var failed: Int
  var cost: Cost
  var perSecond: Double { Double(answered) / cost.seconds }
  var microseconds: Double { cost.cpuSeconds / Double(max(answered, 1)) * 1e6 }
}

/// The three against an emulator that answers after so long.
private final class TransportComparison {
  private struct Ready: Decodable {
    let url: String
    let serviceAccount: String
    let caFile: String
  }

  private struct PythonResult: Decodable {
    let answered: Int
    let failed: Int
    let seconds: Double
    let cpuSeconds: Double
  }

  private let context: BenchmarkContext
  private let programs: URL
  /// Milliseconds.
  private let delay: Int
  private let connections: Int
  /// Microseconds of CPU that a request may take.
  private let limit: Int
  private let directory: URL

  init(_ context: BenchmarkContext, programs: URL, delay: Int, connections: Int, limit: Int) throws {
    self.context = context
    self.programs = programs
    self.delay = delay
    self.connections = connections
    self.limit = limit
    directory = FileManager.default.temporaryDirectory.appendingPathComponent("nudge-transport-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  }

  func run() throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let emulator = try ServiceProcess(
      "fcm-emulator", in: programs,
      ["--directory", directory.path, "--accept-any-token", "--delay", "\(delay)ms"],
      log: directory.appendingPathComponent("emulator.log"))
    let ready = try JSONDecoder().decode(Ready.self, from: Data(try emulator.waitUntilReady().utf8))
    let target = TransportTarget(
      url: ready.url + "/v1/projects/nudge-demo/messages:send", caFile: ready.caFile,
      headers: [
        ("authorization", "Bearer ya29.benchmark-" + String(repeating: "0123456789", count: 12)),
        ("content-type", "application/json"),
      ], body: Self.body)
    let requests = context.options.requests
    var loop: [TransportRun] = []
    var transport: [TransportRun] = []
    for _ in 0..<context.options.repetitions {
      loop.append(
        try RequestLoop.run(target, requests: requests, inFlight: connections * 100, connections: connections))
      transport.append(try measureTransport(target, requests: requests))
    }
    let python = try measurePython(ready)
    try emulator.stop()
    let answers = delay == 0 ? "answers at once" : "answers after \(delay) ms"
    var rows = [
      row("\(answers): C loop", loop), row("\(answers): HTTPTransport", transport, target: "≤ \(limit)"),
    ]
    if let python { rows.append(row("\(answers): firebase-admin", [python])) }
    context.report.table(rows)
    let ratio = Samples(transport.map(\.perSecond)).median / Samples(loop.map(\.perSecond)).median
    context.report.note(String(format: "%@: %.2f times the C loop's rate (target: 0.85)", answers, ratio))
  }

  /// A message of some 700 bytes, as the dispatcher writes them.
  private static let body = Array(
    (#"{"message":{"token":"abcdefghijklmnopqrstuvwxyz0123456789","notification":{"title":"Ada in Launch","body":""#
      + String(repeating: "Shall we meet at the harbour? ", count: 18) + #""}}}"#).utf8)

  private func row(
    _ subject: String, _ runs: [TransportRun], target: String? = nil
  ) -> (subject: String, figures: [Report.Figure]) {
    (
      subject,
      [
        .init(name: "requests", value: Samples(runs.map(\.perSecond)).median, unit: "/s"),
        .init(name: "CPU a request", value: Samples(runs.map(\.microseconds)).median, unit: "µs", target: target),
        .init(name: "failed", value: Double(runs.reduce(0) { $0 + $1.failed }), unit: ""),
      ]
    )
  }

  /// As many in flight as the connections carry, until all are answered. The CPU is that of the process, of which all other
  /// threads sleep.
  private func measureTransport(_ target: TransportTarget, requests: Int) throws -> TransportRun {
    let client = try HTTPClient(
      HTTPClientConfiguration(caFile: target.caFile, maxConnectionsPerHost: connections))
    let race = Race(client: client, target: target, requests: requests)
    let start = Cost.Start()
    race.run(inFlight: min(connections * 100, requests))
    let cost = start.cost
    client.shutdown(grace: .seconds(1))
    return TransportRun(answered: race.answered, failed: requests - race.answered, cost: cost)
  }

  private func measurePython(_ ready: Ready) throws -> TransportRun? {
    guard let python = context.options.firebasePython else {
      context.report.note(
        "firebase-admin was not run: --firebase-python names a Python that has it (python3 -m venv, pip install)")
      return nil
    }
    let output = Pipe()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: python)
    process.arguments = [
      context.options.firebaseScript, ready.serviceAccount, ready.url, String(min(context.options.requests, 5_000)),
    ]
    process.environment = ProcessInfo.processInfo.environment.merging(["REQUESTS_CA_BUNDLE": ready.caFile]) { $1 }
    process.standardOutput = output
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw BenchmarkFailure("firebase-admin ended with status \(process.terminationStatus)")
    }
    let result = try JSONDecoder().decode(PythonResult.self, from: text)
    return TransportRun(
      answered: result.answered, failed: result.failed,
      cost: Cost(seconds: result.seconds, cpuSeconds: result.cpuSeconds))
  }
}

/// Requests that each start another when they are answered.
private final class Race: Sendable {
  private struct State {
    var left: Int
    var unanswered: Int
    var answered = 0
  }

  private let client: HTTPClient
  private let request: HTTPRequest
  private let state: Mutex<State>
  private let finished = DispatchSemaphore(value: 0)

  init(client: HTTPClient, target: TransportTarget, requests: Int) {
    self.client = client
    request = HTTPRequest(url: target.url, headers: target.headers, body: target.body)
    state = Mutex(State(left: requests, unanswered: requests))
  }

  var answered: Int { state.withLock { $0.answered } }

  /// Returns when all are answered or have failed.
  func run(inFlight: Int) {
    state.withLock { $0.left -= inFlight }
    for _ in 0..<inFlight { send() }
    finished.wait()
  }

  private func send() {
    client.send(request) { result in
      let isGood = (try? result.get().status) == 200
      let (goesOn, isLast) = self.state.withLock { state -> (Bool, Bool) in
        state.unanswered -= 1
        if isGood { state.answered += 1 }
        guard state.left > 0 else { return (false, state.unanswered == 0) }
        state.left -= 1
        return (true, false)
      }
      if goesOn { self.send() }
      if isLast { self.finished.signal() }
    }
  }
}

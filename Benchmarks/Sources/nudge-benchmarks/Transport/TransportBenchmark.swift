import Foundation
import HTTPTransport
import Synchronization

/// Measures requests to FCM over TLS and HTTP/2 by one thread: a bare corked loop in C, Nudge's transport, and firebase-admin for
/// Python, one after the other against one emulator that answers at once, then after 50 ms.
enum TransportBenchmark: Benchmark {
  static let name = "transport"
  static let abstract =
    "requests to FCM over TLS: a corked C loop, HTTPTransport and firebase-admin, one after the other"
  static let needsKafka = false

  static func run(_ context: BenchmarkContext) throws {
    let options = context.options
    context.report.note("libcurl \(HTTPClient.libcurlVersion), \(options.requests) requests a run")
    if let server = options.fcmServer {
      guard let caFile = options.fcmCA else { throw BenchmarkFailure("--fcm-server needs --fcm-ca FILE as well") }
      let target = TransportTarget(url: server, caFile: caFile)
      for (connections, limit) in [(2, 25), (32, 50)] {
        try TransportComparison(
          context: context, subject: "answers of \(server)", connections: connections, limit: limit
        ).run(target, python: nil)
      }
      return
    }
    guard let programs = context.services(["fcm-emulator"], for: name) else { return }
    for (delay, connections, limit) in [(0, 2, 25), (50, 32, 50)] {
      let subject = delay == 0 ? "answers at once" : "answers after \(delay) ms"
      let emulator = try TransportEmulator(in: programs, delay: delay)
      defer { emulator.removeFiles() }
      try TransportComparison(context: context, subject: subject, connections: connections, limit: limit)
        .run(TransportTarget(url: emulator.url, caFile: emulator.caFile), python: emulator)
      try emulator.stop()
    }
  }
}

/// The requests and their server.
struct TransportTarget {
  let url: String
  let caFile: String
  let headers = [
    ("authorization", "Bearer ya29.benchmark-" + String(repeating: "0123456789", count: 12)),
    ("content-type", "application/json"),
  ]
  /// A message of some 700 bytes, as the dispatcher writes it.
  let body = Array(
    (#"{"message":{"token":"abcdefghijklmnopqrstuvwxyz0123456789","notification":{"title":"Ada in Launch","body":""#
      + String(repeating: "Shall we meet at the harbour? ", count: 18) + #""}}}"#).utf8)

  /// The path of the emulator project's messages.
  init(url: String, caFile: String) {
    self.url = url + "/v1/projects/nudge-demo/messages:send"
    self.caFile = caFile
  }
}

/// The cost of a run.
struct TransportRun {
  var answered: Int
  var failed: Int
  var cost: Cost
  var perSecond: Double { Double(answered) / cost.seconds }
  var microseconds: Double { cost.cpuSeconds / Double(max(answered, 1)) * 1e6 }
}

/// The emulator as a process that answers after a delay.
private final class TransportEmulator {
  private let directory = FileManager.default.temporaryDirectory
    .appendingPathComponent("nudge-transport-\(UUID().uuidString)")
  private let process: ServiceProcess
  private let ready: EmulatorReady

  var url: String { ready.url }
  var caFile: String { ready.caFile }

  init(in programs: URL, delay milliseconds: Int) throws {
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    process = try ServiceProcess(
      "fcm-emulator", in: programs,
      ["--directory", directory.path, "--accept-any-token", "--delay", "\(milliseconds)ms"],
      log: directory.appendingPathComponent("emulator.log"))
    ready = try EmulatorReady(of: process)
  }

  func stop() throws {
    try process.stop()
  }

  func removeFiles() {
    try? FileManager.default.removeItem(at: directory)
  }
}

/// Measures the three clients against one server, one after the other.
private struct TransportComparison {
  private struct PythonResult: Decodable {
    let answered: Int
    let failed: Int
    let seconds: Double
    let cpuSeconds: Double
  }

  let context: BenchmarkContext
  /// The server's name and delay.
  let subject: String
  let connections: Int
  /// Microseconds of CPU that a request may take.
  let limit: Int
  /// Threads of the transport, with four connections each, as `--fcm-loops` has them; one if two connections suffice.
  private var loops: Int { max(1, connections / 4) }

  func run(_ target: TransportTarget, python emulator: TransportEmulator?) throws {
    let requests = context.options.requests
    var loop: [TransportRun] = []
    var transport: [TransportRun] = []
    for _ in 0..<context.options.repetitions {
      loop.append(
        try RequestLoop.run(target, requests: requests, inFlight: connections * 100, connections: connections))
      transport.append(try measureTransport(target, requests: requests))
    }
    var rows = [
      row("C loop", loop), row("HTTPTransport", transport, target: "≤ \(limit)"),
    ]
    if let emulator, let python = try measurePython(emulator) {
      rows.append(row("firebase-admin", [python]))
    }
    context.report.table(rows)
    let ratio = Samples(transport.map(\.perSecond)).median / Samples(loop.map(\.perSecond)).median
    context.report.note(
      "\(subject), \(connections) connections, \(loops) loops of the transport: "
        + String(format: "%.2f times the C loop's rate (target: 0.85)", ratio))
  }

  private func row(
    _ client: String, _ runs: [TransportRun], target: String? = nil
  ) -> (subject: String, figures: [Report.Figure]) {
    (
      "\(subject), \(connections) connections: \(client)",
      [
        .init(name: "requests", value: Samples(runs.map(\.perSecond)).median, unit: "/s"),
        .init(name: "CPU a request", value: Samples(runs.map(\.microseconds)).median, unit: "µs", target: target),
        .init(name: "failed", value: Double(runs.reduce(0) { $0 + $1.failed }), unit: ""),
      ]
    )
  }

  /// Keeps as many requests in flight as the connections carry, until all are answered. CPU is the process's; its other threads
  /// sleep.
  private func measureTransport(_ target: TransportTarget, requests: Int) throws -> TransportRun {
    let client = try HTTPClientGroup(
      HTTPClientConfiguration(caFile: target.caFile, maxConnectionsPerHost: connections), count: loops)
    let race = Race(client: client, target: target, requests: requests)
    let start = Cost.Start()
    race.run(inFlight: min(connections * 100, requests))
    let cost = start.cost
    client.shutdown(grace: .seconds(1))
    for (failure, count) in race.failures { context.report.note("HTTPTransport: \(count) times \(failure)") }
    return TransportRun(answered: race.answered, failed: requests - race.answered, cost: cost)
  }

  private func measurePython(_ emulator: TransportEmulator) throws -> TransportRun? {
    guard let python = context.options.firebasePython else {
      context.report.note(
        "firebase-admin was not run: --firebase-python names a Python that has it (python3 -m venv, pip install)")
      return nil
    }
    let output = Pipe()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: python)
    process.arguments = [
      context.options.firebaseScript, emulator.url, String(min(context.options.requests, 5_000)),
    ]
    process.environment = ProcessInfo.processInfo.environment.merging(["SSL_CERT_FILE": emulator.caFile]) { $1 }
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

/// Requests, each of which starts another one when it is answered.
private final class Race: Sendable {
  private struct State {
    var left: Int
    var unanswered: Int
    var answered = 0
    /// Failures by reason.
    var failures: [String: Int] = [:]
  }

  private let client: HTTPClientGroup
  private let request: HTTPRequest
  private let state: Mutex<State>
  private let finished = DispatchSemaphore(value: 0)

  init(client: HTTPClientGroup, target: TransportTarget, requests: Int) {
    self.client = client
    request = HTTPRequest(url: target.url, headers: target.headers, body: target.body)
    state = Mutex(State(left: requests, unanswered: requests))
  }

  var answered: Int { state.withLock { $0.answered } }
  var failures: [String: Int] { state.withLock { $0.failures } }

  /// Returns when all are answered or have failed.
  func run(inFlight: Int) {
    state.withLock { $0.left -= inFlight }
    for _ in 0..<inFlight { send() }
    finished.wait()
  }

  private func send() {
    client.send(request) { result in
      let failure: String? =
        switch result {
        case .success(let response): response.status == 200 ? nil : "status \(response.status)"
        case .failure(let error): "\(error.kind): \(error.message)"
        }
      let (goesOn, isLast) = self.state.withLock { state -> (Bool, Bool) in
        state.unanswered -= 1
        if let failure { state.failures[failure, default: 0] += 1 } else { state.answered += 1 }
        guard state.left > 0 else { return (false, state.unanswered == 0) }
        state.left -= 1
        return (true, false)
      }
      if goesOn { self.send() }
      if isLast { self.finished.signal() }
    }
  }
}

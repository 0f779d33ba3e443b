import Foundation
import Kafka
import NudgeSchema

/// The HTTP API of ingest under `wrk`, as a process, release built, with a broker of its own.
enum HTTPBenchmark: Benchmark {
  static let name = "http"
  static let abstract =
    "POST /v1/events under wrk: single posts, batches, beside 300 clients that never finish, and through a broker's restart"
  static let needsKafka = true
  static let startsBroker = true

  static func run(_ context: BenchmarkContext) throws {
    let options = context.options
    guard let programs = context.services(["nudge-ingest"], for: name) else { return }
    guard FileManager.default.isExecutableFile(atPath: WrkRun.program) else {
      return context.report.note("skipped \(name): \(WrkRun.program) is missing; apt-get install wrk")
    }
    guard let broker = try BenchmarkBroker.start(options) else { throw BenchmarkFailure("no Kafka was started") }
    defer { broker.stop() }
    try HTTPRun(context, broker, programs: programs).run()
  }
}

private final class HTTPRun: BrokerRun {
  /// libmicrohttpd's name for the one thread that reads, checks and answers all requests.
  private static let thread = "MHD-single"
  private static let key = "a-key-of-the-benchmark-with-32-characters"
  private static let otherKey = "another-key-of-the-benchmark-32-characters"

  func run() throws {
    defer { topics.close() }
    let keys = broker.directory.appendingPathComponent("keys")
    try Data("benchmark \(Self.key)\nother \(Self.otherKey)\n".utf8).write(to: keys)
    // The stage of the same process reads what comes, at the same time and on the same cores.
    let (service, port) = try start(
      "http", ["--api-keys-file", keys.path, "--http-rate", "10000000", "--http-bytes", "65536"])
    let load = WrkLoad(port: port, key: Self.key, directory: broker.directory)

    _ = try load.run("warm", batch: 10, connections: 16, seconds: 5)
    try measure("single posts", service, target: "≥ 10000") {
      try load.run("single", batch: 1, connections: 512, seconds: options.seconds)
    }
    try measure("batches of 100", service, target: "≥ 40000") {
      try load.run("batch", batch: 100, connections: 32, seconds: options.seconds)
    }
    let unfinished = try UnfinishedClients(300, port: port, key: Self.key)
    try measure("single, beside 300 idle", service, target: "≥ 10000") {
      try load.run("beside", batch: 1, connections: 512, seconds: min(options.seconds, 14))
    }
    unfinished.close()
    try restart(load, service)
    try service.stop()
    try besideAnother(keys)
  }

  private func start(_ name: String, _ flags: [String]) throws -> (ServiceProcess, port: Int) {
    let service = try ServiceProcess(
      "nudge-ingest", in: programs,
      [
        "--bootstrap-servers", broker.bootstrapServers, "--state-dir",
        broker.directory.appendingPathComponent("state-\(name)").path, "--instance", name, "--admin-address",
        "127.0.0.1:0", "--http-address", "127.0.0.1:0",
      ] + flags, log: broker.directory.appendingPathComponent("ingest-\(name).log"))
    _ = try service.waitUntilReady()
    guard let port = service.apiPort else { throw BenchmarkFailure("nudge-ingest did not say where its HTTP API is") }
    return (service, port)
  }

  /// Single posts of one key on four connections, alone and beside another key that sends batches of 100 on 32 as fast as it may, with the
  /// rates that nobody set.
  private func besideAnother(_ keys: URL) throws {
    let (service, port) = try start("beside", ["--api-keys-file", keys.path])
    let load = WrkLoad(port: port, key: Self.key, directory: broker.directory)
    let other = WrkLoad(port: port, key: Self.otherKey, directory: broker.directory)
    _ = try load.run("warm-again", batch: 10, connections: 4, seconds: 5)
    let alone = try load.run("alone", batch: 1, connections: 4, seconds: options.seconds)
    let busy = try other.start("busy", batch: 100, connections: 32, seconds: options.seconds + 2)
    Thread.sleep(forTimeInterval: 1)
    let beside = try load.run("beside-another", batch: 1, connections: 4, seconds: options.seconds)
    _ = try busy.wait()
    guard beside.answeredOther == 0 else { throw BenchmarkFailure("beside another key: \(beside)") }
    for (subject, summary, target) in [
      ("one key alone", alone, nil), ("beside a busy one", beside, "≤ \(Int(alone.p99 * 2))"),
    ] {
      report.row(
        subject,
        [
          .init(name: "events", value: Double(summary.accepted) / summary.seconds, unit: "/s"),
          .init(name: "p50", value: summary.p50, unit: "ms"),
          .init(name: "p99", value: summary.p99, unit: "ms", target: target),
        ])
    }
    try service.stop()
  }

  private func measure(
    _ subject: String, _ service: ServiceProcess, target: String, _ run: () throws -> WrkSummary
  ) throws {
    let before = try ProcessUsage.cpuSeconds(service.number)
    let threadBefore = try ProcessUsage.cpuSeconds(service.number, thread: Self.thread)
    let summary = try run()
    let cpu = try ProcessUsage.cpuSeconds(service.number) - before
    let thread = try ProcessUsage.cpuSeconds(service.number, thread: Self.thread) - threadBefore
    guard summary.answeredOther == 0, summary.readErrors == 0 else {
      throw BenchmarkFailure("\(subject): \(summary)")
    }
    report.row(
      subject,
      [
        .init(name: "events", value: Double(summary.accepted) / summary.seconds, unit: "/s", target: target),
        .init(name: "p50", value: summary.p50, unit: "ms"), .init(name: "p99", value: summary.p99, unit: "ms"),
        .init(name: "CPU an event", value: cpu / Double(summary.accepted) * 1e6, unit: "µs"),
        .init(name: "a second of the API's thread", value: Double(summary.accepted) / thread, unit: "events"),
      ])
  }

  /// A minute, in whose middle the broker is stopped and started: each event that was acknowledged must be in the topic.
  private func restart(_ load: WrkLoad, _ service: ServiceProcess) throws {
    let seconds = options.restartSeconds
    let acknowledged = broker.directory.appendingPathComponent("acknowledged")
    let running = try load.start(
      "restart", batch: 10, connections: 32, seconds: seconds, acknowledged: acknowledged.path)
    Thread.sleep(forTimeInterval: Double(seconds) / 3)
    let began = Clocks.steady
    try broker.restart()
    let away = Clocks.steady - began
    let summary = try running.wait()
    let ids = Set(
      try String(contentsOf: acknowledged, encoding: .utf8).split(separator: "\n").map { String($0) })
    var found: Set<String> = []
    var records = 0
    try topics.read(.userEvents) { record in
      guard let value = record.valueBytes(), let id = JSONText.value(of: "eventId", in: value), id.hasPrefix("restart-")
      else { return }
      records += 1
      found.insert(id)
    }
    let lost = ids.subtracting(found).count
    report.row(
      "through a restart",
      [
        .init(name: "acknowledged", value: Double(ids.count), unit: "events"),
        .init(name: "of them in Kafka", value: Double(ids.count - lost), unit: "events", target: "all"),
        .init(name: "records twice", value: Double(records - found.count), unit: ""),
        .init(name: "broker away", value: away, unit: "s"),
        .init(name: "answers 503", value: Double(summary.answered503), unit: ""),
        .init(name: "others than 202 and 503", value: Double(summary.answeredOther), unit: "", target: "0"),
      ])
    guard lost == 0, !ids.isEmpty, summary.answeredOther == 0 else {
      throw BenchmarkFailure("\(lost) of \(ids.count) acknowledged events are not in Kafka; \(summary)")
    }
  }
}

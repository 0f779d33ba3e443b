import Foundation
import Kafka
import NudgeSchema

/// Measures the three services, one after the other, on a backlog in a real Kafka: release builds, as processes, with their own
/// broker.
enum BacklogBenchmark: Benchmark {
  static let name = "backlog"
  static let abstract = "the three services as processes, one after the other, over a backlog of chat messages"
  static let needsKafka = true
  static let startsBroker = true

  private static let programs = ["nudge-ingest", "nudge-analyzer", "nudge-dispatcher", "fcm-emulator"]

  static func run(_ context: BenchmarkContext) throws {
    let options = context.options
    guard let programs = context.services(Self.programs, for: name) else { return }
    guard let broker = try BenchmarkBroker.start(options) else { throw BenchmarkFailure("no Kafka was started") }
    defer { broker.stop() }
    try BacklogRun(context, broker, programs: programs).run()
  }
}

/// A stage's cost from "ready" to the commit of the last record.
struct BacklogMeasurement {
  var seconds: Double
  var cpu: Double
  var brokerCPU: Double
  var peakMegabytes: Double
  var transactions: Int
  var rows: Int
}

/// One backlog, from the empty broker to the last push.
private final class BacklogRun {
  typealias Measurement = BacklogMeasurement

  private let options: BenchmarkOptions
  private let report: Report
  private let broker: BenchmarkBroker
  private let programs: URL
  private let topics: BacklogTopics
  private let peer: BacklogPeer?
  private let limit: BacklogLimit
  private var starts = 0

  init(_ context: BenchmarkContext, _ broker: BenchmarkBroker, programs: URL) throws {
    peer = try BacklogPeer(context, broker)
    limit = try BacklogLimit(context, broker)
    options = context.options
    report = context.report
    self.broker = broker
    self.programs = programs
    topics = try BacklogTopics(broker, partitions: options.partitions)
  }

  func run() throws {
    defer { topics.close() }
    let world = BacklogWorld(people: options.people, members: options.members)
    var texts =
      try options.chatLog.map { try ChatTexts(file: $0, limit: options.messages) } ?? ChatTexts(count: options.messages)
    report.note(
      "\(options.messages) messages to \(world.groups) groups of \(options.members), \(options.people) people with a "
        + "device each, texts \(options.chatLog == nil ? "made up" : "of a chat log"), \(options.partitions) partitions, "
        + "threads: \(options.threads), instances: \(options.instances)" + propertiesNote)

    // Groups, devices and preferences first, without measuring: their rows are in the stores before the backlog.
    let introduced = try world.introduce(to: topics)
    _ = try measure("nudge-ingest", "groups, devices, preferences") { $0.records >= introduced }
    let people = try topics.census(of: .timeline).records
    _ = try measure("nudge-analyzer", "devices, preferences") { $0.records >= people }
    try peer?.introduce(records: people)
    let before = try Topic.written.map { try topics.census(of: $0) }

    let recipients = try world.write(messages: options.messages, texts: &texts, to: topics)
    let ingest = try measure("nudge-ingest", "messages") { $0.records >= options.messages }
    let timeline = try topics.census(of: .timeline).records - people
    let analyzer = try measure("nudge-analyzer", "timeline records") { $0.records >= timeline }
    let decisions = try topics.census(of: .decisions).records
    guard decisions == recipients else {
      throw BenchmarkFailure("\(recipients) recipients have \(decisions) decisions")
    }
    let (pushes, cancellations) = try topics.pushes()
    let (dispatcher, emulatorCPU, requests) = try measureDispatcher(pushes: pushes, cancellations: cancellations)

    let streams = try peer?.measure(records: timeline)
    if let streams {
      let found = try topics.records(of: streams.decisions)
      guard found == decisions else { throw BenchmarkFailure("Kafka Streams made \(found) decisions of \(decisions)") }
    }

    let written = Dictionary(
      uniqueKeysWithValues: try zip(Topic.written, before).map { ($0, try topics.census(of: $0) - $1) })
    func size(_ topic: Topic) -> Int { written[topic].map { $0.records > 0 ? $0.bytes / $0.records : 0 } ?? 0 }
    let bare = try limit.measure(
      introduced: people, records: timeline, decisionBytes: size(.decisions), pushBytes: size(.pushes))
    let bytes = { (topics: [Topic]) in topics.reduce(0) { $0 + (written[$1]?.fileBytes ?? 0) } }
    report.table([
      row("ingest, recipients", ingest, recipients, written: bytes([.timeline, .ingestState]), target: "≥ 80000"),
      row(
        "analyzer, decisions", analyzer, decisions,
        written: bytes([.decisions, .pushes, .banners, .analyzerState]),
        target: options.people < 10_000 ? "≥ 30000" : "≥ 25000"),
      row(
        "dispatcher, pushes", dispatcher, pushes, written: bytes([.outcomes, .dispatcherState]), target: "≥ 20000"),
      row(
        "dispatcher, requests", dispatcher, requests, written: bytes([.outcomes, .dispatcherState]),
        target: "≥ 8000"),
    ])
    compare(analyzer, streams, bare, decisions: decisions)
    report.note(
      String(
        format: "the emulator used %.1f s of CPU in %.1f s of the dispatcher's: %.0f %% of a core", emulatorCPU,
        dispatcher.seconds, 100 * emulatorCPU / dispatcher.seconds))
    report.table(
      Topic.written.compactMap { topic in
        guard let census = written[topic], census.records > 0 else { return nil }
        let records = Double(census.records)
        return (
          topic.rawValue,
          [
            .init(name: "records", value: records, unit: ""),
            .init(name: "key and value", value: Double(census.bytes) / records, unit: "bytes"),
            .init(name: "on disk", value: Double(census.fileBytes) / records, unit: "bytes"),
            .init(name: "on disk for a decision", value: Double(census.fileBytes) / Double(decisions), unit: "bytes"),
          ]
        )
      })
  }

  /// The analyzer beside a bare loop in C, and beside Kafka Streams: whole, as both start cold, and the latter's second half, when Java has
  /// compiled its code.
  private func compare(
    _ analyzer: Measurement, _ streams: BacklogPeer.Result?, _ bare: Measurement, decisions: Int
  ) {
    var rates = [
      ("analyzer", Double(decisions) / analyzer.cpu, analyzer),
      ("bare loop in C, a row each", Double(bare.rows) / bare.cpu, bare),
    ]
    if let streams {
      rates += [
        ("\(streams.name), whole", Double(decisions) / streams.whole.cpu, streams.whole),
        ("\(streams.name), second half", Double(decisions) * streams.latterShare / streams.latter.cpu, streams.latter),
      ]
    }
    report.table(
      rates.map { subject, rate, it in
        (
          subject,
          [
            .init(name: "decisions a CPU second", value: rate, unit: ""),
            .init(name: "analyzer's to this", value: rates[0].1 / rate, unit: "times"),
            .init(name: "CPU", value: it.cpu, unit: "s"),
            .init(name: "broker's CPU", value: it.brokerCPU, unit: "s"),
            .init(name: "time", value: it.seconds, unit: "s"),
            .init(name: "peak memory", value: it.peakMegabytes, unit: "MB"),
          ]
        )
      })
  }

  private var propertiesNote: String {
    let properties = options.kafkaProperties.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    return properties.isEmpty ? "" : ", " + properties.joined(separator: " ")
  }

  private func row(_ subject: String, _ it: Measurement, _ items: Int, written: Int, target: String) -> (
    String, [Report.Figure]
  ) {
    let count = Double(items)
    return (
      subject,
      [
        .init(name: "items", value: count, unit: ""),
        .init(name: "time", value: it.seconds, unit: "s"),
        .init(name: "rate", value: count / it.seconds, unit: "/s"),
        .init(name: "per CPU second", value: count / it.cpu, unit: "", target: target),
        .init(name: "CPU", value: it.cpu, unit: "s"),
        .init(name: "broker's CPU", value: it.brokerCPU, unit: "s"),
        .init(name: "peak memory", value: it.peakMegabytes, unit: "MB", target: "≤ 100"),
        .init(name: "written", value: Double(written) / count, unit: "bytes/item"),
        .init(name: "rows", value: Double(it.rows) / count, unit: "/item"),
        .init(name: "transactions", value: Double(it.transactions), unit: ""),
      ]
    )
  }

  // MARK: One service

  /// Starts a service, waits until it has committed its whole input, and stops it.
  private func measure(
    _ program: String, _ what: String, with arguments: [String] = [],
    until condition: (ServiceProcess.Committed) -> Bool
  ) throws -> Measurement {
    report.progress("  \(program): \(what)")
    let services = ServiceInstances(
      processes: try (0..<options.instances).map { number in
        try start(
          program,
          [
            "--bootstrap-servers", broker.bootstrapServers, "--instance", "benchmark-\(number)",
            "--threads", String(options.threads),
            "--state-dir", broker.directory.appendingPathComponent("state-\(number)").path, "--freshness", "1d",
            // Each transaction is a line with its number of records.
            "--log-level", "debug",
          ]
            + options.kafkaProperties.sorted { $0.key < $1.key }.flatMap {
              ["--kafka-property", "\($0.key)=\($0.value)"]
            }
            + arguments)
      })
    try services.waitUntilReady()
    let (began, cpu, brokerCPU) = (Clocks.steady, try services.cpuSeconds(), try broker.cpuSeconds())
    try services.wait(for: what, until: condition)
    let measurement = Measurement(
      seconds: Clocks.steady - began, cpu: try services.cpuSeconds() - cpu,
      brokerCPU: try broker.cpuSeconds() - brokerCPU, peakMegabytes: try services.peakMegabytes(),
      transactions: services.committed.transactions, rows: services.committed.rows)
    try services.stop()
    guard services.complaints.isEmpty else {
      throw BenchmarkFailure("\(program)'s log says: \(services.complaints.prefix(3).joined(separator: "\n"))")
    }
    return measurement
  }

  private func measureDispatcher(
    pushes: Int, cancellations: Int
  ) throws -> (Measurement, emulatorCPU: Double, requests: Int) {
    struct Totals: Decodable {
      let byStatus: [String: Int]
      let distinctTokens: Int
    }
    let emulator = try start(
      "fcm-emulator", ["--directory", broker.directory.appendingPathComponent("fcm").path])
    let ready = try EmulatorReady(of: emulator)
    let cpu = try ProcessUsage.cpuSeconds(emulator.number)
    // A push has one target here, and each target one outcome.
    let measurement = try measure(
      "nudge-dispatcher", "pushes",
      with: [
        "--fcm-url", ready.url, "--fcm-credentials", ready.serviceAccount, "--fcm-ca-file", ready.caFile,
        // Otherwise the limits would be measured.
        "--fcm-quota", "60000000", "--fcm-ramp-up", "0s", "--fcm-device-per-minute", "0", "--fcm-device-per-hour", "0",
      ]
    ) { $0.records >= pushes + cancellations && $0.outputs >= pushes }
    let emulatorCPU = try ProcessUsage.cpuSeconds(emulator.number) - cpu
    let words = try emulator.stop().split(separator: "\n").last ?? ""
    let totals = try JSONDecoder().decode(Totals.self, from: Data(words.utf8))
    // Each instance asks for an access token.
    let requests = (totals.byStatus["200"] ?? 0) - options.instances
    // The request that opens an instance's connection ahead of its first push is answered with 404.
    let others = totals.byStatus.filter { $0.key != "200" }
    guard others.isEmpty || others == ["404": options.instances], totals.distinctTokens <= options.people else {
      throw BenchmarkFailure("the emulator says \(words)")
    }
    return (measurement, emulatorCPU, requests)
  }

  private func start(_ program: String, _ arguments: [String]) throws -> ServiceProcess {
    starts += 1
    return try ServiceProcess(
      program, in: programs, arguments, log: broker.directory.appendingPathComponent("\(starts)-\(program).log"))
  }
}

extension Topic {
  /// The records that the stages write for a message.
  fileprivate static let written: [Topic] = [
    .timeline, .ingestState, .decisions, .pushes, .banners, .analyzerState, .outcomes, .dispatcherState,
  ]
}

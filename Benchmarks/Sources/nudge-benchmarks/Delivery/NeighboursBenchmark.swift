import Foundation
import Kafka
import NudgeSchema

/// Measures how far devices in trouble delay healthy ones: FCM never answers one, always fails another, and calls the third
/// unregistered. Dispatcher and emulator run as release-built processes on a broker of their own.
enum NeighboursBenchmark: Benchmark {
  static let name = "neighbours"
  static let abstract =
    "time from a push's record to its outcome, without and with devices that hang, fail or are unregistered"
  static let needsKafka = true
  static let startsBroker = true

  static func run(_ context: BenchmarkContext) throws {
    guard let programs = context.services(["nudge-dispatcher", "fcm-emulator"], for: name) else { return }
    guard let broker = try BenchmarkBroker.start(context.options) else {
      throw BenchmarkFailure("no Kafka was started")
    }
    defer { broker.stop() }
    try NeighboursRun(context, broker, programs: programs).run()
  }
}

private final class NeighboursRun {
  private static let devices = 200
  /// Pushes a second to healthy devices, round robin.
  private static let rate = 200
  /// Pushes a second to each device in trouble.
  private static let troubledRate = 10
  /// Token prefixes of the devices in trouble, and the emulator's fault for each.
  private static let troubles = [
    ("hangs-", #""action": "hang""#), ("fails-", #""answer": "UNAVAILABLE""#), ("gone-", #""answer": "UNREGISTERED""#),
  ]

  private let options: BenchmarkOptions
  private let report: Report
  private let broker: BenchmarkBroker
  private let programs: URL
  private let topics: BacklogTopics
  private let coder = RecordCoder()
  private var pushes = 0
  /// When a push to a healthy device was written, by its id.
  private var writtenAt: [String: Double] = [:]
  /// Milliseconds from a healthy device's push to its outcome.
  private var latencies: [Double] = []
  /// Outcomes of devices in trouble.
  private var troubledOutcomes = 0

  init(_ context: BenchmarkContext, _ broker: BenchmarkBroker, programs: URL) throws {
    options = context.options
    report = context.report
    self.broker = broker
    self.programs = programs
    topics = try BacklogTopics(broker, partitions: options.partitions)
  }

  func run() throws {
    defer { topics.close() }
    let faults = broker.directory.appendingPathComponent("faults.json")
    let entries = Self.troubles.map { #"{"tokenPrefix": "\#($0)", \#($1)}"# }.joined(separator: ", ")
    try Data(#"{"faults": [\#(entries)]}"#.utf8).write(to: faults)
    let emulator = try start(
      "fcm-emulator",
      ["--directory", broker.directory.appendingPathComponent("fcm").path, "--delay", "20ms", "--faults", faults.path])
    let ready = try EmulatorReady(of: emulator)
    let dispatcher = try start(
      "nudge-dispatcher",
      [
        "--bootstrap-servers", broker.bootstrapServers, "--instance", "neighbours", "--state-dir",
        broker.directory.appendingPathComponent("state").path, "--admin-address", "127.0.0.1:0", "--fcm-url", ready.url,
        "--fcm-credentials", ready.serviceAccount, "--fcm-ca-file", ready.caFile, "--fcm-ramp-up", "0s",
      ])
    _ = try dispatcher.waitUntilReady()
    let consumer = try topics.follow(.outcomes)
    defer { consumer.close() }

    try measure(consumer, troubled: false)
    var alone: [Double] = []
    var beside: [Double] = []
    // Alternately, because the machine's speed varies.
    for _ in 0..<options.repetitions {
      alone += try measure(consumer, troubled: false)
      beside += try measure(consumer, troubled: true)
    }
    try dispatcher.stop()
    try emulator.stop()
    guard troubledOutcomes > 0 else { throw BenchmarkFailure("the devices in trouble have no outcomes") }
    let undisturbed = Samples(alone)
    report.table(
      [
        ("healthy devices only", undisturbed, nil),
        (
          "beside three devices in trouble", Samples(beside),
          "≤ \(Int((undisturbed.quantile(0.99) * 1.25).rounded()))"
        ),
      ].map { subject, samples, target in
        (
          subject,
          [
            .init(name: "pushes", value: Double(samples.values.count), unit: ""),
            .init(name: "p50", value: samples.median, unit: "ms"),
            .init(name: "p99", value: samples.quantile(0.99), unit: "ms", target: target),
            .init(name: "max", value: samples.max, unit: "ms"),
          ]
        )
      })
  }

  private func start(_ program: String, _ arguments: [String]) throws -> ServiceProcess {
    try ServiceProcess(
      program, in: programs, arguments, log: broker.directory.appendingPathComponent("\(program).log"))
  }

  /// Sends for the configured seconds and waits for the outcomes of healthy devices. Returns their latencies in milliseconds.
  @discardableResult
  private func measure(_ consumer: Consumer, troubled: Bool) throws -> [Double] {
    latencies = []
    let began = Clocks.steady
    var sent = 0
    var sentTroubled = 0
    while Clocks.steady < began + Double(options.seconds) {
      let passed = Clocks.steady - began
      while Double(sent) < passed * Double(Self.rate) {
        sent += 1
        let id = try push(to: "device-\(sent % Self.devices)")
        writtenAt[id] = Clocks.steady
      }
      while troubled, Double(sentTroubled) < passed * Double(Self.troubledRate) {
        sentTroubled += 1
        for (prefix, _) in Self.troubles { _ = try push(to: prefix + "device") }
      }
      try read(consumer)
    }
    let deadline = Clocks.steady + 60
    while !writtenAt.isEmpty {
      guard Clocks.steady < deadline else {
        throw BenchmarkFailure("\(writtenAt.count) pushes to healthy devices still have no outcome after 60 s")
      }
      try read(consumer)
    }
    return latencies
  }

  private func push(to device: String) throws -> String {
    pushes += 1
    let id = "push-\(pushes)"
    let now = Milliseconds(Date().timeIntervalSince1970 * 1_000)
    let push = Push(
      pushId: id, kind: .message, userId: "user-\(device)",
      targets: [PushTarget(deviceId: device, token: "\(device)-token", version: 1, platform: .ios)],
      title: "Ada", body: "On my way", priority: .high, presentation: .alert, reason: .relevant, badge: 1,
      conversationId: "conversation-\(device)", messageId: "message-\(pushes)", senderId: "ada", ttlSeconds: 3_600,
      expiresAt: now + 3_600_000, decidedAt: now)
    let cause = RecordPosition(topic: Topic.timeline.rawValue, partition: 0, offset: Int64(pushes))
    let event = PushEvent(
      Envelope(eventId: "event-\(pushes)", occurredAt: now), origin: Origin(cause), source: cause, .push(push))
    try topics.write(coder.encode(event), to: .pushes, key: push.userId)
    return id
  }

  private func read(_ consumer: Consumer) throws {
    let event = consumer.poll(maxRecords: 1_000, maxBytes: 8 << 20, timeout: .milliseconds(2)) { record in
      guard let value = record.valueBytes(), let id = JSONText.value(of: "pushId", in: value) else { return }
      if let at = writtenAt.removeValue(forKey: id) {
        latencies.append((Clocks.steady - at) * 1e3)
      } else {
        troubledOutcomes += 1
      }
    }
    if case .error(let error)? = event { throw error }
  }
}

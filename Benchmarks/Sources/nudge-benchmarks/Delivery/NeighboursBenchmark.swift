import Foundation
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

private final class NeighboursRun: BrokerRun {
  private static let devices = 200
  /// Token prefixes of the devices in trouble, and the emulator's fault for each.
  private static let troubles = [
    ("hangs-", #""action": "hang""#), ("fails-", #""answer": "UNAVAILABLE""#), ("gone-", #""answer": "UNREGISTERED""#),
  ]

  func run() throws {
    defer { topics.close() }
    let faults = file("faults.json")
    let entries = Self.troubles.map { #"{"tokenPrefix": "\#($0)", \#($1)}"# }.joined(separator: ", ")
    try Data(#"{"faults": [\#(entries)]}"#.utf8).write(to: faults)
    let emulator = try start(
      "fcm-emulator",
      ["--directory", file("fcm").path, "--delay", "20ms", "--faults", faults.path])
    let ready = try EmulatorReady(of: emulator)
    let dispatcher = try start(
      "nudge-dispatcher",
      [
        "--bootstrap-servers", broker.bootstrapServers, "--instance", "neighbours", "--state-dir",
        file("state").path, "--admin-address", "127.0.0.1:0", "--fcm-url", ready.url,
        "--fcm-credentials", ready.serviceAccount, "--fcm-ca-file", ready.caFile, "--fcm-ramp-up", "0s",
      ])
    _ = try dispatcher.waitUntilReady()
    let healthy = (0..<Self.devices).map { PushProbe.phone("device-\($0)") }
    let troubled = Self.troubles.map { PushProbe.phone($0.0 + "device") }
    let probe = try PushProbe(topics)
    defer { probe.close() }

    _ = try probe.measure(healthy, seconds: options.seconds)
    var alone: [Double] = []
    var beside: [Double] = []
    // Alternately, because the machine's speed varies.
    for _ in 0..<options.repetitions {
      alone += try probe.measure(healthy, seconds: options.seconds)
      beside += try probe.measure(healthy, seconds: options.seconds, beside: troubled)
    }
    try dispatcher.stop()
    try emulator.stop()
    guard probe.otherOutcomes > 0 else { throw BenchmarkFailure("the devices in trouble have no outcomes") }
    report.latencies(
      alone, "healthy devices only", beside: beside, "beside three devices in trouble", atMost: 1.25)
  }

  private func start(_ program: String, _ arguments: [String]) throws -> ServiceProcess {
    try ServiceProcess(
      program, in: programs, arguments, log: file("\(program).log"))
  }
}

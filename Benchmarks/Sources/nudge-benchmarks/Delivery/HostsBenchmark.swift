import Foundation
import HTTPTransport
import NudgeSchema

/// Measures Web Push beside FCM in one dispatcher: what a push costs, and how far push services in trouble delay others: one never answers,
/// one says 429 for a minute, one has a certificate that nobody trusts. Dispatcher and services run as release-built processes.
enum HostsBenchmark: Benchmark {
  static let name = "hosts"
  static let abstract =
    "Web Push: pushes a CPU second beside FCM's, and time to an outcome beside hosts that hang, refuse or are not trusted"
  static let needsKafka = true
  static let startsBroker = true

  static func run(_ context: BenchmarkContext) throws {
    guard let programs = context.services(["nudge", "nudge-dispatcher", "fcm-emulator"], for: name) else { return }
    guard let broker = try BenchmarkBroker.start(context.options) else {
      throw BenchmarkFailure("no Kafka was started")
    }
    defer { broker.stop() }
    try HostsRun(context, broker, programs: programs).run()
  }
}

private final class HostsRun: BrokerRun {
  private static let devices = 60
  /// Devices and pushes of a burst, whose cost is measured.
  private static let (crowd, each) = (1_000, 10)
  /// Names of push services in trouble, and their fault.
  private static let troubles: [(String, String?)] = [
    ("hangs", #"{"endpoint": "push", "action": "hang"}"#),
    ("refuses", #"{"endpoint": "push", "status": 429, "retryAfter": "60"}"#),
    ("not-trusted", nil),
  ]

  /// A push service: an emulator of its own, and so another host.
  private struct Service {
    let process: ServiceProcess
    let ready: EmulatorReady
  }

  private struct Made: Decodable {
    let subscriptions: [WebPushSubscription]
  }

  func run() throws {
    defer { topics.close() }
    let good = try ["fcm", "push-1", "push-2"].map { try service($0, nil) }
    let bad = try Self.troubles.map { try service($0.0, $0.1) }
    // All but the last one's.
    let authorities = file("authorities.pem")
    let trusted = try (good + bad.dropLast()).map { try Data(contentsOf: URL(fileURLWithPath: $0.ready.caFile)) }
    try trusted.reduce(Data(), +).write(to: authorities)
    let dispatcher = try startDispatcher(good[0], authorities)
    let probe = try PushProbe(topics)
    defer { probe.close() }

    let phones = (0..<Self.crowd).map { PushProbe.phone("phone-\($0)") }
    let browsers = try subscribe(Self.crowd, at: good[1])
    try compare(phones, browsers, probe, dispatcher)

    let healthy =
      try Array(phones.prefix(Self.devices) + browsers.prefix(Self.devices)) + subscribe(Self.devices, at: good[2])
    let troubled = try bad.flatMap { try subscribe(2, at: $0) }
    _ = try probe.measure(healthy, seconds: options.seconds)
    var (alone, beside): ([Double], [Double]) = ([], [])
    // Alternately, because the machine's speed varies.
    for _ in 0..<options.repetitions {
      alone += try probe.measure(healthy, seconds: options.seconds)
      beside += try probe.measure(healthy, seconds: options.seconds, beside: troubled)
    }
    try dispatcher.stop()
    for service in good + bad { try service.process.stop() }
    report.latencies(
      alone, "FCM and two push services", beside: beside, "beside three in trouble", atMost: 1.2)
  }

  /// Sends bursts alternately to phones and to browsers, and reports the dispatcher's CPU.
  private func compare(
    _ phones: [PushTarget], _ browsers: [PushTarget], _ probe: PushProbe, _ dispatcher: ServiceProcess
  ) throws {
    func perCPUSecond(_ devices: [PushTarget]) throws -> Double {
      let before = try ProcessUsage.cpuSeconds(dispatcher.number)
      try probe.burst(devices, each: Self.each)
      return Double(devices.count * Self.each) / (try ProcessUsage.cpuSeconds(dispatcher.number) - before)
    }
    // Connections, tokens and rows.
    _ = try (perCPUSecond(phones), perCPUSecond(browsers))
    var (fcm, webPush): ([Double], [Double]) = ([], [])
    for _ in 0..<options.repetitions {
      fcm.append(try perCPUSecond(phones))
      webPush.append(try perCPUSecond(browsers))
    }
    let reference = Samples(fcm).median
    let rows: [(String, Samples, String?)] = [
      ("FCM", Samples(fcm), nil), ("Web Push", Samples(webPush), "≥ \(Int(reference / 2))"),
    ]
    for (subject, samples, target) in rows {
      report.row(
        subject,
        [
          .init(name: "per CPU second", value: samples.median, unit: "pushes", target: target),
          .init(name: "of FCM's", value: samples.median / reference, unit: ""),
        ])
    }
  }

  // MARK: Processes

  private func service(_ name: String, _ fault: String?) throws -> Service {
    let faults = file("\(name).faults")
    try Data(#"{"faults": [\#(fault ?? "")]}"#.utf8).write(to: faults)
    let process = try ServiceProcess(
      "fcm-emulator", in: programs,
      ["--directory", file(name).path, "--delay", "20ms", "--faults", faults.path], log: file("\(name).log"), name: name
    )
    return Service(process: process, ready: try EmulatorReady(of: process))
  }

  private func startDispatcher(_ fcm: Service, _ authorities: URL) throws -> ServiceProcess {
    let key = file("vapid.pem")
    let made = Process()
    made.executableURL = programs.appendingPathComponent("nudge")
    made.arguments = ["vapid", "make", key.path]
    made.standardOutput = FileHandle.nullDevice
    try made.run()
    made.waitUntilExit()
    guard made.terminationStatus == 0 else { throw BenchmarkFailure("no VAPID key was made") }
    let dispatcher = try ServiceProcess(
      "nudge-dispatcher", in: programs,
      [
        "--bootstrap-servers", broker.bootstrapServers, "--instance", "hosts", "--state-dir", file("state").path,
        "--admin-address", "127.0.0.1:0", "--fcm-url", fcm.ready.url, "--fcm-credentials", fcm.ready.serviceAccount,
        "--fcm-ca-file", fcm.ready.caFile, "--fcm-ramp-up", "0s", "--vapid-key", key.path, "--vapid-subject",
        "mailto:ops@example.org", "--web-push-allow-private", "--web-push-ca-file", authorities.path,
      ], log: file("nudge-dispatcher.log"))
    _ = try dispatcher.waitUntilReady()
    return dispatcher
  }

  /// Browsers with subscriptions at a service.
  private func subscribe(_ count: Int, at service: Service) throws -> [PushTarget] {
    let client = try HTTPClient(
      HTTPClientConfiguration(caFile: service.ready.caFile, maxResponseBytes: 4 << 20))
    defer { client.shutdown(grace: .zero) }
    let names = (0..<count).map { #""\#(service.process.name)-\#($0)""# }.joined(separator: ",")
    let request = HTTPRequest(
      url: service.ready.url + "/emulator/subscriptions", headers: [("content-type", "application/json")],
      body: Array(#"{"names":[\#(names)]}"#.utf8))
    let answer = try client.response(to: request).get()
    guard answer.status == 200 else { throw BenchmarkFailure("\(service.process.name) makes no subscriptions") }
    let made = try JSONDecoder().decode(Made.self, from: Data(answer.body))
    return made.subscriptions.enumerated().map { index, subscription in
      PushTarget(
        deviceId: "\(service.process.name)-\(index)", webPush: subscription, version: 1, platform: .web)
    }
  }
}

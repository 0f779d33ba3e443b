import Foundation
import NudgeCommands
import NudgeSchema
import ServiceKit
import WebPush

/// A demo's emulator and services, as processes.
final class DemoProcesses {
  private static let readyTimeout: Duration = .seconds(60)
  private static let endTimeout: Duration = .seconds(10)
  /// The most restarts of fenced services before the demo gives up. A supervisor would continue.
  private static let maxRestarts = 3

  private let programs: [DemoProgram: URL]
  private let directory: URL
  private let environment: [String: String]
  private var emulator: DemoProcess?
  private var services: [DemoProcess] = []
  private var ending = LedgerVerdict.Ending()
  private var restarts = 0

  private static let apiMessage = "HTTP API listens"

  private let showsPhones: Bool
  /// The key of ingest's HTTP API. Absent if the API is not served.
  private let apiKey: String?
  /// The URL of the page with the phones. Absent until the emulator is ready, or if the page is not served.
  private(set) var phonesURL: String?
  /// The base URL of the emulator's push service. Absent until the emulator is ready.
  private(set) var pushServiceURL: String?

  /// - Parameter showsPhones: Whether the emulator serves the page with the phones.
  init(
    programs: [DemoProgram: URL], directory: URL, environment: [String: String], showsPhones: Bool,
    apiKey: String? = nil
  ) {
    self.showsPhones = showsPhones
    self.apiKey = apiKey
    self.programs = programs
    self.directory = directory
    // Variables of the caller's own services must not reach the demo's processes.
    var clean = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("NUDGE_") }
    clean["GOOGLE_APPLICATION_CREDENTIALS"] = nil
    self.environment = clean.merging(environment) { $1 }
  }

  /// The emulator's record of requests.
  var requestRecord: String { directory.appendingPathComponent("requests.jsonl").path }

  /// The decisions that the emulator's page shows.
  var decisionLines: String { directory.appendingPathComponent("decisions.jsonl").path }

  /// The file with the API's address and the devices, for apps that are opened on the emulator's page.
  private var apps: String { directory.appendingPathComponent("apps.json").path }

  /// The emulator's ready line.
  private struct EmulatorReady: Decodable {
    /// The key of apps' tokens.
    struct AppKeys: Decodable {
      let file: String
      let issuer: String
      let audience: String
    }

    let url: String
    let serviceAccount: String
    let caFile: String
    let adminUrl: String?
    let appKeys: AppKeys?
  }

  // MARK: Start

  /// Starts the emulator, then the services, and waits until all are ready. Calls `tick` while it waits.
  func start(broker: DemoBroker, logLevel: LogLevel, tick: () throws -> Void) throws {
    var arguments = ["--directory", directory.path, "--record", requestRecord]
    if showsPhones { arguments += ["--admin-address", "127.0.0.1:0", "--decisions", decisionLines] }
    if showsPhones, apiKey != nil { arguments += ["--apps", apps] }
    let emulator = try process(.emulator, arguments)
    self.emulator = emulator
    try emulator.start()
    try wait(for: [emulator], tick)
    let ready = try JSONDecoder().decode(EmulatorReady.self, from: Data((emulator.readyLine ?? "").utf8))
    phonesURL = ready.adminUrl
    pushServiceURL = ready.url
    for program in DemoProgram.services {
      var arguments = [
        "--bootstrap-servers", broker.bootstrapServers, "--topic-prefix", broker.topics.prefix,
        "--instance", "demo-\(program.shortName)", "--admin-address", "127.0.0.1:0",
        "--state-dir", directory.appendingPathComponent("state").path, "--log-level", logLevel.settingText,
      ]
      if program == .dispatcher {
        arguments += ["--fcm-url", ready.url, "--fcm-credentials", ready.serviceAccount, "--fcm-ca-file", ready.caFile]
        arguments += try webhookArguments(ready)
        arguments += ["--vapid-key", try vapidKey(), "--web-push-ca-file", ready.caFile]
      }
      // The emulator's push service has an address of this machine.
      if program != .analyzer { arguments.append("--web-push-allow-private") }
      if program == .ingest { arguments += try apiArguments(ready) }
      services.append(try process(program, arguments))
    }
    for service in services { try service.start() }
    try wait(for: services, tick)
  }

  /// The arguments that let ingest serve its HTTP API, with the demo's key and for the apps of the emulator's page.
  private func apiArguments(_ ready: EmulatorReady) throws -> [String] {
    guard let apiKey else { return [] }
    var arguments = ["--http-address", "127.0.0.1:0", "--api-keys-file", try write("demo \(apiKey)\n", to: "api-keys")]
    if let keys = ready.appKeys, let page = ready.adminUrl {
      arguments += [
        "--jwt-keys-file", keys.file, "--jwt-issuer", keys.issuer, "--jwt-audience", keys.audience,
        "--http-cors-origins", page.hasSuffix("/") ? String(page.dropLast()) : page,
      ]
    }
    return arguments
  }

  /// Makes a key that signs pushes of Web Push, and returns its file.
  private func vapidKey() throws -> String { try write(try VAPIDKey.makePEM(), to: "vapid.pem") }

  /// Writes a file that only its owner can read, and returns its path.
  private func write(_ text: String, to name: String) throws(CommandError) -> String {
    let file = directory.appendingPathComponent(name).path
    guard
      FileManager.default.createFile(atPath: file, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
    else { throw CommandError("\(file) cannot be written") }
    return file
  }

  /// Lets the emulator's page open the apps of these devices. Does nothing without an API.
  func openApps(of devices: [DeviceRegistered]) throws {
    guard showsPhones, let address = apiAddress else { return }
    let ids = devices.map { ($0.address, $0.deviceId) }
    let content: JSONObject = ["api": "http://\(address)", "devices": Dictionary(ids) { first, _ in first }]
    _ = try write(String(decoding: try JSONEncoder().encode(content), as: UTF8.self), to: "apps.json")
  }

  /// The address of the HTTP API, from ingest's log. Absent until the log names one.
  var apiAddress: String? {
    services.first { $0.program == .ingest }.flatMap { said(by: $0, Self.apiMessage).last }
  }

  /// The file of the secret that signs requests to the emulator's webhook.
  var webhookSecret: String { directory.appendingPathComponent("webhook.secret").path }

  /// The arguments that make the emulator the webhook. Only a policy with `escalation` causes requests to it.
  private func webhookArguments(_ ready: EmulatorReady) throws -> [String] {
    let secret = Data((0..<32).map { _ in UInt8.random(in: .min ... .max) }).base64EncodedString()
    try Data("whsec_\(secret)\n".utf8).write(to: URL(fileURLWithPath: webhookSecret), options: .atomic)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: webhookSecret)
    // A webhook's address must have a host's name.
    let url = ready.url.replacingOccurrences(of: "127.0.0.1", with: "localhost") + "/webhook"
    return [
      "--escalation-url", url, "--escalation-secret-file", webhookSecret, "--escalation-ca-file", ready.caFile,
      "--escalation-allow-private",
    ]
  }

  private func process(_ program: DemoProgram, _ arguments: [String]) throws(CommandError) -> DemoProcess {
    guard let executable = programs[program] else { throw CommandError("\(program.rawValue) was not found") }
    return DemoProcess(
      program, executable: executable, arguments: arguments, environment: environment, directory: directory)
  }

  private func wait(for processes: [DemoProcess], _ tick: () throws -> Void) throws {
    let deadline = ContinuousClock.now + Self.readyTimeout
    while true {
      let waiting = try processes.filter { try !$0.isReady() }
      if waiting.isEmpty { return }
      try check()
      guard ContinuousClock.now < deadline else {
        let names = waiting.map(\.program.rawValue).joined(separator: ", ")
        throw CommandError(
          "not ready within \(Self.readyTimeout.settingText): \(names); the end of \(waiting[0].log.path):\n"
            + GrowingFile.tail(waiting[0].log.path, lines: 12))
      }
      try tick()
    }
  }

  // MARK: While they run

  func states() throws -> [(name: String, isReady: Bool)] {
    try ([emulator].compactMap(\.self) + services).map { ($0.program.shortName, try $0.isReady()) }
  }

  /// Restarts services that were fenced (exit code 75). Throws if a process has ended with another status.
  func check() throws {
    for process in [emulator].compactMap(\.self) + services {
      guard let status = process.exitStatus else { continue }
      guard status == ExitCode.fenced, restarts < Self.maxRestarts else {
        throw CommandError(process.exitReport(status))
      }
      restarts += 1
      try restart(process)
    }
  }

  private struct Listens: Decodable {
    let message: String
    let address: String?
  }

  /// The addresses of the services' own ports, from their logs.
  var adminAddresses: [String] {
    services.compactMap { said(by: $0, "admin server listens").last }
  }

  /// The addresses in a service's log lines with this message.
  private func said(by service: DemoProcess, _ message: String) -> [String] {
    let lines = (try? String(contentsOf: service.log, encoding: .utf8))?.split(separator: "\n") ?? []
    return lines.compactMap { try? JSONDecoder().decode(Listens.self, from: Data($0.utf8)) }
      .filter { $0.message == message }.compactMap(\.address)
  }

  /// Kills a service and restarts it at once, with its name and state.
  func kill(_ program: DemoProgram) throws {
    guard let process = services.first(where: { $0.program == program }) else { return }
    try process.kill()
    try restart(process)
  }

  /// Starts a process again. The API keeps its address, because the console and the apps know no other.
  private func restart(_ process: DemoProcess) throws {
    if process.program == .ingest, let apiAddress { process.give("--http-address", apiAddress) }
    try process.start()
  }

  /// Whether a service is ready again after a kill.
  func isReady(_ program: DemoProgram) throws -> Bool {
    try services.first { $0.program == program }?.isReady() ?? false
  }

  /// Restarts of fenced services.
  var fencedRestarts: Int { restarts }

  // MARK: The end

  /// Stops the services and waits for their end: first ingest and the analyzer, then, after `sent` has returned, the dispatcher.
  func stopServices(sent: () throws -> Void) rethrows {
    let dispatchers = services.filter { $0.program == .dispatcher }
    stop(services.filter { $0.program != .dispatcher })
    try sent()
    stop(dispatchers)
    services = []
  }

  private func stop(_ services: [DemoProcess]) {
    for service in services { service.terminate() }
    let deadline = ContinuousClock.now + Self.endTimeout
    for service in services { end(service, by: deadline) }
  }

  /// Stops the emulator and waits for its end, after which its record is complete.
  func stopEmulator() {
    guard let emulator else { return }
    emulator.terminate()
    end(emulator, by: .now + Self.endTimeout)
    self.emulator = nil
  }

  private func end(_ process: DemoProcess, by deadline: ContinuousClock.Instant) {
    ending.processes += 1
    let status = process.waitForEnd(timeout: max(.zero, ContinuousClock.now.duration(to: deadline)))
    switch status {
    case ExitCode.success: ending.endedWell += 1
    case let status?: ending.complaints.append(process.exitReport(status))
    case nil:
      ending.complaints.append(
        "\(process.program.rawValue) did not end within \(Self.endTimeout.settingText) of SIGTERM; the end of "
          + "\(process.log.path):\n\(GrowingFile.tail(process.log.path, lines: 12))")
    }
  }

  var endings: LedgerVerdict.Ending { ending }
}

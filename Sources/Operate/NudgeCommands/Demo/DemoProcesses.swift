import Foundation
import NudgeSchema
import ServiceKit

/// The emulator and the three services of a demo.
final class DemoProcesses {
  private static let readyTimeout: Duration = .seconds(60)
  private static let endTimeout: Duration = .seconds(10)
  /// How often a service that was fenced is started again: a supervisor would go on, a demo says that something is wrong.
  private static let maxRestarts = 3

  private let programs: [DemoProgram: URL]
  private let directory: URL
  private let environment: [String: String]
  private var emulator: DemoProcess?
  private var services: [DemoProcess] = []
  private var ending = AccountVerdict.Ending()
  private var restarts = 0

  private let showsPhones: Bool
  /// The page with the phones, once the emulator runs; nil without one.
  private(set) var phonesURL: String?

  /// Nothing runs yet. `showsPhones`: the emulator serves the page with the phones.
  init(programs: [DemoProgram: URL], directory: URL, environment: [String: String], showsPhones: Bool) {
    self.showsPhones = showsPhones
    self.programs = programs
    self.directory = directory
    // What the caller's shell has for services of its own is not meant for these.
    var clean = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("NUDGE_") }
    clean["GOOGLE_APPLICATION_CREDENTIALS"] = nil
    self.environment = clean.merging(environment) { $1 }
  }

  /// Where the emulator writes what it was asked.
  var requestRecord: String { directory.appendingPathComponent("requests.jsonl").path }

  /// Where the emulator reads why a push was made.
  var decisionLines: String { directory.appendingPathComponent("decisions.jsonl").path }

  /// What the emulator says when it is ready.
  private struct EmulatorReady: Decodable {
    let url: String
    let serviceAccount: String
    let caFile: String
    let adminUrl: String?
  }

  // MARK: Start

  /// Starts the emulator and then the services, and waits until all are ready. `tick` is called meanwhile.
  func start(broker: DemoBroker, logLevel: LogLevel, tick: () throws -> Void) throws {
    var arguments = ["--directory", directory.path, "--record", requestRecord]
    if showsPhones { arguments += ["--admin-address", "127.0.0.1:0", "--decisions", decisionLines] }
    let emulator = try process(.emulator, arguments)
    self.emulator = emulator
    try emulator.start()
    try wait(for: [emulator], tick)
    let ready = try JSONDecoder().decode(EmulatorReady.self, from: Data((emulator.readyLine ?? "").utf8))
    phonesURL = ready.adminUrl
    for program in DemoProgram.services {
      var arguments = [
        "--bootstrap-servers", broker.bootstrapServers, "--topic-prefix", broker.topics.prefix,
        "--instance", "demo-\(program.shortName)", "--admin-address", "127.0.0.1:0",
        "--state-dir", directory.appendingPathComponent("state").path, "--log-level", logLevel.settingText,
      ]
      if program == .dispatcher {
        arguments += ["--fcm-url", ready.url, "--fcm-credentials", ready.serviceAccount, "--fcm-ca-file", ready.caFile]
      }
      services.append(try process(program, arguments))
    }
    for service in services { try service.start() }
    try wait(for: services, tick)
  }

  private func process(_ program: DemoProgram, _ arguments: [String]) throws(DemoError) -> DemoProcess {
    guard let executable = programs[program] else { throw DemoError("\(program.rawValue) was not found") }
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
        throw DemoError(
          "not ready within \(Self.readyTimeout.settingText): \(names); the end of \(waiting[0].log.path):\n"
            + GrowingFile.tail(waiting[0].log.path, lines: 12))
      }
      try tick()
    }
  }

  // MARK: While they run

  /// Whether each runs and is ready, for the view.
  func states() throws -> [(name: String, isReady: Bool)] {
    try ([emulator].compactMap(\.self) + services).map { ($0.program.shortName, try $0.isReady()) }
  }

  /// Throws where one has ended that nobody has killed. One that was fenced (status 75) asks to be started again, and is.
  func check() throws {
    for process in [emulator].compactMap(\.self) + services {
      guard let status = process.exitStatus else { continue }
      guard status == ExitCode.fenced, restarts < Self.maxRestarts else {
        throw DemoError(process.obituary(status))
      }
      restarts += 1
      try process.start()
    }
  }

  /// Kills a service and starts it again at once, under the same name, on the same state.
  func kill(_ program: DemoProgram) throws {
    guard let process = services.first(where: { $0.program == program }) else { return }
    try process.kill()
    try process.start()
  }

  /// Whether a service is ready again after a kill.
  func isReady(_ program: DemoProgram) throws -> Bool {
    try services.first { $0.program == program }?.isReady() ?? false
  }

  /// How often a fenced service was started again.
  var fencedRestarts: Int { restarts }

  // MARK: The end

  /// Asks the services to end and waits for it.
  func stopServices() {
    for service in services { service.terminate() }
    let deadline = ContinuousClock.now + Self.endTimeout
    for service in services { end(service, by: deadline) }
    services = []
  }

  /// Asks the emulator to end and waits for it; its record is whole then.
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
    case let status?: ending.complaints.append(process.obituary(status))
    case nil:
      ending.complaints.append(
        "\(process.program.rawValue) did not end within \(Self.endTimeout.settingText) of SIGTERM; the end of "
          + "\(process.log.path):\n\(GrowingFile.tail(process.log.path, lines: 12))")
    }
  }

  /// How they have ended.
  var endings: AccountVerdict.Ending { ending }
}

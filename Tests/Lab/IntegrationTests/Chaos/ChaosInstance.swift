import Foundation
import Kafka

@testable import NudgeLab

/// An instance of a service and its supervisor, which restarts it as a container runtime would. One thread uses it.
final class ChaosInstance {
  /// The state of the process.
  private enum Life: Equatable {
    case off
    case running
    case suspended
    /// It ended; the supervisor restarts it then.
    case backingOff(until: ContinuousClock.Instant)
    /// It got SIGTERM, and is killed at the deadline.
    case ending(deadline: ContinuousClock.Instant, restarting: Bool)
  }

  /// How long a service may take to end after SIGTERM before it is killed: more than the 10 s it promises, because the broker may be
  /// away.
  private static let patience: Duration = .seconds(20)
  /// The log gives the reason of an end in its last lines. Threads of librdkafka may write a few more after it.
  private static let linesOfAnEnd = 8
  private static let firstBackOff: Duration = .milliseconds(500)
  private static let longestBackOff: Duration = .seconds(4)

  let target: ChaosSchedule.Target
  let store: ChaosStore
  let log: URL
  /// The program to run at the next start.
  var executable: URL
  private let arguments: [String]
  private let clock: ChaosClock?
  private var process: SupervisedProcess?
  private var output: GrowingFile
  private var life = Life.off
  private var backOff = ChaosInstance.firstBackOff
  /// The readiness that this process logged last.
  private var saysReady = false
  private var startedAt: Int64 = 0
  /// When the process was stopped or cut off, in milliseconds since the epoch.
  private var disturbedSince: Int64?
  private var commitsHeldSince: Int64?
  /// Until then a disk that cannot be written explains an end.
  var diskTroubleEnds: ContinuousClock.Instant?
  /// How far its clock is ahead, in seconds, and since when, in milliseconds since the epoch.
  private var clockError = (ahead: 0, since: Int64(0))
  /// When its clock was behind, and by how many milliseconds.
  private(set) var slowClocks: [PipelineChecker.SlowClock] = []
  /// How many more ends damaged store files explain: one each, whenever the file is read.
  private var damagedFiles = 0

  /// The number of ended processes by status.
  private(set) var exits: [Int32: Int] = [:]
  /// An end that none of this instance's faults explains.
  struct Failure {
    var status: Int32
    /// From SIGTERM, if it was sent, to the end, in milliseconds since the epoch.
    var time: ClosedRange<Int64>
    /// With the end of the log.
    var description: String
  }
  private(set) var failures: [Failure] = []
  /// When it got SIGTERM.
  private var toldToEndAt: Int64?
  /// The times when answers to a dispatcher may have been lost.
  private(set) var absences: [ClosedRange<Int64>] = []
  /// The times when it could commit nothing, but kept its partitions.
  private(set) var commitGaps: [ClosedRange<Int64>] = []

  /// `clock`: its own clock; nil: the machine's.
  init(
    _ target: ChaosSchedule.Target, executable: URL, arguments: [String], store: ChaosStore, directory: URL,
    clock: ChaosClock? = nil
  ) {
    self.clock = clock
    self.target = target
    self.executable = executable
    self.arguments = arguments
    self.store = store
    log = directory.appendingPathComponent("\(target.service.shortName)-\(target.slot).log")
    output = GrowingFile(path: log.path)
  }

  // MARK: Orders

  func start() throws {
    guard life == .off else { return }
    try launch()
  }

  private func launch() throws {
    // Skip what the previous process logged.
    try listen()
    saysReady = false
    startedAt = ChatLoad.now()
    process = try SupervisedProcess(
      executable, arguments, environment: Pipeline.environment.merging(clock?.environment ?? [:]) { $1 }, log: log)
    life = .running
  }

  /// SIGKILL. `meanwhile` runs between the end and the restart.
  func kill(_ meanwhile: () throws -> Void = {}) throws {
    guard let process, life != .off else { return }
    process.send("KILL")
    guard process.waitForEnd(timeout: .seconds(10)) else {
      throw StillWaiting(description: "\(target) could not be killed within 10 s")
    }
    try meanwhile()
    try ended(process.exitStatus ?? 137)
  }

  /// Kills it and damages its stores before the restart.
  func damageStore() throws { try kill { damagedFiles += try store.damage() } }

  /// Sets its clock ahead of the machine's. False where it has no clock of its own.
  func setClock(ahead seconds: Int) throws -> Bool {
    guard let clock else { return false }
    try clock.set(ahead: seconds)
    let now = ChatLoad.now()
    if clockError.ahead < 0 {
      // It sees the change within a second.
      slowClocks.append(.init(time: clockError.since...now + 1_000, behind: Int64(-clockError.ahead) * 1_000))
    }
    clockError = (seconds, now)
    return true
  }

  /// SIGSTOP, if it runs.
  func suspend() {
    guard life == .running else { return }
    process?.send("STOP")
    life = .suspended
    disturb()
  }

  /// SIGCONT, if it is stopped.
  func resume() {
    guard life == .suspended else { return }
    process?.send("CONT")
    life = .running
    calm()
  }

  /// Notes that it may lose its partitions from now on.
  func disturb() { disturbedSince = disturbedSince ?? ChatLoad.now() }

  /// Notes that it can commit nothing from now on.
  func holdCommits() { commitsHeldSince = commitsHeldSince ?? ChatLoad.now() }

  /// Notes the end of `disturb` and `holdCommits`. Requests in flight may still arrive now.
  func calm() {
    if let since = commitsHeldSince {
      commitGaps.append(since...ChatLoad.now() + 1_000)
      commitsHeldSince = nil
    }
    guard let since = disturbedSince else { return }
    absences.append(since...ChatLoad.now() + 1_000)
    disturbedSince = nil
  }

  /// SIGTERM, with or without a restart afterwards.
  func end(restarting: Bool) {
    switch life {
    case .off: break
    case .backingOff: life = restarting ? life : .off
    case .suspended:
      resume()
      end(restarting: restarting)
    case .running, .ending:
      process?.send("TERM")
      toldToEndAt = toldToEndAt ?? ChatLoad.now()
      life = .ending(deadline: .now + Self.patience, restarting: restarting)
    }
  }

  // MARK: Supervision

  /// Restarts or kills the process if that is due. Call it repeatedly.
  func supervise() throws {
    try listen()
    switch life {
    case .off, .suspended: break
    case .running:
      if let status = process?.exitStatus { try ended(status) }
    case .backingOff(let until):
      if .now >= until { try launch() }
    case .ending(let deadline, _):
      if let status = process?.exitStatus {
        try ended(status)
      } else if .now >= deadline {
        try kill()
      }
    }
  }

  private func endOfLog(lines: Int) -> String { GrowingFile.tail(log.path, lines: lines) }

  private func ended(saying reason: String) -> Bool { endOfLog(lines: Self.linesOfAnEnd).contains(reason) }

  private func ended(_ status: Int32) throws {
    exits[status, default: 0] += 1
    let now = ChatLoad.now()
    if status != 0 { absences.append(min(now, disturbedSince ?? now)...now) }
    var isExplained = status == 137 || status == 75 || (status == 70 && diskTroubleEnds.map { .now < $0 } ?? false)
    // An end for another reason, such as a missing right, leaves the damaged files to be found.
    if status == 70, !isExplained, damagedFiles > 0, ended(saying: "malformed") {
      damagedFiles -= 1
      isExplained = true
    }
    // librdkafka waits for its first threads by the wall clock, and libfaketime ends that wait at once where the clock is behind.
    if status == 70, clockError.ahead != 0, ended(saying: "background thread(s) to initialize") { isExplained = true }
    var restarts = true
    if case .ending(_, let restarting) = life {
      restarts = restarting
      // 143: SIGTERM came before the program handled it.
      isExplained = isExplained || status == 0 || status == 143
    }
    if !isExplained {
      failures.append(
        Failure(
          status: status, time: min(now, toldToEndAt ?? now)...now,
          description: "\(target) ended with status \(status); the end of \(log.path):\n"
            + endOfLog(lines: 15)))
    }
    toldToEndAt = nil
    process = nil
    guard restarts else {
      life = .off
      return
    }
    // A process that ran for a while restarts quickly.
    if now - startedAt > 10_000 { backOff = Self.firstBackOff }
    life = .backingOff(until: .now + backOff)
    backOff = min(backOff * 2, Self.longestBackOff)
  }

  private func listen() throws {
    try output.readLines { line in
      let text = String(decoding: line, as: UTF8.self)
      if text.contains(#""message":"ready""#) || text.contains(#""message":"is ready again""#) { saysReady = true }
      if text.contains(#""message":"is no longer ready""#) { saysReady = false }
    }
  }

  // MARK: State

  var isOff: Bool { life == .off }
  /// Whether it runs, is not stopped, and last logged that it is ready.
  var isReady: Bool { life == .running && saysReady && process?.exitStatus == nil }

  /// The end of its log.
  var tail: String { "\(target): \(life), \(log.path):\n\(GrowingFile.tail(log.path, lines: 8))" }
}

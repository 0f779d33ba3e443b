import Foundation

@testable import NudgeCommands

/// An instance of a service and its supervisor, which starts it again as a container runtime would. One thread uses it.
final class ChaosInstance {
  /// What becomes of the process.
  private enum Life: Equatable {
    case off
    case running
    case suspended
    /// It ended; the supervisor starts it again at a time.
    case backingOff(until: ContinuousClock.Instant)
    /// It was told to end, and has until a time to do so.
    case ending(deadline: ContinuousClock.Instant, restarting: Bool)
  }

  /// How long a service may take to end by itself before it is killed. More than the 10 s it promises: the broker may be
  /// away.
  private static let patience: Duration = .seconds(20)
  private static let firstBackOff: Duration = .milliseconds(500)
  private static let longestBackOff: Duration = .seconds(4)

  let target: ChaosSchedule.Target
  let store: ChaosStore
  let log: URL
  private let executable: URL
  private let arguments: [String]
  private var process: SupervisedProcess?
  private var output: GrowingFile
  private var life = Life.off
  private var backOff = ChaosInstance.firstBackOff
  /// What it has said last, in its present life.
  private var saysReady = false
  private var startedAt: Int64 = 0
  /// Since when the process makes no progress, be it stopped or cut off; milliseconds since the epoch.
  private var disturbedSince: Int64?
  /// Until when a disk that cannot be written may end it.
  var diskTroubleEnds: ContinuousClock.Instant?

  /// How its processes ended, by status.
  private(set) var exits: [Int32: Int] = [:]
  /// An end that this instance's own faults do not explain.
  struct Failure {
    var status: Int32
    /// From the order to end, if there was one, to the end; milliseconds since the epoch.
    var time: ClosedRange<Int64>
    /// With the end of the log.
    var description: String
  }
  private(set) var failures: [Failure] = []
  /// When it was told to end.
  private var toldToEndAt: Int64?
  /// From when to when what a dispatcher was told may have been lost.
  private(set) var absences: [ClosedRange<Int64>] = []

  init(
    _ target: ChaosSchedule.Target, executable: URL, arguments: [String], store: ChaosStore, directory: URL
  ) {
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
    // What a former life said last must not be taken for this one's word.
    try listen()
    saysReady = false
    startedAt = ChatLoad.now()
    process = try SupervisedProcess(executable, arguments, environment: Pipeline.environment, log: log)
    life = .running
  }

  /// SIGKILL. `meanwhile` runs while there is no process.
  func kill(_ meanwhile: () throws -> Void = {}) throws {
    guard let process, life != .off else { return }
    process.send("KILL")
    guard process.waitForEnd(timeout: .seconds(10)) else {
      throw StillWaiting(description: "\(target) could not be killed within 10 s")
    }
    try meanwhile()
    try ended(process.exitStatus ?? 137)
  }

  /// SIGSTOP, where it runs.
  func suspend() {
    guard life == .running else { return }
    process?.send("STOP")
    life = .suspended
    disturb()
  }

  /// SIGCONT, where it is stopped.
  func resume() {
    guard life == .suspended else { return }
    process?.send("CONT")
    life = .running
    calm()
  }

  /// From now on it may lose its partitions.
  func disturb() { disturbedSince = disturbedSince ?? ChatLoad.now() }

  /// No longer. What it had begun arrives now, if it does.
  func calm() {
    guard let since = disturbedSince else { return }
    absences.append(since...ChatLoad.now() + 1_000)
    disturbedSince = nil
  }

  /// SIGTERM; it is started again afterwards, or not.
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

  /// Looks after it; to be called again and again.
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

  private func ended(_ status: Int32) throws {
    exits[status, default: 0] += 1
    let now = ChatLoad.now()
    if status != 0 { absences.append(min(now, disturbedSince ?? now)...now) }
    var isExplained = status == 137 || status == 75 || (status == 70 && diskTroubleEnds.map { .now < $0 } ?? false)
    var restarts = true
    if case .ending(_, let restarting) = life {
      restarts = restarting
      // 143: SIGTERM itself, before the program had come so far as to listen to it.
      isExplained = isExplained || status == 0 || status == 143
    }
    if !isExplained {
      failures.append(
        Failure(
          status: status, time: min(now, toldToEndAt ?? now)...now,
          description: "\(target) ended with status \(status); the end of \(log.path):\n"
            + GrowingFile.tail(log.path, lines: 15)))
    }
    toldToEndAt = nil
    process = nil
    guard restarts else {
      life = .off
      return
    }
    // One that ran well for a while is no hopeless case.
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
  /// Whether it runs, undisturbed, and says that it is ready.
  var isReady: Bool { life == .running && saysReady && process?.exitStatus == nil }

  /// The end of its log, for a message.
  var tail: String { "\(target): \(life), \(log.path):\n\(GrowingFile.tail(log.path, lines: 8))" }
}

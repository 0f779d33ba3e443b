import Foundation
public import Kafka
import NudgeSchema
import PeerSockets
public import ServiceKit
import Synchronization

/// Detects a stuck stream thread. Kafka would notice late, because librdkafka sends heartbeats from a thread of its own.
final class Watchdog: Sendable {
  /// The longest turn in milliseconds; a thread that takes longer is stuck. A turn that drains on a revocation, reads changelogs and waits
  /// for a slow producer takes less.
  static let longestTurn: Milliseconds = 120_000

  private let turns = Mutex<[Int: Milliseconds]>([:])
  private let logger: Logger
  private let liveness: HealthChecks
  private let now: @Sendable () -> Milliseconds
  private let thread = WatchThread("nudge-watchdog", every: .seconds(5))

  init(
    logger: Logger, liveness: HealthChecks,
    now: @escaping @Sendable () -> Milliseconds = { Milliseconds(DispatchTime.now().uptimeNanoseconds / 1_000_000) }
  ) {
    self.logger = logger
    self.liveness = liveness
    self.now = now
  }

  /// Records that a thread starts a turn.
  func turned(_ thread: Int) {
    let time = now()
    turns.withLock { $0[thread] = time }
  }

  func ended(_ thread: Int) { turns.withLock { $0[thread] = nil } }

  /// Checks all threads. A stuck thread makes the process not alive, so that a supervisor restarts it.
  func check() {
    let time = now()
    for (thread, since) in turns.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
      let stuck = time - since
      let part = "stream-\(thread)"
      guard stuck > Self.longestTurn else {
        liveness.set(part, .ready)
        continue
      }
      liveness.set(part, .notReady("stuck for \(stuck / 1000) s"))
      logger.limited("stuck-\(thread)", every: .seconds(30))?.error(
        "a stream thread is stuck: restart the process",
        ["thread": .int(thread), "seconds": .int(Int(stuck / 1000))])
    }
  }

  /// Checks every few seconds until `stop`.
  func start() { thread.start { [self] in check() } }

  func stop() { thread.stop() }
}

/// Runs an action again and again on a thread of its own, so that it runs even if all of Dispatch's threads are blocked.
final class WatchThread: Sendable {
  private let name: String
  private let pause: DispatchTimeInterval
  private let stopping = DispatchSemaphore(value: 0)

  init(_ name: String, every pause: DispatchTimeInterval) {
    self.name = name
    self.pause = pause
  }

  /// Runs the action after each pause until `stop`.
  func start(_ run: @escaping @Sendable () -> Void) {
    let thread = Thread { [stopping, pause] in
      while stopping.wait(timeout: .now() + pause) == .timedOut { run() }
    }
    thread.name = name
    thread.start()
  }

  func stop() { stopping.signal() }
}

/// Has `PeerSockets` end silent connections every second, and logs them.
final class SilenceWatch: Sendable {
  private let logger: Logger
  private let thread = WatchThread("nudge-silence-watch", every: .seconds(1))

  init(logger: Logger) { self.logger = logger }

  /// Checks until `stop`.
  func start() { thread.start { [self] in report(PeerSockets.check()) } }

  func stop() { thread.stop() }

  /// Logs one line for each peer.
  func report(_ givenUp: [PeerSockets.GivenUp]) {
    for (peer, connections) in Dictionary(grouping: givenUp, by: \.peer).sorted(by: { $0.key < $1.key }) {
      logger.warning(
        "connections were given up: nothing came on them, and a request had no answer. New ones are made",
        [
          "peer": .string(peer), "connections": .int(connections.count),
          "silentSeconds": .int(Int(connections.map(\.silence).max()?.components.seconds ?? 0)),
        ])
    }
  }
}

/// Checks every two seconds whether a broker answers, for readiness. An idle stream thread would not notice that all brokers are down.
final class BrokerWatch: Sendable {
  /// The watch's part of readiness.
  static let part = "broker"
  /// After this many consecutive unanswered requests the process is not ready. A single one may be due to a restarting broker or a moving
  /// leader.
  private static let patience = 2

  private let servers: String
  private let readiness: HealthChecks
  private let logger: Logger
  /// Asks a broker. Throws if none answers.
  private let ask: @Sendable () throws -> Void
  /// The number of consecutive unanswered requests.
  private let unanswered = Mutex(0)
  private let thread = WatchThread("nudge-broker-watch", every: .seconds(2))

  init(servers: String, readiness: HealthChecks, logger: Logger, ask: @escaping @Sendable () throws -> Void) {
    self.servers = servers
    self.readiness = readiness
    self.logger = logger
    self.ask = ask
  }

  /// Asks until `stop`.
  func start() { thread.start { [self] in check() } }

  func stop() { thread.stop() }

  /// Asks once.
  func check() {
    do {
      try ask()
      let before = unanswered.withLock { unanswered in
        defer { unanswered = 0 }
        return unanswered
      }
      if before >= Self.patience { logger.notice("a broker answers again") }
      readiness.set(Self.part, .ready)
    } catch {
      let count = unanswered.withLock { unanswered in
        unanswered += 1
        return unanswered
      }
      if count == Self.patience {
        logger.warning("no broker answers any more", ["brokers": .string(servers), "reason": .string("\(error)")])
      }
      if count >= Self.patience { readiness.set(Self.part, .notReady("no broker answers at \(servers)")) }
    }
  }
}

/// The error if no broker answers. Its text is for operators.
public struct NoBroker: ExitCodeError, CustomStringConvertible {
  /// The exit code of a command.
  public var exitCode: Int32 { ExitCode.noBroker }
  /// One line: the address, the time, the reason, and the settings to check.
  public let description: String

  init(_ servers: String, _ patience: Duration, _ error: KafkaError) {
    description =
      (error.isRefusedConnection
        ? "no connection to the brokers at \(servers)"
        : "no broker answered at \(servers) within \(patience.components.seconds) s")
      + " (\(Self.reason(error))): \(Self.fix(error))"
  }

  /// The reason in one line.
  public static func reason(_ error: KafkaError) -> String {
    "\(error.name): \(error.reason.split(whereSeparator: \.isNewline).joined(separator: " "))"
  }

  /// The settings to check.
  public static func fix(_ error: KafkaError) -> String {
    if error.isLoginRefused { return "look at sasl.username, sasl.password and sasl.mechanism among --kafka-property" }
    if error.isTLSFailure { return "look at ssl.ca.location, and at ssl.* as a whole, among --kafka-property" }
    return
      "look at --bootstrap-servers (NUDGE_KAFKA_BOOTSTRAP_SERVERS), and at --kafka-property where the brokers want TLS or SASL"
  }
}

extension Admin {
  /// Waits for a broker, and returns all topics with their partition counts.
  /// - Parameter servers: the value of `--bootstrap-servers`.
  /// - Throws: ``NoBroker`` if none answers in time.
  public func topics(within patience: Duration, at servers: String) throws(NoBroker) -> [String: Int] {
    let end = ContinuousClock.now + patience
    while true {
      let rest = ContinuousClock.now.duration(to: end)
      do throws(KafkaError) {
        return try listTopics(timeout: min(rest, .seconds(1)))
      } catch {
        let why = connectionFailure ?? error
        // A refusal is final. A broker that is down may come back.
        guard error.isTimedOut || error.isCoordinatorLoss, !why.isRefusedConnection, ContinuousClock.now < end else {
          throw NoBroker(servers, patience, why)
        }
      }
    }
  }
}

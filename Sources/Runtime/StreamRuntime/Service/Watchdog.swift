import Foundation
import NudgeSchema
import PeerSockets
import ServiceKit
import Synchronization

/// Detects a stuck stream thread. Kafka does not: librdkafka's heartbeats keep it a member for a long time.
final class Watchdog: Sendable {
  /// The longest turn, in milliseconds. A drain on revoke, a look at the changelogs and a slow producer together take less.
  static let longestTurn: Milliseconds = 120_000
  private static let interval: DispatchTimeInterval = .seconds(5)

  private let turns = Mutex<[Int: Milliseconds]>([:])
  private let logger: Logger
  private let liveness: HealthChecks
  private let now: @Sendable () -> Milliseconds
  private let stopping = DispatchSemaphore(value: 0)

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
  func look() {
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
        "a stream thread does not come round any more: the process should be restarted",
        ["thread": .int(thread), "seconds": .int(Int(stuck / 1000))])
    }
  }

  /// Checks every few seconds until `stop`, on its own thread.
  func start() {
    let thread = Thread { [self] in
      while stopping.wait(timeout: .now() + Self.interval) == .timedOut { look() }
    }
    thread.name = "nudge-watchdog"
    thread.start()
  }

  func stop() { stopping.signal() }
}

/// Checks every second for silent connections that `PeerSockets` has ended, and logs them.
final class SilenceWatch: Sendable {
  private static let interval: DispatchTimeInterval = .seconds(1)

  private let logger: Logger
  private let stopping = DispatchSemaphore(value: 0)

  init(logger: Logger) { self.logger = logger }

  /// Checks until `stop`, on its own thread.
  func start() {
    let thread = Thread { [self] in
      while stopping.wait(timeout: .now() + Self.interval) == .timedOut { report(PeerSockets.check()) }
    }
    thread.name = "nudge-silence-watch"
    thread.start()
  }

  func stop() { stopping.signal() }

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

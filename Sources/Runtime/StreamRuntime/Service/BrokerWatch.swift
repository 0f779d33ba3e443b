import Foundation
import NudgeSchema
import ServiceKit

/// Checks every few seconds whether a broker answers, for readiness: an idle stream thread would not notice that all brokers are down.
final class BrokerWatch: Sendable {
  /// The part of readiness.
  static let part = "broker"
  private static let interval: DispatchTimeInterval = .seconds(2)
  /// The number of unanswered requests in a row before readiness fails. One may be a restarting broker or a moving leader.
  private static let patience = 2

  private let servers: String
  private let readiness: HealthChecks
  private let logger: Logger
  /// Asks a broker. Throws if none answers.
  private let ask: @Sendable () throws -> Void
  private let stopping = DispatchSemaphore(value: 0)

  init(servers: String, readiness: HealthChecks, logger: Logger, ask: @escaping @Sendable () throws -> Void) {
    self.servers = servers
    self.readiness = readiness
    self.logger = logger
    self.ask = ask
  }

  /// Asks until `stop`, on a thread of its own.
  func start() {
    let thread = Thread { [self] in
      var unanswered = 0
      while stopping.wait(timeout: .now() + Self.interval) == .timedOut { unanswered = look(after: unanswered) }
    }
    thread.name = "nudge-broker-watch"
    thread.start()
  }

  func stop() { stopping.signal() }

  /// Asks once. Returns the number of unanswered requests in a row.
  func look(after unanswered: Int) -> Int {
    do {
      try ask()
      if unanswered >= Self.patience { logger.notice("a broker answers again") }
      readiness.set(Self.part, .ready)
      return 0
    } catch {
      if unanswered + 1 == Self.patience {
        logger.warning("no broker answers any more", ["brokers": .string(servers), "reason": .string("\(error)")])
      }
      if unanswered + 1 >= Self.patience {
        readiness.set(Self.part, .notReady("no broker answers at \(servers)"))
      }
      return unanswered + 1
    }
  }
}

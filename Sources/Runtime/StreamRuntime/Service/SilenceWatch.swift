import Foundation
import PeerSockets
import ServiceKit

/// Looks every second for connections that have fallen silent, which `PeerSockets` ends, and logs them.
final class SilenceWatch: Sendable {
  private static let interval: DispatchTimeInterval = .seconds(1)

  private let logger: Logger
  private let stopping = DispatchSemaphore(value: 0)

  init(logger: Logger) { self.logger = logger }

  /// Looks until `stop`, on a thread of its own.
  func start() {
    let thread = Thread { [self] in
      while stopping.wait(timeout: .now() + Self.interval) == .timedOut { report(PeerSockets.look()) }
    }
    thread.name = "nudge-silence-watch"
    thread.start()
  }

  func stop() { stopping.signal() }

  /// One line a peer.
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

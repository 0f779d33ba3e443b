public import Foundation
import Synchronization

/// A real Apache Kafka on this machine, one node, broker and controller together, for tests, the demo and chaos.
///
/// It ends with this process in any case (``SupervisedProcess``).
public final class LocalBroker: Sendable {
  /// The broker could not be started.
  public struct Failure: Error, Sendable, CustomStringConvertible {
    /// The failure, the end of the broker's log, and the remedy.
    public let description: String
  }

  /// The broker's address, which restarts do not change.
  public let bootstrapServers: String
  /// The folder of its data (`data`), configuration (`server.properties`) and log (`server.log`).
  public let directory: URL
  private let home: URL
  private let running = Mutex<SupervisedProcess?>(nil)

  /// The distribution in the environment's `KAFKA_HOME`. Absent if the variable is not set.
  public static func find() -> URL? {
    guard let path = ProcessInfo.processInfo.environment["KAFKA_HOME"], !path.isEmpty else { return nil }
    let home = URL(fileURLWithPath: path).standardizedFileURL
    return fault(of: home) == nil ? home : nil
  }

  /// Why a folder is not a Kafka distribution; nil if it is one.
  public static func fault(of home: URL) -> String? {
    guard !FileManager.default.isExecutableFile(atPath: home.appendingPathComponent(startScript).path) else {
      return nil
    }
    guard FileManager.default.fileExists(atPath: home.path) else { return "\(home.path) does not exist" }
    return "\(home.path) is not a Kafka distribution: it has no \(startScript)"
  }

  private static let startScript = "bin/kafka-server-start.sh"

  /// Formats a broker's storage in a folder, which takes a second or two. The broker does not run yet.
  ///
  /// - Parameters:
  ///   - home: The distribution, with `bin` and `libs`. Needs Java 17 or later.
  ///   - directory: The folder for data, configuration and log; created if missing. A folder of an earlier broker is used with its
  ///     data, settings and ports.
  ///   - overrides: Broker properties that replace the ones set here.
  ///   - features: Levels of the cluster's features, as `featureOptions` takes them.
  public init(
    home: URL, directory: URL, overrides: [String: String] = [:], features: [String: Int] = [:]
  ) throws(Failure) {
    self.home = home
    self.directory = directory
    let settings = directory.appendingPathComponent("server.properties")
    do {
      let port: UInt16
      if let text = try? String(contentsOf: settings, encoding: .utf8) {
        guard let known = Self.port(in: text) else {
          throw Failure(description: "\(settings.path) names no listener: empty \(directory.path), or choose another")
        }
        port = known
      } else {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        port = try Self.freePort()
        let text = try Self.settings(
          port: port, controllerPort: Self.freePort(except: port), data: directory.appendingPathComponent("data"),
          overrides: overrides)
        // Renamed after formatting: a folder with settings has therefore been formatted.
        let draft = directory.appendingPathComponent("server.properties.draft")
        try Data(text.utf8).write(to: draft)
        try Self.format(
          home: home, settings: draft, features: features, log: directory.appendingPathComponent("server.log"))
        try FileManager.default.moveItem(at: draft, to: settings)
      }
      bootstrapServers = "127.0.0.1:\(port)"
    } catch let failure as Failure {
      throw failure
    } catch {
      throw Failure(description: "the broker's folder \(directory.path) could not be made: \(error)")
    }
  }

  deinit { kill() }

  /// Starts the broker and waits until it answers. Does nothing while it runs.
  ///
  /// - Throws: An error with the end of the log, if the broker ends by itself or does not answer in time.
  public func start(timeout: Duration = .seconds(60)) throws(Failure) {
    let log = directory.appendingPathComponent("server.log")
    let process = try running.withLock { (running) throws(Failure) -> SupervisedProcess? in
      if let running, running.exitStatus == nil { return nil }
      let process = try Self.run(
        Self.startScript, of: home, [directory.appendingPathComponent("server.properties").path], log: log)
      running = process
      return process
    }
    guard let process else { return }
    let deadline = ContinuousClock.now + timeout
    do throws(KafkaError) {
      let probe = try Admin(
        ClientConfiguration(
          bootstrapServers: bootstrapServers,
          properties: ["reconnect.backoff.ms": "50", "reconnect.backoff.max.ms": "200", "log_level": "0"]))
      while process.exitStatus == nil, !deadline.isPast {
        do throws(KafkaError) {
          _ = try probe.listTopics(timeout: .milliseconds(500))
          return
        } catch {
          guard error.isTimedOut || error.isCoordinatorLoss else { throw error }
        }
      }
    } catch {
      kill()
      throw Failure(description: "the broker at \(bootstrapServers) answers with an error: \(error)")
    }
    let what = process.exitStatus == nil ? "did not answer within \(timeout)" : "ended"
    kill()
    throw Failure(description: "the broker \(what); the end of \(log.path):\n\(Self.end(of: log))")
  }

  /// Stops the broker cleanly (SIGTERM) and waits for its end. Kills it after the time-out.
  public func stop(timeout: Duration = .seconds(30)) {
    resume()
    end("TERM", timeout: timeout)
  }

  /// Kills the broker (SIGKILL), like a crash, and waits for its end.
  public func kill() { end("KILL", timeout: .seconds(10)) }

  /// Suspends the broker (SIGSTOP), like a long garbage collection, until `resume`, `kill` or `stop`.
  public func pause() { running.withLock { $0 }?.send("STOP") }

  /// Resumes a suspended broker.
  public func resume() { running.withLock { $0 }?.send("CONT") }

  /// Stops the broker cleanly and starts it again.
  public func restart(timeout: Duration = .seconds(60)) throws(Failure) {
    stop()
    try start(timeout: timeout)
  }

  private func end(_ signal: String, timeout: Duration) {
    let process = running.withLock { running in
      defer { running = nil }
      return running
    }
    guard let process else { return }
    process.send(signal)
    if !process.waitForEnd(timeout: timeout) {
      process.send("KILL")
      _ = process.waitForEnd(timeout: .seconds(10))
    }
  }

  // MARK: Settings

  private static func settings(port: UInt16, controllerPort: UInt16, data: URL, overrides: [String: String]) -> String {
    var settings: [String: String] = [
      "process.roles": "broker,controller",
      "node.id": "1",
      "listeners": "PLAINTEXT://127.0.0.1:\(port),CONTROLLER://127.0.0.1:\(controllerPort)",
      "advertised.listeners": "PLAINTEXT://127.0.0.1:\(port)",
      "inter.broker.listener.name": "PLAINTEXT",
      "controller.listener.names": "CONTROLLER",
      "controller.quorum.bootstrap.servers": "127.0.0.1:\(controllerPort)",
      "log.dirs": data.path,
      "num.partitions": "4",
      "auto.create.topics.enable": "false",
      // The broker is one node, so internal topics have one replica, and few partitions for a faster start.
      "offsets.topic.replication.factor": "1",
      "offsets.topic.num.partitions": "4",
      "transaction.state.log.replication.factor": "1",
      "transaction.state.log.min.isr": "1",
      "transaction.state.log.num.partitions": "4",
      "share.coordinator.state.topic.replication.factor": "1",
      "share.coordinator.state.topic.min.isr": "1",
      "group.initial.rebalance.delay.ms": "0",
      // Tests restart members faster than a production broker would want.
      "group.min.session.timeout.ms": "1000",
      // A hanging transaction blocks every reader. The broker looks for them each second instead of each ten.
      "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
    ]
    settings.merge(overrides) { $1 }
    return settings.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)\n" }.joined()
  }

  /// The port of the first listener in a configuration.
  private static func port(in settings: String) -> UInt16? {
    for line in settings.split(separator: "\n") where line.hasPrefix("advertised.listeners=") {
      guard let colon = line.lastIndex(of: ":") else { continue }
      return UInt16(line[line.index(after: colon)...])
    }
    return nil
  }

  private static func format(home: URL, settings: URL, features: [String: Int], log: URL) throws(Failure) {
    // A cluster's id is 16 bytes in base64url.
    let id = Data((0..<16).map { _ in UInt8.random(in: 0...255) }).base64EncodedString()
      .replacingOccurrences(of: "+", with: "A").replacingOccurrences(of: "/", with: "B")
      .replacingOccurrences(of: "=", with: "")
    let process = try run(
      "bin/kafka-storage.sh", of: home,
      ["format", "-t", id, "-c", settings.path, "--standalone"] + featureOptions(features), log: log)
    guard process.waitForEnd(timeout: .seconds(60)), process.exitStatus == 0 else {
      process.send("KILL")
      throw Failure(
        description:
          "the broker's storage could not be formatted (is Java 17 or later there?); the end of \(log.path):\n"
          + end(of: log))
    }
  }

  /// Options of `kafka-storage.sh format` for levels of features. `transaction.version` is that of the environment's
  /// `KAFKA_TRANSACTION_VERSION` unless given; the others are the distribution's.
  public static func featureOptions(_ features: [String: Int] = [:]) -> [String] {
    var levels = features.mapValues { "\($0)" }
    if levels["transaction.version"] == nil {
      levels["transaction.version"] = ProcessInfo.processInfo.environment["KAFKA_TRANSACTION_VERSION"]
    }
    return levels.sorted { $0.key < $1.key }.flatMap { ["--feature", "\($0.key)=\($0.value)"] }
  }

  private static func run(
    _ script: String, of home: URL, _ arguments: [String], log: URL
  ) throws(Failure) -> SupervisedProcess {
    do throws(SupervisedProcess.StartFailure) {
      return try SupervisedProcess(
        home.appendingPathComponent(script), arguments, environment: environment(log: log), log: log)
    } catch {
      throw Failure(description: error.description)
    }
  }

  private static func environment(log: URL) -> [String: String] {
    var environment = ProcessInfo.processInfo.environment
    environment["KAFKA_HEAP_OPTS"] = environment["KAFKA_HEAP_OPTS"] ?? "-Xms256M -Xmx512M"
    // Java's second compiler pays off only after minutes, and until then uses as much CPU as the broker's own work
    // (docs/benchmarks.md, "The broker's compiler"). To enable it, set KAFKA_OPTS, if only to a blank.
    environment["KAFKA_OPTS"] = environment["KAFKA_OPTS"] ?? "-XX:TieredStopAtLevel=1"
    environment["LOG_DIR"] = log.deletingLastPathComponent().path
    return environment
  }

  private static func end(of log: URL) -> String {
    guard let text = try? String(contentsOf: log, encoding: .utf8) else { return "(no log)" }
    return text.split(separator: "\n").suffix(15).joined(separator: "\n")
  }

  /// A free port outside the system's range for outgoing connections (32768 and above on Linux): one of those could take it while the
  /// broker is down.
  private static func freePort(except taken: UInt16? = nil) throws(Failure) -> UInt16 {
    for _ in 0..<200 {
      let port = UInt16.random(in: 15_000..<30_000)
      if port != taken, isFree(port) { return port }
    }
    throw Failure(description: "no free port between 15000 and 30000 on 127.0.0.1")
  }

  private static func isFree(_ port: UInt16) -> Bool {
    let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard socket >= 0 else { return false }
    defer { close(socket) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }
}

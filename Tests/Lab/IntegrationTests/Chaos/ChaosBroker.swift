import Foundation
import Glibc
import Synchronization

@testable import Kafka
@testable import NudgeCommands

/// A broker, or several, one of which at a time is stopped, killed and started while others go on; some clients reach them through
/// proxies of their own.
///
/// A broker tells its clients where it is, and they go there. So each proxy has a listener of its broker's for itself, and
/// that listener says that it is where the proxy is.
///
/// Of several, each has a replica of everything, and two must be in sync: while one is away the others lead and coordinate
/// what it did.
///
/// Where there is only one and it stops or dies while markers are being written, Kafka 4.3's transaction coordinator leaves
/// some out for good ("Couldn't find leader endpoint … likely deleted already"), most of all where the controller is in the
/// same process: it comes back believing that the broker is still there, and drops it seconds later. Services end such
/// transactions by themselves (decision 26), so nothing here goes around it.
final class ChaosBroker: Sendable {
  /// After which a broker counts as dead, in milliseconds.
  static let brokerSession = 5_000

  let bootstrapServers: String
  let directory: URL
  /// By client: one to each broker.
  let proxies: [[ChaosProxy]]
  /// How many brokers there are.
  let count: Int
  private let home: URL
  /// A process of its own, which stays; nil: the broker is its own controller.
  private let controller: BrokerProcess?
  /// Stops and starts block; they come one after the other.
  private let queue = DispatchQueue(label: "chaos-broker")
  private let state: Mutex<State>

  private struct State {
    var brokers: [BrokerProcess?]
    /// The broker that orders are for: another one after each that was mended.
    var current = 0
    /// Orders that are not carried out yet.
    var waiting = 0
    var failure: String?
    /// Since when it is away; milliseconds since the epoch.
    var awaySince: Int64?
    var absences: [ClosedRange<Int64>] = []
    /// Since when nobody may write to a topic.
    var refusedSince: [String: Int64] = [:]
    var refusals: [(topic: String, time: ClosedRange<Int64>)] = []

    /// The broker that was away serves again; the next one is another.
    mutating func isBack() {
      guard let since = awaySince else { return }
      absences.append(since...ChatLoad.now() + 1_000)
      awaySince = nil
      current = (current + 1) % brokers.count
    }
  }

  /// Starts so many brokers with proxies for so many clients. A single one can be its own controller.
  init(directory: URL, proxies clients: Int, brokers: Int = 1, isCombined: Bool) throws {
    guard let home = LocalBroker.find() else { throw DemoError("KAFKA_HOME is not set") }
    self.home = home
    self.directory = directory
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    count = brokers
    state = Mutex(State(brokers: Array(repeating: nil, count: brokers)))
    let isCombined = isCombined && brokers == 1
    let ports = try Self.freePorts(1 + brokers * (1 + clients))
    let plain = Array(ports[1...brokers])
    // By broker and client.
    let listeners = (0..<brokers).map { Array(ports[(1 + brokers + $0 * clients)...].prefix(clients)) }
    let proxies = try (0..<clients).map { client in try listeners.map { try ChaosProxy(to: $0[client]) } }
    self.proxies = proxies
    bootstrapServers = plain.map { "127.0.0.1:\($0)" }.joined(separator: ",")
    let cluster = [
      "controller.quorum.bootstrap.servers": "127.0.0.1:\(ports[0])", "controller.listener.names": "CONTROLLER",
    ]
    let controllerListener = "CONTROLLER://127.0.0.1:\(ports[0])"
    let (replicas, inSync) = ("\(brokers)", "\(max(1, brokers - 1))")
    // What topics are made with is the controller's to say.
    let controllerSettings = [
      "broker.session.timeout.ms": "\(Self.brokerSession)", "default.replication.factor": replicas,
      "min.insync.replicas": inSync,
    ]
    let rights = [
      "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
      "allow.everyone.if.no.acl.found": "true",
    ]

    let id = Data((0..<16).map { _ in UInt8.random(in: 0...255) }).base64EncodedString()
      .replacingOccurrences(of: "+", with: "A").replacingOccurrences(of: "/", with: "B")
      .replacingOccurrences(of: "=", with: "")
    if !isCombined {
      try Self.format(
        "controller", id, "--standalone", home: home, directory: directory,
        cluster.merging(controllerSettings) { $1 }.merging([
          "process.roles": "controller", "node.id": "100", "listeners": controllerListener,
        ]) { $1 }.merging(rights) { $1 })
    }
    for broker in 0..<brokers {
      let named = (0..<clients).map { client in
        (name: "PROXIED\(client)", port: listeners[broker][client], advertised: proxies[client][broker].port)
      }
      let all = [(name: "PLAINTEXT", port: plain[broker], advertised: plain[broker])] + named
      try Self.format(
        Self.role(broker), id, isCombined ? "--standalone" : "--no-initial-controllers", home: home,
        directory: directory,
        cluster.merging(isCombined ? controllerSettings : [:]) { $1 }.merging([
          "process.roles": isCombined ? "broker,controller" : "broker", "node.id": "\(broker + 1)",
          "inter.broker.listener.name": "PLAINTEXT",
          "listeners": (all.map { "\($0.name)://127.0.0.1:\($0.port)" } + (isCombined ? [controllerListener] : []))
            .joined(separator: ","),
          "advertised.listeners": all.map { "\($0.name)://127.0.0.1:\($0.advertised)" }.joined(separator: ","),
          "listener.security.protocol.map": (all.map(\.name) + ["CONTROLLER"]).map { "\($0):PLAINTEXT" }
            .joined(separator: ","),
          "broker.heartbeat.interval.ms": "500",
          "auto.create.topics.enable": "false",
          "default.replication.factor": replicas, "min.insync.replicas": inSync,
          "offsets.topic.replication.factor": replicas, "offsets.topic.num.partitions": "4",
          "transaction.state.log.replication.factor": replicas, "transaction.state.log.min.isr": inSync,
          "transaction.state.log.num.partitions": "4",
          "share.coordinator.state.topic.replication.factor": replicas,
          "share.coordinator.state.topic.min.isr": inSync,
          "group.initial.rebalance.delay.ms": "0", "group.min.session.timeout.ms": "1000",
          "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
          // Each listener has threads of its own.
          "num.network.threads": "2", "num.io.threads": "4",
        ]) { $1 }.merging(rights) { $1 })
    }
    controller =
      try isCombined
      ? nil : Self.launch("controller", heap: "-Xms64M -Xmx192M", home: home, directory: directory)
    for broker in 0..<brokers { try launch(broker) }
    try awaitAnswers()
  }

  /// Where the first keeps its partitions, which are all there are.
  var data: URL { directory.appendingPathComponent("\(Self.role(0))-data") }

  private static func role(_ broker: Int) -> String { broker == 0 ? "broker" : "broker\(broker + 1)" }

  // MARK: Processes

  private static func file(_ role: String, _ name: String, in directory: URL) -> URL {
    directory.appendingPathComponent("\(role).\(name)")
  }

  private static func format(
    _ role: String, _ cluster: String, _ how: String, home: URL, directory: URL, _ settings: [String: String]
  ) throws {
    let data = directory.appendingPathComponent("\(role)-data").path
    let text = settings.merging(["log.dirs": data]) { $1 }.sorted { $0.key < $1.key }
      .map { "\($0.key)=\($0.value)\n" }.joined()
    try Data(text.utf8).write(to: file(role, "properties", in: directory))
    let log = file(role, "log", in: directory)
    let process = try BrokerProcess(
      home.appendingPathComponent("bin/kafka-storage.sh").path,
      ["format", "-t", cluster, "-c", file(role, "properties", in: directory).path, how],
      environment: Pipeline.environment, log: log)
    guard process.waitForEnd(timeout: .seconds(60)), process.status == 0 else {
      throw DemoError("the \(role)'s storage could not be formatted: \(GrowingFile.tail(log.path, lines: 10))")
    }
  }

  private static func launch(_ role: String, heap: String, home: URL, directory: URL) throws -> BrokerProcess {
    var environment = Pipeline.environment
    environment["KAFKA_HEAP_OPTS"] = heap
    environment["LOG_DIR"] = directory.appendingPathComponent("\(role)-logs").path
    return try BrokerProcess(
      home.appendingPathComponent("bin/kafka-server-start.sh").path, [file(role, "properties", in: directory).path],
      environment: environment, log: file(role, "log", in: directory))
  }

  private func launch(_ broker: Int) throws {
    let process = try Self.launch(Self.role(broker), heap: "-Xms256M -Xmx512M", home: home, directory: directory)
    state.withLock { $0.brokers[broker] = process }
  }

  /// Returns when each broker that should be there answers.
  private func awaitAnswers() throws {
    for (broker, server) in bootstrapServers.split(separator: ",").enumerated() {
      if let process = state.withLock({ $0.brokers[broker] }) {
        try waitFor(process, Self.role(broker), at: String(server))
      }
    }
  }

  private func waitFor(_ process: BrokerProcess, _ role: String, at server: String) throws {
    let probe = try Admin(
      ClientConfiguration(
        bootstrapServers: server,
        properties: ["reconnect.backoff.ms": "50", "reconnect.backoff.max.ms": "200", "log_level": "0"]))
    let deadline = ContinuousClock.now + .seconds(90)
    while process.isRunning, .now < deadline {
      if (try? probe.listTopics(timeout: .milliseconds(500))) != nil { return }
    }
    throw DemoError(
      "the \(role) \(process.isRunning ? "does not answer" : "ended"): "
        + GrowingFile.tail(Self.file(role, "log", in: directory).path, lines: 15))
  }

  private func stopNow(_ signal: String, _ broker: Int) {
    let process = state.withLock { $0.brokers[broker] }
    defer { state.withLock { $0.brokers[broker] = nil } }
    process?.send(signal)
    if process?.waitForEnd(timeout: .seconds(40)) == false {
      process?.send("KILL")
      _ = process?.waitForEnd(timeout: .seconds(10))
    }
  }

  // MARK: Orders

  /// Ends it, with a clean stop or a kill. Returns at once.
  func stop(cleanly: Bool) {
    enqueue { [self] in
      stopNow(
        cleanly ? "TERM" : "KILL",
        state.withLock { state in
          state.awaySince = ChatLoad.now()
          return state.current
        })
    }
  }

  /// Starts it. Returns at once.
  func start() {
    enqueue { [self] in
      try launch(state.withLock { $0.current })
      try awaitAnswers()
      state.withLock { $0.isBack() }
    }
  }

  /// Holds it up, as a long garbage collection would. Returns at once.
  func pause() {
    enqueue { [self] in
      state.withLock { state in
        state.awaySince = ChatLoad.now()
        state.brokers[state.current]?.send("STOP")
      }
    }
  }

  /// Lets it go on. Returns at once.
  func resume() {
    enqueue { [self] in
      state.withLock { state in
        state.brokers[state.current]?.send("CONT")
        state.isBack()
      }
    }
  }

  // MARK: Rights

  /// Lets everybody do everything with topics of a prefix, by a rule that says so: what `revoke` refuses is then all that is
  /// refused. Returns when it is done.
  func grantAll(prefix: String) throws {
    try Self.changeRights(
      bootstrapServers, "--add", "--allow-principal", "User:*", "--operation", "All", "--topic", prefix,
      "--resource-pattern-type", "prefixed")
  }

  /// Takes the right to write to a topic from everybody, or gives it back. Returns at once.
  func setWritable(_ isWritable: Bool, _ topic: String) {
    enqueue { [self] in
      if !isWritable { state.withLock { $0.refusedSince[topic] = ChatLoad.now() } }
      try Self.changeRights(
        bootstrapServers, isWritable ? "--remove" : "--add", "--deny-principal", "User:*", "--operation", "Write",
        "--topic", topic, isWritable ? "--force" : nil)
      if isWritable {
        state.withLock { state in
          guard let since = state.refusedSince.removeValue(forKey: topic) else { return }
          // Who was refused last may take a moment to end.
          state.refusals.append((topic, since...ChatLoad.now() + 5_000))
        }
      }
    }
  }

  private static func changeRights(_ bootstrapServers: String, _ arguments: String?...) throws {
    let (status, output) = try RealKafka.run(
      "kafka-acls.sh", ["--bootstrap-server", bootstrapServers] + arguments.compactMap(\.self))
    guard status == 0 else { throw DemoError("the broker's rights could not be changed: \(output)") }
  }

  /// From when to when nobody could write to a topic; milliseconds since the epoch.
  var refusals: [(topic: String, time: ClosedRange<Int64>)] { state.withLock { $0.refusals } }

  /// Whether it serves everybody, with all rights.
  var isWell: Bool { state.withLock { $0.awaySince == nil && $0.refusedSince.isEmpty && $0.waiting == 0 } }

  /// From when to when one did not serve, and a second more; milliseconds since the epoch.
  var absences: [ClosedRange<Int64>] { state.withLock { $0.absences } }

  private func enqueue(_ body: @escaping @Sendable () throws -> Void) {
    state.withLock { $0.waiting += 1 }
    queue.async { [self] in
      do {
        try body()
      } catch {
        state.withLock { $0.failure = $0.failure ?? "\(error)" }
      }
      state.withLock { $0.waiting -= 1 }
    }
  }

  /// Whether all that it was told to do is done. Throws where it could not be.
  func isSettled() throws -> Bool {
    try state.withLock { state in
      if let failure = state.failure { throw StillWaiting(description: "the broker failed: \(failure)") }
      return state.waiting == 0
    }
  }

  /// Kills everything for good, and waits for its end.
  func end() {
    queue.sync {
      for broker in 0..<count { stopNow("KILL", broker) }
      controller?.send("KILL")
      _ = controller?.waitForEnd(timeout: .seconds(10))
    }
  }

  /// Ports nobody listens on; outside of what the system gives to connections, one of which could take a port while the
  /// broker is down.
  private static func freePorts(_ count: Int) throws -> [UInt16] {
    var found: [UInt16] = []
    for _ in 0..<1_000 where found.count < count {
      let port = UInt16.random(in: 15_000..<30_000)
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(descriptor) }
      var address = ChaosProxy.loopback(port)
      let isFree = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      if isFree, !found.contains(port) { found.append(port) }
    }
    guard found.count == count else { throw DemoError("no free ports between 15000 and 30000 on 127.0.0.1") }
    return found
  }
}

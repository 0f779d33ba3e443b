import Foundation
import Glibc
import Synchronization

@testable import Kafka
@testable import NudgeCommands
@testable import NudgeLab

/// One broker or several. It stops, kills, pauses and starts one of them at a time; some clients reach the brokers through proxies.
///
/// Clients connect to the address that a broker advertises. So each proxy has its own listener on its broker, and that listener
/// advertises the proxy's address.
///
/// With several brokers each one has a replica of every partition, and two replicas must be in sync: while one broker is away
/// the others lead its partitions and coordinate.
///
/// A lone broker that stops or dies while markers are being written leaves some of them out (Kafka 4.3: "Couldn't find leader endpoint
/// … likely deleted already"), above all if it is its own controller. Services write these markers themselves (decision 26).
final class ChaosBroker: Sendable {
  /// The broker's session time-out at the controller, in milliseconds.
  static let brokerSession = 5_000

  let bootstrapServers: String
  let directory: URL
  /// For each client, one proxy to each broker.
  let proxies: [[ChaosProxy]]
  /// The number of brokers.
  let count: Int
  private let home: URL
  /// A separate process that is never stopped; nil: the broker is its own controller.
  private let controller: SupervisedProcess?
  /// Carries out orders one after the other; stops and starts block it.
  private let queue = DispatchQueue(label: "chaos-broker")
  private let state: Mutex<State>

  private struct State {
    var brokers: [SupervisedProcess?]
    /// The broker that orders are for. After each recovery it is the next one.
    var current = 0
    /// Orders not carried out yet.
    var waiting = 0
    var failure: String?
    /// When the current broker went away, in milliseconds since the epoch.
    var awaySince: Int64?
    var absences: [ClosedRange<Int64>] = []
    /// When each topic stopped taking writes: the right was revoked, or the topic deleted.
    var refusedSince: [String: Int64] = [:]
    /// Since when a producer quota is set.
    var quotaSince: Int64?
    /// When one was.
    var quotas: [ClosedRange<Int64>] = []
    var refusals: [(topic: String, time: ClosedRange<Int64>)] = []

    /// The broker that was away serves again; the next fault is for another one.
    mutating func isBack() {
      guard let since = awaySince else { return }
      absences.append(since...ChatLoad.now() + 1_000)
      awaySince = nil
      current = (current + 1) % brokers.count
    }
  }

  /// Starts `brokers` brokers with proxies for `clients` clients. A single broker can be its own controller.
  init(directory: URL, proxies clients: Int, brokers: Int = 1, isCombined: Bool) throws {
    guard let home = LocalBroker.find() else { throw CommandError("KAFKA_HOME is not set") }
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
    // The controller applies these when a topic is created.
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

  /// The first broker's data, which has a replica of every partition.
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
    let process = try SupervisedProcess(
      home.appendingPathComponent("bin/kafka-storage.sh"),
      ["format", "-t", cluster, "-c", file(role, "properties", in: directory).path, how]
        // Only the controller knows what the brokers have.
        + (how == "--standalone" ? LocalBroker.featureOptions() : []),
      environment: Pipeline.environment, log: log)
    guard process.waitForEnd(timeout: .seconds(60)), process.exitStatus == 0 else {
      throw CommandError("the \(role)'s storage could not be formatted: \(GrowingFile.tail(log.path, lines: 10))")
    }
  }

  private static func launch(_ role: String, heap: String, home: URL, directory: URL) throws -> SupervisedProcess {
    var environment = Pipeline.environment
    environment["KAFKA_HEAP_OPTS"] = heap
    environment["LOG_DIR"] = directory.appendingPathComponent("\(role)-logs").path
    return try SupervisedProcess(
      home.appendingPathComponent("bin/kafka-server-start.sh"), [file(role, "properties", in: directory).path],
      environment: environment, log: file(role, "log", in: directory))
  }

  private func launch(_ broker: Int) throws {
    let process = try Self.launch(Self.role(broker), heap: "-Xms256M -Xmx512M", home: home, directory: directory)
    state.withLock { $0.brokers[broker] = process }
  }

  /// Returns when each broker that runs answers.
  private func awaitAnswers() throws {
    for (broker, server) in bootstrapServers.split(separator: ",").enumerated() {
      if let process = state.withLock({ $0.brokers[broker] }) {
        try waitFor(process, Self.role(broker), at: String(server))
      }
    }
  }

  private func waitFor(_ process: SupervisedProcess, _ role: String, at server: String) throws {
    let probe = try Admin(
      ClientConfiguration(
        bootstrapServers: server,
        properties: ["reconnect.backoff.ms": "50", "reconnect.backoff.max.ms": "200", "log_level": "0"]))
    let deadline = ContinuousClock.now + .seconds(90)
    while process.exitStatus == nil, .now < deadline {
      if (try? probe.listTopics(timeout: .milliseconds(500))) != nil { return }
    }
    throw CommandError(
      "the \(role) \(process.exitStatus == nil ? "does not answer" : "ended"): "
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

  /// Ends the current broker, cleanly or with SIGKILL. Returns at once.
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

  /// Starts the current broker. Returns at once.
  func start() {
    enqueue { [self] in
      try launch(state.withLock { $0.current })
      try awaitAnswers()
      state.withLock { $0.isBack() }
    }
  }

  /// Pauses the current broker, as a long garbage collection would. Returns at once.
  func pause() {
    enqueue { [self] in
      state.withLock { state in
        state.awaySince = ChatLoad.now()
        state.brokers[state.current]?.send("STOP")
      }
    }
  }

  /// Lets the paused broker continue. Returns at once.
  func resume() {
    enqueue { [self] in
      state.withLock { state in
        state.brokers[state.current]?.send("CONT")
        state.isBack()
      }
    }
  }

  // MARK: Rights

  /// Allows everybody every operation on topics of a prefix, by a rule, so that only what `setWritable` revokes is refused.
  /// Returns when it is done.
  func grantAll(prefix: String) throws {
    try Self.changeRights(
      bootstrapServers, "--add", "--allow-principal", "User:*", "--operation", "All", "--topic", prefix,
      "--resource-pattern-type", "prefixed")
  }

  /// Revokes everybody's right to write to a topic, or restores it. Returns at once.
  func setWritable(_ isWritable: Bool, _ topic: String) {
    enqueue { [self] in
      if !isWritable { state.withLock { $0.refusedSince[topic] = ChatLoad.now() } }
      try Self.changeRights(
        bootstrapServers, isWritable ? "--remove" : "--add", "--deny-principal", "User:*", "--operation", "Write",
        "--topic", topic, isWritable ? "--force" : nil)
      if isWritable { takesWrites(topic) }
    }
  }

  private func takesWrites(_ topic: String) {
    state.withLock { state in
      guard let since = state.refusedSince.removeValue(forKey: topic) else { return }
      // A process that was refused last may take a moment to end.
      state.refusals.append((topic, since...ChatLoad.now() + 5_000))
    }
  }

  /// Sets a quota for each producing client, or removes it. Returns at once.
  func setQuota(bytesPerSecond: Int?) {
    enqueue { [self] in
      state.withLock { $0.quotaSince = $0.quotaSince ?? ChatLoad.now() }
      let change =
        bytesPerSecond.map { ["--add-config", "producer_byte_rate=\($0)"] } ?? [
          "--delete-config", "producer_byte_rate",
        ]
      let (status, output) = try RealKafka.run(
        "kafka-configs.sh",
        ["--bootstrap-server", bootstrapServers, "--alter", "--entity-type", "clients", "--entity-default"] + change)
      guard status == 0 else { throw CommandError("the clients' quota could not be changed: \(output)") }
      guard bytesPerSecond == nil else { return }
      state.withLock { state in
        // Requests that are being throttled are answered some seconds later.
        if let since = state.quotaSince { state.quotas.append(since...ChatLoad.now() + 10_000) }
        state.quotaSince = nil
      }
    }
  }

  /// Deletes a topic and creates it again. Returns at once.
  ///
  /// It asks the controller, not a broker's list of topics: a busy broker lists a topic for some time after the controller deleted it.
  func remake(_ topic: Admin.NewTopic) {
    enqueue { [self] in
      state.withLock { $0.refusedSince[topic.name] = ChatLoad.now() }
      let admin = try Admin(ClientConfiguration(bootstrapServers: bootstrapServers))
      for case .failure(let error) in try admin.deleteTopics([topic.name], timeout: .seconds(30)).values
      // The first request was answered to nobody, and librdkafka's second finds no topic.
      where !error.isUnknownTopicOrPartition { throw error }
      try waitUntil("\(topic.name) is made again") {
        switch try admin.createTopics([topic], timeout: .seconds(30))[topic.name] {
        case .success: true
        // The first request was answered to nobody.
        case .failure(let error) where error.isTopicAlreadyExists: true
        case .failure, nil: false
        }
      }
      takesWrites(topic.name)
    }
  }

  private static func changeRights(_ bootstrapServers: String, _ arguments: String?...) throws {
    let (status, output) = try RealKafka.run(
      "kafka-acls.sh", ["--bootstrap-server", bootstrapServers] + arguments.compactMap(\.self))
    guard status == 0 else { throw CommandError("the broker's rights could not be changed: \(output)") }
  }

  /// The times when a topic took no writes, in milliseconds since the epoch.
  var refusals: [(topic: String, time: ClosedRange<Int64>)] { state.withLock { $0.refusals } }

  /// Whether all brokers serve, every right is granted and no quota is set.
  var isWell: Bool {
    state.withLock { $0.awaySince == nil && $0.refusedSince.isEmpty && $0.quotaSince == nil && $0.waiting == 0 }
  }

  /// The times when a broker did not serve, and a second more, in milliseconds since the epoch.
  var absences: [ClosedRange<Int64>] { state.withLock { $0.absences } }

  /// When clients were limited to a rate: a service may then need longer to commit.
  var quotas: [ClosedRange<Int64>] { state.withLock { $0.quotas } }

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

  /// Whether all orders are carried out. Throws if one failed.
  func isSettled() throws -> Bool {
    try state.withLock { state in
      if let failure = state.failure { throw StillWaiting(description: "the broker failed: \(failure)") }
      return state.waiting == 0
    }
  }

  /// Kills all processes and waits for their end.
  func end() {
    queue.sync {
      for broker in 0..<count { stopNow("KILL", broker) }
      controller?.send("KILL")
      _ = controller?.waitForEnd(timeout: .seconds(10))
    }
  }

  /// Free ports outside the system's ephemeral range: an outgoing connection must not take a port while its broker is down.
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
    guard found.count == count else { throw CommandError("no free ports between 15000 and 30000 on 127.0.0.1") }
    return found
  }
}

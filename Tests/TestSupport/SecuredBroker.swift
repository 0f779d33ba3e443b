import Foundation
public import Kafka
import Synchronization

/// A broker with a listener of every kind, its own authority, users and ACLs. The first test starts it, and all share it.
public final class SecuredBroker: Sendable {
  /// Whether there is a distribution to start it from.
  public static let isAvailable = LocalBroker.find() != nil
  /// The broker.
  public static let shared = Result<SecuredBroker, any Error> {
    let broker = try SecuredBroker()
    atexit { SecuredBroker.remove() }
    return broker
  }

  private static func remove() {
    guard case .success(let it) = shared else { return }
    it.broker.kill()
    try? FileManager.default.removeItem(at: it.directory)
  }

  /// Its process.
  public let broker: LocalBroker
  private let directory: URL
  private let home: URL
  private let ports: [String: UInt16]
  /// Where the plain listener is, whose users may do everything.
  public var servers: String { broker.bootstrapServers }

  /// The path of one of its files: `ca.pem`, `other-ca.pem` (which nobody trusts), `client.crt`, `client.key` (who may do
  /// everything), `limited.crt`, `limited.key` (who may do nothing
  /// until a rule says so), `stranger.crt`, `stranger.key` (by the other authority).
  public func file(_ name: String) -> String { directory.appendingPathComponent(name).path }

  private init() throws {
    guard let home = LocalBroker.find() else { throw Failure(description: "KAFKA_HOME names no distribution") }
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("sink-tests-\(UUID().uuidString)")
    func file(_ name: String) -> String { directory.appendingPathComponent(name).path }
    (self.home, self.directory) = (home, directory)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let first = UInt16.random(in: 15_000..<29_000)
    ports = [
      "PLAINTEXT": first, "CONTROLLER": first + 1, "SSL": first + 2, "SASL_SSL": first + 3, "MUTUAL": first + 4,
      "LOGIN": first + 5, "BEARER": first + 6,
    ]
    let listeners = ports.map { "\($0.key)://127.0.0.1:\($0.value)" }
    try Self.certificates(directory)
    let plain = "org.apache.kafka.common.security.plain.PlainLoginModule required user_alice=\"alice-secret\";"
    let scram = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
    let settings: [String: String] = [
      "process.roles": "broker,controller", "node.id": "1",
      "listeners": listeners.joined(separator: ","),
      // The last one is what LocalBroker takes for the broker's address.
      "advertised.listeners":
        (listeners.filter { !$0.hasPrefix("CONTROLLER") && !$0.hasPrefix("PLAINTEXT") }
        + ["PLAINTEXT://127.0.0.1:\(first)"]).joined(separator: ","),
      "listener.security.protocol.map":
        "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SSL:SSL,MUTUAL:SSL,SASL_SSL:SASL_SSL,LOGIN:SASL_SSL,BEARER:SASL_SSL",
      "inter.broker.listener.name": "PLAINTEXT", "controller.listener.names": "CONTROLLER",
      "controller.quorum.bootstrap.servers": "127.0.0.1:\(first + 1)",
      "log.dirs": file("data"),
      // The broker's default: a wrong metadata request creates a topic.
      "auto.create.topics.enable": "true",
      "offsets.topic.replication.factor": "1", "offsets.topic.num.partitions": "4",
      "transaction.state.log.replication.factor": "1", "transaction.state.log.min.isr": "1",
      "transaction.state.log.num.partitions": "4", "group.initial.rebalance.delay.ms": "0",
      "group.min.session.timeout.ms": "1000",
      "transaction.abort.timed.out.transaction.cleanup.interval.ms": "500",
      "ssl.keystore.type": "PEM", "ssl.keystore.location": file("server.pem"),
      "ssl.truststore.type": "PEM", "ssl.truststore.location": file("ca.pem"),
      "listener.name.mutual.ssl.client.auth": "required",
      "listener.name.sasl_ssl.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
      "listener.name.sasl_ssl.plain.sasl.jaas.config": plain,
      "listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config": scram,
      "listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config": scram,
      // Users of the access rules; their logins do not expire.
      "listener.name.login.sasl.enabled.mechanisms": "PLAIN",
      "listener.name.login.plain.sasl.jaas.config":
        "org.apache.kafka.common.security.plain.PlainLoginModule required "
        + ["service", "oncall", "reader", "nobody"].map { "user_\($0)=\"\($0)-secret\"" }.joined(separator: " ") + ";",
      // Tokens are believed without a signature, and logins last as long as they.
      "listener.name.bearer.sasl.enabled.mechanisms": "OAUTHBEARER",
      "listener.name.bearer.oauthbearer.sasl.jaas.config":
        "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub=\"broker\";",
      "listener.name.bearer.connections.max.reauth.ms": "3600000",
      // Logins expire: connections that live longer than this are closed by the broker.
      "listener.name.sasl_ssl.connections.max.reauth.ms": "3000",
      "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
      "super.users": "User:ANONYMOUS;User:alice;User:CN=client;User:mia",
    ]
    try settings.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)\n" }.joined().write(
      toFile: file("server.properties"), atomically: true, encoding: .utf8)
    try Self.run(
      directory, home.appendingPathComponent("bin/kafka-storage.sh").path,
      [
        "format", "-t", "c2luay10ZXN0cy1uZHhhMQ", "-c", file("server.properties"), "--standalone",
        "--add-scram", "SCRAM-SHA-256=[name=bob,password=bob-secret]",
        "--add-scram", "SCRAM-SHA-512=[name=carol,password=carol-secret]",
      ]
        + LocalBroker.featureOptions())
    broker = try LocalBroker(home: home, directory: directory)
    try broker.start()
  }

  /// Why it cannot be used.
  public struct Failure: Error, CustomStringConvertible {
    /// The program's output.
    public let description: String
  }

  /// Runs a program to its end; returns what it wrote.
  @discardableResult
  static func run(_ directory: URL, _ program: String, _ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    var environment = ProcessInfo.processInfo.environment
    environment["LOG_DIR"] = directory.path
    process.environment = environment
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Failure(description: "\(program) ended with \(process.terminationStatus):\n\(text)")
    }
    return text
  }

  /// Runs one of the distribution's tools; returns what it wrote.
  public func tool(_ name: String, _ arguments: [String]) throws -> String {
    try Self.run(directory, home.appendingPathComponent("bin/\(name)").path, arguments)
  }

  /// Runs commands of the distribution's tools side by side, each as a line for a shell.
  public func shell(_ commands: [String]) throws {
    let failures = Mutex<[any Error]>([])
    DispatchQueue.concurrentPerform(iterations: commands.count) { index in
      do {
        try Self.run(
          directory, "/bin/sh",
          ["-c", "PATH=\"$1:$PATH\" exec \(commands[index])", "sh", home.appendingPathComponent("bin").path])
      } catch {
        failures.withLock { $0.append(error) }
      }
    }
    if let first = failures.withLock({ $0.first }) { throw first }
  }

  /// An authority, a server and a client that it vouches for, an authority that nobody trusts.
  private static func certificates(_ directory: URL) throws {
    func file(_ name: String) -> String { directory.appendingPathComponent(name).path }
    func openssl(_ arguments: String) throws {
      try run(directory, "/usr/bin/env", ["openssl"] + arguments.split(separator: " ").map(String.init))
    }
    for authority in ["ca", "other-ca"] {
      try openssl(
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=\(authority) "
          + "-keyout \(file("\(authority).key")) -out \(file("\(authority).pem"))")
    }
    // One subject of several parts: their order is turned round in the name of its user.
    let names = [("server", ""), ("client", ""), ("limited", "/O=Example/OU=night-shift"), ("stranger", "")]
    for (number, (name, above)) in names.enumerated() {
      let authority = name == "stranger" ? "other-ca" : "ca"
      try openssl(
        "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj \(above)/CN=\(name) "
          + "-keyout \(file("\(name).key")) -out \(file("\(name).csr"))")
      try "subjectAltName=IP:127.0.0.1,DNS:localhost\n".write(
        toFile: file("extensions"), atomically: true, encoding: .utf8)
      try openssl(
        "x509 -req -days 2 -in \(file("\(name).csr")) -CA \(file("\(authority).pem")) "
          + "-CAkey \(file("\(authority).key")) -set_serial \(number + 2) -extfile \(file("extensions")) -out \(file("\(name).crt"))"
      )
    }
    try openssl(
      "pkcs8 -topk8 -v2 aes-256-cbc -passout pass:key-secret -in \(file("client.key")) -out \(file("client-enc.key"))")
    let key = try String(contentsOfFile: file("server.key"), encoding: .utf8)
    let certificate = try String(contentsOfFile: file("server.crt"), encoding: .utf8)
    try (key + certificate).write(toFile: file("server.pem"), atomically: true, encoding: .utf8)
  }

  /// The settings of a user of the listener `LOGIN`, which trusts an authority.
  public func login(_ user: String, password: String? = nil, authority: String = "ca.pem") -> [String] {
    [
      "security.protocol=sasl_ssl", "sasl.mechanism=PLAIN", "sasl.username=\(user)",
      "sasl.password=\(password ?? "\(user)-secret")", "ssl.ca.location=\(file(authority))",
    ]
  }

  /// The settings for the listener `BEARER`, with a token of these claims in a file of this name.
  /// - Parameter claims: JSON's members, such as `"sub":"mia"`; the rest is added where it is not there.
  public func bearer(_ claims: String, lifetime: Int64 = 3_600, file name: String) throws -> [(
    name: String, value: String
  )] {
    let now = Int64(Date().timeIntervalSince1970)
    let issued = claims.contains("iat") ? "" : #","iat":\#(now)"#
    let parts = [#"{"alg":"none"}"#, #"{\#(claims)\#(issued),"exp":\#(now + lifetime)}"#, ""].map {
      Data($0.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
    try parts.joined(separator: ".").write(toFile: file(name), atomically: true, encoding: .utf8)
    return [
      ("security.protocol", "sasl_ssl"), ("sasl.mechanism", "OAUTHBEARER"), ("ssl.ca.location", file("ca.pem")),
      ("sasl.oauthbearer.token.endpoint.url", "file://\(file(name))"),
    ]
  }

  /// How a listener is reached: `SSL`, `MUTUAL`, `SASL_SSL` (logins expire), `LOGIN` or `BEARER` (tokens).
  public func address(_ listener: String) -> String { "127.0.0.1:\(ports[listener] ?? 0)" }
}

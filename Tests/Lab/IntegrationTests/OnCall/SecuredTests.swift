@testable import FCMEmulator
import Foundation
import Kafka
import NudgeSchema
import Synchronization
import TestSupport
import Testing

@testable import NudgeLab

extension PipelineTests {
  /// One broker for both tests, with a listener for passwords over TLS, one for mutual TLS, and access rules.
  @Suite("O6: Kafka with TLS, mutual TLS, passwords and access rules")
  struct SecuredTests {
    private typealias Run = (status: Int32, output: String)

    private static func properties(_ list: [String]) -> [String] { list.flatMap { ["--kafka-property", $0] } }

    private static func mutual(_ secured: SecuredBroker, _ certificate: String = "client") -> [String] {
      [
        "security.protocol=ssl", "ssl.ca.location=\(secured.file("ca.pem"))",
        "ssl.certificate.location=\(secured.file("\(certificate).crt"))",
        "ssl.key.location=\(secured.file("\(certificate).key"))",
      ]
    }

    private static func tokenless(_ secured: SecuredBroker) -> [String] {
      [
        "security.protocol=sasl_ssl", "ssl.ca.location=\(secured.file("ca.pem"))", "sasl.mechanism=OAUTHBEARER",
        "sasl.oauthbearer.token.endpoint.url=file:///nowhere.jwt",
      ]
    }

    /// Runs programs side by side: each waits for a broker for seconds.
    private static func runAll(_ commands: [(name: String, arguments: [String])]) throws -> [Run] {
      let directory = DemoProgram.directoryOfThisProgram()
      let results = Mutex<[Int: Run]>([:])
      DispatchQueue.concurrentPerform(iterations: commands.count) { index in
        let command = commands[index]
        let result = try? RealKafka.run(directory.appendingPathComponent(command.name), command.arguments)
        results.withLock { $0[index] = result }
      }
      return try results.withLock { results in try commands.indices.map { try #require(results[$0]) } }
    }

    /// Adds access rules for users, of all that begins with a name.
    private static func allow(
      _ secured: SecuredBroker, _ users: [String], _ operations: [String], _ resource: [String]
    ) throws {
      _ = try secured.tool(
        "kafka-acls.sh",
        ["--bootstrap-server", secured.servers, "--add", "--force", "--resource-pattern-type", "prefixed"]
          + users.flatMap { ["--allow-principal", "User:\($0)"] } + operations.flatMap { ["--operation", $0] }
          + resource)
    }

    @Test(
      "a pipeline over TLS, one service by a password, one by a certificate, one by a token, works with the rules of docs/operations.md and no others; whoever is on call reads with theirs; what they lack, nudge doctor and the services say with the command that adds it"
    )
    func rules() throws {
      let secured = try SecuredBroker.shared.get()
      let pipeline = try Pipeline("secured", brokers: secured.servers, serviceBrokers: secured.address("LOGIN"))
      let prefix = pipeline.names.prefix
      // The reader may use the topics, and nothing else.
      let rules: [([String], [String], [String])] = [
        (["service", "reader"], ["Read", "Write", "Describe", "DescribeConfigs"], ["--topic", prefix]),
        (["service"], ["Read"], ["--group", "\(prefix)nudge-"]),
        (["service"], ["Write", "Describe"], ["--transactional-id", "\(prefix)nudge-"]),
        (["oncall"], ["Read", "Describe", "DescribeConfigs"], ["--topic", prefix]),
        (["oncall"], ["Describe"], ["--group", "\(prefix)nudge-"]),
        // An ingest without the right that only its HTTP API needs.
        (["nobody"], ["Write", "Describe", "DescribeConfigs"], ["--topic", prefix]),
        (
          ["nobody"], ["Read"],
          ["chat.", "user.", "nudge.device-claims", "nudge.ingest-state"].flatMap { ["--topic", prefix + $0] }
        ),
        (["nobody"], ["Read"], ["--group", "\(prefix)nudge-ingest"]),
        (["nobody"], ["Write", "Describe"], ["--transactional-id", "\(prefix)nudge-ingest-"]),
      ]
      // Each is a Java program that takes seconds.
      let refused = Mutex<[String]>([])
      DispatchQueue.concurrentPerform(iterations: rules.count) { index in
        let (users, operations, resource) = rules[index]
        do {
          try Self.allow(secured, users, operations, resource)
        } catch {
          refused.withLock { $0.append("\(error)") }
        }
      }
      #expect(refused.withLock { $0 } == [])

      let scene = OnCallScene(pipeline: pipeline)
      try pipeline.start([.ingest], instance: nil, Self.properties(secured.login("service")))
      let token = try secured.bearer(#""sub":"mia""#, file: "dispatcher.jwt").map { "\($0.name)=\($0.value)" }
      try pipeline.start(
        [.dispatcher], instance: nil, Self.properties(token) + ["--bootstrap-servers", secured.address("BEARER")])
      // The analyzer's user is its certificate's subject, which is told where it listens by a flag that comes later.
      try pipeline.start(
        [.analyzer], instance: nil,
        Self.properties(Self.mutual(secured)) + ["--bootstrap-servers", secured.address("MUTUAL")])
      try scene.publish([
        scene.device("bob", "bob-phone", token: "token-of-bob"), scene.conversation("lunch", ["ann", "bob"]),
      ])
      try scene.publish([scene.message("m1", in: "lunch", from: "ann", mentions: ["bob"])], ["m1": ["bob"]])
      #expect(pipeline.checker.requests.filter { $0.messageId == "m1" && $0.status == 200 }.count == 1)

      func nudge(_ arguments: [String], as settings: [String], at listener: String = "LOGIN") throws -> Run {
        try RealKafka.run(
          DemoProgram.directoryOfThisProgram().appendingPathComponent("nudge"),
          arguments + ["--bootstrap-servers", secured.address(listener), "--topic-prefix", prefix]
            + Self.properties(settings))
      }
      let oncall = secured.login("oncall")
      for command in [
        ["lag"], ["explain", "--user", "bob"], ["tail", "decisions"], ["replay", "list"], ["topics", "check"],
      ] {
        let (status, output) = try nudge(command, as: oncall)
        #expect(status == 0, "\(command): \(output)")
      }
      #expect(try nudge(["lag"], as: Self.mutual(secured), at: "MUTUAL").status == 0)

      // The doctor's finding for each role.
      let seen = try nudge(["doctor"], as: oncall)
      let level = ProcessInfo.processInfo.environment["KAFKA_TRANSACTION_VERSION"] ?? "2"
      #expect(seen.output.contains("transactions: transaction.version=\(level)"), "\(seen.output)")
      #expect(seen.output.contains("User:oncall may do all that --role oncall needs"), "\(seen.output)")
      for role in ["ingest", "analyzer", "dispatcher"] {
        let (status, output) = try nudge(["doctor", "--role", role], as: secured.login("service"))
        #expect(status == 0 && output.contains("User:service may do all that --role \(role) needs"), "\(output)")
      }
      let replay = try nudge(["doctor", "--role", "replay"], as: oncall)
      let allowIt =
        "kafka-acls.sh --bootstrap-server \(secured.address("LOGIN")) --add --allow-principal 'User:oncall'"
      #expect(
        replay.status == 1
          && replay.output.contains("\(allowIt) --operation Write --topic '\(prefix)chat.events'")
          && replay.output.contains("--resource-pattern-type prefixed --transactional-id '\(prefix)nudge-replay-'"),
        "\(replay.output)")

      // A user who is known by a certificate and may do nothing yet: the doctor's own commands mend that.
      let limited = Self.mutual(secured, "limited")
      let user = "User:CN=limited,OU=night-shift,O=Example"
      let unknown = try nudge(["doctor"], as: limited, at: "MUTUAL")
      #expect(unknown.status == 1 && unknown.output.contains("\(user) lacks for --role oncall: "), "\(unknown.output)")
      try secured.shell(
        unknown.output.split(separator: "\n").compactMap { line in
          line.firstRange(of: "kafka-acls.sh").map { String(line[$0.lowerBound...]) }
        }.map { $0.replacing(secured.address("MUTUAL"), with: secured.servers) })
      let known = try nudge(["doctor"], as: limited, at: "MUTUAL")
      #expect(known.output.contains("\(user) may do all that --role oncall needs"), "\(known.output)")
      #expect(try nudge(["lag"], as: limited, at: "MUTUAL").status == 0)

      // The reader may not see the groups' offsets, and the user on call may not run a service: each service says so at start.
      var lag = try nudge(["lag"], as: secured.login("reader"))
      // A machine that is busy may be late.
      try pipeline.wait(for: "nudge lag to have an answer") { _ in
        if !lag.output.contains("does not answer in time") { return true }
        lag = try nudge(["lag"], as: secured.login("reader"))
        return false
      }
      #expect(
        lag.status == 1 && lag.output.contains("GROUP_AUTHORIZATION_FAILED") && lag.output.contains("access rule"),
        "\(lag.output)")
      let reader = ("User:reader", "LOGIN", secured.login("reader"))
      let attempts: [(DemoProgram, (user: String, listener: String, settings: [String]))] = [
        (.ingest, reader), (.analyzer, reader), (.dispatcher, reader), (.analyzer, (user, "MUTUAL", limited)),
      ]
      let services = try attempts.map { program, who in
        let place = pipeline.directory.appendingPathComponent("\(who.listener)-\(program.shortName)")
        let arguments = try pipeline.command(
          program, instance: nil, stateDirectory: place, brokers: secured.address(who.listener)
        ).arguments
        return (
          name: program.rawValue,
          arguments: arguments + ["--admin-address", "127.0.0.1:0"] + Self.properties(who.settings)
        )
      }
      for ((service, attempt), run) in zip(zip(services, attempts), try Self.runAll(services)) {
        let refused = "access rules are missing for \(attempt.1.user): "
        let line = run.output.split(separator: "\n").last { $0.contains(refused) }
        #expect(run.status == 70 && line != nil, "\(service.name): \(run.output)")
        #expect(
          line?.contains("--resource-pattern-type prefixed --transactional-id '\(prefix)\(service.name)-'") == true,
          "\(line ?? "")")
      }
      let keys = pipeline.directory.appendingPathComponent("api-keys")
      try Data("backend 0123456789abcdef0123456789abcdef\n".utf8).write(to: keys)
      let ingest =
        ["--state-dir", pipeline.directory.appendingPathComponent("checked").path, "--check", "--bootstrap-servers"]
        + [secured.address("LOGIN"), "--topic-prefix", prefix] + Self.properties(secured.login("nobody"))
      let checks = try Self.runAll([
        ("nudge-ingest", ingest),
        ("nudge-ingest", ingest + ["--http-address", "127.0.0.1:0", "--api-keys-file", keys.path]),
      ])
      #expect(checks[0].status == 0, "\(checks[0].output)")
      let lacking = "access rules are missing for User:nobody: Read on topic \(prefix)nudge.dead-letters."
      #expect(checks[1].status == 1 && checks[1].output.contains(lacking), "\(checks[1].output)")
      try pipeline.judge(nil)
    }

    @Test(
      "a wrong password, a wrong authority and a missing access rule are each one line that says what to look at, from every service's --check, from a service that starts, and from nudge; and nobody makes a topic by asking for it"
    )
    func refusals() throws {
      let secured = try SecuredBroker.shared.get()
      let state = try TemporaryDirectory()
      let admin = try Admin(ClientConfiguration(bootstrapServers: secured.servers))
      let emulator = try FCMEmulator()
      defer { emulator.stop() }
      // Topics of this test that do not exist.
      let prefix = "absent-\(UUID().uuidString.prefix(8))."
      let cases: [(settings: [String], listener: String, says: [String])] = [
        (secured.login("service", password: "wrong"), "LOGIN", ["Invalid username or password", "sasl.password"]),
        (secured.login("service", authority: "other-ca.pem"), "LOGIN", ["certificate", "ssl.ca.location"]),
        // A certificate that the brokers' authority does not vouch for.
        (Self.mutual(secured, "stranger"), "MUTUAL", ["certificate", "ssl."]),
        (secured.login("nobody"), "LOGIN", ["access rule"]),
        (Self.tokenless(secured), "BEARER", ["/nowhere.jwt cannot be read"]),
      ]
      for (number, (settings, listener, says)) in cases.enumerated() {
        let cluster =
          ["--bootstrap-servers", secured.address(listener), "--topic-prefix", prefix] + Self.properties(settings)
        let services = ["ingest", "analyzer", "dispatcher"].map { service in
          (
            name: "nudge-\(service)",
            arguments: cluster + ["--state-dir", "\(state.path)/\(service)-\(number)", "--check"]
              // Looked at after the topics.
              + (service == "dispatcher" ? ["--fcm-credentials", emulator.serviceAccountFile] : [])
          )
        }
        let commands = [["lag"], ["topics", "check"], ["explain", "--user", "ann"], ["doctor"]].map {
          (name: "nudge", arguments: $0 + cluster)
        }
        for (command, result) in zip(services + commands, try Self.runAll(services + commands)) {
          // Commands have a code of their own for brokers that let nobody in; where only a rule is missing, they answer.
          let isUnanswered = command.name == "nudge" && says != ["access rule"]
          #expect(result.status == (isUnanswered ? 2 : 1), "\(command): \(result.output)")
          let line = result.output.split(separator: "\n").first { line in says.allSatisfy { line.contains($0) } }
          #expect(line != nil || command.arguments[0] == "doctor", "\(says) of \(command): \(result.output)")
          for text in says { #expect(result.output.contains(text), "\(text) of \(command): \(result.output)") }
          #expect(!result.output.contains("service-secret"), "T4")
        }
      }
      let made = try admin.listTopics(timeout: .seconds(10)).keys.filter { $0.hasPrefix(prefix) }
      #expect(made.isEmpty, "asking for topics made \(made)")
      // The broker does make topics for those who ask in the producers' way, or this would prove nothing.
      let producer = try Producer(.producer(bootstrapServers: secured.servers, transactionalID: nil), name: "asks")
      _ = try producer.topic("\(prefix)asked-for")
      try waitUntil("the topic that a producer asked for is there") {
        try admin.listTopics(timeout: .seconds(10))["\(prefix)asked-for"] != nil
      }
      withExtendedLifetime(producer) {}
    }

    @Test("a service that starts with a wrong password or authority stays not ready, and logs what to look at")
    func starting() throws {
      let secured = try SecuredBroker.shared.get()
      let state = try TemporaryDirectory()
      let cases: [(settings: [String], says: [String])] = [
        (secured.login("service", password: "wrong"), ["Invalid username or password", "sasl.password"]),
        (secured.login("service", authority: "other-ca.pem"), ["certificate", "ssl.ca.location"]),
      ]
      let directory = DemoProgram.directoryOfThisProgram()
      var running: [(DemoProcess, [String])] = []
      defer { for (process, _) in running { process.terminate() } }
      for (number, (settings, says)) in cases.enumerated() {
        for program in [DemoProgram.ingest, .analyzer] {
          let place = URL(fileURLWithPath: "\(state.path)/\(program.shortName)-\(number)")
          try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
          let process = DemoProcess(
            program, executable: directory.appendingPathComponent(program.rawValue),
            arguments: [
              "--bootstrap-servers", secured.address("LOGIN"), "--state-dir", place.path, "--admin-address",
              "127.0.0.1:0",
            ] + Self.properties(settings), environment: Pipeline.environment, directory: place)
          try process.start()
          running.append((process, says))
        }
      }
      for (process, says) in running {
        try waitUntil("\(process.program.rawValue) says why", atMost: 30) {
          try String(contentsOf: process.log, encoding: .utf8).split(separator: "\n").contains { line in
            line.contains("no broker answers; trying again") && says.allSatisfy { line.contains($0) }
          }
        }
        #expect(try !process.isReady() && process.exitStatus == nil)
      }
      for (process, _) in running { process.terminate() }
      for (process, _) in running { #expect(process.waitForEnd(timeout: .seconds(10)) == 0) }
      running = []
    }
  }
}

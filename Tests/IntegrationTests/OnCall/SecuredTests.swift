import Foundation
import NudgeSchema
import Synchronization
import TestSupport
import Testing

@testable import NudgeCommands

extension PipelineTests {
  @Suite("Kafka with TLS, logins and access rules")
  struct SecuredTests {
    private func properties(_ list: [String]) -> [String] { list.flatMap { ["--kafka-property", $0] } }

    /// Runs programs side by side: each waits for a broker for seconds.
    private func runAll(_ commands: [(name: String, arguments: [String])]) throws -> [(status: Int32, output: String)] {
      let directory = DemoProgram.directoryOfThisProgram()
      let results = Mutex<[Int: (status: Int32, output: String)]>([:])
      DispatchQueue.concurrentPerform(iterations: commands.count) { index in
        let command = commands[index]
        let result = try? RealKafka.run(directory.appendingPathComponent(command.name), command.arguments)
        results.withLock { $0[index] = result }
      }
      return try results.withLock { results in try commands.indices.map { try #require(results[$0]) } }
    }

    @Test(
      "a pipeline over TLS, mutual TLS and passwords, with the access rules of docs/operations.md and no others; the person on call reads with theirs, and is told what they may not"
    )
    func rules() throws {
      let secured = try SecuredBroker.shared.get()
      let pipeline = try Pipeline(
        "secured", brokers: secured.servers, serviceBrokers: secured.address("LOGIN"))
      let prefix = pipeline.names.prefix
      func allow(_ users: [String], _ operations: [String], _ resource: [String]) throws {
        _ = try secured.tool(
          "kafka-acls.sh",
          ["--bootstrap-server", secured.servers, "--add", "--force", "--resource-pattern-type", "prefixed"]
            + users.flatMap { ["--allow-principal", "User:\($0)"] } + operations.flatMap { ["--operation", $0] }
            + resource)
      }
      // The reader has topics, and nothing else.
      try allow(["service", "reader"], ["Read", "Write", "Describe", "DescribeConfigs"], ["--topic", prefix])
      try allow(["service"], ["Read"], ["--group", "\(prefix)nudge-"])
      try allow(["service"], ["Write", "Describe"], ["--transactional-id", "\(prefix)nudge-"])
      try allow(["oncall"], ["Read", "Describe", "DescribeConfigs"], ["--topic", prefix])
      try allow(["oncall"], ["Describe"], ["--group", "\(prefix)nudge-"])

      let scene = OnCallScene(pipeline: pipeline)
      try pipeline.start(instance: nil, properties(secured.login("service")))
      try scene.publish([
        scene.device("bob", "bob-phone", token: "token-of-bob"), scene.conversation("lunch", ["ann", "bob"]),
      ])
      try scene.publish([scene.message("m1", in: "lunch", from: "ann", mentions: ["bob"])], ["m1": ["bob"]])
      #expect(pipeline.checker.requests.filter { $0.messageId == "m1" && $0.status == 200 }.count == 1)

      func nudge(_ arguments: [String], at listener: String = "LOGIN", _ settings: [String]) throws
        -> (status: Int32, output: String)
      {
        try RealKafka.run(
          DemoProgram.directoryOfThisProgram().appendingPathComponent("nudge"),
          arguments + ["--bootstrap-servers", secured.address(listener), "--topic-prefix", prefix]
            + properties(settings))
      }
      let oncall = secured.login("oncall")
      for command in [
        ["lag"], ["explain", "--user", "bob"], ["tail", "decisions"], ["replay", "list"], ["topics", "check"],
      ] {
        let (status, output) = try nudge(command, oncall)
        #expect(status == 0, "\(command): \(output)")
      }
      let mutual = [
        "security.protocol=ssl", "ssl.ca.location=\(secured.file("ca.pem"))",
        "ssl.certificate.location=\(secured.file("client.crt"))", "ssl.key.location=\(secured.file("client.key"))",
      ]
      #expect(try nudge(["lag"], at: "MUTUAL", mutual).status == 0)

      // What they may not.
      let lag = try nudge(["lag"], secured.login("reader"))
      #expect(
        lag.status == 1 && lag.output.contains("GROUP_AUTHORIZATION_FAILED") && lag.output.contains("access rule"),
        "\(lag.output)")
      let analyzer = try runAll([
        (
          "nudge-analyzer",
          ["--bootstrap-servers", secured.address("LOGIN"), "--topic-prefix", prefix, "--admin-address", "127.0.0.1:0"]
            + ["--state-dir", pipeline.directory.appendingPathComponent("reader").path]
            + properties(secured.login("reader"))
        )
      ])[0]
      #expect(
        analyzer.status == 70 && analyzer.output.contains("TRANSACTIONAL_ID_AUTHORIZATION_FAILED")
          && analyzer.output.contains("allow the service's user to use it"), "\(analyzer.output)")
      try pipeline.judge(nil)
    }

    @Test("a wrong password, a wrong authority and a missing access rule are each told, by services and nudge alike")
    func refusals() throws {
      let secured = try SecuredBroker.shared.get()
      let state = try TemporaryDirectory()
      let cases: [(settings: [String], says: [String])] = [
        (secured.login("service", password: "wrong"), ["Invalid username or password", "sasl.password"]),
        (secured.login("service", authority: "other-ca.pem"), ["certificate", "ssl.ca.location"]),
        (secured.login("nobody"), ["TOPIC_AUTHORIZATION_FAILED", "access rule"]),
      ]
      for (number, (settings, says)) in cases.enumerated() {
        let cluster = ["--bootstrap-servers", secured.address("LOGIN")] + properties(settings)
        let services = ["ingest", "analyzer"].map { service in
          (
            name: "nudge-\(service)",
            arguments: cluster + ["--state-dir", "\(state.path)/\(service)-\(number)", "--check"]
          )
        }
        let commands = [["lag"], ["topics", "check"], ["explain", "--user", "ann"], ["doctor"]].map {
          (name: "nudge", arguments: $0 + cluster)
        }
        for (command, result) in zip(services + commands, try runAll(services + commands)) {
          #expect(result.status == 1, "\(command): \(result.output)")
          for text in says { #expect(result.output.contains(text), "\(text) of \(command): \(result.output)") }
          #expect(!result.output.contains("service-secret"), "T4")
        }
      }
    }
  }
}

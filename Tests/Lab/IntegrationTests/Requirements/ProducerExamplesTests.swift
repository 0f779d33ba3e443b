import Foundation
import Kafka
import NudgeSchema
import TestSupport
import Testing

@testable import NudgeCommands
@testable import NudgeLab

extension PipelineTests {
  @Suite("Events over HTTP, by the documentation's examples, and by nudge publish")
  struct ProducerExamplesTests {
    private static let key = "a-key-of-thirty-two-characters-or-more"

    /// The first block of code under a heading of docs/producers.md.
    private func example(_ heading: String) throws -> String {
      let text = try String(
        contentsOf: Repository.file("docs/producers.md"), encoding: .utf8)
      let section = try #require(text.components(separatedBy: "\n### \(heading)\n").dropFirst().first)
      let block = try #require(section.components(separatedBy: "\n```").dropFirst().first)
      return block.split(separator: "\n", maxSplits: 1).last.map(String.init) ?? ""
    }

    private func start(_ pipeline: Pipeline) throws -> (url: String, ingest: DemoProcess) {
      let keys = pipeline.directory.appendingPathComponent("keys")
      try Data("examples \(Self.key)\n".utf8).write(to: keys)
      let ingest = try pipeline.start(
        [.ingest], instance: nil, ["--http-address", "127.0.0.1:0", "--api-keys-file", keys.path])
      var port: String?
      try waitUntil("the API's port") {
        let log = try String(contentsOf: ingest[0].log, encoding: .utf8)
        let line = log.split(separator: "\n").first { $0.contains("HTTP API listens") }
        port = line?.firstMatch(of: /"port":(\d+)/).map { String($0.1) }
        return port != nil
      }
      return ("http://127.0.0.1:\(port ?? "")", ingest[0])
    }

    private func run(
      _ program: String, _ arguments: [String], in directory: URL, _ environment: [String: String]
    ) throws -> (status: Int32, output: String) {
      let process = Process()
      let output = Pipe()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = [program] + arguments
      process.currentDirectoryURL = directory
      process.environment = Pipeline.environment.merging(environment) { _, new in new }
      process.standardOutput = output
      process.standardError = output
      try process.run()
      let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      process.waitUntilExit()
      return (process.terminationStatus, text)
    }

    @Test("M8: each example of docs/producers.md publishes what is decided")
    func examples() throws {
      let pipeline = try Pipeline("examples")
      let (url, _) = try start(pipeline)
      try pipeline.start([.analyzer], instance: nil)
      let environment = ["BROKER": pipeline.brokers, "URL": url, "KEY": Self.key]
      var expected: Set<String> = []

      func publish(_ heading: String, file: String, _ program: String, _ arguments: [String], _ id: String) throws {
        // The topics of this pipeline have a prefix.
        let code = try example(heading).replacing("chat.events", with: pipeline.names(.chatEvents))
          .replacing("user.events", with: pipeline.names(.userEvents))
        try Data(code.utf8).write(to: pipeline.directory.appendingPathComponent(file))
        let (status, output) = try run(program, arguments, in: pipeline.directory, environment)
        #expect(status == 0, "\(heading): \(output)")
        expected.insert(id)
      }

      let python = Repository.file(".build/python/bin/python").path
      if FileManager.default.isExecutableFile(atPath: python) {
        try publish("Python", file: "publish.py", python, ["publish.py"], "m-python")
        try storesReplies(pipeline, python, environment)
      } else {
        print("the example in Python with confluent-kafka is skipped: make tools")
      }
      let home = try #require(LocalBroker.find())
      try publish("Java", file: "Publish.java", "java", ["-cp", "\(home.path)/libs/*", "Publish.java"], "m-java")
      try publish("kcat", file: "kcat.sh", "bash", ["-eu", "kcat.sh"], "m-kcat")
      try publish("curl", file: "curl.sh", "bash", ["-eu", "curl.sh"], "m-curl")
      // Not http.py: Python has a module of that name.
      try publish("HTTP from Python", file: "publish_http.py", "python3", ["publish_http.py"], "m-http")

      let cluster = ClusterSettings(bootstrapServers: pipeline.brokers, topics: pipeline.names)
      var decided: Set<String> = []
      try waitUntil("decisions of all examples", atMost: 30, state: { "decided: \(decided)" }) {
        let browser = try TopicBrowser(cluster)
        try browser.read(try browser.ranges(of: .decisions), "reading") { record in
          let decision = try browser.coder.decode(Decision.self, from: record.valueBytes() ?? [])
          if decision.body.userId == "bob" { decided.insert(decision.body.messageId) }
          return true
        }
        return decided.isSuperset(of: expected)
      }
      pipeline.stop()
      pipeline.hasPassed = decided == expected
      #expect(decided == expected)
    }

    /// Runs the example of a backend that stores replies twice, after the message of the Python example: the
    /// second run finds nothing new.
    private func storesReplies(_ pipeline: Pipeline, _ python: String, _ environment: [String: String]) throws {
      let code =
        try example("A backend that stores replies").replacing("chat.events", with: pipeline.names(.chatEvents))
        + "\nprint(store.execute('SELECT messageId, text FROM messages').fetchall())\n"
      try Data(code.utf8).write(to: pipeline.directory.appendingPathComponent("backend.py"))
      for _ in 0..<2 {
        let (status, output) = try run(python, ["backend.py"], in: pipeline.directory, environment)
        #expect(status == 0, "\(output)")
        #expect(output.contains("[('m-python', 'Bob, from Python')]"), "\(output)")
      }
    }

    @Test("nudge publish --wait tells decision and outcome, and what was refused and why")
    func publish() throws {
      let pipeline = try Pipeline("publish")
      try pipeline.start(instance: nil)
      let nudge = DemoProgram.directoryOfThisProgram().appendingPathComponent("nudge")
      func publish(_ arguments: String...) throws -> (status: Int32, output: String) {
        try RealKafka.run(
          nudge,
          ["publish"] + arguments + [
            "--wait", "--bootstrap-servers", pipeline.brokers, "--topic-prefix", pipeline.names.prefix,
          ])
      }
      let device = try publish("device", "--user", "bob", "--token", "token-of-bob")
      #expect(device.status == 0 && device.output.contains("taken"), "\(device.output)")
      let preferences = try publish("preferences", "--user", "bob", "--locale", "de", "--no-previews")
      #expect(preferences.status == 0, "\(preferences.output)")
      let message = try publish(
        "message", "--from", "ann", "--to", "bob", "--text", "Bob, lunch?", "--message-id", "lunch")
      #expect(message.status == 0, "\(message.output)")
      #expect(message.output.contains("bob: notify (notify_all, alert, medium priority)"), "\(message.output)")
      #expect(message.output.contains("device phone: sent"), "\(message.output)")
      let group = try publish("message", "--from", "ann", "--to", "cleo,dan,eve", "--text", "Hi all")
      #expect(group.status == 0, "\(group.output)")
      for user in ["cleo", "dan", "eve"] { #expect(group.output.contains("\(user): suppress"), "\(group.output)") }
      let refused = try publish("message", "--from", "ann", "--conversation", "nobody-knows", "--text", "x")
      #expect(refused.status == 1 && refused.output.contains("unknown_conversation"), "\(refused.output)")
      try pipeline.look()
      let body = pipeline.requestLines.map { String(decoding: $0, as: UTF8.self) }.first { $0.contains("lunch") }
      #expect(body?.contains("Neue Nachricht von ann") == true)
      pipeline.stop()
      pipeline.hasPassed = true
    }
  }
}

import Foundation
import NudgeSchema
import ServiceKit
import TestSupport
import Testing

@testable import NudgeLab

extension PipelineTests {
  @Suite("O3: traces")
  struct TracingTests {
    @Test(
      "a message's trace goes from its producer through all stages to FCM, each span the next one's cause, at a collector by OTLP; it holds no text, token or person, and a message that nobody records has none"
    )
    func endToEnd() throws {
      let collector = try SpanCollector()
      defer { collector.stop() }
      let pipeline = try Pipeline("traced")
      let scene = OnCallScene(pipeline: pipeline)
      let traced = ["--otlp-endpoint", collector.endpoint]
      let keys = pipeline.directory.appendingPathComponent("keys")
      try Data("traced a-key-of-thirty-two-characters-or-more\n".utf8).write(to: keys)
      let ingest = try pipeline.start(
        [.ingest], instance: nil, traced + ["--http-address", "127.0.0.1:0", "--api-keys-file", keys.path])
      try pipeline.start([.analyzer, .dispatcher], instance: nil, traced)
      try scene.publish([
        scene.device("bob", "bob-phone", token: "token-of-bob"), scene.conversation("lunch", ["ann", "bob"]),
      ])
      var recorded = scene.message("m1", in: "lunch", from: "ann", mentions: ["bob"])
      recorded.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
      var unrecorded = scene.message("m2", in: "lunch", from: "ann", mentions: ["bob"])
      unrecorded.traceparent = "00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-00f067aa0ba902b7-00"
      try scene.publish([recorded, unrecorded], ["m1": ["bob"], "m2": ["bob"]])
      // One event by the HTTP API.
      let port = try String(contentsOf: ingest[0].log, encoding: .utf8)
        .firstMatch(of: /HTTP API listens.*?"port":(\d+)/).flatMap { Int($0.1) }
      let answer = try SocketClient(port: try #require(port)).request(
        "POST", "/v1/events",
        headers: [
          "Content-Type: application/json", "Authorization: Bearer a-key-of-thirty-two-characters-or-more",
          "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b8-01",
        ], body: scene.message("m3", in: "lunch", from: "ann", mentions: ["bob"]).value)
      #expect(answer.status == 202, "\(answer.body)")

      var spans: [(service: String, span: SpanCollector.ReceivedSpan)] = []
      try waitUntil("the request's span arrives", state: { "\(spans)" }) {
        spans = try collector.spans()
        return spans.count { $0.span.kind == 3 } == 2
          && spans.contains { $0.span["nudge.stage"] == "dispatcher" && $0.span.kind == 5 }
      }
      #expect(Set(spans.map(\.span.traceId)) == ["4bf92f3577b34da6a3ce929d0e0e4736"])
      #expect(Set(spans.map(\.span.spanId)).count == spans.count)

      try compareWithConventions(Set(spans.flatMap { $0.span.attributes.map(\.key) }))

      // From FCM back to the producer.
      let prefix = pipeline.names.prefix
      let chains = spans.filter { $0.span.kind == 3 }.map { request in
        var chain = [request]
        while let cause = spans.first(where: { $0.span.spanId == chain.last?.span.parentSpanId }) {
          chain.append(cause)
        }
        return chain
      }.sorted { $0.count < $1.count }
      let stages = [
        "nudge-dispatcher: POST messages:send", "nudge-dispatcher: process \(prefix)nudge.pushes",
        "nudge-analyzer: process \(prefix)nudge.timeline", "nudge-ingest: process \(prefix)chat.events",
      ]
      #expect(
        chains.map { $0.map { "\($0.service): \($0.span.name)" } } == [
          stages, stages + ["nudge-ingest: POST /v1/events"],
        ])
      #expect(chains.map { $0.last?.span.parentSpanId } == ["00f067aa0ba902b7", "00f067aa0ba902b8"])
      for chain in chains {
        #expect(chain[0].span["http.response.status_code"] == "200" && chain[0].span["nudge.fcm.verdict"] == "sent")
        #expect(
          chain[0].span["server.address"] == "127.0.0.1" && chain[0].span["server.port"].flatMap { Int($0) } ?? 0 > 0)
        for (later, earlier) in zip(chain, chain.dropFirst()) {
          #expect(
            try #require(UInt64(later.span.startTimeUnixNano)) >= #require(UInt64(earlier.span.startTimeUnixNano)))
        }
      }
      for body in collector.bodies {
        for secret in ["secret words", "token-of-bob", "bob", "ann", "lunch"] {
          #expect(!body.contains(secret), "\(secret) in \(body)")
        }
      }
      // nudge explain shows the collector's trace.
      let story = try pipeline.nudge(["explain", "--user", "bob", "--message", "m1"])
      #expect(story.output.contains("4bf92f3577b34da6a3ce929d0e0e4736"), "\(story.output)")
      try pipeline.judge(nil)
    }

    /// Each attribute is one of OpenTelemetry's conventions that is not deprecated, or one of Nudge's own.
    private func compareWithConventions(_ names: Set<String>) throws {
      #expect(names.isSuperset(of: ["messaging.system", "messaging.consumer.group.name", "http.request.method"]))
      let python = Repository.file(".build/python/bin/python").path
      guard FileManager.default.isExecutableFile(atPath: python) else {
        print("the comparison of attributes with OpenTelemetry's conventions is skipped: make tools")
        return
      }
      let process = Process()
      process.executableURL = URL(fileURLWithPath: python)
      process.arguments = [Repository.file("Tests/Style/semantic-conventions").path] + names.sorted()
      let pipe = Pipe()
      process.standardOutput = pipe
      process.standardError = pipe
      try process.run()
      let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      #expect(process.terminationStatus == 0, "\(output)")
    }
  }
}

import Foundation
import NudgeSchema
import ServiceKit
import TestSupport
import Testing

@testable import NudgeCommands

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
      try pipeline.start(instance: nil, ["--otlp-endpoint", collector.endpoint])
      try scene.publish([
        scene.device("bob", "bob-phone", token: "token-of-bob"), scene.conversation("lunch", ["ann", "bob"]),
      ])
      var recorded = scene.message("m1", in: "lunch", from: "ann", mentions: ["bob"])
      recorded.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
      var unrecorded = scene.message("m2", in: "lunch", from: "ann", mentions: ["bob"])
      unrecorded.traceparent = "00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-00f067aa0ba902b7-00"
      try scene.publish([recorded, unrecorded], ["m1": ["bob"], "m2": ["bob"]])

      var spans: [(service: String, span: SpanCollector.ReceivedSpan)] = []
      try waitUntil("the request's span arrives", state: { "\(spans)" }) {
        spans = try collector.spans()
        return spans.contains { $0.span.kind == 3 }
          && spans.contains { $0.span["nudge.stage"] == "dispatcher" && $0.span.kind == 5 }
      }
      #expect(Set(spans.map(\.span.traceId)) == ["4bf92f3577b34da6a3ce929d0e0e4736"])
      #expect(Set(spans.map(\.span.spanId)).count == spans.count)

      // From FCM back to the producer.
      let prefix = pipeline.names.prefix
      var chain = [try #require(spans.first { $0.span.kind == 3 })]
      while let cause = spans.first(where: { $0.span.spanId == chain.last?.span.parentSpanId }) { chain.append(cause) }
      #expect(
        chain.map { "\($0.service): \($0.span.name)" } == [
          "nudge-dispatcher: POST messages:send", "nudge-dispatcher: process \(prefix)nudge.pushes",
          "nudge-analyzer: process \(prefix)nudge.timeline", "nudge-ingest: process \(prefix)chat.events",
        ])
      #expect(chain.last?.span.parentSpanId == "00f067aa0ba902b7")
      #expect(chain[0].span["http.response.status_code"] == "200" && chain[0].span["nudge.fcm.verdict"] == "sent")
      for (later, earlier) in zip(chain, chain.dropFirst()) {
        #expect(try #require(UInt64(later.span.startTimeUnixNano)) >= #require(UInt64(earlier.span.startTimeUnixNano)))
      }
      for body in collector.bodies {
        for secret in ["secret words", "token-of-bob", "bob", "ann", "lunch"] {
          #expect(!body.contains(secret), "\(secret) in \(body)")
        }
      }
      // nudge explain shows the trace that the collector has.
      let story = try pipeline.nudge(["explain", "--user", "bob", "--message", "m1"])
      #expect(story.output.contains("4bf92f3577b34da6a3ce929d0e0e4736"), "\(story.output)")
      try pipeline.judge(nil)
    }
  }
}

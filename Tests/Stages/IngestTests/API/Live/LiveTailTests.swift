import Foundation
import Kafka
import NudgeSchema
import Synchronization
import TestSupport
import Testing

@testable import HTTPServer
@testable import Ingest
@testable import ServiceKit

@Suite("Live: reading the topic", .serialized)
struct LiveTailTests {
  /// The text that waits for the client.
  private func text(_ stream: HTTPStream) -> String {
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = bytes.withUnsafeMutableBytes { stream.take(into: $0) }
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }

  @Test(
    "a topic that was deleted and made again resets its streams: a place on the former one says nothing of this one")
  func madeAgain() throws {
    let broker = try EmbeddedBroker()
    try broker.createTopic(Topic.banners.rawValue, partitions: 1)
    let context = try APIUnderTest.context(
      ["--bootstrap-servers", broker.bootstrapServers], sink: LogCapture().sink, metrics: MetricsRegistry())
    let streams = LiveStreams(metrics: LiveMetrics(context.metrics))
    // The embedded broker knows no ids.
    let id = Mutex<String?>("first")
    let looks = Atomic<Int>(0)
    let tail = LiveTail(
      settings: context.settings, streams: streams, questions: PersonQuestions(), logger: context.logger,
      checkInterval: .milliseconds(20),
      topicID: {
        looks.add(1, ordering: .relaxed)
        return id.withLock { $0 }
      }, remark: { _ in })
    tail.start()
    defer { tail.close() }
    wait(for: "streams are served") { if case .ready = streams.condition { true } else { false } }
    guard case .opened(let stream) = streams.open(.init(userId: "ann", until: .max), now: 0) else {
      Issue.record("no stream was opened")
      return
    }
    #expect(text(stream) == "retry: 2000\nid: 0-0\n\n")
    // The same id, and none because no broker answers: nothing has changed.
    let seen = looks.load(ordering: .relaxed)
    wait(for: "looks") { looks.load(ordering: .relaxed) > seen + 3 }
    id.withLock { $0 = nil }
    let unknown = looks.load(ordering: .relaxed)
    wait(for: "looks") { looks.load(ordering: .relaxed) > unknown + 3 }
    #expect(text(stream) == "")
    id.withLock { $0 = "second" }
    wait(for: "the reset") { stream.waiting > 0 }
    #expect(text(stream) == "event: reset\nid: 0-0\ndata: {\"reason\":\"gap\"}\n\n")
  }
}

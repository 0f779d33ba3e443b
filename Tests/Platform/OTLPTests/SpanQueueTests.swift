import ServiceKit
import TestSupport
import Testing

@testable import OTLP

/// A span of a trace of its own; the number tells one from the other.
func span(_ number: Int, failure: String? = nil) -> Span {
  var random = SeededGenerator(seed: UInt64(number) + 1)
  let parent = TraceContext(using: &random)
  return Span(
    parent.child("topic", [0, Int64(number)]), parent: parent.span, name: "process topic", kind: .consumer,
    start: 1_000, end: 2_000, attributes: [("messaging.kafka.offset", .int(Int64(number)))], failure: failure)
}

@Suite("Spans that wait for a collector")
struct SpanQueueTests {
  @Test("spans wait a second for others, and not at all once they fill a request")
  func batches() {
    var queue = SpanQueue()
    #expect(queue.next(now: 0) == .wait(until: nil))
    #expect(queue.add(span(0), now: 10) == (true, true))
    #expect(queue.add(span(1), now: 500) == (true, false))
    #expect(queue.next(now: 500) == .wait(until: 1_010))
    #expect(queue.next(now: 1_010) == .send([span(0), span(1)]))
    // One request at a time.
    #expect(queue.next(now: 1_020) == .wait(until: nil))
    #expect(queue.finished(.taken(rejected: 0), now: 1_030) == (2, 0))
    let many = (0..<SpanQueue.batchSize + 1).map { span($0) }
    for (index, span) in many.enumerated() {
      let (taken, isNews) = queue.add(span, now: 2_000)
      #expect(taken && isNews == (index == 0 || index == SpanQueue.batchSize - 1))
    }
    #expect(queue.next(now: 2_000) == .send(Array(many.dropLast())))
    #expect(queue.finished(.taken(rejected: 3), now: 2_001) == (SpanQueue.batchSize - 3, 3))
    #expect(queue.next(now: 2_001) == .wait(until: 3_000))
  }

  @Test("the queue is bounded, including spans on the wire; further spans are dropped")
  func bound() {
    var queue = SpanQueue()
    var taken = 0
    for number in 0..<SpanQueue.capacity + 100 {
      if queue.add(span(number), now: 0).taken { taken += 1 }
      if number == SpanQueue.batchSize { _ = queue.next(now: 0) }
    }
    #expect(taken == SpanQueue.capacity && queue.count == SpanQueue.capacity)
  }

  @Test("a collector that is away gets the same spans again, ever later, or when it says; one that refuses does not")
  func outcomes() {
    var queue = SpanQueue()
    _ = queue.add(span(0), now: 0)
    #expect(queue.next(now: 1_000) == .send([span(0)]))
    var now: Int64 = 1_000
    for wait: Int64 in [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000] {
      #expect(queue.finished(.unavailable(retryAfter: nil), now: now) == (0, 0))
      #expect(queue.next(now: now) == .wait(until: now + wait))
      now += wait
      #expect(queue.next(now: now) == .send([span(0)]))
    }
    #expect(queue.finished(.refused, now: now) == (0, 1))
    _ = queue.add(span(1), now: now)
    #expect(queue.next(now: now + 1_000) == .send([span(1)]))
    // No longer than the longest pause, whatever it says.
    #expect(queue.finished(.unavailable(retryAfter: 3_600_000), now: now) == (0, 0))
    #expect(queue.next(now: now) == .wait(until: now + 30_000))
  }

  @Test("at the end nothing waits for others, and a collector that is away is tried once")
  func draining() {
    var queue = SpanQueue()
    for number in 0..<SpanQueue.batchSize + 1 { _ = queue.add(span(number), now: 0) }
    queue.drain()
    guard case .send(let first) = queue.next(now: 1) else {
      Issue.record("nothing is sent")
      return
    }
    #expect(first.count == SpanQueue.batchSize)
    #expect(queue.finished(.taken(rejected: 0), now: 1) == (SpanQueue.batchSize, 0))
    #expect(queue.next(now: 1) == .send([span(SpanQueue.batchSize)]))
    #expect(queue.finished(.unavailable(retryAfter: nil), now: 1) == (0, 1))
    #expect(queue.count == 0 && queue.next(now: 1) == .wait(until: nil))
  }
}

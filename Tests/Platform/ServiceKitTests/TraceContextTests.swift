import TestSupport
import Testing

@testable import ServiceKit

@Suite("Trace context")
struct TraceContextTests {
  private static let valid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

  @Test("a traceparent is read and written back")
  func roundTrip() throws {
    let context = try #require(TraceContext(traceparent: Self.valid))
    #expect(context.traceparent == Self.valid)
    #expect(context.traceID == "4bf92f3577b34da6a3ce929d0e0e4736")
    #expect(context.flags == 1)
  }

  @Test("a later version is read by the fields known, and passed on as version 00")
  func laterVersion() throws {
    let context = try #require(TraceContext(traceparent: "cc" + Self.valid.dropFirst(2) + "-what-comes"))
    #expect(context.traceparent == Self.valid)
    #expect(TraceContext(traceparent: "cc" + Self.valid.dropFirst(2) + ".what-comes") == nil)
  }

  @Test(
    "what the W3C tells to ignore is ignored",
    arguments: [
      "", "00", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
      "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
      "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
      "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "0g-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "00-4bf92f3577b34da6a3ce929d0e0e473ü-00f067aa0ba902b7-1",
    ])
  func ignored(_ header: String) {
    #expect(TraceContext(traceparent: header) == nil)
  }

  @Test("a child by a name and numbers has the same id each time, and another one for each name, number and parent")
  func namedChild() throws {
    let parent = try #require(TraceContext(traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
    var ids: Set<UInt64> = []
    for name in ["chat.events", "nudge.timeline"] {
      for partition: Int64 in 0..<10 {
        for offset: Int64 in 0..<1_000 {
          let child = parent.child(name, [partition, offset])
          #expect(child.traceID == parent.traceID && child.isSampled)
          ids.insert(child.span)
        }
      }
    }
    #expect(ids.count == 20_000 && !ids.contains(0))
    #expect(parent.child("a", [1]) == parent.child("a", [1]))
    #expect(parent.child("a", [1]).child("a", [1]).span != parent.child("a", [1]).span)
    #expect(parent.child("a", [1]).spanID.count == 16)
  }

  @Test("a child keeps the trace and the flags and has a span of its own; the same randomness gives the same ids")
  func child() throws {
    var random = SeededGenerator(seed: 7)
    let context = TraceContext(sampled: false, using: &random)
    let child = context.child(using: &random)
    #expect(child.traceID == context.traceID)
    #expect(child.span != context.span)
    #expect(child.traceparent.hasSuffix("-00"))
    #expect(TraceContext(traceparent: child.traceparent) == child)
    var again = SeededGenerator(seed: 7)
    #expect(TraceContext(sampled: false, using: &again) == context)
  }
}

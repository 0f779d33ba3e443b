import NudgeSchema
import Testing

@testable import StreamRuntime

@Suite("What is handed over is kept until it is used")
struct KeptHandoversTests {
  @Test("the range has all that may be needed, and no more")
  func range() {
    var kept = KeptHandovers()
    #expect(kept.range(at: 0) == nil)
    kept.add(RowKey("a"), at: 10, until: 100, decides: false)
    kept.add(RowKey("b"), at: 12, until: 200, decides: false)
    kept.add(RowKey("c"), at: 15, until: 300, decides: false)
    #expect(kept.range(at: 0) == HandoverRange(from: 10, to: 16))
    // The answer to a request that was in flight.
    kept.add(RowKey("a"), at: 14, until: 400, decides: false)
    #expect(kept.range(at: 0) == HandoverRange(from: 12, to: 16))
    // Read again after a restart.
    kept.add(RowKey("a"), at: 10, until: 100, decides: false)
    #expect(kept.range(at: 0) == HandoverRange(from: 12, to: 16))
    kept.remove(RowKey("c"), decides: false)
    #expect(kept.range(at: 199) == HandoverRange(from: 12, to: 15))
    #expect(kept.range(at: 200) == HandoverRange(from: 14, to: 15))
    #expect(kept.range(at: 400) == nil)
  }

  @Test("an answer that ends the effect is kept, whatever others say of it")
  func decided() {
    var kept = KeptHandovers()
    kept.add(RowKey("a"), at: 10, until: 100, decides: true)
    kept.add(RowKey("a"), at: 11, until: 100, decides: false)
    #expect(kept.range(at: 0) == HandoverRange(from: 10, to: 11))
    kept.add(RowKey("a"), at: 12, until: 100, decides: true)
    #expect(kept.range(at: 0) == HandoverRange(from: 12, to: 13))
    kept.remove(RowKey("a"), decides: false)
    #expect(kept.range(at: 0) == HandoverRange(from: 12, to: 13))
    kept.remove(RowKey("a"), decides: true)
    #expect(kept.range(at: 0) == nil)
  }

  @Test("a restart reads what is kept, and what is unread, once")
  func spans() {
    let unread: Range<Int64> = 20..<30
    #expect(HandoverRange.spans(nil, unread) == [unread])
    #expect(HandoverRange.spans(HandoverRange(from: 5, to: 8), unread) == [5..<8, unread])
    #expect(HandoverRange.spans(HandoverRange(from: 5, to: 20), unread) == [5..<30])
    #expect(HandoverRange.spans(HandoverRange(from: 5, to: 25), unread) == [5..<30])
    // The repair of a loss may set a position back.
    #expect(HandoverRange.spans(HandoverRange(from: 22, to: 25), unread) == [unread])
  }

  @Test("a position of a former release has none, and one without any is written as before")
  func positions() throws {
    let coder = RecordCoder()
    var position = PositionRecord(sequence: 4, next: ["nudge.pushes": 20], writer: "w")
    let without = try coder.encode(position)
    #expect(String(decoding: without, as: UTF8.self) == #"{"next":{"nudge.pushes":20},"sequence":4,"writer":"w"}"#)
    position.handovers = HandoverRange(from: 5, to: 8)
    #expect(try coder.decode(PositionRecord.self, from: try coder.encode(position)) == position)
    #expect(try coder.decode(PositionRecord.self, from: without).handovers == nil)
  }
}

import TestSupport
import Testing

@testable import NudgeClient

@Suite("Live: reading an event stream")
struct EventStreamParserTests {
  private typealias Event = EventStreamParser.Event

  private func read(_ text: String) -> (events: [EventStreamParser.Event], parser: EventStreamParser) {
    var parser = EventStreamParser()
    return (parser.receive(Array(text.utf8)), parser)
  }

  @Test("the examples of the standard")
  func standard() {
    #expect(
      read("data: This is the first message.\n\ndata: This is the second message, it\ndata: has two lines.\n\n").events
        == [
          .init(name: "message", data: "This is the first message."),
          .init(name: "message", data: "This is the second message, it\nhas two lines."),
        ])
    #expect(
      read("event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\n").events
        == [.init(name: "add", data: "73857293"), .init(name: "remove", data: "2153")])
    let stream = read(": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event")
    #expect(
      stream.events == [.init(name: "message", data: "first event"), .init(name: "message", data: "second event")])
    #expect(
      stream.parser.lastEventId == "", "an id without a value takes the last one away; the third event is not whole")
    #expect(
      read("data\n\ndata\ndata\n\ndata:").events == [
        .init(name: "message", data: ""), .init(name: "message", data: "\n"),
      ])
    #expect(read("data:test\n\ndata: test\n\n").events.map(\.data) == ["test", "test"])
  }

  @Test("lines end in LF, CR LF or CR; a byte order mark is passed over; unknown fields and ids with NUL are ignored")
  func lines() {
    for end in ["\n", "\r\n", "\r"] {
      let text = ["event: a", "data: 1", "data: 2", "id: x", "color: red", ":c", "", "data: 3", "", ""].joined(
        separator: end)
      let stream = read("\u{feff}" + text)
      #expect(stream.events == [.init(name: "a", data: "1\n2"), .init(name: "message", data: "3")])
      #expect(stream.parser.lastEventId == "x")
    }
    #expect(read("id: a\n\nid: b\0c\ndata: 1\n\n").parser.lastEventId == "a")
    #expect(read("retry: 1500\n\n").parser.retry == 1_500)
    for bad in ["", "1.5", "-1", "1e3", "abc", "99999999999999999999"] {
      #expect(read("retry: \(bad)\n\n").parser.retry == nil, "\(bad)")
    }
  }

  @Test("an id counts with the end of its event; one of an event that is cut off does not")
  func ids() {
    var (_, parser) = read("id: 1\ndata: a\n\nid: 2\ndata: b\n")
    #expect(parser.lastEventId == "1")
    parser.ended()
    #expect(parser.receive(Array("\n\ndata: c\n\n".utf8)) == [.init(name: "message", data: "c")])
    #expect(parser.lastEventId == "1")
  }

  @Test("however the bytes are cut, the events are the same")
  func pieces() {
    for seed in UInt64(1)...200 {
      var random = SeededGenerator(seed: seed)
      let words = ["data: ü €🙂", "event: x", "id: 7", ":", "retry: 5", "", "", "data", "data: a: b", "junk", "id: \0"]
      let ends = ["\n", "\r\n", "\r"]
      let text = (0..<40).map { _ in words[random.below(words.count)] + ends[random.below(3)] }.joined()
      let whole = read(text)
      var parser = EventStreamParser()
      var events: [EventStreamParser.Event] = []
      var rest = Array(text.utf8)[...]
      while !rest.isEmpty {
        let count = 1 + random.below(7)
        events += parser.receive(rest.prefix(count))
        rest = rest.dropFirst(count)
      }
      #expect(events == whole.events && parser.lastEventId == whole.parser.lastEventId, "seed \(seed)")
    }
  }

  @Test("an event without end takes no memory beyond its bound, and the next one is read")
  func long() {
    var parser = EventStreamParser()
    for _ in 0..<40 { #expect(parser.receive([UInt8](repeating: 0x61, count: 100_000)).isEmpty) }
    #expect(parser.receive(Array("\n\n".utf8)).isEmpty)
    for _ in 0..<40 {
      #expect(parser.receive(Array("data: ".utf8) + [UInt8](repeating: 0x61, count: 99_993) + [0x0a]).isEmpty)
    }
    #expect(parser.receive([0x0a]).isEmpty)
    #expect(parser.receive(Array("data: next\n\n".utf8)) == [.init(name: "message", data: "next")])
  }
}

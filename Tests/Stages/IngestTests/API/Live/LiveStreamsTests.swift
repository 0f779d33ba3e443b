import JSONCodec
import NudgeSchema
import TestSupport
import Testing

@testable import HTTPServer
@testable import Ingest
@testable import ServiceKit

/// A client's end of a stream: reads what waits.
private struct Reading {
  let stream: HTTPStream
  var sent: SentEvents

  init(_ stream: HTTPStream, lastId: String = "") {
    self.stream = stream
    sent = SentEvents(lastId: lastId)
  }

  mutating func read(_ most: Int = .max) {
    var left = most
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while left > 0 {
      let count = buffer.withUnsafeMutableBytes { bytes in
        stream.take(into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<min(left, 4_096)]))
      }
      if count == 0 { return }
      left -= count
      sent.read(buffer[..<count])
    }
  }
}

/// A stream was refused.
private struct Refused: Error {
  let response: HTTPServerResponse
}

/// A record of the topic.
private struct Record {
  var user: String
  var value: String

  func event(_ parser: JSONParser) -> LiveEvent? {
    Array(user.utf8).withUnsafeBytes { key in
      Array(value.utf8).withUnsafeBytes { LiveEvent(key: key, value: $0, parser) }
    }
  }

  static func banner(_ number: Int, for user: String, padding: Int = 0) -> Record {
    Record(
      user: user,
      value: #"{"type":"banner","n":\#(number),"padding":"\#(String(repeating: "x", count: padding))"}"#)
  }
}

/// A process with one partition of the topic.
private final class Process {
  let streams: LiveStreams
  let metrics = MetricsRegistry()
  private let parser = JSONParser()
  var next: Int64 = 0

  init(_ limits: LiveStreams.Limits = LiveStreams.Limits(), from offset: Int64 = 0, partitions: Int32 = 1) {
    streams = LiveStreams(limits: limits, metrics: LiveMetrics(metrics), random: { $0.lowerBound })
    next = offset
    streams.setPartitions(partitions)
    for partition in 0..<partitions { streams.begin(partition, at: offset) }
    streams.set(.ready)
  }

  func read(_ log: [Record], to end: Int) {
    while next < Int64(end) {
      streams.receive(log[Int(next)].event(parser), partition: 0, offset: next, delay: 0)
      next += 1
    }
  }

  /// Fills what streams miss from the log, as `LiveBackfill` does; nil before `kept`.
  func backfill(_ log: [Record], kept: Int64 = 0) {
    for gap in streams.takeGaps() {
      guard gap.from >= kept else {
        streams.fill(gap, with: nil)
        continue
      }
      let events = (gap.from..<gap.to).compactMap { offset -> LiveRing.Event? in
        guard let event = log[Int(offset)].event(parser), event.person == gap.person else { return nil }
        return LiveRing.Event(
          next: offset + 1, bytes: event.bytes(id: LivePosition(partition: 0, next: offset + 1)))
      }
      streams.fill(gap, with: events)
    }
  }

  func open(_ user: String, until: Int64 = .max, after id: String? = nil, now: Milliseconds = 0) throws -> HTTPStream {
    switch streams.open(.init(userId: user, until: until, lastEventId: id), now: now) {
    case .opened(let stream): return stream
    case .refused(let response): throw Refused(response: response)
    }
  }

  func refusal(_ user: String) -> HTTPServerResponse? {
    if case .refused(let response) = streams.open(.init(userId: user, until: .max), now: 0) { return response }
    return nil
  }
}

@Suite("Live: streams")
struct LiveStreamsTests {
  @Test(
    "clients that reconnect to any process at any time get each event once, in order; what the topic lost is a reset")
  func reconnecting() throws {
    for seed in UInt64(1)...80 {
      var random = SeededGenerator(seed: seed)
      let users = ["ann", "bob", "Bob", "\u{e9}", "e\u{301}"]
      var log: [Record] = []
      var limits = LiveStreams.Limits()
      limits.ring = 3_000 + random.below(30_000)
      limits.beat = 1_000
      var processes = (0..<3).map { _ in Process(limits) }
      let client = users[random.below(users.count)]
      // What the topic still has, and what the client knows.
      var kept: Int64 = 0
      var at = 0
      var now: Milliseconds = 0
      var reading = Reading(try processes[0].open(client))
      reading.read()
      var seen = 0
      var got: [SentEvents.Event] = []
      func collect() {
        reading.read()
        got += reading.sent.events.dropFirst(seen)
        seen = reading.sent.events.count
      }
      for _ in 0..<250 {
        now += 300
        switch random.below(12) {
        case 0...4:
          for _ in 0...random.below(6) {
            log.append(.banner(log.count, for: users[random.below(users.count)], padding: random.below(300)))
          }
        case 5...7:
          let process = processes[random.below(3)]
          process.read(log, to: Int(process.next) + random.below(log.count - Int(process.next) + 1))
        case 8:
          for process in processes { process.streams.tick(now: now, seconds: 0) }
        case 9:
          for process in processes { process.backfill(log, kept: kept) }
        case 10:
          // The connection breaks, with or without what was on its way; the client goes to any process.
          if random.below(2) == 0 { collect() }
          let last = reading.sent.lastId
          reading.stream.leave()
          at = random.below(3)
          if random.below(4) == 0 {
            processes[at] = Process(limits, from: max(kept, processes[at].next - Int64(random.below(40))))
          }
          reading = Reading(try processes[at].open(client, after: last, now: now), lastId: last)
          seen = 0
        default:
          if random.below(10) == 0 { kept = max(kept, Int64(log.count) - Int64(random.below(100))) }
          collect()
        }
        // A client that is ahead of a process for long is taken for one of another topic: processes read on.
        if now % 3_000 == 0 { for process in processes { process.read(log, to: log.count) } }
      }
      for process in processes { process.read(log, to: log.count) }
      for _ in 0..<5 { processes[at].backfill(log, kept: kept) }
      collect()
      // The oracle: the client's events, from the log alone.
      var owed = log.indices.filter { sameId(log[$0].user, client) }[...]
      for event in got {
        let offset = Int(event.id.split(separator: "-").last ?? "") ?? -1
        if event.name == "reset" {
          // Only what the topic does not have any more, or a process had not read from its begin, may be lost.
          owed = owed.drop { $0 < offset }
        } else {
          #expect(
            event.name == "banner" && offset - 1 == owed.first, "seed \(seed): \(event.id), owed \(owed.first ?? -1)")
          #expect(event.data == log[offset - 1].value, "seed \(seed)")
          owed = owed.dropFirst()
        }
      }
      #expect(owed.isEmpty, "seed \(seed): \(owed.count) are missing")
      let resets = got.count { $0.name == "reset" }
      #expect(kept > 0 || resets == 0, "seed \(seed): a reset although the topic has everything")
    }
  }

  @Test("a stream begins now, with its place; a banner is its record; nobody gets another's")
  func banners() throws {
    let process = Process()
    let log = [
      Record.banner(0, for: "ann"), .banner(1, for: "bob"), Record(user: "ann", value: "no JSON"),
      .banner(3, for: "ann"),
    ]
    process.read(log, to: 1)
    var (ann, bob) = (Reading(try process.open("ann")), Reading(try process.open("bob")))
    process.read(log, to: 4)
    ann.read()
    bob.read()
    #expect(ann.sent.events == [.init(name: "banner", data: log[3].value, id: "0-4")] && ann.sent.retry == 2_000)
    #expect(bob.sent.events == [.init(name: "banner", data: log[1].value, id: "0-2")])
  }

  @Test(
    "what a person's client sends as Last-Event-ID moves nobody to another partition, and a foreign place is a reset")
  func foreignPlaces() throws {
    let process = Process(partitions: 4)
    let own = process.streams.next.count
    #expect(own == 4)
    for id in ["nonsense", "99-0", "-1-0", "0-1.1-1", "9223372036854775807-1", String(repeating: "9", count: 5_000)] {
      var reading = Reading(try process.open("ann", after: id))
      reading.read()
      #expect(reading.sent.events.map(\.name) == ["reset"], "\(id.prefix(20))")
      #expect(reading.sent.events.first?.data == #"{"reason":"unknown_id"}"#)
      reading.stream.leave()
    }
    // Ahead of all that was read: it may be another process's place, until time shows that it is not.
    let place = process.streams.next
    let partition = try #require((0..<4).first { "\($0)-0" == Self.place(of: "ann", in: process) })
    var reading = Reading(
      try process.open("ann", after: "\(partition)-\((place[Int32(partition)] ?? 0) + 1_000)", now: 0))
    process.streams.tick(now: 4_000, seconds: 0)
    reading.read()
    #expect(reading.sent.events.isEmpty)
    process.streams.tick(now: 5_000, seconds: 0)
    reading.read()
    #expect(reading.sent.events.map(\.name) == ["reset"] && reading.sent.lastId == "\(partition)-0")
  }

  private static func place(of user: String, in process: Process) -> String {
    guard let stream = try? process.open(user) else { return "" }
    var reading = Reading(stream)
    reading.read()
    stream.leave()
    return reading.sent.lastId
  }

  @Test("comments come every 15 s, with the place that the client has come to")
  func beats() throws {
    let process = Process()
    let log = (0..<5).map { Record.banner($0, for: "bob") }
    var ann = Reading(try process.open("ann", now: 1_000))
    process.read(log, to: 5)
    process.streams.tick(now: 15_999, seconds: 0)
    ann.read()
    #expect(ann.sent.comments == 0 && ann.sent.lastId == "0-0")
    process.streams.tick(now: 16_000, seconds: 0)
    process.streams.tick(now: 17_000, seconds: 0)
    ann.read()
    #expect(ann.sent.comments == 1 && ann.sent.lastId == "0-5" && ann.sent.events.isEmpty)
  }

  @Test("a client that does not read is cut off with a reset at the bound; the others get everything")
  func slow() throws {
    var limits = LiveStreams.Limits()
    limits.waiting = 20_000
    let process = Process(limits)
    let log = (0..<100).map { Record.banner($0, for: "ann", padding: 1_000) }
    var slow = Reading(try process.open("ann"))
    var quick = Reading(try process.open("ann"))
    slow.read(700)
    for end in 1...100 {
      process.read(log, to: end)
      if end == 3 { slow.read(700) }
      quick.read()
    }
    slow.read()
    #expect(quick.sent.events.count == 100)
    #expect(slow.sent.events.last?.name == "reset" && slow.sent.events.last?.data == #"{"reason":"slow"}"#)
    #expect(slow.sent.events.dropLast().allSatisfy { $0.data.hasSuffix("}") }, "no event is cut")
    #expect(slow.sent.events.count < 5 && process.streams.count == 1)
    #expect(slow.stream.write([1]) == .ended)
  }

  @Test("an expired token ends the stream after an event; changed keys end all, spread over some seconds")
  func expiry() throws {
    let process = Process()
    var (short, long) = (Reading(try process.open("ann", until: 100)), Reading(try process.open("ann", until: 1_000)))
    process.streams.tick(now: 0, seconds: 99)
    #expect(process.streams.count == 2)
    process.streams.tick(now: 0, seconds: 100)
    short.read()
    long.read()
    #expect(short.sent.events == [.init(name: "end", data: #"{"reason":"expired"}"#, id: "0-0")])
    #expect(long.sent.events.isEmpty && process.streams.count == 1)
    process.streams.keysChanged(seconds: 200)
    process.streams.tick(now: 0, seconds: 205)
    long.read()
    #expect(long.sent.events.map(\.name) == ["end"] && process.streams.count == 0)
  }

  @Test("a person and a process have so many streams; one that is not ready, or stops, says so")
  func limits() throws {
    var limits = LiveStreams.Limits()
    limits.streams = 5
    limits.streamsOfAPerson = 3
    let process = Process(limits)
    let own = try (0..<3).map { _ in try process.open("ann") }
    let full = try #require(process.refusal("ann"))
    #expect(
      full.status == 429 && full.reason == "too_many_streams" && full.headers.contains { $0.name == "Retry-After" })
    own[0].leave()
    _ = try process.open("ann")
    _ = try process.open("bob")
    _ = try process.open("bob")
    #expect(process.refusal("cat")?.status == 503)
    process.streams.set(.failed("no topic"))
    #expect(process.refusal("cat")?.reason == "unavailable")
    var pauses = 0
    process.streams.close { _ in pauses += 1 }
    #expect(pauses == 5 && process.streams.count == 0 && process.refusal("cat")?.reason == "stopping")
  }

  @Test("a stop spreads the ends of many streams, and gives each client a time of its own to come back")
  func drain() throws {
    let process = Process()
    var readings = try (0..<300).map { Reading(try process.open("user-\($0)")) }
    var counts: [Int] = []
    process.streams.close { _ in counts.append(process.streams.count) }
    #expect(counts == (1...30).map { 300 - 10 * $0 })
    for index in readings.indices {
      readings[index].read()
      #expect(
        readings[index].sent.events.map(\.data) == [#"{"reason":"stopping"}"#] && readings[index].sent.retry == 500)
    }
  }

  @Test("a partition that was cut, and a topic with other partitions, are a reset for those whom it concerns")
  func gaps() throws {
    let process = Process()
    var ann = Reading(try process.open("ann"))
    process.streams.begin(0, at: 40)
    ann.read()
    #expect(ann.sent.events.map(\.data) == [#"{"reason":"gap"}"#] && ann.sent.lastId == "0-40")
    process.streams.setPartitions(8)
    ann.read()
    #expect(ann.sent.events.count == 2)
  }
}

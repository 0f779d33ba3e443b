import Foundation
import NudgeSchema
import TestSupport
import Testing

@testable import Ingest

@Suite("Live: what is kept in memory, and how it is written")
struct LiveRingTests {
  @Test(
    "a person who goes on gets all of theirs behind the place, and nobody else's; or is told that it is older or ahead")
  func resume() {
    for seed in UInt64(1)...25 {
      var random = SeededGenerator(seed: seed)
      var ring = LiveRing(limit: 2_000 + random.below(60_000))
      ring.setPartitions(Int32(1 + random.below(3)))
      for partition in 0..<ring.partitions { ring.begin(partition, at: 10) }
      let people = (0..<6).map { ExactText("person-\($0)") }
      // What was written, and from where on a partition was read without a gap.
      var written: [(person: ExactText, partition: Int32, offset: Int64, bytes: [UInt8])] = []
      var begun = [Int32: Int64](uniqueKeysWithValues: (0..<ring.partitions).map { ($0, 10) })
      var next = begun
      for step in 0..<500 {
        let person = people[random.below(people.count)]
        let partition = ring.partition(of: person)
        let offset = next[partition] ?? 0
        switch random.below(20) {
        case 0:
          next[partition] = offset + Int64(random.below(5))
          ring.advance(partition, to: next[partition] ?? 0)
        case 1 where step % 7 == 0:
          next[partition] = offset + 3
          begun[partition] = offset + 3
          ring.begin(partition, at: offset + 3)
        case 2:
          #expect(
            ring.add([1], of: person, partition: partition, offset: offset - 1) == nil, "seed \(seed): read before")
        default:
          let bytes = Array("e\(step)".utf8) + [UInt8](repeating: 0x20, count: random.below(400))
          #expect(ring.add(bytes, of: person, partition: partition, offset: offset)?.next == offset + 1)
          written.append((person, partition, offset, bytes))
          next[partition] = offset + 1
        }
        let asker = people[random.below(people.count)]
        let own = ring.partition(of: asker)
        let from = (next[own] ?? 0) - Int64(random.below(60)) + Int64(random.below(3))
        let wanted = written.filter { $0.person == asker && $0.offset >= from }
        switch ring.resume(asker, from: from) {
        case .ahead: #expect(from > next[own] ?? 0, "seed \(seed)")
        case .events(let events):
          #expect(from <= next[own] ?? 0 && from >= begun[own] ?? 0, "seed \(seed)")
          #expect(events.map(\.bytes) == wanted.map(\.bytes), "seed \(seed): no gap, no repeat")
          #expect(events.map(\.next) == wanted.map { $0.offset + 1 }, "seed \(seed)")
        case .older(let floor):
          #expect(from < floor && floor <= next[own] ?? 0, "seed \(seed)")
          let all = written.reduce(0) { $0 + $1.bytes.count + LiveRing.overhead }
          #expect(from < begun[own] ?? 0 || all > ring.limit, "seed \(seed): nothing had to go")
        }
        #expect(ring.bytes <= ring.limit, "seed \(seed)")
      }
    }
  }

  @Test("one person's flood pushes out nobody else's")
  func flood() {
    var ring = LiveRing(limit: 1 << 20)
    ring.setPartitions(1)
    ring.begin(0, at: 0)
    let (ann, bob) = (ExactText("ann"), ExactText("bob"))
    _ = ring.add([1], of: bob, partition: 0, offset: 0)
    for offset in Int64(1)...5_000 {
      _ = ring.add([UInt8](repeating: 1, count: 800), of: ann, partition: 0, offset: offset)
    }
    #expect(ring.bytes <= LiveRing.bytesOfAPerson + 1_000)
    guard case .events(let events) = ring.resume(bob, from: 0) else { return #expect(Bool(false), "bob's is kept") }
    #expect(events.map(\.next) == [1])
    guard case .older(let floor) = ring.resume(ann, from: 1) else { return #expect(Bool(false), "ann's are bounded") }
    guard case .events(let kept) = ring.resume(ann, from: floor) else {
      return #expect(Bool(false), "from the floor on")
    }
    #expect(kept.count > 100 && kept.last?.next == 5_001)
  }

  @Test("people whose ids Unicode holds to be equal are two")
  func ids() {
    var ring = LiveRing(limit: 1 << 20)
    ring.setPartitions(1)
    ring.begin(0, at: 0)
    _ = ring.add([1], of: ExactText("Am\u{e9}lie"), partition: 0, offset: 0)
    #expect(ring.resume(ExactText("Ame\u{301}lie"), from: 0) == .events([]))
    #expect(ring.resume(ExactText("Am\u{e9}lie"), from: 0) == .events([.init(next: 1, bytes: [1])]))
  }

  @Test("places are read as they are written, and other texts are none")
  func places() {
    let place = LivePosition(partition: 11, next: 9_000_000_000)
    #expect(place.text == "11-9000000000" && LivePosition(place.text) == place)
    for bad in [
      "", "1", "-", "1-", "-1-2", "1-2-3", "1-2.2-3", "a-b", "1-99999999999999999999", " 1-2", "1- 2", "1-2\n",
      String(repeating: "0", count: 100) + "-1",
    ] {
      #expect(LivePosition(bad) == nil, "\(bad)")
    }
  }

  @Test("any bytes are data of one event: no line of it becomes a field, an id or an event of its own")
  func data() {
    let hostile = [
      "{\"a\":1}", "", "a\nb", "a\r\nid: 0-0\r\n\r\nevent: reset\ndata: x", "\r", "\n\n", "x\r\r\ny", ": comment",
      "\u{feff}bom", "data: data: ",
    ]
    for text in hostile {
      var reader = SentEvents(lastId: "0-7")
      reader.read(ServerSentEvent.event("banner", Array(text.utf8), id: LivePosition(partition: 3, next: 5)))
      reader.read(ServerSentEvent.event("notice", Array("next".utf8), id: nil))
      // By code units: "\r\n" is one character.
      let lines = text.replacingOccurrences(of: "\r\n", with: "\n", options: .literal)
        .replacingOccurrences(of: "\r", with: "\n", options: .literal)
      #expect(
        reader.events == [
          .init(name: "banner", data: lines, id: "3-5"), .init(name: "notice", data: "next", id: "3-5"),
        ], "\(text.debugDescription)")
    }
  }

  @Test("what begins a stream and its comments dispatch nothing, and move the place that a client remembers")
  func beats() {
    var reader = SentEvents()
    reader.read(ServerSentEvent.beginning(retry: 2_000, id: LivePosition(partition: 0, next: 4)))
    #expect(reader.lastId == "0-4" && reader.retry == 2_000)
    reader.read(ServerSentEvent.beat(id: LivePosition(partition: 0, next: 9)))
    reader.read(ServerSentEvent.beat(id: nil))
    #expect(reader.lastId == "0-9" && reader.comments == 2 && reader.events.isEmpty)
  }
}

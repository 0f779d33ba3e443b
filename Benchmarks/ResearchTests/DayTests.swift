import Foundation
import NudgeLab
import NudgeSchema
import StreamRuntime
import Testing

@testable import nudge_research

@Suite("A day through the stages")
struct DayTests {
  private static func script(seed: UInt64 = 7) throws -> DayScript {
    try DayScript(.generated(seed: seed), messages: 150, members: 8, seed: seed)
  }

  @Test("a file that cannot be opened is named")
  func missing() {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("none-\(UUID().uuidString)/day").path
    for open in [
      { try DayPlay.play(path, into: DayDigest()) }, { _ = try DayOutput(URL(fileURLWithPath: path)) },
    ] as [() throws -> Void] {
      do {
        try open()
        Issue.record("\(path) was opened")
      } catch {
        #expect("\(error)".hasPrefix("\(path): "))
      }
    }
  }

  @Test("the same day has the same bytes again, and so have the records that it consists of")
  func same() throws {
    var records: [UInt8] = []
    let first = DayDigest()
    try Self.script().play(into: first) { records += DayFile.line($0) }
    let again = DayDigest()
    try Self.script().play(into: again)
    #expect(again.lines == first.lines)

    let file = FileManager.default.temporaryDirectory.appendingPathComponent("day-\(UUID().uuidString)")
    try Data(records).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let replayed = DayDigest()
    try DayPlay.play(file.path, into: replayed)
    #expect(replayed.lines == first.lines)

    // The day is one on which much happens.
    #expect(first.decisions > 500)
    for (kind, name) in [
      ("message.candidate", "ingest nudge.timeline"), ("message.withdrawn", "ingest nudge.timeline"),
      ("deferred active_conversation", "analyzer nudge.decisions"), ("push message", "analyzer nudge.pushes"),
      ("outcome sent", "dispatcher nudge.outcomes"), ("receipt", "analyzer nudge.outcomes"),
      ("again", "dispatcher requests"), ("u", "analyzer rows"),
    ] {
      #expect(first.count(of: kind, in: name) > 0, "\(name) has no \(kind): \(first.lines.joined(separator: "\n"))")
    }
  }

  @Test("another seed is another day")
  func seeds() throws {
    let (a, b) = (DayDigest(), DayDigest())
    try DayScript(.generated(seed: 1), messages: 5, members: 8, seed: 1).play(into: a)
    try DayScript(.generated(seed: 1), messages: 5, members: 8, seed: 2).play(into: b)
    #expect(a.lines != b.lines)
  }

  @Test("a digest depends on each byte and on the order, of records, rows and requests")
  func digest() throws {
    func lines(_ bodies: [String], key: String = "ann") throws -> [String] {
      let digest = DayDigest()
      for body in bodies {
        try digest.count(
          OutputRecord(topic: .decisions, partition: 0, key: Array(key.utf8), value: Array(body.utf8)), of: "analyzer")
      }
      return digest.lines
    }
    let (notify, suppress) = (#"{"outcome":"notify","reason":"relevant"}"#, #"{"outcome":"suppress","reason":"level"}"#)
    let both = try lines([notify, suppress])
    #expect(both.count == 3 && both.contains("  notify relevant  1") && both.contains("  suppress level  1"))
    #expect(try both != lines([suppress, notify]))
    #expect(try both != lines([notify, suppress], key: "ben"))
    #expect(try both == lines([notify, suppress]))

    func row(_ bytes: [UInt8]?) throws -> [String] {
      let digest = DayDigest()
      try digest.count(row: RowKey("u", "ann"), bytes, of: "analyzer")
      return digest.lines
    }
    #expect(try row([1]) != row([2]) && row([]) != row(nil))
    func request(_ body: String) throws -> [String] {
      let digest = DayDigest()
      try digest.count(request: Array(body.utf8), to: "ann phone", of: "dispatcher", kind: "first")
      return digest.lines
    }
    #expect(try request("{}") != request("[]"))
  }

  @Test("a line of a day's file is its record again")
  func file() throws {
    let record = DayRecord(
      at: 17, topic: .timeline, partition: 1, key: "ann", value: Array(#"{"text":"a b"}"#.utf8),
      header: DayRecord.Header(name: "nudge-replay-id", value: "r=1"))
    let plain = DayRecord(at: 18, topic: .chatEvents, key: "c-1", value: [])
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("day-\(UUID().uuidString)")
    try Data(DayFile.line(record) + DayFile.line(plain)).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    var read: [DayRecord] = []
    try DayFile.forEach(in: file.path) { read.append($0) }
    #expect(read == [record, plain])
    try Data("17\tnudge.timeline\t1\n".utf8).write(to: file)
    #expect(throws: DayError.self) { try DayFile.forEach(in: file.path) { _ in } }
  }
}

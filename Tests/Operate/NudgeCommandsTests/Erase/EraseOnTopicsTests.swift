import Foundation
import Kafka
import NudgeSchema
import ServiceKit
import Testing

@testable import NudgeCommands

@Suite("nudge erase on topics")
struct EraseOnTopicsTests {
  private static let now: Milliseconds = 1_795_275_600_000

  private func run(_ arguments: [String], _ world: BrowsedBroker) -> (code: Int32, errors: String) {
    var errors = ""
    let code = NudgeCLI().run(
      ["erase"] + arguments + ["--bootstrap-servers", world.broker.bootstrapServers], environment: [:],
      output: { _ in },
      errors: { errors += $0 })
    return (code, errors)
  }

  private func values(of topic: Topic, _ world: BrowsedBroker) throws -> [String] {
    let browser = try world.browser()
    var values: [String] = []
    try browser.read(try browser.ranges(of: topic), "reading") { record in
      values.append(String(decoding: record.valueBytes() ?? [], as: UTF8.self))
      return true
    }
    return values
  }

  @Test(
    "without --yes nothing is written; with it and a reason the person is erased, and the audit names them by a hash")
  func writes() throws {
    let world = try BrowsedBroker()
    try world.produce(
      #"{"schemaVersion":1,"type":"user.activity","eventId":"e","occurredAt":1,"userId":"ann","deviceId":"d","state":"foreground"}"#,
      key: "ann", to: .userEvents, at: Self.now)
    try world.flush()
    #expect(run(["--user", "ann"], world).code == 0)
    for wrong in [["--yes"], ["--yes", "--why", " "], ["--yes", "--dry-run", "--why", "x"]] {
      #expect(run(["--user", "ann"] + wrong, world).code == ExitCode.usage, "\(wrong)")
    }
    let twice = run(["--user", "ann", "--user", "ben", "--yes", "--why", "x"], world)
    #expect(twice.code == ExitCode.usage && twice.errors.contains("--user is given twice"))
    #expect(try values(of: .userEvents, world).count == 1 && values(of: .audit, world).isEmpty)

    #expect(run(["--user", "ann", "--yes", "--why", "asked for by letter"], world).code == 0)
    let events = try values(of: .userEvents, world)
    #expect(events.count == 2 && events.contains { $0.contains("user.deleted") && $0.contains("\"ann\"") })
    let audit = try values(of: .audit, world)
    #expect(audit.count == 1)
    let text = try #require(audit.first)
    #expect(
      text.contains("command.executed") && text.contains("asked for by letter") && text.contains(TokenHash.of("ann")))
    #expect(!text.contains("\"ann\""))
  }

  @Test("D16: what others have of the person is theirs, a star or a message that waits: it is counted apart")
  func rowsOfOthers() throws {
    let world = try BrowsedBroker()
    func search() throws -> PersonSearch {
      try world.flush()
      var search = PersonSearch(userId: "ann")
      try search.readState(try world.browser())
      return search
    }
    func row(_ parts: [String], _ value: String, _ topic: Topic) throws {
      try world.produce(value, key: parts.joined(separator: "\u{0}"), to: topic, at: Self.now)
    }
    try row(["p", "ben"], #"{"starredSenders":["ann"]}"#, .analyzerState)
    try row(["g", "ben", "c"], #"{"entries":[{"line":{"senderId":"ann"}}]}"#, .analyzerState)
    try row(["l", "ben", "phone"], #"{"senderId":"ann"}"#, .dispatcherState)
    let others = try search()
    #expect(others.isErased && others.rowsOfOthers == 3)
    try row(["x", "a-hash"], #"{"pendingUserId":"ann"}"#, .analyzerState)
    try row(["c", "a-conversation"], #"{"members":["ann"]}"#, .ingestState)
    try row(["u", "ann"], "{}", .analyzerState)
    let own = try search()
    #expect(!own.isErased && own.rows[.analyzer] == 2 && own.rows[.ingest] == 1 && own.rowsOfOthers == 3)
  }

  @Test(
    "a person whom nothing names is an error, and nothing is written")
  func unknown() throws {
    let world = try BrowsedBroker()
    let end = run(["--user", "nobody", "--yes", "--why", "a typo"], world)
    #expect(end.code == ExitCode.failure && end.errors.contains("nothing names nobody"), "\(end.errors)")
    #expect(try values(of: .userEvents, world).isEmpty && values(of: .audit, world).isEmpty)
  }
}

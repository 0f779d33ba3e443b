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

  @Test(
    "a person whom nothing names is an error, and nothing is written")
  func unknown() throws {
    let world = try BrowsedBroker()
    let end = run(["--user", "nobody", "--yes", "--why", "a typo"], world)
    #expect(end.code == ExitCode.failure && end.errors.contains("nothing names nobody"), "\(end.errors)")
    #expect(try values(of: .userEvents, world).isEmpty && values(of: .audit, world).isEmpty)
  }
}

import Foundation
import Kafka
import NudgeSchema
import ServiceKit
import Synchronization
import TestSupport
import Testing

@testable import NudgeCommands

@Suite("nudge import")
struct ImportTests {
  private let broker: EmbeddedBroker
  private let directory: TemporaryDirectory
  private let said = Said()

  /// The command's output.
  private final class Said: Sendable {
    let lines = Mutex<[String]>([])
    var text: String { lines.withLock { $0.joined(separator: "\n") } }
  }

  init() throws {
    broker = try EmbeddedBroker()
    for topic in [Topic.chatEvents, .userEvents] { try broker.createTopic(topic.rawValue, partitions: 4) }
    directory = try TemporaryDirectory()
  }

  private func file(_ lines: [String], terminated: Bool = true) throws -> String {
    let path = directory.path + "/input.jsonl"
    try Data((lines.joined(separator: "\n") + (terminated ? "\n" : "")).utf8).write(to: URL(fileURLWithPath: path))
    return path
  }

  private func run(
    _ file: String, _ kind: ImportKind, asOf: PointInTime? = nil, isInterrupted: @escaping () -> Bool = { false }
  ) throws -> Int32 {
    var run = ImportRun(file: file, kind: kind, asOf: asOf, isInterrupted: isInterrupted)
    run.say = { [said] line in said.lines.withLock { $0.append(line) } }
    return try run.run(ClusterSettings(bootstrapServers: broker.bootstrapServers))
  }

  /// Everything on a topic.
  private func records<Body: EventBody>(_ topic: Topic, _ type: Event<Body>.Type) throws -> [(key: String, Event<Body>)]
  {
    let browser = try TopicBrowser(ClusterSettings(bootstrapServers: broker.bootstrapServers))
    var records: [(key: String, Event<Body>)] = []
    try browser.read(try browser.ranges(of: topic), "reading") { record in
      records.append(
        (
          String(decoding: record.keyBytes() ?? [], as: UTF8.self),
          try browser.coder.decode(type, from: record.valueBytes() ?? [])
        ))
      return true
    }
    return records
  }

  @Test("a field that no event has is reported with its line and the known field that was meant; the rest is published")
  func unknownFields() throws {
    let input = try file([
      #"{"userId": "ann", "preferences": {"keywords": ["a"], "quietHour": null, "muted": [{"conversationId": "c", "untill": 1}]}}"#,
      #"{"userId": "ben", "preferences": {"keywords": ["b"]}}"#,
    ])
    #expect(try run(input, .preferences) == ExitCode.success)
    #expect(
      said.text.contains(
        "line 1: a field is ignored, and others: preferences.quietHour is not a known field: did you mean quietHours?"))
    #expect(said.text.contains("1 line has fields that are ignored"))
    #expect(try records(.userEvents, UserEvent.self).count == 2)
  }

  @Test("each kind becomes its event, with ingest's key, one time, and an id derived from the line")
  func kinds() throws {
    let conversation =
      #"{"conversationId":"c","kind":"direct","members":[{"userId":"a","displayName":"A"}],"unknown":1}"#
    #expect(try run(try file([conversation]), .conversations) == ExitCode.success)
    let device = #"{"userId":"a","deviceId":"d","token":"t","platform":"ios"}"#
    #expect(try run(try file([device, "", "  "], terminated: false), .devices) == ExitCode.success)
    let preferences = #"{"userId":"a","preferences":{"showPreviews":false}}"#
    #expect(try run(try file([preferences]), .preferences, asOf: .ago(.seconds(3_600))) == ExitCode.success)
    let chat = try records(.chatEvents, ChatEvent.self)
    #expect(chat.map(\.key) == ["c"])
    let users = try records(.userEvents, UserEvent.self)
    #expect(users.map(\.key) == ["a", "a"])
    #expect(users.map(\.1.body.type) == [.deviceRegistered, .preferencesUpdated])
    let age = SystemClock.milliseconds() - users[1].1.envelope.occurredAt
    #expect((3_600_000..<3_700_000).contains(age))
    // The same file again: the same events, which have no second effect.
    #expect(try run(try file([device]), .devices, asOf: .at(users[0].1.envelope.occurredAt)) == ExitCode.success)
    let again = try records(.userEvents, UserEvent.self).filter { $0.1.body.type == .deviceRegistered }
    #expect(again.count == 2 && again[0].1 == again[1].1)
  }

  @Test("an invalid line is reported by number and field, without its value; the others are published")
  func refusals() throws {
    let good = #"{"userId":"a","deviceId":"d","token":"secret-token","platform":"ios"}"#
    let path = try file([
      good, "{broken", good.replacing("\"ios\"", with: "\"secret-os\""), good.replacing("\"a\"", with: "\"\""),
      #"{"userId":"a"}"#, good.replacing("\"d\"", with: "\"e\""),
    ])
    #expect(try run(path, .devices) == ExitCode.failure)
    #expect(try records(.userEvents, UserEvent.self).count == 2)
    for line in [
      "line 2: the record's value is not JSON", "line 3: platform is not one of the allowed values: ios, android, web",
      "line 4: userId must", "line 5: deviceId is missing",
    ] { #expect(said.text.contains(line), "\(said.text)") }
    #expect(said.text.contains("2 events of 6 lines are published, 4 lines were refused"))
    #expect(!said.text.contains("secret"))
  }

  @Test("a refused line says which member lacks what; --dry-run says the same, and writes nothing")
  func members() throws {
    let path = try file([
      #"{"conversationId":"c","kind":"group","members":[{"userId":"a","displayName":"A"},{"displayName":"B"}]}"#,
      #"{"conversationId":"c","kind":"group","members":[{"userId":"a","displayName":"A"},{"userId":7,"displayName":"B"}]}"#,
      #"{"conversationId":"c","kind":"group","members":[{"userId":"a","displayName":"A"}]}"#,
      #"{"conversationId":"c","kind":"groop","members":[{"userId":"a","displayName":"A"}]}"#,
    ])
    var summary: ImportSummary?
    var run = ImportRun(file: path, kind: .conversations, asOf: nil)
    run.say = { [said] line in said.lines.withLock { $0.append(line) } }
    run.summarize = { summary = $0 }
    #expect(try run.check() == ExitCode.failure)
    #expect(summary.map { [$0.lines, $0.published, $0.refused] } == [4, 1, 3] && summary?.isWritten == false)
    #expect(said.text.contains("line 1: members[1].userId is missing"), "\(said.text)")
    #expect(said.text.contains("line 2: members[1].userId is not a string"), "\(said.text)")
    #expect(said.text.contains("1 event would be published, 3 lines refused"))
    #expect(said.text.contains("line 4: kind is not one of the allowed values: direct, group"), "\(said.text)")
    #expect(try records(.chatEvents, ChatEvent.self).isEmpty)
    #expect(try ImportCheckpoint.read(of: path) == nil)
  }

  @Test("an interrupted import continues where it stopped, and no line is lost")
  func resumes() throws {
    let lines = (0..<5_000).map { #"{"userId":"u\#($0)","deviceId":"d","token":"t\#($0)","platform":"web"}"# }
    let path = try file(lines)
    let asked = Mutex(0)
    let interrupted = try run(path, .devices) {
      asked.withLock { asked in
        asked += 1
        return asked > 1
      }
    }
    #expect(interrupted == ExitCode.interrupted)
    let checkpoint = try #require(try ImportCheckpoint.read(of: path))
    #expect(checkpoint.published == ImportRun.batchLines)
    #expect(throws: CommandError.self) { try run(path, .preferences) }
    #expect(try run(path, .devices) == ExitCode.success)
    #expect(try ImportCheckpoint.read(of: path) == nil)
    let users = try records(.userEvents, UserEvent.self)
    #expect(users.count == lines.count)
    #expect(Set(users.map(\.key)).count == lines.count)
    #expect(Set(users.map(\.1.envelope.occurredAt)).count == 1)
  }

  @Test("a time that ingest would reject, and a missing file, fail at once")
  func times() throws {
    let path = try file([#"{"userId":"a","preferences":{}}"#])
    #expect(throws: CommandError.self) { try run(path, .preferences, asOf: .ago(.seconds(7 * 86_400))) }
    #expect(throws: CommandError.self) { try run(path, .preferences, asOf: .ago(.seconds(-600))) }
    #expect(throws: CommandError.self) { try run(path + "x", .preferences) }
  }
}

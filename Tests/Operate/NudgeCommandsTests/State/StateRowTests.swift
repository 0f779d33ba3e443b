import Analyzer
import Dispatcher
import Ingest
import NudgeSchema
import StreamRuntime
import Testing

@testable import NudgeCommands

@Suite("nudge state show")
struct StateRowTests {
  private let now: Milliseconds = 1_795_275_600_000

  @Test("a key is printed with slashes between its parts, and slashes in ids are escaped")
  func keys() {
    for (parts, text) in [
      (RowKey("u", "ann"), "u/ann"), (RowKey("c", "a/b", "100%"), "c/a%2Fb/100%25"),
      (RowKey("w", "ann\u{1}phone"), "w/ann%01phone"), (RowKey("c", "", "Zoë"), "c//Zoë"),
    ] {
      #expect(parts.written == text)
      #expect(RowKey(written: text) == parts)
    }
  }

  @Test("a row's task is the partition of the id that keys its records")
  func owners() {
    #expect(StageName.ingest.owner(of: RowKey("c", "c1", "ann")) == "c1")
    #expect(StageName.ingest.owner(of: RowKey("e", "u", "ann")) == "ann")
    #expect(StageName.analyzer.owner(of: RowKey("c", "ann", "c1")) == "ann")
    #expect(StageName.dispatcher.owner(of: RowKey("w", "ann\u{1}phone")) == "ann")
    #expect(StageName.dispatcher.owner(of: RowKey("w")) == nil)
  }

  @Test("packed rows of each stage are shown as JSON, without tokens")
  func rows() throws {
    let ingest = StageDriver(IngestStage(IngestRules()), now: now)
    let analyzer = StageDriver(AnalyzerStage(rules: AnalyzerRules(hash: { $0 })), now: now)
    let registered = UserEvent(
      Envelope(eventId: "e1", occurredAt: now),
      .deviceRegistered(
        DeviceRegistered(userId: "ann", deviceId: "phone", token: "s3cr3t", platform: .ios)))
    let first = try ingest.send(registered, to: .userEvents, key: "ann")
    for result in [first] + ingest.sendBack(first) {
      for output in result.outputs where output.topic == .timeline {
        analyzer.send(bytes: output.value, to: .timeline, key: output.key, partition: 0)
      }
    }
    let coder = RecordCoder()
    let token = RowKey("d", "ann", "phone")
    let device = try #require(try analyzer.row(token))
    let person = try #require(try analyzer.row(RowKey("u", "ann")))
    let found = try [(token, device), (RowKey("u", "ann"), person)].map {
      StateLookup.Found(task: 3, key: $0.0, bytes: try $0.1.encoded(coder: coder))
    }
    // Packed: they begin with their versions.
    #expect(found.map { $0.bytes.first } == [4, 9])
    let report = try StateRowReport(
      stage: .analyzer, found, redaction: Redaction(showsTexts: false))
    #expect(report.text.contains("d/ann/phone  (task 3, "))
    #expect(report.text.contains("\"platform\" : \"ios\""))
    #expect(report.text.contains("\"devices\" : ["))
    #expect(!report.text.contains("s3cr3t"))
    let owned = try #require(try ingest.row(RowKey("d", "ann", "phone")))
    let row = StateLookup.Found(task: 0, key: token, bytes: try owned.encoded(coder: coder))
    #expect(
      try StateRowReport(stage: .ingest, [row], redaction: Redaction(showsTexts: false)).text
        .contains("\"e1\""))
  }

  @Test("a missing row is reported")
  func none() throws {
    let report = try StateRowReport(stage: .dispatcher, [], redaction: Redaction(showsTexts: false))
    #expect(report.text == "dispatcher has no such row.")
  }
}

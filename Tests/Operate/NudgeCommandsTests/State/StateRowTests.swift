import Analyzer
import Dispatcher
import Ingest
import NudgeSchema
import ServiceKit
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
      StateLookup.Found(task: 3, key: $0.0, bytes: try $0.1.encoded(coder: coder, at: .latest))
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
    let row = StateLookup.Found(task: 0, key: token, bytes: try owned.encoded(coder: coder, at: .latest))
    #expect(
      try StateRowReport(stage: .ingest, [row], redaction: Redaction(showsTexts: false)).text
        .contains("\"e1\""))
  }

  @Test("issue 57: no row of any stage shows an endpoint or a key; explain has the host")
  func subscriptions() throws {
    let ingest = StageDriver(IngestStage(IngestRules()), now: now)
    let analyzer = StageDriver(AnalyzerStage(rules: AnalyzerRules(hash: { $0 })), now: now)
    let key = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    let webPush = WebPushSubscription(
      endpoint: "https://push.example.org/canary", p256dh: key, auth: "BTBZMqHH6r4Tts7J_aSIgg")
    let registered = UserEvent(
      Envelope(eventId: "e1", occurredAt: now),
      .deviceRegistered(DeviceRegistered(userId: "ann", deviceId: "tab", webPush: webPush, platform: .web)))
    let first = try ingest.send(registered, to: .userEvents, key: "ann")
    let results = [first] + ingest.sendBack(first)
    for output in results.flatMap(\.outputs) where output.topic == .timeline {
      analyzer.send(bytes: output.value, to: .timeline, key: output.key, partition: 0)
    }
    let coder = RecordCoder()
    func shown(_ stage: StageName, _ key: RowKey, _ bytes: [UInt8]) throws -> String {
      try StateRowReport(
        stage: stage, [StateLookup.Found(task: 0, key: key, bytes: bytes)], redaction: Redaction(showsTexts: true)
      ).text
    }
    let device = RowKey("d", "ann", "tab")
    let row = try #require(try analyzer.row(device)).encoded(coder: coder, at: .latest)
    let text = try shown(.analyzer, device, row)
    #expect(text.contains("host push.example.org"))
    var texts = [text]
    for key in [device, RowKey("o", TokenHash.of(webPush.endpoint))] {
      texts.append(try shown(.ingest, key, try #require(try ingest.row(key)).encoded(coder: coder, at: .latest)))
    }
    for text in texts {
      #expect(!text.contains("canary") && !text.contains(webPush.p256dh) && !text.contains(webPush.auth), "\(text)")
    }
    var view = PersonView(userId: "ann")
    try row.withUnsafeBytes { try view.take(device, $0, coder: coder) }
    let seen = try #require(view.devices.first)
    #expect(seen.pushHost == "push.example.org" && seen.isReachable && seen.platform == .web)
  }

  @Test("a missing row is reported")
  func none() throws {
    let report = try StateRowReport(stage: .dispatcher, [], redaction: Redaction(showsTexts: false))
    #expect(report.text == "dispatcher has no such row.")
  }
}

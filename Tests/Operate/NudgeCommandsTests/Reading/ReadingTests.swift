import NudgeSchema
import ServiceKit
import Testing

@testable import NudgeCommands

@Suite("Records as commands show them")
struct ReadingTests {
  private func json(_ text: String) throws -> JSONValue {
    try JSONValue(Array(text.utf8))
  }

  @Test("T4: tokens are never shown, texts only on request, in any place of a record")
  func redaction() throws {
    let push = try json(
      #"{"title":"Ada in Engines","body":"Ben, look","targets":[{"deviceId":"d","token":"secret-token"}],"badge":2}"#)
    let hidden = Redaction(showsTexts: false).apply(to: push, of: .pushes)
    #expect(hidden["body"]?.string == "(9 characters)")
    #expect(hidden["title"]?.string == "(14 characters)")
    #expect(hidden["targets"]?.elements.first?["token"]?.string == "(hash \(TokenHash.of("secret-token")))")
    #expect(hidden["badge"]?.integer == 2)
    let shown = Redaction(showsTexts: true).apply(to: push, of: .pushes)
    #expect(shown["body"]?.string == "Ben, look")
    #expect(!shown.shown.contains("secret-token"))
    let claim = try json(
      #"{"device":{"token":"secret-token","userId":"ben"},"preferences":{"keywords":["pay","cake"]}}"#)
    let claimShown = Redaction(showsTexts: false).apply(to: claim, of: .deviceClaims).shown
    #expect(!claimShown.contains("secret-token") && !claimShown.contains("cake"))
  }

  @Test("T4: a token is recognised under any name, in any place, also within a text; ids and hashes stay")
  func misnamed() throws {
    let token = "dXJk9:APA91b" + String(repeating: "aB3-_", count: 26)
    let record = try json(
      #"{"registrationToken":"short1","tokens":["short2",{"a":"short3"}],"fcm_token":"short4","deviceId":"\#(token)","#
        + #""deep":[{"x":"it is \#(token), he said"}],"\#(token)":1,"webPush":{"endpoint":"https://push.example/short5","#
        + #""p256dh":"short6","auth":"short7"},"tokenHash":"9f86d081","text":"hello","messageId":"m-1"}"#)
    for showsTexts in [true, false] {
      let shown = Redaction(showsTexts: showsTexts).apply(to: record, of: .deadLetters).shown
      #expect(!shown.contains("APA91"), "\(shown)")
      for number in 1...7 { #expect(!shown.contains("short\(number)"), "\(number): \(shown)") }
      #expect(shown.contains("9f86d081") && shown.contains("m-1") && shown.contains("hello") == showsTexts)
    }
  }

  @Test(
    "issue 57: of an endpoint people see its hash and its host, under any name and in any shape; of keys their hashes")
  func endpoints() throws {
    let endpoint = "https://Push.example.org:8443/wpush/v2/canary"
    let shown = TokenText.hash(ofSecret: endpoint)
    #expect(shown == "(hash \(TokenHash.of(endpoint)), host push.example.org)")
    let subscription = #"{"endpoint":"\#(endpoint)","keys":{"p256dh":"canary","auth":"canary"}}"#
    let text = subscription.replacing("\"", with: "\\\"")
    for field in [
      #""webPush":{"endpoint":"\#(endpoint)","p256dh":"canary","auth":"canary"}"#,
      #""sealing":{"p256dh":"canary","auth":"canary"}"#,
      #""subscription":\#(subscription)"#, #""pushSubscription":"\#(text)""#, #""web_push":["\#(endpoint)"]"#,
      #""pushEndpoint":"\#(endpoint)""#, #""device":{"url":"\#(endpoint)","keys":{"p256dh":"canary","auth":"canary"}}"#,
      #""address":"\#(endpoint)","p256dh":"canary""#,
    ] {
      let record = try json("{\(field)}")
      for topic in [Topic.userEvents, .deviceClaims, .timeline, .pushes, .deadLetters] {
        let shown = Redaction(showsTexts: true).apply(to: record, of: topic).shown
        #expect(!shown.contains("canary"), "\(topic): \(shown)")
        if field.contains("\":\"\(endpoint)") { #expect(shown.contains("host push.example.org"), "\(shown)") }
      }
    }
    #expect(WebPushSubscription.host(of: "https://u:p@[2001:db8::1]:8/x") == "2001:db8::1")
    #expect(WebPushSubscription.host(of: "https://a.example?x@b") == "a.example")
    #expect(
      WebPushSubscription.host(of: "token") == nil
        && TokenText.hash(ofSecret: "http-token") == TokenText.hash(of: "http-token"))
  }

  @Test("a long id of a record that was taken is shown as it is")
  func longIds() throws {
    let id = String(repeating: "W", count: 240)
    let decision = try json(#"{"userId":"\#(id)","mentions":["\#(id)"],"counts":{"\#(id)":1}}"#)
    for topic in [Topic.decisions, .chatEvents, .outcomes] {
      #expect(Redaction(showsTexts: true).apply(to: decision, of: topic) == decision)
    }
    #expect(!Redaction(showsTexts: true).apply(to: decision, of: .deadLetters).shown.contains(id))
  }

  @Test("a decision's reason is not redacted as a message text")
  func decisionText() throws {
    let decision = try json(#"{"text":"quiet hours from 22:00 to 07:00"}"#)
    #expect(
      Redaction(showsTexts: false).apply(to: decision, of: .decisions)["text"]?.string
        == "quiet hours from 22:00 to 07:00")
  }

  @Test("a time is given as a duration before now, or as a timestamp")
  func times() throws {
    #expect(try PointInTime.parse("1h30m").milliseconds(now: 10_000_000) == 10_000_000 - 5_400_000)
    #expect(try PointInTime.parse("2026-11-22T10:30:00Z").milliseconds(now: 0) == 1_795_343_400_000)
    #expect(throws: SettingValueError.self) { try PointInTime.parse("yesterday") }
    #expect(try PointInTime.parse(PointInTime.at(1_795_343_400_000).settingText) == .at(1_795_343_400_000))
  }

  @Test("progress starts after two seconds, with records, rate and remaining time")
  func progress() {
    var now = ContinuousClock.now
    var written: [String] = []
    let progress = ReadingProgress(isTerminal: false, now: { now }, write: { written.append($0) })
    progress.begin("reading decisions", total: 1_000)
    now += .seconds(1)
    progress.reached(100)
    #expect(written.isEmpty)
    now += .seconds(1)
    progress.reached(200)
    #expect(written == ["reading decisions: 200 of 1000 (20 %), 100/s, 8 s left\n"])
    now += .seconds(1)
    progress.reached(300)
    #expect(written.count == 1, "where lines are not rewritten, one every five seconds")
    now += .seconds(5)
    progress.reached(800)
    #expect(written.last == "reading decisions: 800 of 1000 (80 %), 100/s, 2 s left\n")
  }

  @Test("JSON survives decoding and encoding, and numbers in strings are read as numbers")
  func values() throws {
    let text = #"{"a":[1,2.5,null,true,"x"],"b":{"c":9007199254740993}}"#
    #expect(String(decoding: try RecordCoder().encode(try json(text)), as: UTF8.self) == text)
    #expect(try json(#"{"n":"17"}"#)["n"]?.integer == 17)
    #expect(try json(#"{"n":17}"#)["n"]?.integer == 17)
    #expect(try json(#"{"n":null}"#)["n"] == nil)
  }
}

import NudgeSchema
import Testing

@testable import NudgeCommands

@Suite("Words for a decision's checks")
struct CheckWordsTests {
  private func words(_ json: String) throws -> String {
    CheckWords(try JSONValue(Array(json.utf8))).text
  }

  @Test("inputs have the same words as strings and as numbers")
  func bothShapes() throws {
    let asText = #"{"check":"expired","result":"pass","inputs":{"sentAt":"1795343400000","expiresAt":"1795347000000"}}"#
    let asNumbers = #"{"check":"expired","result":"pass","inputs":{"sentAt":1795343400000,"expiresAt":1795347000000}}"#
    let expected = "sent 2026-11-22T10:30:00.000Z, fresh until 2026-11-22T11:30:00.000Z"
    #expect(try words(asText) == expected)
    #expect(try words(asNumbers) == expected)
    #expect(
      try words(
        #"{"check":"conversation_muted","result":"suppress","inputs":{"muted":true,"exceptMentions":true,"mentioned":false}}"#
      )
        == "the conversation is muted except for mentions of the person and answers to them, who is neither")
    #expect(
      try words(
        #"{"check":"conversation_muted","result":"suppress","inputs":{"muted":"true","exceptMentions":"true","mentioned":"false"}}"#
      ) == "the conversation is muted except for mentions of the person and answers to them, who is neither")
  }

  @Test("quiet hours name the span, the zone and the person's local time")
  func quietHours() throws {
    let text = try words(
      #"{"check":"quiet_hours","result":"suppress","inputs":{"start":"22:00","end":"07:00","timeZone":"Europe/Zurich","#
        + #""localTime":"23:10","priority":"medium"}}"#)
    #expect(text == "22:00 to 07:00 (Europe/Zurich); it was 23:10 there, priority medium")
  }

  @Test("a budget says which alert of the day it was, or why there was none")
  func budget() throws {
    func words(_ inputs: String) throws -> String { try self.words(#"{"check":"budget","inputs":{\#(inputs)}}"#) }
    #expect(
      try words(#""used":2,"limit":10,"value":950,"threshold":0,"silent":false"#)
        == "alert 3 of 10 that day, worth 0.95")
    #expect(
      try words(#""used":10,"limit":10,"value":500,"silent":true"#)
        == "shown without a sound: all 10 alerts of the day are spent")
    #expect(
      try words(#""used":8,"limit":10,"value":500,"threshold":517,"silent":true"#)
        == "shown without a sound: 8 of 10 alerts are spent, the next is for a message worth 0.517, and this one is worth 0.5"
    )
  }

  @Test("one is not several")
  func singular() throws {
    func words(_ check: String, _ inputs: String) throws -> String {
      try self.words(#"{"check":"\#(check)","inputs":{\#(inputs)}}"#)
    }
    let silent = "shown without a sound:"
    #expect(
      try words("budget", #""used":1,"limit":1,"silent":true"#) == "\(silent) the only alert of the day is spent")
    #expect(try words("budget", #""used":0,"limit":0,"silent":true"#) == "\(silent) no alert a day is allowed")
    #expect(
      try words("budget", #""used":1,"limit":2,"value":500,"threshold":517,"silent":true"#)
        == "\(silent) 1 of 2 alerts is spent, the next is for a message worth 0.517, and this one is worth 0.5")
    #expect(try words("analysis_limit", #""used":1,"limit":1"#) == "1 of 1 smart analysis an hour used")
    #expect(try words("active_conversation", #""held":1"#) == "1 later message was held: it counts on the badge alone")
    #expect(
      try words("active_conversation", #""held":4"#) == "4 later messages were held: it counts on the badge alone")
  }

  @Test("the hourly limit, the priority and devices")
  func numbers() throws {
    #expect(
      try words(
        #"{"check":"analysis_limit","result":"pass","inputs":{"used":3,"limit":10,"windowStartedAt":1795343400000}}"#)
        == "3 of 10 smart analyses an hour used since 2026-11-22T10:30:00.000Z")
    #expect(
      try words(#"{"check":"priority","result":"pass","inputs":{"method":"analysis","score":0.75,"priority":"high"}}"#)
        == "smart analysis: high, score 0.75")
    #expect(
      try words(#"{"check":"no_device","result":"suppress","inputs":{"devices":0}}"#) == "0 devices can be reached")
  }

  @Test("the decision's own fields are part of the words")
  func ofDecision() throws {
    let decision = try JSONValue(
      Array(#"{"priority":"medium","score":0.5,"analysis":{"used":10,"limit":10,"fallback":"simple_rules"}}"#.utf8))
    func words(_ name: String, _ result: String = "pass") -> String {
      CheckWords(.object(["check": .string(name), "result": .string(result)]), of: decision).text
    }
    #expect(words("analysis_limit") == "10 of 10 smart analyses an hour used; past it: simple_rules")
    #expect(words("priority") == "simple rules: medium, score 0.5")
    #expect(words("expired") == "fresh")
    let bare = CheckWords(.string("conversation_muted"), of: decision)
    #expect(bare.name == "conversation_muted" && bare.text == "the conversation is not muted" && !bare.suppresses)
    #expect(words("conversation_muted") == "the conversation is not muted")
    #expect(words("conversation_muted", "suppress") == "the conversation is muted")
    #expect(words("quiet_hours") == "no quiet hours")
  }

  @Test("checks that passed and are not in the record are named, as an earlier release wrote them")
  func all() throws {
    func names(_ checks: String, _ fields: String = "") throws -> [String] {
      CheckWords.all(of: try JSONValue(Array(#"{"checks":[\#(checks)]\#(fields)}"#.utf8))).map {
        "\($0.suppresses ? "✗" : "✓") \($0.name)"
      }
    }
    let level = #"{"check":"level","inputs":{"from":"policy"}}"#
    let device = #"{"check":"no_device","inputs":{"devices":1}}"#
    let first = ["duplicate", "notifications_disabled", "conversation_muted", "already_read", "expired"]
    let expected = (first + ["active_conversation", "level", "priority", "quiet_hours", "no_device"]).map { "✓ \($0)" }
    #expect(try names("\(level),\(device)", #","priority":"low""#) == expected)
    let byNames = (first + ["active_conversation"]).map { "\"\($0)\"" }.joined(separator: ",")
    #expect(try names(#"\#(byNames),\#(level),"priority","quiet_hours",\#(device)"#, #","priority":"low""#) == expected)
    let limit = #"{"check":"analysis_limit","result":"suppress"}"#
    #expect(
      try names("\(level),\(limit)", #","analysis":{"used":3,"limit":3}"#)
        == expected.prefix(7) + ["✗ analysis_limit"])
    let expired = #"{"check":"expired","result":"suppress","inputs":{"expiresAt":1}}"#
    let catchUp = #"{"check":"catch_up","inputs":{"dueAt":1}}"#
    #expect(try names("\(expired),\(catchUp)") == expected.prefix(4) + ["✗ expired", "✓ catch_up"])
    #expect(try names(#"{"check":"replay_stopped","result":"suppress"}"#, #","replayId":"r""#) == ["✗ replay_stopped"])
    #expect(
      try names(#"{"check":"duplicate","result":"suppress"}"#, #","replayId":"r""#) == [
        "✓ replay_stopped", "✗ duplicate",
      ])
    // Every check with `result`, as the first releases wrote them; and a decision that names none.
    #expect(try names(#"{"check":"expired","result":"pass"},\#(device)"#) == ["✓ expired", "✓ no_device"])
    #expect(try names("").isEmpty)
  }

  @Test("a check or an input of a newer service is shown as it is")
  func unknown() throws {
    #expect(
      try words(#"{"check":"full_moon","result":"suppress","inputs":{"moonAt":1795343400000,"phase":0.98}}"#)
        == "suppresses (moonAt: 2026-11-22T10:30:00.000Z, phase: 0.98)")
    #expect(
      try words(#"{"check":"notifications_disabled","result":"pass","inputs":{"enabled":true,"since":"v2"}}"#)
        == "notifications are on (since: v2)")
  }
}

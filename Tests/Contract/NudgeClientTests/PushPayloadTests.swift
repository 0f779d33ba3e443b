import Foundation
import NudgeClient
import Testing

/// The data of a push for a message, with what a test changes in it.
func messageData(_ changes: [String: String] = [:]) -> [String: String] {
  [
    "type": "smart_notification", "conversationId": "c1", "messageId": "m1", "senderId": "ben", "recipientId": "ada",
    "pushId": "p1", "priority": "high", "badge": "3", "timestamp": "1763712000",
  ].merging(changes) { $1 }
}

func messagePush(_ changes: [String: String] = [:], without keys: String...) throws -> PushPayload {
  try PushPayload(data: messageData(changes).filter { !keys.contains($0.key) })
}

@Suite("C1: decoding a received payload")
struct PushPayloadTests {
  @Test("C1: a message by smart analysis has all fields of the catalogue")
  func smartMessage() throws {
    let push = try messagePush()
    guard case .message(let message) = push.content else {
      Issue.record("no message: \(push)")
      return
    }
    #expect(message.origin == .smart)
    #expect(message.conversationId == "c1")
    #expect(message.messageId == "m1")
    #expect(message.senderId == "ben")
    #expect(message.priority == .high)
    #expect(push.recipientId == "ada")
    #expect(push.pushId == "p1")
    #expect(push.badge == 3)
    #expect(push.timestamp == Date(timeIntervalSince1970: 1_763_712_000))
    #expect(push.title == nil)
    #expect(push.body == nil)
  }

  @Test("C1: types and priorities are those of the catalogue")
  func types() throws {
    for (type, origin) in [("smart_notification", PushPayload.Message.Origin.smart), ("new_message", .fallback)] {
      for (priority, expected) in [("high", PushPayload.Priority.high), ("medium", .medium), ("low", .low)] {
        guard case .message(let message) = try messagePush(["type": type, "priority": priority]).content else {
          Issue.record("no message")
          continue
        }
        #expect(message.origin == origin)
        #expect(message.priority == expected)
      }
    }
  }

  @Test("C1: a message has the presentation that the push names; without one it follows from the priority")
  func presentation() throws {
    for (priority, fallback) in [("high", PushPayload.Presentation.alert), ("medium", .silent), ("low", .badge)] {
      guard case .message(let message) = try messagePush(["priority": priority]).content else { continue }
      #expect(message.presentation == fallback)
      for named in [PushPayload.Presentation.alert, .silent, .badge] {
        let push = try messagePush(["priority": priority, "presentation": named.rawValue])
        guard case .message(let message) = push.content else { continue }
        #expect(message.presentation == named)
        #expect(message.priority.rawValue == priority)
      }
    }
  }

  @Test("C1: a badge push needs no message, a read push its conversation")
  func otherTypes() throws {
    let badge = try PushPayload(data: ["type": "badge", "badge": "0", "pushId": "p", "recipientId": "ada"])
    #expect(badge.content == .badge(0))
    let read = try PushPayload(
      data: ["type": "read", "badge": "2", "pushId": "p", "recipientId": "ada", "conversationId": "c1"])
    #expect(read.content == .read(ReadMark(conversationId: "c1"), badge: 2))
    let upTo = try PushPayload(data: [
      "type": "read", "badge": "2", "pushId": "p", "recipientId": "ada", "conversationId": "c1", "messageId": "m7",
      "timestamp": "20",
    ])
    let mark = ReadMark(conversationId: "c1", messageId: "m7", time: Date(timeIntervalSince1970: 20))
    #expect(upTo.content == .read(mark, badge: 2))
    #expect(read.badge == 2)
    let deleted = try PushPayload(
      data: [
        "type": "deleted", "badge": "2", "pushId": "p", "recipientId": "ada", "conversationId": "c1", "messageId": "m1",
      ])
    #expect(deleted.content == .deleted(conversationId: "c1", messageId: "m1", badge: 2))
  }

  @Test("C1: userInfo of iOS gives the same, with title and body from aps")
  func userInfo() throws {
    var userInfo: [AnyHashable: Any] = messageData()
    userInfo["aps"] = ["alert": ["title": "Ben in Team", "body": "Lunch?"], "badge": 3] as [String: Any]
    userInfo["gcm.message_id"] = "1"
    let push = try PushPayload(userInfo: userInfo)
    #expect(push.content == (try messagePush().content))
    #expect(push.title == "Ben in Team")
    #expect(push.body == "Lunch?")
    let plain: [String: Any] = messageData().merging(["x": "y"]) { $1 }
    #expect(try PushPayload(userInfo: plain) == messagePush())
    userInfo["aps"] = ["alert": "Lunch?"]
    #expect(try PushPayload(userInfo: userInfo).body == "Lunch?")
    #expect(try PushPayload(userInfo: userInfo).title == nil)
  }

  @Test(
    "C1: a key that is missing is named",
    arguments: ["type", "conversationId", "messageId", "senderId", "recipientId", "pushId", "priority"])
  func missing(key: String) {
    #expect(throws: PushPayloadError.missing(key: key)) { try messagePush(without: key) }
    #expect(throws: PushPayloadError.invalid(key: key, expected: "not empty")) { try messagePush([key: ""]) }
  }

  @Test("D13: the edit of a group's old message may lack its sender, no other message may")
  func senderOfEdit() throws {
    let push = try messagePush(["replaces": "true"], without: "senderId")
    guard case .message(let message) = push.content else { throw PushPayloadError.missing(key: "type") }
    #expect(message.senderId == nil && message.replaces)
    #expect(throws: PushPayloadError.missing(key: "senderId")) {
      try messagePush(["replaces": "false"], without: "senderId")
    }
  }

  @Test("C1: badge and timestamp may be missing from a message, a badge push needs its badge")
  func optional() throws {
    let push = try messagePush(without: "badge", "timestamp")
    #expect(push.badge == nil)
    #expect(push.timestamp == nil)
    #expect(throws: PushPayloadError.missing(key: "badge")) {
      try PushPayload(data: ["type": "badge", "pushId": "p", "recipientId": "ada"])
    }
    #expect(throws: PushPayloadError.missing(key: "messageId")) {
      try PushPayload(
        data: ["type": "deleted", "badge": "1", "pushId": "p", "recipientId": "ada", "conversationId": "c1"])
    }
    #expect(throws: PushPayloadError.missing(key: "conversationId")) {
      try PushPayload(data: ["type": "read", "badge": "1", "pushId": "p", "recipientId": "ada"])
    }
  }

  @Test("C1: a value that is none of those expected is refused with what is")
  func invalid() throws {
    for (key, value) in [
      ("type", "marketing"), ("priority", "HIGH"), ("presentation", "loud"), ("badge", "-1"), ("badge", "1.5"),
      ("badge", "many"),
      ("timestamp", "yesterday"),
    ] {
      let error = try #require(throws: PushPayloadError.self) { try messagePush([key: value]) }
      guard case .invalid(key, let expected) = error else {
        Issue.record("\(key)=\(value): \(error)")
        continue
      }
      #expect(error.description.contains(expected))
    }
    var userInfo: [AnyHashable: Any] = messageData()
    userInfo["messageId"] = 7
    #expect(throws: PushPayloadError.notAString(key: "messageId")) { try PushPayload(userInfo: userInfo) }
    #expect(throws: PushPayloadError.missing(key: "type")) { try PushPayload(userInfo: ["aps": ["alert": "hello"]]) }
  }
}

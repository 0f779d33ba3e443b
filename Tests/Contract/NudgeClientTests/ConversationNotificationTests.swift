import Foundation
import NudgeClient
import Testing

@Suite("C10: messages as phones show conversations")
struct ConversationNotificationTests {
  private func push(_ changes: [String: String] = [:], body: String = "Lunch?") throws -> PushPayload {
    var userInfo: [AnyHashable: Any] = messageData(
      ["senderName": "Ben", "avatarUrl": "https://example.org/ben.png"].merging(changes) { $1 })
    userInfo["aps"] = ["alert": ["title": "Ben", "body": body]]
    return try PushPayload(userInfo: userInfo)
  }

  @Test("C10: a direct message has its sender, picture, text and conversation, and no group")
  func direct() throws {
    let shown = try #require(ConversationNotification(try push()))
    #expect(shown.sender.key == "ben" && shown.sender.name == "Ben")
    #expect(shown.sender.avatarURL == URL(string: "https://example.org/ben.png"))
    #expect(shown.conversationId == "c1" && shown.messageId == "m1" && shown.text == "Lunch?")
    #expect(!shown.isGroup && shown.groupName == nil && shown.priority == .high)
    #expect(shown.route == Route(conversationId: "c1", messageId: "m1"))
    let style = shown.style()
    #expect(style.shortcutId == "c1" && style.tag == "c1" && style.conversationTitle == nil)
    #expect(!style.isGroupConversation && style.messages.map(\.text) == ["Lunch?"])
    #expect(style.messages.first?.time == 1_763_712_000_000)
  }

  @Test("C10: a group has its name; one without a name is still a group")
  func group() throws {
    let named = try #require(ConversationNotification(try push(["isGroup": "true", "conversationTitle": "Team"])))
    #expect(named.isGroup && named.groupName == "Team" && named.style().conversationTitle == "Team")
    let nameless = try #require(ConversationNotification(try push(["isGroup": "true"])))
    #expect(nameless.isGroup && nameless.groupName == nil && nameless.style().isGroupConversation)
    #expect(nameless.style().conversationTitle == "")
    // A name without the mark of a group is not a group's.
    #expect(try #require(ConversationNotification(try push(["conversationTitle": "Team"]))).groupName == nil)
  }

  @Test("C10: a push without names, of no message or of the badge alone is shown as it came")
  func plain() throws {
    #expect(ConversationNotification(try messagePush()) == nil)
    #expect(ConversationNotification(try push(["presentation": "badge"])) == nil)
    #expect(ConversationNotification(try push(["type": "badge"])) == nil)
    #expect(ConversationNotification(try push(["senderName": ""])) == nil)
  }

  @Test("C10: a conversation's messages are in order, each once, and at most 25")
  func style() throws {
    func shown(_ id: Int, at second: Int, in conversation: String = "c1", _ text: String = "x") throws
      -> ConversationNotification
    {
      try #require(
        ConversationNotification(
          try push(
            ["messageId": "m\(id)", "timestamp": String(second), "conversationId": conversation], body: text)))
    }
    let earlier = [
      try shown(2, at: 20), try shown(1, at: 10), try shown(3, at: 15, in: "c2"), try shown(4, at: 30, "old"),
    ]
    let style = try shown(4, at: 30, "new").style(with: earlier)
    #expect(style.messages.map(\.time) == [10_000, 20_000, 30_000])
    #expect(style.messages.map(\.text) == ["x", "x", "new"])
    let many = try (0..<40).map { try shown(100 + $0, at: 100 + $0) }
    let latest = try shown(500, at: 500).style(with: many).messages
    #expect(latest.count == ConversationNotification.mostMessages && latest.last?.time == 500_000)
    #expect(latest.first?.time == 116_000)
  }

  @Test("C10: a catch-up is grouped by conversation, in the order of its lines, and says how many are not in them")
  func groups() throws {
    func line(_ conversation: String, _ message: String, _ title: String) -> String {
      #"{"conversationId":"\#(conversation)","messageId":"\#(message)","title":"\#(title)","text":"t-\#(message)"}"#
    }
    func catchUp(_ lines: [String], messages: Int, conversations: Int) throws -> CatchUp {
      let push = try PushPayload(data: [
        "type": "digest", "recipientId": "ada", "pushId": "p9", "priority": "medium", "presentation": "alert",
        "messages": String(messages), "conversations": String(conversations),
        "lines": "[" + lines.joined(separator: ",") + "]",
      ])
      guard case .catchUp(let catchUp) = push.content else { throw PushPayloadError.missing(key: "type") }
      return catchUp
    }
    let three = try catchUp(
      [line("c1", "m1", "Ben in Team"), line("c2", "m2", "Cleo"), line("c1", "m3", "Dan in Team")], messages: 14,
      conversations: 4)
    #expect(three.groups.map(\.conversationId) == ["c1", "c2"])
    #expect(three.groups.map { $0.lines.map(\.messageId) } == [["m1", "m3"], ["m2"]])
    #expect(
      three.groups.map(\.route) == [
        Route(conversationId: "c1", messageId: "m1"), Route(conversationId: "c2", messageId: "m2"),
      ])
    #expect(three.messagesBeyondLines == 11 && three.conversationsBeyondLines == 2 && three.route == nil)
    // All in one conversation: a tap opens it, however many messages there are.
    let one = try catchUp([line("c1", "m1", "Ben"), line("c1", "m2", "Ben")], messages: 5, conversations: 1)
    #expect(one.route == Route(conversationId: "c1", messageId: "m1") && one.messagesBeyondLines == 3)
    let none = try catchUp([], messages: 5, conversations: 1)
    #expect(none.route == nil && none.groups.isEmpty && none.messagesBeyondLines == 5)
  }
}

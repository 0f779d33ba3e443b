import Foundation
import NudgeClient
import Testing

@Suite("C9: badge on the device")
struct BadgeCounterTests {
  @Test("C9: conversations with unread messages are counted, or the messages, as the user prefers")
  func modes() {
    var badge = BadgeCounter()
    #expect(badge.value == 0)
    #expect(badge.received(messageId: "m1", in: "c1") == 1)
    #expect(badge.received(messageId: "m2", in: "c1") == 1)
    #expect(badge.received(messageId: "m3", in: "c2") == 2)
    #expect(badge.modeChanged(to: .messages) == 3)
    #expect(badge.received(messageId: "m4", in: "c2") == 4)
    #expect(badge.modeChanged(to: .conversations) == 2)
    #expect(BadgeCounter.Mode(rawValue: "conversations") == .conversations)
    #expect(BadgeCounter.Mode(rawValue: "messages") == .messages)
  }

  @Test(
    "C9: it falls as conversations are read and is 0 when all is read",
    arguments: [BadgeCounter.Mode.conversations, .messages])
  func read(mode: BadgeCounter.Mode) {
    var badge = BadgeCounter(mode: mode)
    _ = badge.received(messageId: "m1", in: "c1")
    _ = badge.received(messageId: "m2", in: "c2")
    #expect(badge.read("c1") == 1)
    #expect(badge.read("c1") == 1)
    #expect(badge.read("unknown") == 1)
    #expect(badge.opened("c2") == 0)
  }

  @Test("C9: a message that comes by push and by the real-time channel counts once, even after it was read")
  func once() {
    var badge = BadgeCounter(mode: .messages)
    #expect(badge.received(messageId: "m1", in: "c1") == 1)
    #expect(badge.received(messageId: "m1", in: "c1") == 1)
    #expect(badge.read("c1") == 0)
    #expect(badge.received(messageId: "m1", in: "c1") == 0)
    #expect(badge.received(messageId: "m2", in: "c1") == 1)
  }

  @Test("C9: what arrives in the open conversation does not count")
  func open() {
    var badge = BadgeCounter(mode: .messages)
    #expect(badge.opened("c1") == 0)
    #expect(badge.received(messageId: "m1", in: "c1") == 0)
    #expect(badge.received(messageId: "m2", in: "c2") == 1)
    badge.closed()
    #expect(badge.received(messageId: "m3", in: "c1") == 2)
  }

  @Test("C9: at launch the loaded list replaces what was counted")
  func refresh() {
    var badge = BadgeCounter(mode: .messages)
    _ = badge.received(messageId: "m1", in: "c1")
    #expect(badge.refresh(unreadMessages: ["c2": 4, "c3": 0, "c4": -1]) == 4)
    #expect(badge.modeChanged(to: .conversations) == 1)
    #expect(badge.received(messageId: "m2", in: "c2") == 1)
    #expect(badge.modeChanged(to: .messages) == 5)
    #expect(badge.opened("c2") == 0)
    #expect(badge.refresh(unreadMessages: ["c2": 5, "c1": 1]) == 1)
  }

  @Test("C9: 0 at sign-out, and the next user begins with nothing")
  func signOut() {
    var badge = BadgeCounter(mode: .messages)
    _ = badge.received(messageId: "m1", in: "c1")
    #expect(badge.signedOut() == 0)
    #expect(badge.received(messageId: "m1", in: "c1") == 1)
  }

  @Test(
    "D7: a read up to a message leaves the unread that came since",
    arguments: [BadgeCounter.Mode.conversations, .messages])
  func readUpTo(mode: BadgeCounter.Mode) {
    var badge = BadgeCounter(mode: mode)
    for (id, second) in [("m1", 10), ("m2", 20), ("m3", 30)] {
      _ = badge.received(messageId: id, in: "c1", sentAt: Date(timeIntervalSince1970: Double(second)))
    }
    #expect(badge.read(ReadMark(conversationId: "c1", messageId: "m2")) == 1)
    // The services told the number while a message was unread on this device: it falls by what is read.
    #expect(badge.reported(4) == 4)
    #expect(badge.read(ReadMark(conversationId: "c1", messageId: "m3")) == 3)
    #expect(badge.read(ReadMark(conversationId: "c9")) == 3)
  }

  @Test(
    "C9: what the services tell is the number from then on; what is read and received counts from there, never below 0")
  func told() {
    var badge = BadgeCounter()
    _ = badge.received(messageId: "m1", in: "c1")
    // The services count two more, of which nothing was notified.
    #expect(badge.reported(3) == 3)
    #expect(badge.read("c1") == 2)
    #expect(badge.received(messageId: "m2", in: "c2") == 3)
    // One of them was read elsewhere before this device has heard so.
    #expect(badge.reported(0) == 0)
    #expect(badge.read("c2") == 0)
    #expect(badge.refresh(unreadMessages: ["c3": 2]) == 1)
    #expect(badge.reported(5) == 5)
    #expect(badge.signedOut() == 0)
    #expect(badge.received(messageId: "m9", in: "c9") == 1)
  }

  private func push(_ data: [String: String]) throws -> PushPayload {
    try PushPayload(data: ["pushId": "p", "recipientId": "ann"].merging(data) { $1 })
  }

  private func message(_ messageId: String, in conversationId: String, badge: Int) throws -> PushPayload {
    try push([
      "type": "new_message", "priority": "high", "conversationId": conversationId, "messageId": messageId,
      "senderId": "bob", "badge": "\(badge)", "timestamp": "1000",
    ])
  }

  @Test("C9: a push brings the services' number; what is read here is taken from it")
  func pushes() throws {
    var badge = BadgeCounter()
    #expect(badge.received(try message("m1", in: "c1", badge: 4)) == 4)
    #expect(badge.received(try message("m2", in: "c1", badge: 4)) == 4)
    #expect(badge.received(try message("m3", in: "c2", badge: 5)) == 5)
    #expect(badge.opened("c1") == 4)
    #expect(badge.received(try push(["type": "badge", "badge": "6", "conversationId": "c3", "messageId": "m4"])) == 6)
    #expect(badge.opened("c3") == 5)
    #expect(badge.received(try push(["type": "read", "badge": "4", "conversationId": "c2", "messageId": "m3"])) == 4)
    #expect(badge.opened("c2") == 4)
    #expect(badge.received(try message("m5", in: "c5", badge: 5)) == 5)
    #expect(
      badge.received(try push(["type": "deleted", "badge": "4", "conversationId": "c5", "messageId": "m5"])) == 4)
    #expect(badge.opened("c5") == 4)
  }

  @Test("C9: after a launch the number on the icon is what reads are taken from")
  func launched() throws {
    var badge = BadgeCounter()
    #expect(
      badge.launched(
        showing: 7, delivered: [try message("m1", in: "c1", badge: 2), try message("m2", in: "c2", badge: 3)]) == 7)
    #expect(badge.opened("c1") == 6)
    #expect(badge.opened("c9") == 6)
  }
}

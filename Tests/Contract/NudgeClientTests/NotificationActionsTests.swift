import Foundation
import NudgeClient
import Synchronization
import Testing

/// "id-1", "id-2", …
final class CountingIds: Sendable {
  private let count = Mutex(0)

  func next() -> String {
    count.withLock { count in
      count += 1
      return "id-\(count)"
    }
  }
}

@Suite("C2: actions")
struct NotificationActionsTests {
  let now = Date(timeIntervalSince1970: 1_763_712_000.123)
  let actions: NotificationActions

  init() {
    let ids = CountingIds()
    actions = NotificationActions(userId: "ada", deviceId: "d1") { ids.next() }
  }

  private func event(_ response: NotificationResponse) throws -> ClientEvent {
    switch actions.plan(for: response, to: try messagePush(), at: now) {
    case .publish(let event), .open(_, let event): event
    case .refuse(let refusal): throw RefusedError(refusal: refusal)
    case .openCatchUp, .none: throw RefusedError(refusal: .noMessage)
    }
  }

  private struct RefusedError: Error { var refusal: NotificationActions.Refusal }

  private func json(_ event: ClientEvent) throws -> [String: String] {
    let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(event))
    return try #require(object as? [String: Any]).mapValues { "\($0)" }
  }

  @Test("C2: Reply, Mark Read, Helpful, Not Helpful, in this order, with the identifiers of the catalogue")
  func categories() {
    #expect(NotificationCategory.all(.english).map(\.identifier) == ["SMART_NOTIFICATION_CATEGORY", "MESSAGE"])
    for category in NotificationCategory.all(.english) {
      #expect(
        category.actions.map(\.identifier.rawValue)
          == ["REPLY_ACTION", "MARK_READ_ACTION", "HELPFUL_ACTION", "NOT_HELPFUL_ACTION"])
      #expect(category.actions.map(\.title) == ["Reply", "Mark Read", "👍 Helpful", "👎 Not Helpful"])
      #expect(category.actions.map { $0.textInput?.buttonTitle } == ["Send", nil, nil, nil])
      #expect(category.actions.first?.textInput?.placeholder == "Type a message…")
      #expect(category.actions.map(\.isDestructive) == [false, false, false, true])
    }
    #expect(PushPayload.Message.Origin.smart.category().identifier == "SMART_NOTIFICATION_CATEGORY")
    #expect(PushPayload.Message.Origin.fallback.category().identifier == "MESSAGE")
  }

  @Test("C2: the system's and the catalogue's identifiers become responses, others none")
  func identifiers() {
    #expect(NotificationResponse(actionIdentifier: "REPLY_ACTION", userText: "Yes") == .reply("Yes"))
    #expect(NotificationResponse(actionIdentifier: "REPLY_ACTION") == .reply(""))
    #expect(NotificationResponse(actionIdentifier: "MARK_READ_ACTION") == .markRead)
    #expect(NotificationResponse(actionIdentifier: "HELPFUL_ACTION") == .helpful)
    #expect(NotificationResponse(actionIdentifier: "NOT_HELPFUL_ACTION") == .notHelpful)
    #expect(NotificationResponse(actionIdentifier: "com.apple.UNNotificationDefaultActionIdentifier") == .open)
    #expect(NotificationResponse(actionIdentifier: "com.apple.UNNotificationDismissActionIdentifier") == .dismiss)
    #expect(NotificationResponse(actionIdentifier: "SNOOZE_ACTION") == nil)
  }

  @Test("C2: a reply publishes message.created with a new message id, answering the message")
  func reply() throws {
    #expect(
      try json(event(.reply(" On my way \n"))) == [
        "schemaVersion": "1", "type": "message.created", "eventId": "id-2", "occurredAt": "1763712000123",
        "conversationId": "c1", "messageId": "id-1", "senderId": "ada", "text": "On my way", "replyTo": "m1",
      ])
  }

  @Test("C2: Mark Read publishes message.read up to the message, from this device")
  func markRead() throws {
    #expect(
      try json(event(.markRead)) == [
        "schemaVersion": "1", "type": "message.read", "eventId": "id-1", "occurredAt": "1763712000123",
        "userId": "ada", "conversationId": "c1", "messageId": "m1", "deviceId": "d1",
      ])
  }

  @Test("C2: Helpful and Not Helpful publish feedback.submitted")
  func feedback() throws {
    for (response, feedback) in [(NotificationResponse.helpful, "helpful"), (.notHelpful, "not_helpful")] {
      let fields = try json(event(response))
      #expect(fields["type"] == "feedback.submitted")
      #expect(fields["feedback"] == feedback)
      #expect(fields["userId"] == "ada")
      #expect(fields["conversationId"] == "c1")
      #expect(fields["messageId"] == "m1")
      #expect(fields.count == 8)
    }
  }

  @Test("C3: a tap opens the conversation at the message and publishes notification.opened; a swipe, dismissed")
  func tap() throws {
    let plan = actions.plan(for: .open, to: try messagePush(), at: now)
    guard case .open(let route, let event) = plan else {
      Issue.record("\(plan)")
      return
    }
    #expect(route == Route(conversationId: "c1", messageId: "m1"))
    #expect(
      try json(event) == [
        "schemaVersion": "1", "type": "notification.opened", "eventId": "id-1", "occurredAt": "1763712000123",
        "userId": "ada", "deviceId": "d1", "pushId": "p1", "conversationId": "c1", "messageId": "m1",
        "sentAt": "1763712000000",
      ])
    #expect(try self.event(.dismiss).body.type == "notification.dismissed")
    let received = ClientEvent.received(try messagePush(), deviceId: "d1", eventId: "e", at: now)
    #expect(received.body.type == "notification.received")
    #expect(try json(received)["pushId"] == "p1")
  }

  @Test("C2: nobody signed in, another account, an empty reply and a push without a message are refused")
  func refusals() throws {
    let signedOut = NotificationActions(userId: nil, deviceId: "d1") { "x" }
    let other = NotificationActions(userId: "eve", deviceId: "d1") { "x" }
    for response in [NotificationResponse.reply("Hi"), .markRead, .helpful, .notHelpful, .open, .dismiss] {
      #expect(signedOut.plan(for: response, to: try messagePush(), at: now) == .refuse(.notSignedIn))
      #expect(other.plan(for: response, to: try messagePush(), at: now) == .refuse(.otherAccount))
    }
    #expect(actions.plan(for: .reply(" \n"), to: try messagePush(), at: now) == .refuse(.emptyReply))
    let badge = try PushPayload(data: ["type": "badge", "badge": "1", "pushId": "p", "recipientId": "ada"])
    #expect(actions.plan(for: .markRead, to: badge, at: now) == .refuse(.noMessage))
  }

  @Test(
    "C2, D7: \"Message sent\"; Mark Read removes up to its message; on failure an error, and the conversation opens")
  func completion() throws {
    let route = Route(conversationId: "c1", messageId: "m1")
    let push = try messagePush()
    let mark = ReadMark(conversationId: "c1", messageId: "m1", time: push.timestamp)
    let reply = try event(.reply("Hi"))
    #expect(NotificationActions.completion(of: reply, to: push, succeeded: true, in: .english) == .tell("Message sent"))
    #expect(
      NotificationActions.completion(of: reply, to: push, succeeded: false, in: .english)
        == .fail("Message could not be sent", open: route))
    let read = try event(.markRead)
    #expect(
      NotificationActions.completion(of: read, to: push, succeeded: true, in: .english) == .removeNotifications(mark))
    #expect(
      NotificationActions.completion(of: read, to: push, succeeded: false, in: .english)
        == .fail("Could not be marked as read", open: route))
    let feedback = try event(.helpful)
    #expect(NotificationActions.completion(of: feedback, to: push, succeeded: true, in: .english) == .none)
    #expect(
      NotificationActions.completion(of: feedback, to: push, succeeded: false, in: .english)
        == .fail("Feedback could not be sent", open: route)
    )
    let dismissed = try event(.dismiss)
    #expect(NotificationActions.completion(of: dismissed, to: push, succeeded: false, in: .english) == .none)
  }

  @Test("an event kept by the app while offline is the same when it is read again, with the same event id")
  func codable() throws {
    for response in [NotificationResponse.reply("a\u{0}🙂"), .markRead, .helpful, .notHelpful, .open, .dismiss] {
      let event = try event(response)
      #expect(try JSONDecoder().decode(ClientEvent.self, from: JSONEncoder().encode(event)) == event)
    }
    for text in [
      #"{"schemaVersion":2,"type":"message.read","eventId":"e","occurredAt":1,"userId":"a","conversationId":"c"}"#,
      #"{"schemaVersion":1,"type":"message.edited","eventId":"e","occurredAt":1,"userId":"a","conversationId":"c"}"#,
      #"{"schemaVersion":1,"type":"message.read","eventId":"e","occurredAt":1,"userId":"a"}"#,
    ] {
      #expect(throws: DecodingError.self) { try JSONDecoder().decode(ClientEvent.self, from: Data(text.utf8)) }
    }
  }
}

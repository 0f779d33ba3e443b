import Foundation
import NudgeSchema
import StreamRuntime
import Testing

@testable import Dispatcher

@Suite("What waits follows the person's wishes and their device")
struct WishesTests {
  /// A push that FCM failed, and that waits for its next attempt.
  private func failed(_ changes: (inout Push) -> Void = { _ in }) throws -> DispatcherBench {
    let bench = DispatcherBench()
    var push = DispatcherBench.push("p1", body: "the code is 1234")
    push.imageUrl = "https://cdn.example.com/plan.png"
    push.conversation = PushConversation(senderName: "Bob", kind: .group, name: "Team")
    push.title = "Bob in Team"
    changes(&push)
    try bench.send(push)
    try bench.answer(.unavailable)
    return bench
  }

  private func tell(_ bench: DispatcherBench, _ cancelled: PushCancelled) throws {
    _ = try bench.send(.cancelled(cancelled), user: cancelled.userId, cause: nil)
    #expect(bench.rejections.isEmpty)
  }

  private func body(_ bench: DispatcherBench) -> String { String(decoding: bench.air.first?.body ?? [], as: UTF8.self) }

  @Test("D8: previews that are turned off while a push waits: its text and picture are not sent")
  func previews() throws {
    let bench = try failed { $0.language = "de" }
    try tell(bench, PushCancelled(userId: "ann", showPreviews: false))
    try bench.wakeUntilSent()
    #expect(body(bench).contains("Neue Nachricht von Bob") && body(bench).contains("Bob in Team"))
    #expect(!body(bench).contains("1234") && !body(bench).contains("plan.png"))
    try bench.answer(.sent)
    #expect(bench.outcomes.map(\.result) == [.sent])
    // Previews that are on again change nothing.
    try bench.send(DispatcherBench.push("p2", body: "later"))
    try tell(bench, PushCancelled(userId: "ann", showPreviews: true))
    #expect(body(bench).contains("later"))
  }

  @Test("D8: a request in flight is repeated without the text")
  func inFlight() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1", body: "the code is 1234"))
    try tell(bench, PushCancelled(userId: "ann", showPreviews: false))
    try bench.answer(.unavailable)
    try bench.wakeUntilSent()
    #expect(!body(bench).contains("1234") && body(bench).contains("New message from Bob"))
  }

  @Test("D18: a catch-up that waits loses its lines with the previews")
  func catchUp() throws {
    let bench = try failed {
      $0.kind = .digest
      $0.title = "2 messages in 1 conversation"
      $0.digest = Digest(
        messages: 2, conversations: 1,
        lines: [Digest.Line(conversationId: "c1", messageId: "m1", title: "Bob", text: "the code is 1234")])
    }
    try tell(bench, PushCancelled(userId: "ann", showPreviews: false))
    try bench.wakeUntilSent()
    #expect(!body(bench).contains("1234") && body(bench).contains("2 messages in 1 conversation"))
  }

  @Test("D14: a sender muted in groups, and a level that shows nothing, end what waits of them, and nothing else")
  func senderAndLevel() throws {
    let bench = try failed()
    var direct = DispatcherBench.push("direct", conversation: "d1")
    direct.conversation = PushConversation(senderName: "Bob", kind: .direct)
    try bench.send(direct)
    var eve = DispatcherBench.push("eve", conversation: "c1")
    (eve.senderId, eve.conversation) = ("eve", PushConversation(senderName: "Eve", kind: .group, name: "Team"))
    try bench.send(eve)
    try bench.send(DispatcherBench.push("read", kind: .read, presentation: .badge))
    try tell(bench, PushCancelled(userId: "ann", kind: .message, senderId: "bob", conversationKind: .group))
    #expect(bench.outcomes.map(\.pushId) == ["p1"] && bench.outcomes[0].result == .cancelled)
    try tell(
      bench,
      PushCancelled(
        userId: "ann", kind: .message, conversationKind: .group, exceptConversations: [Digest.key("c1")]))
    #expect(bench.outcomes.count == 1)
    try tell(bench, PushCancelled(userId: "ann", kind: .message, conversationKind: .group))
    #expect(bench.outcomes.map(\.pushId) == ["p1", "eve"])
    #expect(try bench.lane()?.items.map(\.push.pushId) == ["direct", "read"])
  }

  @Test("D14: at the level mentions, what addresses the person or has high priority goes on")
  func mentions() throws {
    let bench = try failed { $0.priority = .medium }
    for (id, change) in [
      ("mentioned", { (push: inout Push) in push.mentioned = true }), ("answered", { $0.answered = true }),
      ("high", { $0.priority = .high }), ("other", { _ in }),
    ] as [(String, (inout Push) -> Void)] {
      var push = DispatcherBench.push(id, presentation: .silent)
      change(&push)
      try bench.send(push)
    }
    try tell(bench, PushCancelled(userId: "ann", conversationId: "c1", kind: .message, exceptAddressed: true))
    #expect(Set(bench.outcomes.map(\.pushId)) == ["p1", "other"])
  }

  @Test("D2: quiet hours that were set while a push waits hold a mention of high priority back; what is urgent goes on")
  func quietHours() throws {
    // 08:00 UTC.
    let hours = QuietHours(start: "07:00", end: "12:00", timeZone: nil)
    let bench = try failed { $0.mentioned = true }
    try tell(bench, PushCancelled(userId: "ann", quietHours: hours))
    while bench.outcomes.isEmpty, bench.wakeAt != nil, bench.air.isEmpty { try bench.wake() }
    #expect(bench.outcomes.map(\.errorCode) == ["quiet_hours"])
    let urgent = try failed { $0.urgent = true }
    try tell(urgent, PushCancelled(userId: "ann", quietHours: hours))
    try urgent.wakeUntilSent()
    #expect(urgent.air.count == 1)
  }

  // MARK: A new token

  private let fresh = PushTarget(deviceId: "phone", token: "token-new", version: 5, platform: .ios)

  @Test("T1: a new token while a push waits takes the push along")
  func newToken() throws {
    let bench = try failed()
    try tell(bench, PushCancelled(userId: "ann", deviceId: "phone", target: fresh))
    #expect(bench.outcomes.isEmpty)
    try bench.wakeUntilSent()
    #expect(bench.air.first?.token == "token-new" && body(bench).contains("1234"))
    try bench.answer(.sent)
    #expect(bench.outcomes.map(\.result) == [.sent])
    #expect(bench.outcomes[0].tokenHash == DispatcherRules.sha256("token-new"))
  }

  @Test("T1: so does the next push to the device")
  func nextPush() throws {
    let bench = try failed()
    var next = DispatcherBench.push("p2")
    next.targets = [fresh]
    try bench.send(next)
    try bench.wakeUntilSent()
    #expect(bench.air.first?.pushId == "p1" && bench.air.first?.token == "token-new")
  }

  @Test("T3: the refusal of a token that the device no longer has ends nothing and removes nothing")
  func formerTokenRefused() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1"))
    #expect(bench.air.first?.token == "token-phone-1")
    try tell(bench, PushCancelled(userId: "ann", deviceId: "phone", target: fresh))
    try bench.answer(.unregistered)
    try bench.wakeUntilSent()
    #expect(bench.outcomes.isEmpty && bench.invalidated.isEmpty)
    #expect(bench.air.first?.token == "token-new")
    try bench.answer(.unregistered)
    #expect(bench.outcomes.map(\.result) == [.invalidToken] && bench.invalidated.map(\.version) == [5])
  }

  @Test("T1: a registration of another device, or without one, is refused")
  func wrongTarget() throws {
    let bench = DispatcherBench()
    for device in ["tablet", nil] {
      _ = try bench.send(
        .cancelled(PushCancelled(userId: "ann", deviceId: device, messageId: "m", target: fresh)), user: "ann",
        cause: nil)
    }
    #expect(bench.rejections.count == 2)
  }

  // MARK: Waits

  @Test(
    "P3: whatever FCM asks for, the push is asked for again within minutes while it is fresh",
    arguments: ["99999999999999999999", "86400", "3600", "Fri, 31 Dec 2099 23:59:59 GMT"])
  func retryAfter(header: String) throws {
    for status in [503, 429, 500] {
      let bench = DispatcherBench()
      try bench.send(DispatcherBench.push("p1", expiresIn: 3_600_000))
      var attempts = 0
      while let request = bench.air.first {
        attempts += 1
        let answer = PushAnswer(status: status, retryAfter: header, body: [], now: bench.now)
        let before = bench.now
        try bench.answer(answer, to: request)
        try bench.wakeUntilSent()
        if !bench.air.isEmpty { #expect(bench.now - before <= 330_000) }
      }
      #expect(attempts >= 10, "\(status)")
      #expect(bench.outcomes.map(\.result) == [.gaveUp])
      #expect(bench.now >= DispatcherBench.start + 3_600_000 - 330_000)
    }
  }
}

@Suite("Notifications of Android and of browsers")
struct PlatformPresentationTests {
  private func message(_ push: Push, _ target: PushTarget, webLink: WebLink? = nil) throws -> [String: Any] {
    let bytes = try #require(
      FCMMessage(push: push, target: target, occurredAt: 1, hash: DispatcherRules.sha256, webLink: webLink).encoded())
    let root = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    return try #require(root["message"] as? [String: Any])
  }

  private func text(_ message: [String: Any], _ path: String) -> String? {
    path.split(separator: "/").reduce(message as Any?) { ($0 as? [String: Any])?[String($1)] } as? String
  }

  private func push(_ presentation: Presentation) -> Push {
    var push = DispatcherBench.push("p1", presentation: presentation, platform: .android)
    push.conversation = PushConversation(senderName: "Bob", kind: .group, name: "Team")
    (push.imageUrl, push.avatarUrl) = ("https://cdn.example.com/i.png", "https://cdn.example.com/bob.png")
    return push
  }

  @Test("an app that draws gets data alone, at high priority for alerts, with all that a conversation's style needs")
  func renders() throws {
    for presentation in [Presentation.alert, .silent] {
      let push = push(presentation)
      var target = push.targets[0]
      target.renders = true
      let sent = try message(push, target)
      #expect(sent["notification"] == nil)
      let android = try #require(sent["android"] as? [String: Any])
      #expect(android["notification"] == nil && android["collapse_key"] == nil)
      #expect(android["priority"] as? String == (presentation == .alert ? "HIGH" : "NORMAL"))
      let data = try #require(sent["data"] as? [String: String])
      let wanted = [
        "title": "Bob", "body": "Hello", "conversationId": "c1", "messageId": "m-p1", "senderId": "bob",
        "senderName": "Bob", "conversationTitle": "Team", "isGroup": "true",
        "avatarUrl": "https://cdn.example.com/bob.png", "imageUrl": "https://cdn.example.com/i.png",
        "presentation": presentation.rawValue, "category": "SMART_NOTIFICATION_CATEGORY", "timestamp": "0",
      ]
      for (key, value) in wanted { #expect(data[key] == value, "\(key)") }
    }
    // Of other systems the flag says nothing.
    var iPhone = push(.alert).targets[0]
    (iPhone.platform, iPhone.renders) = (.ios, true)
    #expect(try message(push(.alert), iPhone)["notification"] != nil)
  }

  @Test(
    "silent messages of a conversation are one notification on Android, with how many there are; alerts are one each")
  func summary() throws {
    var tags: Set<String> = []
    for number in 1...3 {
      var push = push(.silent)
      (push.messageId, push.unread, push.language) = ("m\(number)", number, "de")
      let sent = try message(push, push.targets[0])
      tags.insert(try #require(text(sent, "android/notification/tag")))
      #expect(text(sent, "notification/body") == (number == 1 ? "Hello" : "\(number) Nachrichten · Hello"))
      #expect(text(sent, "data/messageId") == "m\(number)")
      push.presentation = .alert
      tags.insert(try #require(text(try message(push, push.targets[0]), "android/notification/tag")))
    }
    #expect(tags.count == 4)
    var other = push(.silent)
    (other.conversationId, other.unread) = ("c2", 1)
    #expect(!tags.contains(try #require(text(try message(other, other.targets[0]), "android/notification/tag"))))
  }

  @Test("nothing that shows nothing goes to a browser, unless its app is in the foreground")
  func webSilent() throws {
    for (kind, presentation) in [
      (Push.Kind.badge, Presentation.badge), (.read, .badge), (.deleted, .badge), (.message, .badge),
    ] {
      let bench = DispatcherBench()
      try bench.send(DispatcherBench.push("p1", kind: kind, presentation: presentation, platform: .web))
      #expect(bench.air.isEmpty && bench.outcomes.map(\.errorCode) == ["web_in_background"])
      #expect(bench.outcomes.map(\.result) == [.cancelled])
      var shown = DispatcherBench.push("p2", kind: kind, presentation: presentation, platform: .web)
      shown.targets[0].foreground = true
      try bench.send(shown)
      #expect(bench.air.count == 1)
    }
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1", presentation: .silent, platform: .web))
    #expect(bench.air.count == 1)
  }

  @Test("a click on the web opens the conversation")
  func link() throws {
    let link = try WebLink("https://chat.example.com/c/{conversationId}?m={messageId}")
    var push = push(.alert)
    push.targets[0].platform = .web
    (push.conversationId, push.messageId) = ("a/b {messageId}", "ü&x")
    let sent = try message(push, push.targets[0], webLink: link)
    #expect(
      text(sent, "webpush/fcm_options/link")
        == "https://chat.example.com/c/a%2Fb%20%7BmessageId%7D?m=%C3%BC%26x")
    #expect(text(try message(push, push.targets[0]), "webpush/fcm_options/link") == nil)
    for wrong in ["http://chat.example.com/{conversationId}", "/c/{conversationId}", "chat", ""] {
      #expect(throws: (any Error).self) { _ = try WebLink(wrong) }
    }
  }
}

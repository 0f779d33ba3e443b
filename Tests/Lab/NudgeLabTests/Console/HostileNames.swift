import Foundation
import NudgeSchema
import TestSupport
import Testing

/// Ids, names and texts that would run, break or hide something if a page took them for more than text.
struct HostileNames {
  /// Ends each id, so that they differ.
  private let base: String

  static let all = [
    HostileNames(base: "<img src=x onerror=\"window.ran=1\">\u{202E}\"><script>window.ran=1</script>"),
    HostileNames(
      base: "javascript:window.ran=1//'+(window.ran=1)+'${window.ran=1}{{window.ran=1}}&lt;b&gt;%3Cb%3E#?&=;,|"),
    HostileNames(base: String(repeating: "W", count: 230)),
    HostileNames(base: String(repeating: "ﷺ\u{301}👨‍👩‍👧‍👦\u{200F}", count: 6)),
  ]

  func callAsFunction(_ what: String) -> String { base + what }

  /// Writes events that have it in every field: a conversation, a device, preferences, a message, reports, and records that are refused. Waits until
  /// they are decided about.
  func fill(_ demo: DemoWithConsole) throws {
    let (user, sender, conversation) = (self("u"), self("s"), self("c"))
    try demo.produce(
      [
        "type": "device.registered", "userId": user, "deviceId": self("d"), "token": "token-of-\(base.utf8.count)",
        "platform": "ios", "appVersion": String(base.prefix(12)),
      ], key: user, to: .userEvents)
    try demo.produce(
      [
        "type": "preferences.updated", "userId": user,
        "preferences": ["keywords": [String(base.prefix(20))], "starredSenders": [sender]],
      ], key: user, to: .userEvents)
    try wait(for: "the device") {
      let answer = try demo.object(try demo.run(["explain", "--user", user, "--since", "1s", "--json"]))
      return (answer["devices"] as? [Any])?.isEmpty == false
    }
    let members = [user, sender].map { ["userId": $0, "displayName": String(self("n").prefix(200))] }
    try demo.produce(
      [
        "type": "conversation.updated", "conversationId": conversation, "kind": "group",
        "name": String(self("g").prefix(200)), "members": members,
      ], key: conversation, to: .chatEvents)
    try demo.produce(
      [
        "type": "message.created", "conversationId": conversation, "messageId": self("m"), "senderId": sender,
        "text": base + "\n" + base, "mentions": [user],
      ], key: conversation, to: .chatEvents)
    try demo.produce(
      [
        "type": "message.created", "conversationId": conversation, "messageId": self("x"), "senderId": sender,
        "text": [base],
      ],
      key: conversation, to: .chatEvents)
    try demo.produce(
      [
        "type": base, "conversationId": self("y"),
      ], key: base, to: .chatEvents)
    try wait(for: "the outcome") {
      try demo.records("outcomes", "--user", user).contains { $0["result"] as? String == "sent" }
    }
    let push = try #require(try demo.records("outcomes", "--user", user).first?["pushId"] as? String)
    try demo.produce(
      [
        "type": "notification.opened", "userId": user, "deviceId": self("d"), "pushId": push,
        "conversationId": conversation, "messageId": self("m"),
      ], key: user, to: .userEvents)
    try wait(for: "the receipt") {
      try demo.records("outcomes", "--user", user).contains { $0["type"] as? String == "receipt" }
    }
  }

  /// Opens each page for it, also with it in each parameter of the link.
  func visit(_ tour: ConsoleTour, _ demo: DemoWithConsole) throws {
    let (user, message, conversation) = (self("u"), self("m"), self("c"))
    try tour.person(user, isThorough: false)
    try tour.message(message, in: conversation, isThorough: false)
    let page = tour.page
    let story = ["user": user, "message": message, "conversation": conversation]
    try page.open(ConsolePage.view("person", story), until: "document.querySelector('.moments')")
    #expect(try page.texts(".moment .what").joined().contains("opened there"))
    try page.inspect("A hostile story", isThorough: false)
    for reason in ["schema_violation", "unknown_type"] {
      try page.open(
        ConsolePage.view("dead-letters", ["reason": reason, "key": reason == "unknown_type" ? base : conversation]),
        until: "document.querySelector('main table')")
      try page.inspect("Hostile dead letters, \(reason)", isThorough: false)
      let place = try tour.place(ofLetter: reason, key: reason == "unknown_type" ? base : conversation)
      try page.open(
        ConsolePage.view("dead-letters", ["reason": reason, "place": place]), until: "document.querySelector('pre')")
      try page.inspect("A hostile dead letter, \(reason)", isThorough: false)
    }
    let everywhere = [
      "reason": base, "stage": base, "topic": base, "producer": base, "place": base, "since": base, "mode": base,
      "replay": base, "until": base, "user": base, "message": base, "conversation": base, "key": base, "device": base,
    ]
    for name in ["live", "person", "message", "funnel", "dead-letters", "replays", "policy", "phones", base] {
      try page.open(ConsolePage.view(name, everywhere))
      try page.inspect("\(name.prefix(20)), all hostile", isThorough: false)
    }
    try page.open(
      ConsolePage.view("replays", ["plan": "yes", "user": user, "conversation": conversation, "message": message]))
    try page.inspect("A hostile plan", isThorough: false)
  }
}

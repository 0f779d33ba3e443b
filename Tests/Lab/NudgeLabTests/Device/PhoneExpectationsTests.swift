import Foundation
import NudgeClient
import Testing
import VirtualPhone

@testable import NudgeLab

/// The checker is itself checked: what is as it must be passes, and each way to be wrong is found.
@Suite("Expectations of virtual phones")
struct PhoneExpectationsTests {
  /// Ann and Bob with a phone each, in a direct conversation and, with Cleo, in a group.
  private struct Story {
    var expectations = PhoneExpectations()
    var phones: [VirtualPhone] = []
    private var lastId = 0

    static let start: Int64 = 1_800_000_000_000

    init() throws {
      expectations.conversation("direct", members: ["ann", "bob"], isGroup: false)
      expectations.conversation("group", members: ["ann", "bob", "cleo"], isGroup: true)
      expectations.person("ann")
      expectations.person("bob")
      for (number, userId) in ["ann", "bob"].enumerated() {
        var phone = VirtualPhone(
          device: Device(deviceId: "\(userId)/phone", platform: .ios), token: "t\(number)",
          makeId: { UUID().uuidString })
        _ = phone.take(.signIn(userId: userId), at: Date(timeIntervalSince1970: Double(Self.start) / 1_000))
        phones.append(phone)
        expectations.record(.signedIn(userId: userId), by: number, userId: userId, at: Self.start)
        expectations.record(.registered(userId: userId), by: number, userId: userId, at: Self.start)
      }
    }

    /// An event of ann's or bob's, this many seconds after the beginning.
    mutating func event(_ body: ClientEvent.Body, at seconds: Double) {
      lastId += 1
      let time = Date(timeIntervalSince1970: Double(Self.start) / 1_000 + seconds)
      expectations.published(ClientEvent(eventId: "e\(lastId)", occurredAt: time, body))
    }

    mutating func message(_ id: String, in conversation: String = "direct", at seconds: Double, _ text: String = "Hi") {
      event(
        .messageCreated(.init(conversationId: conversation, messageId: id, senderId: "ann", text: text)), at: seconds)
    }

    mutating func activity(_ state: ClientEvent.ActivityState, _ conversation: String?, at seconds: Double) {
      event(
        .userActivity(.init(userId: "bob", deviceId: "bob/phone", state: state, conversationId: conversation)),
        at: seconds)
    }

    /// A push of the message to a phone, which shows it or not as NudgeClient says.
    mutating func push(
      _ id: String, to phone: Int = 1, title: String = "ann", body: String = "Hi", priority: String = "medium",
      conversation: String = "direct", recipient: String = "bob", badge: Int = 1, at seconds: Double
    ) throws {
      let sound = priority == "high" ? #""sound":"default","# : ""
      let json = #"""
        {"message":{"token":"t\#(phone)","notification":{"title":"\#(title)","body":"\#(body)"},
        "data":{"type":"new_message","conversationId":"\#(conversation)","messageId":"\#(id)","senderId":"ann",
        "recipientId":"\#(recipient)","pushId":"p-\#(id)","priority":"\#(priority)","badge":"\#(badge)"},
        "apns":{"headers":{"apns-collapse-id":"\#(id)"},
        "payload":{"aps":{\#(sound)"thread-id":"\#(conversation)"}}}}}
        """#
      let message = try #require(DeliveredMessage(body: Array(json.utf8)))
      let time = Date(timeIntervalSince1970: Double(Self.start) / 1_000 + seconds)
      let at = Int64(time.timeIntervalSince1970 * 1_000)
      for output in phones[phone].take(.delivery(message, takenAt: at), at: time) {
        guard case .note(let note) = output else { continue }
        expectations.record(note, by: phone, userId: phones[phone].userId, at: at)
      }
    }

    var verdict: PhoneExpectations.Verdict { expectations.verdict(phones: phones) }
  }

  @Test("a message shown as it was written violates nothing, and has its latency")
  func fine() throws {
    var story = try Story()
    story.message("m1", at: 10)
    try story.push("m1", at: 10.25)
    let verdict = story.verdict
    #expect(verdict.violations.isEmpty)
    #expect((verdict.expected, verdict.seen, verdict.screens) == (1, 1, 2))
    #expect(story.expectations.latencies == [250])
  }

  @Test("D3: at smart, by simple rules, urgent words alert; other direct and small group messages are silent")
  func rules() throws {
    var story = try Story()
    story.message("m1", at: 10, "urgent")
    story.message("m2", at: 20)
    story.message("m3", in: "group", at: 30)
    try story.push("m1", body: "urgent", priority: "high", at: 10.1)
    try story.push("m2", at: 20.1)
    #expect(story.verdict.violations.contains { $0.contains("did not show m3") })
    try story.push("m3", title: "ann in group", conversation: "group", badge: 2, at: 30.1)
    #expect(story.verdict.violations.isEmpty, "\(story.verdict.violations)")
    // Within five seconds of a sound nothing is expected of the next.
    story.message("m4", at: 32, "urgent")
    story.message("m5", at: 34, "urgent")
    #expect(story.verdict.open >= 2)
  }

  @Test("finds a message that is missing, shown twice, too loud, another person's, or with another text or name")
  func wrong() throws {
    let cases: [(String, (inout Story) throws -> Void)] = [
      ("did not show", { _ in }),
      ("as alert", { try $0.push("m1", priority: "high", at: 10.1) }),
      ("another text", { try $0.push("m1", body: "Ho", at: 10.1) }),
      ("not as", { try $0.push("m1", title: "bob", at: 10.1) }),
      ("their own message", { try $0.push("m1", to: 0, recipient: "ann", at: 10.1) }),
      ("has the badge 3", { try $0.push("m1", badge: 3, at: 10.1) }),
    ]
    for (reason, happens) in cases {
      var story = try Story()
      story.message("m1", at: 10)
      try happens(&story)
      #expect(story.verdict.violations.contains { $0.contains(reason) }, "\(reason): \(story.verdict.violations)")
    }
    var stranger = try Story()
    stranger.expectations.conversation("others", members: ["ann", "cleo"], isGroup: false)
    stranger.message("m1", in: "others", at: 10)
    try stranger.push("m1", conversation: "others", at: 10.1)
    #expect(stranger.verdict.violations.contains { $0.contains("not for bob") })
  }

  @Test(
    "D1: the open conversation suppresses, an old report does not, and close to a change nothing is expected")
  func activity() throws {
    var story = try Story()
    story.activity(.foreground, "direct", at: 10)
    story.message("m1", at: 20)
    #expect(story.verdict.expectedSuppressed == 1)
    try story.push("m1", at: 20.1)
    #expect(story.verdict.violations.contains { $0.contains("before their eyes") })

    var late = try Story()
    late.activity(.foreground, "direct", at: 10)
    late.message("m1", at: 140)
    #expect(late.verdict.expected == 1)

    var close = try Story()
    close.activity(.foreground, "direct", at: 10)
    close.message("m1", at: 11)
    #expect(close.verdict.expected == 0)
    #expect(close.verdict.open >= 1)
  }

  @Test(
    "T2: a phone that was signed out before shows nothing of its former owner; while it changes hands nothing is expected"
  )
  func owners() throws {
    var story = try Story()
    let time = Date(timeIntervalSince1970: Double(Story.start) / 1_000 + 5)
    _ = story.phones[1].take(.network(false), at: time)
    _ = story.phones[1].take(.signOut, at: time)
    story.expectations.record(.signedOut(userId: "bob"), by: 1, userId: nil, at: Story.start + 5_000)
    story.message("m1", at: 20)
    #expect(story.verdict.expected == 0)
    let push = try PushPayload(data: [
      "type": "new_message", "conversationId": "direct", "messageId": "m1", "senderId": "ann", "recipientId": "bob",
      "pushId": "p", "priority": "medium",
    ])
    var shown = try Story()
    try shown.push("m1", at: 1)
    let entry = try #require(shown.phones[1].lockScreen.entries.first)
    story.expectations.record(.shown(entry, [.list], by: push), by: 1, userId: nil, at: Story.start + 20_100)
    #expect(story.verdict.violations.contains { $0.contains("not for nobody") })
  }

  @Test("D7: a read message must leave the phone, and a push error is a violation")
  func read() throws {
    var story = try Story()
    story.message("m1", at: 10)
    try story.push("m1", at: 10.1)
    story.event(
      .messageRead(.init(userId: "bob", conversationId: "direct", deviceId: "bob/tablet")), at: 30)
    #expect(story.verdict.violations.contains { $0.contains("still shows m1") })
    story.expectations.record(.fault("two badges"), by: 1, userId: "bob", at: Story.start)
    #expect(story.verdict.violations.contains("two badges"))
  }
}

import Foundation
import NudgeClient
import Testing

@Suite("D18: catch-ups in the app")
struct CatchUpTests {
  private func digest(_ changes: [String: String?] = [:]) throws -> PushPayload {
    var data: [String: String] = [
      "type": "digest", "recipientId": "ada", "pushId": "p9", "priority": "medium", "presentation": "alert",
      "badge": "3", "timestamp": "1763712000", "messages": "14", "conversations": "3",
      "lines": #"[{"conversationId":"c1","messageId":"m1","title":"Ben in Launch","text":"Ready?"},"#
        + #"{"conversationId":"c2","messageId":"m2","title":"Cleo","text":"Lunch \"today\"?"}]"#,
    ]
    for (key, value) in changes { data[key] = value }
    return try PushPayload(data: data)
  }

  private func catchUp(_ push: PushPayload) -> CatchUp? {
    if case .catchUp(let catchUp) = push.content { catchUp } else { nil }
  }

  @Test("it has counts, and lines that lead to their messages")
  func decoded() throws {
    let catchUp = try #require(catchUp(try digest()))
    #expect(catchUp.messages == 14 && catchUp.conversations == 3 && catchUp.presentation == .alert)
    #expect(catchUp.lines.map(\.title) == ["Ben in Launch", "Cleo"])
    #expect(catchUp.lines.last?.text == #"Lunch "today"?"#)
    #expect(catchUp.lines.first?.route == Route(conversationId: "c1", messageId: "m1"))
    #expect(catchUp.route == nil)
    let counts = try #require(self.catchUp(try digest(["lines": "[]"])))
    #expect(counts.lines.isEmpty && counts.route == nil)
    let one = #"[{"conversationId":"c1","messageId":"m1","title":"Ben","text":"Ready?"}]"#
    let single = try self.catchUp(digest(["messages": "1", "conversations": "1", "lines": one]))
    #expect(single?.route == Route(conversationId: "c1", messageId: "m1"))
  }

  @Test(
    "what is no catch-up of Nudge's is refused",
    arguments: [
      ["messages": "0"], ["messages": "x"], ["messages": nil], ["conversations": nil], ["lines": "no list"],
      ["lines": #"[{"conversationId":"c1"}]"#], ["lines": nil], ["presentation": "loud"], ["presentation": nil],
    ] as [[String: String?]])
  func refused(_ changes: [String: String?]) {
    #expect(throws: PushPayloadError.self) { try digest(changes) }
  }

  @Test("the system presents it in the background; the open app shows its list, without what is read or deleted")
  func presented() throws {
    var presenter = NotificationPresenter(userId: "ada", isForeground: false)
    let push = try digest()
    let whole = try #require(catchUp(push))
    #expect(presenter.receive(push) == .presentCatchUp(whole, [.banner, .list, .sound, .badge], badge: 3))
    presenter.isForeground = true
    presenter.conversationRead(ReadMark(conversationId: "c2", messageId: "m2"))
    guard case .presentCatchUp(let rest, let options, badge: 3) = presenter.receive(push) else {
      Issue.record("not presented")
      return
    }
    #expect(rest.lines.map(\.messageId) == ["m1"] && rest.messages == 14 && options == [.banner, .sound, .badge])
    // All that it tells of is read.
    let two = try digest(["messages": "2", "conversations": "2"])
    presenter.conversationRead(ReadMark(conversationId: "c1", messageId: "m1"))
    #expect(presenter.receive(two) == .setBadge(3))
    var other = NotificationPresenter(userId: "ben", isForeground: false)
    #expect(other.receive(push) == .drop(.otherRecipient))
  }

  @Test("a tap opens it; it has no buttons, and is reported by nobody")
  func actions() throws {
    let push = try digest()
    let actions = NotificationActions(userId: "ada", deviceId: "d1") { "id" }
    let whole = try #require(catchUp(push))
    #expect(actions.plan(for: .open, to: push, at: Date()) == .openCatchUp(whole))
    #expect(actions.plan(for: .dismiss, to: push, at: Date()) == NotificationActions.Plan.none)
    #expect(actions.plan(for: .markRead, to: push, at: Date()) == .refuse(.noMessage))
    var queue = ReceiptQueue(in: .app)
    #expect(queue.received(push, deviceId: "d1", at: Date()).isEmpty)
  }

  @Test("times to catch up: a list, none, or when quiet hours end")
  func preferences() throws {
    func json(_ change: PreferencesChange.DigestTimesChange?) throws -> NSDictionary? {
      var preferences = PreferencesChange()
      preferences.digestTimes = change
      let bytes = try JSONEncoder().encode(preferences)
      #expect(try JSONDecoder().decode(PreferencesChange.self, from: bytes) == preferences)
      return try JSONSerialization.jsonObject(with: bytes) as? NSDictionary
    }
    #expect(try json(nil) == [:])
    #expect(try json(.set(["12:30"])) == ["digestTimes": ["12:30"]])
    #expect(try json(.set([])) == ["digestTimes": [String]()])
    #expect(try json(.atQuietHoursEnd) == ["digestTimes": NSNull()])
  }

  @Test("D20: the most alerts in a day: a number, or the operator's")
  func dailyAlerts() throws {
    for (change, expected) in [
      (nil, [:]), (.set(0), ["dailyAlerts": 0]), (.asDefault, ["dailyAlerts": NSNull()]),
    ] as [(PreferencesChange.DailyAlertsChange?, NSDictionary)] {
      var preferences = PreferencesChange()
      preferences.dailyAlerts = change
      let bytes = try JSONEncoder().encode(preferences)
      #expect(try JSONDecoder().decode(PreferencesChange.self, from: bytes) == preferences)
      #expect(try JSONSerialization.jsonObject(with: bytes) as? NSDictionary == expected)
    }
  }
}

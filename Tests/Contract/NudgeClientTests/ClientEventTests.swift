import Foundation
import NudgeClient
import Testing

@Suite("Events that an app publishes")
struct ClientEventTests {
  private static let device = Device(deviceId: "d1", platform: .android, projectId: "p")

  private static let bodies: [ClientEvent.Body] = [
    .messageCreated(.init(conversationId: "c", messageId: "m", senderId: "ann", text: "hi", replyTo: "m0")),
    .messageRead(.init(userId: "ann", conversationId: "c", messageId: nil, deviceId: "d1")),
    .feedbackSubmitted(.init(userId: "ann", conversationId: "c", messageId: "m", feedback: .notHelpful)),
    .userActivity(.init(userId: "ann", deviceId: "d1", state: .background, conversationId: nil)),
    .userActivity(.init(userId: "ann", deviceId: "d1", state: .foreground, conversationId: "c")),
    .deviceRegistered(.init(userId: "ann", device: device, token: "t")),
    .deviceRegistered(
      .init(userId: "ann", device: Device(deviceId: "d1", platform: .android, renders: true), token: "t")),
    .userActivity(.init(userId: "ann", deviceId: "d1", state: .idle, conversationId: nil, lastInputAt: at(1))),
    .deviceUnregistered(.init(userId: "ann", deviceId: "d1")),
    .preferencesUpdated(.init(userId: "ann", preferences: all)),
    .preferencesUpdated(.init(userId: "ann", preferences: quietHoursOff)),
    .preferencesUpdated(.init(userId: "ann", preferences: lists)),
  ]

  private static var all: PreferencesChange {
    var change = PreferencesChange()
    change.enabled = true
    change.quietHours = .set(.init(start: "22:00", end: "07:00", timeZone: "Europe/Berlin"))
    change.maxAnalysesPerHour = 5
    change.fallback = .notifyAll
    change.muted = [.init(conversationId: "c", until: Date(timeIntervalSince1970: 2), exceptMentions: true)]
    change.starredSenders = ["bob"]
    change.mutedSenders = ["eve"]
    change.defaultLevels = .init(direct: .smart)
    change.conversationLevels = [.init(conversationId: "c", level: .mentions)]
    change.keywords = ["release"]
    change.badgeMode = .messages
    change.showPreviews = false
    change.locale = "de"
    change.digestTimes = .set(["12:30"])
    change.timeZone = "Europe/Berlin"
    change.dailyAlerts = .set(10)
    return change
  }

  private static var quietHoursOff: PreferencesChange {
    var change = PreferencesChange()
    change.quietHours = .off
    return change
  }

  private static var lists: PreferencesChange {
    var change = PreferencesChange()
    change.muted = .changed(add: [.init(conversationId: "c1")], remove: ["c2"])
    change.keywords = .changed(remove: ["release"])
    change.starredSenders = .all([])
    return change
  }

  @Test("D8: a change of a list names what is added and removed; a whole list replaces, also by nothing")
  func listChanges() throws {
    let event = ClientEvent(
      eventId: "e", occurredAt: at(0), .preferencesUpdated(.init(userId: "ann", preferences: Self.lists)))
    #expect(
      try json(event)["preferences"] as? NSDictionary == [
        "muted": ["add": [["conversationId": "c1"]], "remove": ["c2"]], "keywords": ["remove": ["release"]],
        "starredSenders": [String](),
      ])
  }

  @Test("What was written is read back alike, as by an app that was offline", arguments: bodies)
  func roundTrip(body: ClientEvent.Body) throws {
    let event = ClientEvent(eventId: "e", occurredAt: at(0), body)
    #expect(try JSONDecoder().decode(ClientEvent.self, from: JSONEncoder().encode(event)) == event)
    #expect(try json(event)["type"] as? String == body.type)
  }

  @Test("an app that draws says so, others nothing; a report has the last input where the app knows it")
  func optionalFields() throws {
    func fields(_ body: ClientEvent.Body) throws -> NSDictionary {
      try json(ClientEvent(eventId: "e", occurredAt: at(0), body))
    }
    let drawing = Device(deviceId: "d1", platform: .android, renders: true)
    #expect(
      try fields(.deviceRegistered(.init(userId: "ann", device: drawing, token: "t")))["renders"] as? Bool == true)
    #expect(try fields(.deviceRegistered(.init(userId: "ann", device: Self.device, token: "t")))["renders"] == nil)
    func activity(_ lastInput: Date?) -> ClientEvent.Body {
      .userActivity(.init(userId: "ann", deviceId: "d1", state: .idle, conversationId: nil, lastInputAt: lastInput))
    }
    #expect(try fields(activity(at(1.5)))["lastInputAt"] as? Int64 == 1_001_500)
    #expect(try fields(activity(at(1.5)))["state"] as? String == "idle")
    #expect(try fields(activity(nil))["lastInputAt"] == nil)
  }

  @Test("D8, D14: preferences name only the fields that change; quiet hours that end are null")
  func preferences() throws {
    let whole = ClientEvent(
      eventId: "e", occurredAt: at(0), .preferencesUpdated(.init(userId: "ann", preferences: Self.all)))
    #expect(
      try json(whole)["preferences"] as? NSDictionary == [
        "enabled": true, "quietHours": ["start": "22:00", "end": "07:00", "timeZone": "Europe/Berlin"],
        "maxAnalysesPerHour": 5, "fallback": "notify_all",
        "muted": [["conversationId": "c", "until": 2_000, "exceptMentions": true]], "starredSenders": ["bob"],
        "mutedSenders": ["eve"], "defaultLevels": ["direct": "smart"],
        "conversationLevels": [["conversationId": "c", "level": "mentions"]],
        "keywords": ["release"], "badgeMode": "messages", "showPreviews": false, "locale": "de",
        "digestTimes": ["12:30"], "timeZone": "Europe/Berlin", "dailyAlerts": 10,
      ])
    let off = ClientEvent(
      eventId: "e", occurredAt: at(0), .preferencesUpdated(.init(userId: "ann", preferences: Self.quietHoursOff)))
    #expect(try json(off)["preferences"] as? NSDictionary == ["quietHours": NSNull()])
  }
}

import Foundation
import NudgeClient
import Testing

@Suite("C12: what the services know of the user")
struct PreferencesTests {
  /// An answer of `GET /v1/me`, as the analyzer writes it.
  private static let answer = """
    {"userId":"ann","answeredAt":1795275600250,"badge":2,"alerts":{"limit":9,"used":1},
    "analyses":{"limit":10,"used":3,"windowEndsAt":1795279200250},"catchUp":{"at":1795290000000,"isPlanned":true},
    "devices":[{"deviceId":"phone","platform":"ios","isReachable":true,"pushService":"fcm","registeredAt":1,"lastSeenAt":2}],
    "heldBack":{"since":1,"count":1,"messages":[{"conversationId":"c1","messageKey":"af63bd4c8601b7be","arrivedAt":5,
    "presentation":"badge","reason":"quiet_hours","text":"it came in your quiet hours","isRead":false}]},
    "unread":{"messages":3,"conversations":2,"byConversation":[{"conversationId":"c1","unread":2}]},
    "preferences":{"enabled":{"value":true,"source":"default"},
    "quietHours":{"value":{"start":"22:00","end":"07:00","timeZone":"Europe/Berlin"},"source":"person","setAt":7},
    "maxAnalysesPerHour":{"value":10,"source":"policy"},"fallback":{"value":"simple_rules","source":"default"},
    "muted":{"value":[{"conversationId":"noise"},{"conversationId":"c2","until":9}],"source":"person","setAt":7},
    "starredSenders":{"value":[],"source":"default"},"keywords":{"value":["a","b"],"source":"person","setAt":7},
    "badgeMode":{"value":"conversations","source":"policy"},"showPreviews":{"value":true,"source":"default"},
    "locale":{"value":null,"source":"default"},"learnSince":{"value":null,"source":"default"},
    "burstSeconds":{"value":60,"source":"policy"},
    "defaultLevels":{"direct":{"value":"all","source":"policy"},"group":{"value":"smart","source":"policy"}},
    "conversationLevels":{"value":[{"conversationId":"c1","conversationKey":"\(IdKey.of("c1"))","level":"all"},
    {"conversationKey":"\(IdKey.of("gone"))","level":"none"}],"source":"person","setAt":7},
    "mutedSenders":{"value":["\(IdKey.of("bob"))"],"source":"person","setAt":7},
    "digestTimes":{"value":null,"source":"default"},"timeZone":{"value":"Europe/Berlin","source":"default"},
    "dailyAlerts":{"value":9,"source":"policy"}}}
    """

  private func person() throws -> KnownPerson { try KnownPerson(json: Data(Self.answer.utf8)) }

  @Test("an answer is read, and ids are found by their keys")
  func read() throws {
    let person = try person()
    #expect(person.userId == "ann" && person.badge == 2 && person.unread.byConversation.map(\.unread) == [2])
    #expect(person.alerts?.used == 1 && person.analyses.windowEndsAt == 1_795_279_200_250 && person.catchUp.isPlanned)
    #expect(person.heldBack.messages.map(\.reason) == ["quiet_hours"] && person.devices.map(\.deviceId) == ["phone"])
    let preferences = person.preferences
    #expect(preferences.quietHours.value?.timeZone == "Europe/Berlin" && preferences.quietHours.source == .person)
    #expect(preferences.maxAnalysesPerHour.source == .policy && preferences.enabled.source == .default)
    #expect(preferences.isMuted(sender: "bob") && !preferences.isMuted(sender: "ann"))
    #expect(preferences.level(of: "c1") == .all && preferences.level(of: "gone") == PreferencesChange.Level.none)
    #expect(preferences.level(of: "c3") == nil)
    // FNV's own vectors.
    let vectors = ["": "cbf29ce484222325", "a": "af63dc4c8601ec8c", "foobar": "85944171f73967e8"]
    for (id, key) in vectors { #expect(IdKey.of(id) == key) }
  }

  @Test("an edit is published as what changes: of lists what came and went")
  func edit() throws {
    let preferences = try person().preferences
    #expect(preferences.change(to: preferences) == PreferencesChange())
    var edited = preferences
    edited.enabled.value = false
    edited.quietHours.value = nil
    edited.keywords.value = ["b", "release"]
    edited.muted.value = [.init(conversationId: "noise"), .init(conversationId: "c3")]
    edited.conversationLevels.value[0].level = .mentions
    edited.conversationLevels.value.append(.init(conversationId: "c9", level: .none))
    edited.defaultLevels.group.value = .mentions
    edited.dailyAlerts.value = nil
    edited.digestTimes.value = ["08:00"]
    edited.timeZone.value = "Asia/Tokyo"
    var expected = PreferencesChange()
    expected.enabled = false
    expected.quietHours = .off
    expected.keywords = .changed(add: ["release"], remove: ["a"])
    expected.muted = .changed(add: [.init(conversationId: "c3")], remove: ["c2"])
    expected.conversationLevels = .changed(
      add: [.init(conversationId: "c1", level: .mentions), .init(conversationId: "c9", level: .none)])
    expected.defaultLevels = .init(group: .mentions)
    expected.dailyAlerts = .asDefault
    expected.digestTimes = .set(["08:00"])
    expected.timeZone = "Asia/Tokyo"
    #expect(preferences.change(to: edited) == expected)
    let json = try JSONSerialization.jsonObject(with: JSONEncoder().encode(preferences.change(to: edited)))
    let patch = try #require(json as? [String: Any])
    #expect(patch["quietHours"] is NSNull && patch["dailyAlerts"] is NSNull && patch["locale"] == nil)
  }
}

import Foundation
import NudgeCodec
import NudgeSchema
import StreamRuntime
import Testing
import Wording

@testable import Analyzer

/// The answers to questions about a person.
@Suite("A question about a person")
struct PersonAnswerTests {
  private struct State: Decodable {
    struct Field<Value: Decodable>: Decodable {
      var value: Value?
      var source: String
      var setAt: Milliseconds?
    }
    struct Levels: Decodable {
      var direct: Field<String>
      var group: Field<String>
    }
    struct Level: Decodable {
      var conversationId: String?
      var conversationKey: String
      var level: String
    }
    struct Preferences: Decodable {
      var enabled: Field<Bool>
      var quietHours: Field<QuietHours>
      var maxAnalysesPerHour: Field<Int>
      var muted: Field<[MutedConversation]>
      var starredSenders: Field<[String]>
      var keywords: Field<[String]>
      var badgeMode: Field<String>
      var locale: Field<String>
      var defaultLevels: Levels
      var conversationLevels: Field<[Level]>
      var mutedSenders: Field<[String]>
      var dailyAlerts: Field<Int>
    }
    struct Device: Decodable {
      var deviceId: String
      var isReachable: Bool
      var pushService: String?
    }
    struct Conversation: Decodable, Equatable {
      var conversationId: String
      var unread: Int
    }
    struct Unread: Decodable {
      var messages: Int
      var conversations: Int
      var byConversation: [Conversation]
    }
    struct Use: Decodable {
      var used: Int
      var limit: Int
      var windowEndsAt: Milliseconds?
    }
    struct CatchUp: Decodable {
      var at: Milliseconds?
      var isPlanned: Bool
    }
    struct Message: Decodable {
      var conversationId: String
      var messageKey: String
      var presentation: String
      var reason: String
      var text: String
      var isRead: Bool
    }
    struct HeldBack: Decodable {
      var since: Milliseconds
      var count: Int
      var messages: [Message]
    }
    var userId: String
    var preferences: Preferences
    var devices: [Device]
    var badge: Int
    var unread: Unread
    var analyses: Use
    var alerts: Use?
    var catchUp: CatchUp
    var heldBack: HeldBack
  }

  private func ask(
    _ scene: Scene, about user: String = "ann", at time: Milliseconds? = nil, device: PersonAsked.Device? = nil
  ) throws -> PersonAnswered? {
    let written = try scene.send(
      .asked(PersonAsked(userId: user, device: device)), at: time ?? scene.driver.now, eventId: "question", key: user)
    #expect(written.rejection == nil)
    return written.answers.first
  }

  private func state(_ scene: Scene) throws -> State {
    let answer = try #require(try ask(scene))
    #expect(answer.questionId == "question" && answer.userId == "ann")
    return try RecordCoder().decode(State.self, from: Array(try #require(answer.person).utf8))
  }

  @Test("preferences have their values and where each comes from: the person, the policy, nobody")
  func preferences() throws {
    var rules = AnalyzerRules(hash: standInHash)
    rules.policy.analysesPerHour = 7
    rules.policy.dailyAlerts = 9
    let scene = try Scene.withPhone(rules)
    try scene.message("m1", in: "c1")
    try scene.prefer(
      PreferencesPatch(
        enabled: true, quietHours: .set(QuietHours(start: "22:00", end: "07:00", timeZone: "Europe/Berlin")),
        muted: [MutedConversation(conversationId: "noise")], locale: "de",
        defaultLevels: DefaultLevels(group: .mentions),
        conversationLevels: [
          ConversationLevel(conversationId: "c1", level: .all),
          ConversationLevel(conversationId: "never", level: .none),
        ], mutedSenders: ["bob"]))
    let state = try state(scene)
    let preferences = state.preferences
    #expect(state.userId == "ann")
    #expect(preferences.enabled.value == true && preferences.enabled.source == "person")
    #expect(preferences.enabled.setAt == noon - hour)
    #expect(preferences.quietHours.value?.timeZone == "Europe/Berlin" && preferences.quietHours.source == "person")
    #expect(preferences.maxAnalysesPerHour.value == 7 && preferences.maxAnalysesPerHour.source == "policy")
    #expect(preferences.dailyAlerts.value == 9 && preferences.dailyAlerts.source == "policy")
    #expect(preferences.badgeMode.value == "conversations" && preferences.badgeMode.source == "policy")
    #expect(preferences.muted.value?.map(\.conversationId) == ["noise"])
    #expect(preferences.locale.value == "de")
    #expect(preferences.defaultLevels.group.value == "mentions" && preferences.defaultLevels.group.source == "person")
    #expect(preferences.defaultLevels.direct.value == "all" && preferences.defaultLevels.direct.source == "policy")
    let levels = try #require(preferences.conversationLevels.value)
    #expect(levels.map(\.conversationId) == ["c1", nil], "there is no row of the other one")
    #expect(levels.map(\.conversationKey) == ["c1", "never"].map { Digest.key($0) })
    #expect(levels.map(\.level) == ["all", "none"])
    #expect(preferences.mutedSenders.value == [Digest.key("bob")])
    // Set to null, the number is the operator's again.
    try scene.prefer(PreferencesPatch(dailyAlerts: .set(3)), at: noon + 1)
    #expect(try self.state(scene).preferences.dailyAlerts.source == "person")
    try scene.prefer(PreferencesPatch(dailyAlerts: .set(nil)), at: noon + 2)
    #expect(try self.state(scene).preferences.dailyAlerts.source == "policy")
  }

  @Test("a list that was changed by elements has the time of its last change, in any order of arrival")
  func changedLists() throws {
    let scene = try Scene.withPhone()
    func change(_ list: WritableKeyPath<ListChanges, ListChange<String>?>, _ word: String, at time: Milliseconds) throws
    {
      var changes = ListChanges()
      changes[keyPath: list] = ListChange(add: [word])
      try scene.prefer(PreferencesPatch(changes: changes), at: time)
    }
    try change(\.keywords, "release", at: noon)
    try change(\.starredSenders, "bob", at: noon + 7)
    #expect(try state(scene).preferences.keywords.setAt == noon)
    #expect(try state(scene).preferences.starredSenders.setAt == noon + 7)
    try change(\.keywords, "earlier", at: noon - 5)
    #expect(try state(scene).preferences.keywords.value?.count == 2)
    #expect(try state(scene).preferences.keywords.setAt == noon)
    try scene.prefer(PreferencesPatch(keywords: ["all"]), at: noon + 9)
    #expect(try state(scene).preferences.keywords.setAt == noon + 9)
    var muted = ListChanges()
    muted.muted = ListChange(add: [MutedConversation(conversationId: "c")])
    try scene.prefer(PreferencesPatch(changes: muted), at: noon + 10)
    #expect(try state(scene).preferences.muted.setAt == noon + 10)
  }

  @Test("unread messages, badge, devices without tokens, and what is used of limits")
  func numbers() throws {
    let scene = try Scene.smart { $0.dailyAlerts = 5 }
    try scene.gain("tablet", token: "a-secret-token")
    try scene.message("m1", in: "c1", at: noon)
    try scene.message("m2", in: "c1", at: noon + second)
    try scene.message("m3", in: "c2", at: noon + 2 * second)
    let answer = try #require(try ask(scene)?.person)
    #expect(!answer.contains("token") && !answer.contains("hello there") && !answer.contains("Bob"))
    let state = try state(scene)
    #expect(state.badge == 2 && state.unread.messages == 3 && state.unread.conversations == 2)
    #expect(
      state.unread.byConversation == [
        .init(conversationId: "c2", unread: 1), .init(conversationId: "c1", unread: 2),
      ])
    #expect(state.devices.map(\.deviceId) == ["phone", "tablet"])
    #expect(state.devices.allSatisfy { $0.isReachable && $0.pushService == "fcm" })
    #expect(state.analyses.used == 3 && state.analyses.limit == 10 && state.analyses.windowEndsAt == noon + hour)
    #expect(state.alerts?.limit == 5)
    scene.driver.now = noon + 2 * hour
    #expect(try self.state(scene).analyses.used == 0, "the hour is over")
    try scene.read("c1", at: noon + 2 * hour)
    #expect(try self.state(scene).unread.byConversation == [.init(conversationId: "c2", unread: 1)])
  }

  @Test("what did not alert in the last day, with the reason in the person's language, whichever it was")
  func heldBack() throws {
    let scene = try Scene.smart()
    try scene.prefer(
      PreferencesPatch(
        quietHours: .set(QuietHours(start: "13:00", end: "14:00")), muted: [MutedConversation(conversationId: "noise")],
        locale: "de", conversationLevels: [ConversationLevel(conversationId: "never", level: .none)]))
    func reasons() throws -> [String] { try state(scene).heldBack.messages.map(\.reason) }
    try scene.message("muted", in: "noise", at: noon)
    #expect(try reasons() == ["conversation_muted"])
    try scene.message("levelled", in: "never", at: noon + second)
    #expect(try reasons() == ["level", "conversation_muted"])
    try scene.message("small talk", in: "g", at: noon + 2 * second, group: "Hikers")
    #expect(try reasons().first == "low_priority")
    try scene.message("night", in: "c3", at: noon + hour + minute)
    #expect(try reasons().first == "quiet_hours")
    let held = try state(scene).heldBack
    #expect(held.count == 4 && held.since == scene.driver.now - 24 * hour)
    #expect(
      held.messages.map(\.text) == held.messages.map { Wording.german.text(HeldBackReason(rawValue: $0.reason)!) })
    #expect(held.messages.map(\.messageKey) == ["night", "small talk", "levelled", "muted"].map { Digest.key($0) })
    #expect(held.messages.allSatisfy { $0.presentation == "badge" && !$0.isRead })
    // An alert is not among them, nor what somebody deleted, nor what the person had before their eyes.
    try scene.message("loud", in: "c4", at: noon + 3 * hour, RecipientContext(mentioned: true))
    try scene.withdraw("levelled", in: "never", at: noon + 3 * hour + 1)
    try scene.activity("phone", in: "c5", at: noon + 3 * hour + 2)
    try scene.message("seen", in: "c5", at: noon + 3 * hour + 3)
    #expect(try reasons() == ["quiet_hours", "low_priority", "conversation_muted"])
    scene.driver.now = noon + 24 * hour + 30 * minute
    #expect(try reasons() == ["quiet_hours"], "the others are older than a day")
  }

  @Test("a message of a muted sender is neither shown nor on the badge, and is not read before the person reads")
  func mutedSender() throws {
    let scene = try Scene.withPhone()
    try scene.prefer(PreferencesPatch(mutedSenders: ["bob"]))
    try scene.message("m1", in: "c1", at: noon)
    var held = try #require(try state(scene).heldBack.messages.first)
    #expect(held.reason == "muted_sender" && held.presentation == "none" && !held.isRead)
    #expect(try state(scene).badge == 0)
    try scene.read("c1", at: noon + second)
    held = try #require(try state(scene).heldBack.messages.first)
    #expect(held.presentation == "none" && held.isRead)
  }

  @Test("a catch-up that something waits for has its time; without one it is the person's next")
  func catchUp() throws {
    let scene = try Scene.smart { $0.catchUpSpreadSeconds = 0 }
    #expect(try state(scene).catchUp.at == nil, "the person has asked for none")
    try scene.prefer(PreferencesPatch(quietHours: .set(QuietHours(start: "11:00", end: "14:00"))))
    #expect(try state(scene).catchUp.at == noon + 2 * hour)
    #expect(try state(scene).catchUp.isPlanned == false)
    try scene.message("m1", at: noon)
    #expect(try state(scene).catchUp.isPlanned)
    #expect(try state(scene).catchUp.at == noon + 2 * hour)
  }

  @Test("of somebody who is not known, or was deleted, nothing is answered; an old question is not answered at all")
  func unknown() throws {
    let scene = try Scene.withPhone()
    try scene.message("m1")
    #expect(try ask(scene, about: "nobody")?.person == nil)
    #expect(try ask(scene, about: "nobody")?.isBehind == false)
    #expect(try ask(scene, at: noon - PersonAsked.lifetime) == nil)
    #expect(try ask(scene, at: noon - PersonAsked.lifetime + 1) != nil)
    try scene.send(.user(.deleted(UserDeleted(userId: "ann"))), at: noon + 1, key: "ann")
    let answer = try #require(try ask(scene))
    #expect(answer.person == nil)
  }

  @Test("a question changes no row, and writes nothing but its answer")
  func changesNothing() throws {
    let scene = try Scene.withPhone()
    try scene.message("m1")
    func rows() throws -> [String] {
      try scene.driver.allRows().map {
        "\($0.0) \(String(decoding: try $0.1.json(coder: RecordCoder()), as: UTF8.self))"
      }
    }
    let before = try rows()
    let written = try scene.send(.asked(PersonAsked(userId: "ann")), at: noon, key: "ann")
    #expect(written.answers.count == 1 && written.isEmpty && written.changes.isEmpty && written.receipts.isEmpty)
    #expect(try rows() == before)
    _ = try ask(scene, about: "stranger")
    #expect(try rows() == before)
  }

  @Test("an answer says whether the device that has just changed is known as it is")
  func behind() throws {
    let scene = try Scene.withPhone()
    func isBehind(_ id: String, at time: Milliseconds, registered: Bool) throws -> Bool? {
      try ask(
        scene,
        device: PersonAsked.Device(
          deviceId: id, stamp: EventStamp(occurredAt: time, eventId: "registration"), isRegistered: registered))?
        .isBehind
    }
    #expect(try isBehind("tablet", at: noon + 1, registered: true) == true)
    #expect(try isBehind("tablet", at: noon + 1, registered: false) == false, "it is not there, as it should be")
    try scene.gain("tablet", at: noon + 1, eventId: "registration")
    #expect(try isBehind("tablet", at: noon + 1, registered: true) == false)
    #expect(try isBehind("phone", at: noon - hour, registered: true) == false, "a later registration is known")
    #expect(try isBehind("tablet", at: noon + 2, registered: false) == true)
  }
}

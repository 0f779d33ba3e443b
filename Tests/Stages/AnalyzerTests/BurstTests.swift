import NudgeSchema
import StreamRuntime
import TestSupport
import Testing

@testable import Analyzer

@Suite("Bursts: twenty messages of a group in a minute are one alert")
struct BurstTests {
  /// Nothing in the message is for Ann by its own words: a low threshold makes it alert.
  private let forAnn = RecipientContext()
  private let mention = RecipientContext(mentioned: true)

  private func scene(_ patch: PreferencesPatch = PreferencesPatch()) throws -> Scene {
    let scene = try Scene.smart {
      $0.highFrom = 0
      $0.mediumFrom = 0
    }
    var patch = patch
    patch.maxAnalysesPerHour = 1_000
    try scene.prefer(patch)
    return scene
  }

  private func presentations(
    _ scene: Scene, _ count: Int = 20, every interval: Milliseconds = 3 * second, _ context: RecipientContext? = nil,
    group: String? = "Hikers", from start: Milliseconds = noon
  ) throws -> [Presentation?] {
    try (0..<count).map { number in
      try scene.message(
        "m\(start + Int64(number))", at: start + Int64(number) * interval, context ?? forAnn, group: group
      ).decision?.presentation
    }
  }

  @Test("twenty messages within a minute: one alert, nineteen quiet updates; the next minute alerts again")
  func one() throws {
    let scene = try scene()
    #expect(try presentations(scene) == [.alert] + Array(repeating: .silent, count: 19))
    #expect(try presentations(scene, 1, from: noon + minute) == [.alert])
  }

  @Test(
    "O1: by force the message that alerted alerts again, though its own alert is just before it; one held back stays quiet"
  )
  func forced() throws {
    let scene = try scene()
    for number in 0..<3 {
      try scene.message("m\(number)", at: noon + Int64(number) * second, forAnn, group: "Hikers")
    }
    for (number, presentation) in [(0, Presentation.alert), (1, .silent), (0, .alert)] {
      let time = noon + Int64(number) * second
      scene.driver.now = noon + 10 * second
      var candidate = Scene.candidate("m\(number)", forAnn, group: "Hikers", replayId: "replay-1")
      candidate.forced = true
      #expect(try scene.send(.redecide(candidate), at: time).decision?.presentation == presentation, "m\(number)")
    }
    // Messages after it are held back as before.
    #expect(
      try scene.message("m3", at: noon + 5 * second, forAnn, group: "Hikers").decision?.presentation == .silent)
  }

  @Test("what is held back is on the badge, is pushed quietly, keeps its priority, and the decision says so")
  func said() throws {
    let scene = try scene(PreferencesPatch(badgeMode: .messages))
    try scene.message("m1", forAnn, group: "Hikers")
    try scene.message("m2", at: noon + second, forAnn, group: "Hikers")
    let third = try scene.message("m3", at: noon + 2 * second, forAnn, group: "Hikers")
    let decision = try #require(third.decision)
    #expect(decision.priority == .high && decision.presentation == .silent && decision.outcome == .notify)
    #expect(third.push?.presentation == .silent && third.push?.priority == .high && third.push?.quietHours == nil)
    #expect(decision.badge == 3 && third.push?.badge == 3)
    let check = try #require(decision.checks.last { $0.check == "burst" })
    #expect(
      check.result == .pass && check.inputs["alertedAt"] == .number(noon) && check.inputs["heldBack"] == .number(2))
    #expect(decision.text.hasPrefix("high priority: "))
    #expect(decision.text.hasSuffix("without an alert because this conversation alerted you shortly before"))
  }

  @Test(
    "what mentions, answers or names the person, or comes from a starred sender, always alerts, in groups and direct chats"
  )
  func always() throws {
    let contexts = [mention, RecipientContext(answered: true), RecipientContext(named: true)]
    for context in contexts {
      let group = try scene()
      #expect(try presentations(group, 5, context) == Array(repeating: .alert, count: 5))
      #expect(try presentations(group, 1, from: noon + 70 * second) == [.silent], "58 s after the last of them")
      #expect(
        try presentations(try scene(), 5, every: second, context, group: nil) == Array(repeating: .alert, count: 5))
    }
    let starred = PreferencesPatch(starredSenders: ["bob"])
    for group in ["Hikers", nil] {
      #expect(
        try presentations(try scene(starred), 5, every: second, group: group) == Array(repeating: .alert, count: 5))
    }
  }

  @Test("in a direct chat there is one sound in 5 seconds, and what follows is shown silently; the policy turns it off")
  func direct() throws {
    let chat = try Scene.withPhone()
    #expect(
      try presentations(chat, 8, every: second, group: nil)
        == [.alert, .silent, .silent, .silent, .silent, .alert, .silent, .silent])
    var rules = AnalyzerRules(hash: standInHash)
    rules.policy.directBurstSeconds = 0
    #expect(
      try presentations(try Scene.withPhone(rules), 5, every: second, group: nil) == Array(repeating: .alert, count: 5))
    // A group of which one wants each message is as a direct chat.
    let group = try Scene.withPhone()
    try group.prefer(PreferencesPatch(conversationLevels: [ConversationLevel(conversationId: "c1", level: .all)]))
    #expect(try presentations(group, 6, every: second) == [.alert, .silent, .silent, .silent, .silent, .alert])
  }

  @Test("each conversation has its own; medium and low messages neither alert nor are held back")
  func apart() throws {
    let scene = try scene()
    #expect(try scene.message("a1", in: "c1", forAnn, group: "Hikers").decision?.presentation == .alert)
    #expect(try scene.message("b1", in: "c2", at: noon + 1, forAnn, group: "Cooks").decision?.presentation == .alert)
    let quiet = try Scene.withPhone()
    try quiet.message("a1", in: "c1", mention, group: "Hikers")
    let low = try quiet.message("a2", in: "c1", at: noon + 2, group: "Hikers").decision
    #expect(low?.presentation == .badge && low?.checks.contains { $0.check == "burst" } == false)
  }

  @Test("the preference sets the time; 0 turns it off; without one it is a minute")
  func preference() throws {
    #expect(try presentations(try scene(PreferencesPatch(burstSeconds: 0)), 6) == Array(repeating: .alert, count: 6))
    let ten = try scene(PreferencesPatch(burstSeconds: 10))
    #expect(
      try presentations(ten, 8) == [.alert, .silent, .silent, .silent, .alert, .silent, .silent, .silent])
    #expect(try scene(PreferencesPatch(burstSeconds: 3_601)).driver.row(AnalyzerRow.preferencesKey("ann")) == nil)
  }

  @Test("an alert that never was holds nothing back; a message that comes late makes no alert look older")
  func order() throws {
    let quiet = try scene(PreferencesPatch(enabled: false))
    try quiet.message("m1", forAnn, group: "Hikers")
    try quiet.prefer(PreferencesPatch(enabled: true), at: noon)
    #expect(try quiet.message("m2", at: noon + 1, forAnn, group: "Hikers").decision?.presentation == .alert)
    let late = try scene()
    try late.message("m1", at: noon + 100 * second, forAnn, group: "Hikers")
    #expect(try late.message("m0", at: noon, forAnn, group: "Hikers").decision?.presentation == .alert)
    #expect(
      try late.message("m2", at: noon + 110 * second, forAnn, group: "Hikers").decision?.presentation == .silent)
  }
}

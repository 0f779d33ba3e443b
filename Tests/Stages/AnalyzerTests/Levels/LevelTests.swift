import NudgeSchema
import StreamRuntime
import Testing
import Wording

@testable import Analyzer

@Suite("Levels: which messages of a conversation are shown")
struct LevelTests {
  private func level(_ level: NotificationLevel, of conversationId: String = "c1") -> PreferencesPatch {
    PreferencesPatch(conversationLevels: [ConversationLevel(conversationId: conversationId, level: level)])
  }

  @Test(
    "D14: without any setting a friend's message makes a sound, and the decision says that one gets all of direct chats"
  )
  func directDefault() throws {
    let scene = try Scene.withPhone()
    let written = try scene.message("m1", body: "Hey, are you free?")
    let decision = try #require(written.decision)
    #expect(decision.outcome == .notify && decision.presentation == .alert && decision.priority == .medium)
    #expect(decision.level == .all && decision.text == "you get all messages of direct chats")
    #expect(decision.checks.first { $0.check == "level" }?.inputs == ["from": "policy"])
    #expect(decision.analysis == nil && decision.model == nil && decision.rules == "standard")
    #expect(decision.policy == scene.driver.stage.rules.policyVersion.version)
    #expect(written.push?.kind == .message && written.push?.presentation == .alert && written.push?.priority == .medium)
  }

  @Test("D14: without any setting the message of a group of four is at least in the list")
  func groupDefault() throws {
    let scene = try Scene.withPhone()
    let small = try #require(try scene.message("m1", group: "Family", members: 4, body: "Hey team").decision)
    #expect(small.presentation == .silent && small.priority == .low && small.level == .smart)
    #expect(small.text.hasSuffix(", shown without a sound because the group is small"))
    #expect(try scene.message("m2", in: "c2", group: "Club", members: 20).decision?.presentation == .silent)
    #expect(try scene.message("m3", in: "c3", group: "Town", members: 21).decision?.presentation == .badge)
  }

  @Test("D14, D4: a hundred direct messages in an hour make no analysis, reach no limit and cause no notice")
  func noAnalysis() throws {
    let scene = try Scene.withPhone()
    for number in 0..<100 {
      let written = try scene.message("m\(number)", at: noon + Int64(number) * 10 * second)
      #expect(written.decision?.presentation == .alert && written.decision?.analysis == nil)
      #expect(written.notices.isEmpty)
    }
    for (level, conversation) in [(NotificationLevel.mentions, "c2"), (.none, "c3")] {
      try scene.prefer(self.level(level, of: conversation), at: noon + hour)
      let written = try scene.message("x", in: conversation, RecipientContext(mentioned: true), group: "Town")
      #expect(written.decision?.analysis == nil && written.notices.isEmpty)
    }
  }

  @Test("D14: a level of the conversation stands above the person's default, and that above the operator's")
  func sources() throws {
    let scene = try Scene.withPhone()
    func inputs(_ id: String, _ conversationId: String) throws -> CheckInputs? {
      try scene.message(id, in: conversationId).decision?.checks.first { $0.check == "level" }?.inputs
    }
    #expect(try inputs("m1", "c1") == ["from": "policy"])
    try scene.prefer(PreferencesPatch(defaultLevels: DefaultLevels(direct: NotificationLevel.none)))
    let none = try #require(try scene.message("m2").decision)
    #expect(none.reason == .level && none.level == NotificationLevel.none && none.badge == 1)
    #expect(none.text == "you get no messages of direct chats")
    #expect(none.checks.last == Check(check: "level", result: .suppress, inputs: ["from": "preferences"]))
    try scene.prefer(level(.all))
    let all = try #require(try scene.message("m3", at: noon + 10 * second).decision)
    #expect(all.presentation == .alert && all.text == "you get all messages of this conversation")
    #expect(try inputs("m4", "c1") == ["from": "conversation"])
    #expect(try scene.message("m5", in: "c2").decision?.reason == .level)
  }

  @Test("D12, D14: each kind's default and each list is set by its latest event, whichever way they arrive")
  func lastWriterWins() throws {
    let patches = [
      (PreferencesPatch(defaultLevels: DefaultLevels(direct: NotificationLevel.none, group: .all)), noon - 3),
      (PreferencesPatch(defaultLevels: DefaultLevels(direct: .mentions)), noon - 2),
      (level(.all, of: "c9"), noon - 2), (level(.none, of: "c9"), noon - 1),
      (PreferencesPatch(mutedSenders: ["bob"]), noon - 2), (PreferencesPatch(mutedSenders: []), noon - 1),
    ]
    for order in [patches, patches.reversed()] {
      let scene = try Scene.withPhone()
      for (patch, time) in order { try scene.prefer(patch, at: time, eventId: "e\(time)") }
      #expect(try scene.message("m1").decision?.level == .mentions)
      #expect(try scene.message("m2", in: "c2", group: "Town").decision?.level == .all)
      #expect(try scene.message("m3", in: "c9", group: "Town").decision?.level == NotificationLevel.none)
    }
  }

  @Test("D14: the level of a conversation that is left is forgotten; an event of before does not bring it back")
  func left() throws {
    let scene = try Scene.withPhone()
    try scene.prefer(level(.none), at: noon - 10, eventId: "set")
    try scene.withdraw(nil, cause: .left, at: noon)
    #expect(try scene.message("m1", at: noon + 1).decision?.level == .all)
    try scene.prefer(level(.none), at: noon - 10, eventId: "set")
    #expect(try scene.message("m2", at: noon + 2).decision?.level == .all)
  }

  @Test("D14: more levels or muted senders than can be kept are refused with the reason")
  func bounded() throws {
    let scene = try Scene.withPhone()
    let levels = (0...SchemaLimits.conversationLevels).map {
      ConversationLevel(conversationId: "c\($0)", level: NotificationLevel.none)
    }
    #expect(try scene.prefer(PreferencesPatch(conversationLevels: levels)).rejection?.code == .tooLarge)
    #expect(try scene.prefer(PreferencesPatch(conversationLevels: Array(levels.dropLast()))).rejection == nil)
    let senders = (0...SchemaLimits.mutedSenders).map { "u\($0)" }
    #expect(try scene.prefer(PreferencesPatch(mutedSenders: senders)).rejection?.code == .tooLarge)
  }

  @Test("D14: at mentions a mention, a reply and a keyword alert, the rest counts on the badge")
  func mentions() throws {
    let scene = try Scene.withPhone()
    try scene.prefer(PreferencesPatch(keywords: ["tickets"], defaultLevels: DefaultLevels(group: .mentions)))
    func decide(_ id: String, _ context: RecipientContext = RecipientContext(), _ body: String = "see you") throws
      -> DecisionBody?
    {
      try scene.message(id, in: id, context, group: "Town", body: body).decision
    }
    let mention = try decide("m1", RecipientContext(mentioned: true))
    #expect(mention?.presentation == .alert && mention?.text == "Bob mentions you")
    let answer = try decide("m2", RecipientContext(answered: true))
    #expect(answer?.presentation == .alert && answer?.text == "it answers your message")
    let keyword = try decide("m3", RecipientContext(), "who has the tickets")
    #expect(keyword?.presentation == .alert && keyword?.text == "it has one of your keywords")
    let rest = try decide("m4")
    #expect(rest?.reason == .level && rest?.badge == 4 && rest?.presentation == nil)
    #expect(rest?.text == "of groups you get only mentions, replies to you and your keywords")
  }

  @Test("a starred sender alerts at smart, in direct chats and groups, and says why; quiet hours hold it")
  func starred() throws {
    let scene = try Scene.smart()
    try scene.prefer(PreferencesPatch(starredSenders: ["bob"]))
    #expect(try scene.message("m1").decision?.presentation == .alert)
    let group = try #require(try scene.message("m2", in: "c2", group: "Town").decision)
    #expect(group.presentation == .alert && group.priority == .high && group.reason == .relevant)
    #expect(group.text == "high priority: you starred Bob" && group.rules == nil && group.analysis == nil)
    try scene.prefer(PreferencesPatch(quietHours: .set(QuietHours(start: "00:00", end: "23:59"))))
    #expect(try scene.message("m3", in: "c3", group: "Town").decision?.reason == .quietHours)
  }

  @Test("D14: the sentences of levels are said in the person's language", arguments: Wording.all)
  func languages(words: Wording) throws {
    let scene = try Scene.withPhone()
    try scene.prefer(PreferencesPatch(locale: words.language))
    #expect(try scene.message("m1").decision?.text == words.reasons.text(.allDirect))
    try scene.prefer(level(.none))
    #expect(try scene.message("m2").decision?.text == words.reasons.text(.noneHere))
  }

  @Test("M3: the title of a group's message, and of its edit, is in the person's language")
  func titles() throws {
    let scene = try Scene.withPhone()
    let mention = RecipientContext(mentioned: true)
    #expect(try scene.message("m1", mention, group: "Launch").push?.title == "Bob in Launch")
    try scene.prefer(PreferencesPatch(locale: "fr-CA"))
    #expect(try scene.message("m2", mention, group: "Launch").push?.title == "Bob dans Launch")
    #expect(
      try scene.edit("m2", body: "at six", title: "Bob in Launch", at: noon + minute).push?.title == "Bob dans Launch")
    try scene.prefer(PreferencesPatch(showPreviews: false, locale: "es"))
    let hidden = try scene.message("m3", mention, group: "Launch").push
    #expect(hidden?.title == "Bob en Launch" && hidden?.body == "Nuevo mensaje de Bob")
    #expect(try scene.message("m4", in: "c2").push?.title == "Bob")
  }

  @Test("a decision without a level, as before there were levels, is read")
  func earlierDecision() throws {
    let json = #"""
      {"schemaVersion":1,"type":"decision","eventId":"e","occurredAt":1,"origin":{"topic":"t","partition":0,"offset":1},
      "source":{"topic":"t","partition":0,"offset":1},"userId":"ann","messageId":"m1","conversationId":"c1",
      "outcome":"notify","reason":"relevant","text":"x","presentation":"silent","priority":"medium","signals":[],
      "checks":["duplicate"],"badge":1,"mode":"live","decidedAt":1}
      """#
    let decision = try RecordCoder().decode(Decision.self, from: Array(json.utf8)).body
    #expect(decision.level == nil && decision.policy == nil && decision.presentation == .silent)
  }
}

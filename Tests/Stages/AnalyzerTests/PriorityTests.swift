import NudgeSchema
import Relevance
import StreamRuntime
import TestSupport
import Testing
import Wording

@testable import Analyzer

@Suite("Priority")
struct PriorityTests {
  private let rules = AnalyzerRules(hash: standInHash)

  private func traits(
    direct: Bool = false, _ context: RecipientContext = RecipientContext(), starred: Bool = false,
    keyword: Bool = false, urgent: Bool = false, question: Bool = false
  ) -> MessageTraits {
    MessageTraits(
      isDirect: direct, context: context, isStarredSender: starred, hasKeyword: keyword,
      isUrgent: urgent, isQuestion: question)
  }

  @Test("D3: high is an alert, medium is silent, low is the badge alone without a word of text")
  func presentation() throws {
    let scene = try Scene.smart()
    let high = try #require(try scene.message("m1", RecipientContext(mentioned: true), group: "Hikers").push)
    #expect(high.priority == .high && high.presentation == .alert && high.kind == .message)
    let medium = try #require(try scene.message("m2").push)
    #expect(medium.priority == .medium && medium.presentation == .silent && medium.kind == .message)
    let low = try scene.message("m3", in: "c2", group: "Hikers")
    let push = try #require(low.push)
    #expect(push.priority == .low && push.presentation == .badge && push.kind == .badge)
    #expect(push.title == nil && push.body == nil && push.imageUrl == nil)
    #expect(push.badge == 2 && push.messageId == "m3")
    #expect(low.decision?.outcome == .notify)
    #expect(low.decision?.presentation == .badge)
  }

  @Test("D3, D5: the signals' weights sum up to the log-odds of the score, which decides the priority")
  func score() throws {
    let direct = rules.assess(
      traits(direct: true, RecipientContext(named: true, exchange: 2), starred: true, urgent: true, question: true))
    #expect(
      Set(direct.signals.map(\.name)) == [
        "direct", "named", "exchange", "starred_sender", "urgent_words", "question",
      ])
    for assessment in [direct, rules.assess(traits()), rules.assess(traits(RecipientContext(mentioned: true)))] {
      let sum = assessment.signals.reduce(0) { $0 + $1.value * $1.weight }
      #expect(abs(sum - logOdds(assessment.score)) < 0.15 || assessment.score < 0.01)
      #expect(assessment.priority == rules.priority(of: assessment.score))
      let weights = assessment.signals.map { abs($0.weight) }
      #expect(weights == weights.sorted(by: >))
    }
  }

  @Test(
    "D5: in a direct conversation, and by what the person wished for, every signal takes its share of what is missing")
  func eachSignal() {
    let weights = rules.policy.weights
    func share(_ parts: Double...) -> Double {
      ((1 - parts.reduce(1) { $0 * (1 - $1) }) * 1000).rounded() / 1000
    }
    let direct = weights.direct
    let alone: [(MessageTraits, Double)] = [
      (traits(direct: true), direct), (traits(direct: true, RecipientContext(mentioned: true)), weights.mentioned),
      (traits(direct: true, RecipientContext(named: true)), weights.named),
      (traits(direct: true, RecipientContext(answered: true)), weights.answered),
      (traits(direct: true, RecipientContext(exchange: 4)), weights.exchange),
      (traits(direct: true, RecipientContext(exchange: 2)), weights.exchange / 2),
      (traits(direct: true, starred: true), weights.starredSender),
      (traits(direct: true, keyword: true), weights.keyword), (traits(direct: true, urgent: true), weights.urgentWords),
      (traits(direct: true, question: true), weights.question),
    ]
    #expect(rules.assess(alone[0].0).score == direct)
    for (traits, weight) in alone.dropFirst() { #expect(rules.assess(traits).score == share(direct, weight)) }
  }

  @Test("D5: in a group nothing is for a person of whom nothing is known; who is mentioned, answered or named is told")
  func unknownPerson() {
    #expect(rules.assess(traits()).priority == .low)
    #expect(rules.assess(traits(urgent: true, question: true)).priority == .low)
    for context in [RecipientContext(mentioned: true), RecipientContext(answered: true), RecipientContext(named: true)]
    {
      #expect(rules.assess(traits(context)).priority == .high)
    }
  }

  @Test("issue 62: the second call of somebody who wrote nothing lately counts as the first")
  func secondCall() throws {
    // What ingest writes of somebody who was called a minute ago, and did not write.
    var talk = RecentTalk()
    talk.append(TextTraits(), from: "bob", at: noon - 60_000, messageId: "m0", addressed: ["tom"], partner: "tom")
    let reading = TalkReading(
      talk, sender: "bob", at: noon, text: TextTraits(),
      addressed: [TalkReading.Addressed(userId: "tom", isAtStart: true)])
    let features = try #require(reading.personFeatures(of: "tom"))
    var second = traits(RecipientContext(named: true, features: Base64Text.encode(features)))
    second.messageFeatures = reading.messageFeatures
    #expect(rules.assess(second).priority == .high)
  }

  @Test("D10: the sentence tells the strongest reasons, for what is shown and against what is not")
  func sentence() {
    let high = Explanation(
      rules.assess(traits(direct: true, RecipientContext(mentioned: true), starred: true)), sender: "Ann")
    #expect(high.reasons.first == .mentioned)
    #expect(high.text(in: .english).hasPrefix("high priority: Ann mentions you"))
    let low = Explanation(rules.assess(traits()), sender: "Ann")
    #expect(low.text(in: .english).hasPrefix("low priority: "))
    #expect(!low.reasons.isEmpty && low.reasons.count <= Explanation.maxReasons)
    let against: Set<ReasonCode> = [
      .notNamed, .notWroteLately, .askedNothing, .senderWritesToOthers, .notTalking, .talkingWithOthers, .notYourTopic,
      .notLikeAnswer, .senderNotInTalk,
    ]
    #expect(against.isSuperset(of: low.reasons))
  }

  @Test("D10: a direct message says at least that it is one; what the person taught is said")
  func directSentence() {
    var assessment = rules.assess(traits(direct: true))
    #expect(Explanation(assessment, sender: "Ann").text(in: .english) == "medium priority: it is a direct message")
    rules.shift(&assessment, by: [("learned_sender", 2_500)])
    #expect(
      Explanation(assessment, sender: "Ann").text(in: .english)
        == "high priority: messages of Ann matter to you and it is a direct message")
    rules.shift(&assessment, by: [("learned_sender", -5_500)])
    #expect(
      Explanation(assessment, sender: "Ann").text(in: .german)
        == "niedrige Priorität: Nachrichten von Ann sind dir selten wichtig")
  }

  @Test("D10: every decision says why in the person's language: their preference's, else that of the latest device")
  func language() throws {
    let scene = try Scene.smart()
    #expect(try scene.message("m1").decision?.text == "medium priority: it is a direct message")
    try scene.prefer(PreferencesPatch(locale: "de-AT"))
    #expect(try scene.message("m2", at: noon + 1).decision?.text == "mittlere Priorität: es ist eine Direktnachricht")
    try scene.prefer(PreferencesPatch(enabled: false, locale: "ja"))
    #expect(try scene.message("m3", at: noon + 2).decision?.text == "通知がオフになっています")
    try scene.prefer(PreferencesPatch(enabled: true, maxAnalysesPerHour: 0, locale: "fr"))
    #expect(
      try scene.message("m4", at: noon + 3).decision?.text
        == "la limite de 0 analyse intelligente par heure est atteinte, des règles simples s’appliquent : "
        + "priorité moyenne : c’est un message direct")
  }

  @Test("D5: the simple rules are as documented")
  func simpleRules() {
    let cases: [(MessageTraits, String?, Priority)] = [
      (traits(RecipientContext(mentioned: true)), "mentioned", .high), (traits(starred: true), "starred_sender", .high),
      (traits(direct: true, urgent: true), "urgent_words", .high), (traits(direct: true), "direct", .medium),
      (traits(RecipientContext(named: true)), "named", .medium),
      (traits(RecipientContext(answered: true)), "answered", .medium), (traits(keyword: true), "keyword", .medium),
      (traits(urgent: true, question: true), "urgent_words", .high), (traits(question: true), nil, .low),
      (traits(), nil, .low),
    ]
    for (traits, rule, priority) in cases {
      let assessment = SimpleRules.standard.assess(traits)
      #expect(assessment.priority == priority)
      #expect(assessment.signals.map(\.name) == (rule.map { [$0] } ?? []))
    }
  }

  @Test(
    "D5: a question mark of any script makes a question; what comes after the first 2,000 characters does not count")
  func questions() {
    for text in ["Is it?", "本当？", "متى؟"] { #expect(MessageText(text).isQuestion, "\(text)") }
    #expect(!MessageText("no.").isQuestion)
    let long = String(repeating: "x ", count: 1_000)
    #expect(!MessageText(long + "urgent?").isUrgent(.standard) && !MessageText(long + "urgent?").isQuestion)
  }

  @Test("D8: starred senders and keywords raise the score")
  func preferences() throws {
    let scene = try Scene.smart()
    #expect(try scene.message("m1", group: "Hikers").decision?.priority == .low)
    try scene.prefer(PreferencesPatch(starredSenders: ["bob"], keywords: ["there"]))
    let decision = try scene.message("m2", group: "Hikers").decision
    #expect(decision?.signals.map(\.name).filter { ["starred_sender", "keyword"].contains($0) }.count == 2)
    #expect(decision?.priority == .high)
  }
}

import NudgeSchema
import StreamRuntime
import TestSupport
import Testing

@testable import Analyzer

@Suite("Priority")
struct PriorityTests {
  private let rules = AnalyzerRules(hash: standInHash)

  private func traits(
    direct: Bool = false, _ context: RecipientContext = RecipientContext(), starred: Bool = false,
    keyword: Bool = false, urgent: Bool = false, question: Bool = false
  ) -> MessageTraits {
    MessageTraits(
      isDirect: direct, context: context, sentAt: noon, isStarredSender: starred, hasKeyword: keyword,
      isUrgent: urgent, isQuestion: question)
  }

  @Test("D3: high is an alert, medium is silent, low is the badge alone without a word of text")
  func presentation() throws {
    let scene = try Scene.withPhone()
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

  @Test("D3, D5: the score is the sum of the signals it names, at most 1, and decides the priority")
  func score() throws {
    let assessment = rules.assess(
      traits(direct: true, RecipientContext(lastSpokeAt: noon - minute, messagesSince: 5, exchange: 2)))
    #expect(assessment.signals.map(\.name) == ["direct", "exchange", "recency"])
    #expect(assessment.score == 0.675)
    #expect(assessment.priority == .medium)
    let all = rules.assess(
      traits(
        direct: true,
        RecipientContext(
          mentioned: true, named: true, answered: true, lastSpokeAt: noon, messagesSince: 0, exchange: 9),
        starred: true, keyword: true, urgent: true, question: true))
    #expect(
      all.signals.map(\.name) == [
        "direct", "mentioned", "named", "answered", "exchange", "recency", "starred_sender", "keyword", "urgent_words",
        "question",
      ])
    #expect(all.signals.allSatisfy { $0.value == 1 })
    #expect(all.score == 1 && all.priority == .high)
    let none = rules.assess(traits())
    #expect(none.score == 0 && none.priority == .low && none.signals.isEmpty)
  }

  @Test("D5: every signal raises the score by its weight")
  func eachSignal() {
    let weights = rules.weights
    let alone: [(MessageTraits, Double)] = [
      (traits(direct: true), weights.direct), (traits(RecipientContext(mentioned: true)), weights.mentioned),
      (traits(RecipientContext(named: true)), weights.named),
      (traits(RecipientContext(answered: true)), weights.answered),
      (traits(RecipientContext(exchange: 4)), weights.exchange),
      (traits(RecipientContext(lastSpokeAt: noon - 15 * minute, messagesSince: 0)), weights.recency),
      (traits(starred: true), weights.starredSender), (traits(keyword: true), weights.keyword),
      (traits(urgent: true), weights.urgentWords), (traits(question: true), weights.question),
    ]
    for (traits, weight) in alone { #expect(rules.assess(traits).score == weight) }
    #expect(rules.assess(traits(RecipientContext(lastSpokeAt: noon - 15 * minute - 1, messagesSince: 0))).score == 0)
    #expect(rules.assess(traits(RecipientContext(lastSpokeAt: noon, messagesSince: 10))).score == 0)
  }

  @Test("D5: the simple rules are as documented")
  func simpleRules() {
    let cases: [(MessageTraits, String?, Priority)] = [
      (traits(RecipientContext(mentioned: true)), "mentioned", .high), (traits(starred: true), "starred_sender", .high),
      (traits(direct: true, urgent: true), "urgent_words", .high), (traits(direct: true), "direct", .medium),
      (traits(RecipientContext(named: true)), "named", .medium),
      (traits(RecipientContext(answered: true)), "answered", .medium), (traits(keyword: true), "keyword", .medium),
      (traits(urgent: true, question: true), nil, .low), (traits(), nil, .low),
    ]
    for (traits, rule, priority) in cases {
      let assessment = rules.assessSimply(traits)
      #expect(assessment.priority == priority)
      #expect(assessment.signals.map(\.name) == (rule.map { [$0] } ?? []))
    }
  }

  @Test("D5: words are found whole, whatever their case and what surrounds them; phrases, too")
  func words() {
    let text = MessageText("Is the BUDGET-review urgent? Größe, 東京")
    #expect(text.isUrgent && text.isQuestion)
    #expect(text.containsAny(of: ["budget"]))
    #expect(text.containsAny(of: ["nothing", "Budget Review"]))
    #expect(text.containsAny(of: ["größe"]))
    #expect(!text.containsAny(of: ["budge", "review budget", "", " ", "?"]))
    #expect(!text.containsAny(of: []))
    #expect(!MessageText("nonurgently so.").isUrgent)
    #expect(!MessageText("").containsAny(of: ["a"]))
  }

  @Test("D5: a text of ASCII alone, which is read byte by byte, is read as any other")
  func plainText() {
    var random = SeededGenerator(announcedFor: "plainText")
    let pieces = [
      "urgent", "URGENT", "so", "s", "sos", "7", "a1", " ", "  ", "-", "?", "!", "_", "\n", "\t", "\u{0}", "'", "ASAP",
    ]
    let sought = ["urgent", "so", "a1", "sos 7", "so urgent", "7"]
    for _ in 0..<500 {
      let text = (0..<random.below(12)).map { _ in pieces[random.below(pieces.count)] }.joined()
      // The same words beside one that is not ASCII.
      let (plain, other) = (MessageText(text), MessageText("é " + text))
      #expect(plain.isUrgent == other.isUrgent && plain.isQuestion == other.isQuestion, "\(text)")
      for keyword in sought { #expect(plain.containsAny(of: [keyword]) == other.containsAny(of: [keyword]), "\(text)") }
    }
    let long = String(repeating: "x ", count: 1_000)
    #expect(!MessageText(long + "urgent?").isUrgent && !MessageText(long + "urgent?").isQuestion)
  }

  @Test("D8: starred senders and keywords raise the score")
  func preferences() throws {
    let scene = try Scene.withPhone()
    #expect(try scene.message("m1", group: "Hikers").decision?.priority == .low)
    try scene.prefer(PreferencesPatch(starredSenders: ["bob"], keywords: ["there"]))
    let decision = try scene.message("m2", group: "Hikers").decision
    #expect(decision?.signals.map(\.name) == ["starred_sender", "keyword"])
    #expect(decision?.priority == .high)
  }
}

import NudgeSchema
import Relevance
import StreamRuntime
import Testing

@testable import Analyzer

@Suite("Simple rules in a file")
struct SimpleRulesTests {
  private func rules(_ text: String) throws -> SimpleRules { try SimpleRules(json: Array(text.utf8)) }

  private let file = """
    {"version": "2026-11-22",
     "rules": [
       {"name": "ask-me", "when": ["direct", "question"], "priority": "high"},
       {"name": "idle-talk", "when": ["exchange"], "unless": ["mentioned", "named"], "priority": "medium"}
     ],
     "otherwise": "low"}
    """

  @Test("the first rule whose conditions hold decides; none: what the file says otherwise")
  func order() throws {
    let rules = try rules(file)
    func decide(direct: Bool = false, question: Bool = false, _ context: RecipientContext) -> String {
      let assessment = rules.assess(
        MessageTraits(
          isDirect: direct, context: context, isStarredSender: false, hasKeyword: false, isUrgent: false,
          isQuestion: question))
      return "\(assessment.signals.first?.name ?? "none") \(assessment.priority)"
    }
    #expect(decide(direct: true, question: true, RecipientContext(exchange: 2)) == "ask-me high")
    #expect(decide(direct: true, RecipientContext(exchange: 2)) == "idle-talk medium")
    #expect(decide(direct: true, RecipientContext(named: true, exchange: 2)) == "none low")
    #expect(decide(RecipientContext()) == "none low")
  }

  @Test(
    "what cannot be meant is refused, with its place",
    arguments: [
      ("", "no JSON"), ("[]", "the file: it must be an object"), (#"{"rules": [], "otherwise": "low"}"#, "version"),
      (#"{"version": "", "rules": [], "otherwise": "low"}"#, "version"),
      (#"{"version": "1", "otherwise": "low"}"#, "rules: it must be a list"),
      (#"{"version": "1", "rules": [], "otherwise": "loud"}"#, "otherwise: it must be high, medium or low"),
      (#"{"version": "1", "rules": [], "otherwise": "low", "rulez": 1}"#, #""rulez" is not known"#),
      (#"{"version": "1", "rules": [{"name": "a", "when": [], "priority": "low"}], "otherwise": "low"}"#, "rules[0]"),
      (
        #"{"version": "1", "rules": [{"name": "a", "when": ["urgent"], "priority": "low"}], "otherwise": "low"}"#,
        "rules[0].when[0]: it must be one of direct, mentioned"
      ),
      (
        #"{"version": "1", "rules": [{"name": "a", "when": ["named"], "unless": ["named"], "priority": "low"}], "otherwise": "low"}"#,
        "named is in when and in unless"
      ),
      (
        #"{"version": "1", "rules": [{"name": "a", "when": ["named"], "priority": "low"}, {"name": "a", "when": ["direct"], "priority": "low"}], "otherwise": "low"}"#,
        "rules[1].name"
      ),
    ])
  func refused(text: String, says: String) {
    let error = #expect(throws: PolicyError.self) { try rules(text) }
    #expect(error?.description.contains(says) == true, "\(error?.description ?? "")")
  }

  @Test("too many rules are refused")
  func tooMany() {
    let many = (0...SimpleRules.maxRules).map { #"{"name": "r\#($0)", "when": ["named"], "priority": "low"}"# }
    #expect(throws: PolicyError.self) {
      try rules(#"{"version": "1", "rules": [\#(many.joined(separator: ","))], "otherwise": "low"}"#)
    }
  }

  @Test("a decision by rules names their version, one by smart analysis the model's; the sentence says what held")
  func versions() throws {
    var policy = NotificationPolicy()
    policy.directLevel = .smart
    policy.simpleRules = try rules(file)
    let analyzer = AnalyzerRules(hash: standInHash)
    let scene = try Scene.withPhone(analyzer)
    scene.driver.policy = PolicyVersion(policy, hash: standInHash)
    try scene.prefer(PreferencesPatch(maxAnalysesPerHour: 1))
    let smart = try #require(try scene.message("m1").decision)
    #expect(smart.model == analyzer.model.version && smart.rules == nil)
    let simple = try #require(try scene.message("m2", at: noon + 1, body: "so?").decision)
    #expect(simple.rules == "2026-11-22" && simple.model == nil && simple.signals.map(\.name) == ["ask-me"])
    #expect(simple.text.hasSuffix("high priority: it is a direct message and it asks something"))
    #expect(simple.policy == scene.driver.policy.version)
    policy.simpleRules = .standard
    scene.driver.policy = PolicyVersion(policy, hash: standInHash)
    let changed = try #require(try scene.message("m3", at: noon + 2, body: "so?").decision)
    #expect(changed.rules == "standard" && changed.priority == .medium)
    #expect(changed.policy == scene.driver.policy.version && changed.policy != simple.policy)
  }
}

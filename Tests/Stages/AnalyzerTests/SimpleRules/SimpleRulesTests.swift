import Foundation
import NudgeSchema
import Relevance
import ServiceKit
import StreamRuntime
import Synchronization
import TestSupport
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
    let error = #expect(throws: SimpleRulesError.self) { try rules(text) }
    #expect(error?.description.contains(says) == true, "\(error?.description ?? "")")
  }

  @Test("too many rules are refused")
  func tooMany() {
    let many = (0...SimpleRules.maxRules).map { #"{"name": "r\#($0)", "when": ["named"], "priority": "low"}"# }
    #expect(throws: SimpleRulesError.self) {
      try rules(#"{"version": "1", "rules": [\#(many.joined(separator: ","))], "otherwise": "low"}"#)
    }
  }

  @Test("a decision by rules names their version, one by smart analysis the model's; the sentence says what held")
  func versions() throws {
    let inForce = RulesInForce(try rules(file))
    var analyzer = AnalyzerRules(hash: standInHash)
    analyzer.simpleRules = { inForce.rules }
    let scene = try Scene.withPhone(analyzer)
    try scene.prefer(PreferencesPatch(maxAnalysesPerHour: 1))
    let smart = try #require(try scene.message("m1").decision)
    #expect(smart.model == analyzer.model.version && smart.rules == nil)
    let simple = try #require(try scene.message("m2", at: noon + 1, body: "so?").decision)
    #expect(simple.rules == "2026-11-22" && simple.model == nil && simple.signals.map(\.name) == ["ask-me"])
    #expect(simple.text.hasSuffix("high priority: it is a direct message and it asks something"))
    inForce.rules = .standard
    let changed = try #require(try scene.message("m3", at: noon + 2, body: "so?").decision)
    #expect(changed.rules == "standard" && changed.priority == .medium)
  }

  @Test("a file is read again when it changes and on SIGHUP; one that cannot be used changes nothing and is logged")
  func reload() throws {
    let folder = try TemporaryDirectory()
    let path = folder.path + "/rules.json"
    let place = URL(fileURLWithPath: path)
    try Data(file.utf8).write(to: place)
    let log = LogCapture()
    let watched = try SimpleRulesFile(path: path, logger: Logger(label: "test", sink: log.sink))
    #expect(watched.rules.version == "2026-11-22" && watched.rules.count == 2)
    watched.start { _ in }
    defer { watched.stop() }
    try Data(#"{"version": "2", "rules": [], "otherwise": "medium"}"#.utf8).write(to: place)
    wait(for: "the change to be seen") { watched.rules.version == "2" }
    try Data("{".utf8).write(to: place)
    watched.reload()
    #expect(watched.rules.version == "2")
    #expect(log.entries.contains { $0.level == .error && $0.message.contains("cannot be read again") })
    #expect(throws: SettingsError.self) {
      try SimpleRulesFile(path: folder.path + "/none.json", logger: Logger(label: "test"))
    }
  }
}

/// Rules that a test changes while an analyzer has them.
private final class RulesInForce: Sendable {
  private let state: Mutex<SimpleRules>

  init(_ rules: SimpleRules) { state = Mutex(rules) }

  var rules: SimpleRules {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}

import Foundation
import NudgeSchema
import ServiceKit
import StreamRuntime
import TestSupport
import Testing

@testable import Analyzer

@Suite("The operator's policy")
struct PolicyTests {
  private func policy(_ text: String) throws -> NotificationPolicy { try NotificationPolicy(json: Array(text.utf8)) }

  @Test("D15: Deploy/policy.json has all fields, and they are the defaults; what is written is read as the same")
  func deployed() throws {
    let bytes = [UInt8](try Data(contentsOf: Repository.file("Deploy/policy.json")))
    let standard = NotificationPolicy()
    #expect(try NotificationPolicy(json: bytes) == standard)
    let file = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? NSDictionary)
    #expect(try JSONSerialization.jsonObject(with: Data(standard.json(pretty: true))) as? NSDictionary == file)
  }

  @Test("D15: what a file does not name stays; each field changes the version, its place in the file does not")
  func versions() throws {
    func version(_ text: String) throws -> String { PolicyVersion(try policy(text), hash: standInHash).version }
    let standard = try version("{}")
    #expect(standard.count == 12)
    #expect(try version(#"{"smallGroupMembers": 20}"#) == standard)
    #expect(try version(#"{"budget": {"dailyAlerts": null}, "catchUp": {"budgetTime": "18:00"}}"#) == standard)
    let changed = [
      #"{"defaultLevels": {"direct": "smart"}}"#, #"{"defaultLevels": {"group": "all"}}"#, #"{"smallGroupMembers": 5}"#,
      #"{"thresholds": {"high": 0.5}}"#, #"{"weights": {"question": 0.2}}"#, #"{"bursts": {"directSeconds": 0}}"#,
      #"{"bursts": {"groupSeconds": 30}}"#, #"{"textLimits": {"body": 100}}"#, #"{"textLimits": {"preview": 20}}"#,
      #"{"urgentWords": {"nl": ["dringend"]}}"#, #"{"analysesPerHour": 3}"#, #"{"freshnessSeconds": 60}"#,
      #"{"simpleRules": {"version": "1", "rules": [], "otherwise": "low"}}"#, #"{"budget": {"dailyAlerts": 10}}"#,
      #"{"catchUp": {"budgetTime": "12:00"}}"#, #"{"mentions": {"everybody": {"who": "nobody"}}}"#,
      #"{"mentions": {"everybody": {"upToMembers": 5}}}"#, #"{"pictures": {"hosts": ["cdn.example"]}}"#,
      #"{"answers": {"messages": 200}}"#, #"{"answers": {"days": 0}}"#,
    ]
    #expect(Set(try changed.map(version) + [standard]).count == changed.count + 1)
    #expect(
      try version(#"{"analysesPerHour": 3, "smallGroupMembers": 5}"#)
        == version(#"{"smallGroupMembers": 5, "analysesPerHour": 3}"#))
  }

  @Test(
    "D15: what cannot be meant is refused, with its place",
    arguments: [
      ("{", "no JSON"), ("[]", "the file: it must be an object"), (#"{"levels": {}}"#, #""levels" is not known"#),
      (#"{"defaultLevels": {"direct": "loud"}}"#, "defaultLevels.direct: it must be all, smart, mentions or none"),
      (#"{"thresholds": {"high": 1.5}}"#, "thresholds.high: it must be a number from 0.0 to 1.0"),
      (#"{"thresholds": {"high": 0.2, "medium": 0.3}}"#, "medium is 0.3; it must not be above high"),
      (#"{"weights": {"friends": 1}}"#, #"weights: "friends" is not known"#),
      (#"{"bursts": {"directSeconds": true}}"#, "bursts.directSeconds: it must be a whole number"),
      (#"{"budget": {"dailyAlerts": 1001}}"#, "budget.dailyAlerts: it must be a whole number from 0 to 1000"),
      (#"{"catchUp": {"budgetTime": "6pm"}}"#, "catchUp.budgetTime: it must be a time of day as HH:MM"),
      (#"{"pictures": {"hosts": ["https://cdn.example/"]}}"#, "pictures.hosts: they must be names of hosts"),
      (#"{"pictures": {"hosts": ["*"]}}"#, "pictures.hosts: they must be names of hosts"),
      (
        #"{"mentions": {"everybody": {"who": "admins"}}}"#,
        "mentions.everybody.who: it must be members, backends or nobody"
      ),
      (#"{"answers": {"messages": 10}}"#, "answers.messages: it must be a whole number from 128 to 4000"),
      (#"{"smallGroupMembers": 2.5}"#, "smallGroupMembers: it must be a whole number"),
      (#"{"urgentWords": {"en": [""]}}"#, "urgentWords.en[0]: it must be a text of 1 to 64 characters"),
      (
        #"{"simpleRules": {"version": "1", "rules": [{"name": "a", "when": ["loud"], "priority": "low"}], "otherwise": "low"}}"#,
        "simpleRules.rules[0].when[0]"
      ),
      (
        #"{"simpleRules": {"version": "1", "rules": [], "otherwise": "low", "more": 1}}"#,
        "simpleRules.more is not known"
      ),
    ])
  func refused(text: String, says: String) {
    let error = #expect(throws: PolicyError.self) { try policy(text) }
    #expect(error?.description.contains(says) == true, "\(error?.description ?? "")")
  }

  @Test(
    "issue 62: an answer counts to one of the last 1,000 messages, or of the last 14 days, or what the policy says",
    arguments: [
      ("{}", 1_000, 30, true), ("{}", 1_001, 14, true), ("{}", 1_001, 15, false),
      (#"{"answers": {"messages": 200, "days": 1}}"#, 201, 2, false),
      (#"{"answers": {"messages": 3000}}"#, 2_999, 90, true),
    ])
  func answers(text: String, messagesBack: Int, days: Int64, counts: Bool) throws {
    let policy = try policy(text)
    let scene = try Scene.smart { $0 = policy }
    try scene.prefer(PreferencesPatch(defaultLevels: DefaultLevels(group: .mentions)))
    var candidate = Scene.candidate("m1", in: "g", RecipientContext(answered: true), group: "Hikers")
    candidate.answers = AnsweredMessage(messagesBack: messagesBack, sentAt: noon - days * 24 * hour)
    let written = try scene.send(.candidate(candidate), at: noon, origin: scene.nextOrigin())
    #expect(written.decision?.outcome == (counts ? .notify : .suppress))
  }

  @Test("issue 62: a person's badge is told by the policy's way to count, where they chose none")
  func badgeOfAPerson() throws {
    let scene = try Scene.smart { $0.badgeMode = .messages }
    func badge() throws -> Int {
      var view = PersonView(userId: "ann")
      let coder = RecordCoder()
      for key in [AnalyzerRow.userKey("ann"), AnalyzerRow.preferencesKey("ann")] {
        guard let row = try scene.driver.row(key) else { continue }
        try row.encoded(coder: coder, at: .latest).withUnsafeBytes { try view.take(key, $0, coder: coder) }
      }
      return view.badge
    }
    for number in 0..<3 { try scene.message("m\(number)", at: noon + Int64(number) * minute) }
    #expect(try badge() == 3)
    try scene.prefer(PreferencesPatch(badgeMode: .conversations), at: noon)
    #expect(try badge() == 1)
  }

  /// Read once: its words are added to thousands of others.
  private static let withUrgentWords = Result {
    let words =
      #"{"urgentWords": {"en": ["SEV5", "main pump is dry"], "de": ["Großstörung"], "ja": ["重大障害"], "xx": ["?"]}}"#
    return try NotificationPolicy(json: Array(words.utf8))
  }

  @Test(
    "D15: an operator's urgent words add to what is urgent, whole where words are whole, anywhere in Japanese, and not when denied",
    arguments: [
      ("SEV5 in Oslo", true), ("call me, it is URGENT", true), ("eine Großstörung im Werk", true), ("本番で重大障害です", true),
      ("the main pump is dry again", true), ("presev5", false), ("it is no sev5", false), ("keine Großstörung", false),
      ("the pump is dry", false), ("see you tomorrow", false),
    ])
  func urgentWords(text: String, isUrgent: Bool) throws {
    #expect(MessageText(text).isUrgent(try Self.withUrgentWords.get().urgentWords) == isUrgent)
  }

  @Test("D15: what ingest found urgent is not asked again, unless an operator has words of their own")
  func urgentByIngest() throws {
    func isUrgent(_ text: String, byIngest: Bool?, of file: String = "{}") throws -> Bool {
      var rules = AnalyzerRules(hash: standInHash)
      rules.policy = try policy(file)
      var candidate = Scene.candidate("m1", body: text)
      candidate.urgent = byIngest
      return CandidateMessage(candidate, sentAt: noon, policy: rules.policyVersion).isUrgent
    }
    let own = #"{"urgentWords": {"en": ["SEV5"]}}"#
    for (text, expected) in [("he is not breathing", true), ("see you tomorrow", false)] {
      #expect(try isUrgent(text, byIngest: nil) == expected)
      #expect(try isUrgent(text, byIngest: !expected) != expected, "the answer is ingest's")
      #expect(try isUrgent(text, byIngest: !expected, of: own) == expected)
    }
    #expect(try isUrgent("SEV5 in Oslo", byIngest: false, of: own))
  }

  @Test("D15, M3: body and preview limits, levels and thresholds of the policy decide")
  func applies() throws {
    var rules = AnalyzerRules(hash: standInHash)
    rules.policy = try policy(
      #"{"textLimits": {"body": 10, "preview": 5}, "defaultLevels": {"direct": "smart"}, "thresholds": {"high": 0.3}}"#)
    let scene = try Scene.withPhone(rules)
    try scene.activity("phone", in: nil, at: noon)
    let written = try scene.message("m1", body: "see you at the station")
    #expect(written.push?.body == "see you a…" && written.banners.first?.preview == "see …")
    #expect(written.decision?.priority == .high && written.decision?.level == .smart)
  }

  @Test("D15: the policy of the step decides, and each decision names it")
  func inForce() throws {
    let scene = try Scene.withPhone()
    let first = scene.driver.policy
    let before = try scene.message("m1", body: "see you at the station")
    let later = PolicyVersion(try policy(#"{"textLimits": {"body": 10}}"#), hash: standInHash)
    scene.driver.policy = later
    let after = try scene.message("m2", body: "see you at the station")
    #expect(before.push?.body == "see you at the station" && before.decision?.policy == first.version)
    #expect(after.push?.body == "see you a…" && after.decision?.policy == later.version)
    #expect(first.version != later.version)
  }

  @Test(
    "D15: a file is read again when it changes and on SIGHUP; one that cannot be used changes nothing and is logged")
  func reload() throws {
    let folder = try TemporaryDirectory()
    let path = folder.path + "/policy.json"
    let place = URL(fileURLWithPath: path)
    try Data(#"{"analysesPerHour": 7}"#.utf8).write(to: place)
    let log = LogCapture()
    func make(_ path: String) throws -> PolicyFile {
      try PolicyFile(
        path: path, .policy, defaults: NotificationPolicy(), hash: standInHash,
        logger: Logger(label: "test", sink: log.sink))
    }
    let watched = try make(path)
    let first = watched.current
    #expect(first.policy.analysesPerHour == 7)
    watched.start { _ in }
    defer { watched.stop() }
    try Data(#"{"smallGroupMembers": 100}"#.utf8).write(to: place)
    wait(for: "the change to be seen") { watched.current.policy.smallGroupMembers == 100 }
    #expect(watched.current.version != first.version && watched.current.policy.analysesPerHour == 10)
    try Data("{".utf8).write(to: place)
    watched.reload()
    #expect(watched.current.policy.smallGroupMembers == 100)
    #expect(log.entries.contains { $0.level == .error && $0.message.contains("cannot be read again") })
    #expect(throws: SettingsError.self) { try make(folder.path + "/none.json") }
  }
}

import Foundation
import NudgeSchema

extension NotificationPolicy {
  private static let names: Set<String> = [
    "defaultLevels", "smallGroupMembers", "thresholds", "weights", "bursts", "textLimits", "urgentWords",
    "analysesPerHour", "freshnessSeconds", "waits", "history", "presence", "badgeMode", "budget", "catchUp",
    "escalation", "mentions", "answers", "pictures", "simpleRules",
  ]

  /// Reads a policy file (`Schemas/policy.schema.json`). Fields that it does not name stay as in `defaults`.
  ///
  /// - Throws: `PolicyError`: no JSON, a field that is not known, or a value out of its range.
  public init(json bytes: [UInt8], defaults: NotificationPolicy = NotificationPolicy()) throws(PolicyError) {
    self = defaults
    let file = try PolicyFields(json: bytes, known: Self.names)
    if let levels = try file.object("defaultLevels", known: ["direct", "group"]) {
      if levels.has("direct") { directLevel = try levels.choice("direct") }
      if levels.has("group") { groupLevel = try levels.choice("group") }
    }
    try file.integer("smallGroupMembers", in: 0...20_000, into: &smallGroupMembers)
    if let thresholds = try file.object("thresholds", known: ["high", "medium"]) {
      try thresholds.number("high", in: 0...1, into: &highFrom)
      try thresholds.number("medium", in: 0...1, into: &mediumFrom)
    }
    guard mediumFrom <= highFrom else {
      throw PolicyError("thresholds: medium is \(mediumFrom); it must not be above high, which is \(highFrom)")
    }
    if let fields = try file.object("weights", known: Set(SignalWeights.fields.map(\.name))) {
      for (name, path) in SignalWeights.fields { try fields.number(name, in: 0...1, into: &weights[keyPath: path]) }
    }
    if let bursts = try file.object("bursts", known: ["groupSeconds", "directSeconds"]) {
      try bursts.integer("groupSeconds", in: 0...SchemaLimits.burstSeconds, into: &groupBurstSeconds)
      try bursts.integer("directSeconds", in: 0...SchemaLimits.burstSeconds, into: &directBurstSeconds)
    }
    if let limits = try file.object("textLimits", known: ["body", "preview"]) {
      try limits.integer("body", in: 1...2_000, into: &bodyCharacters)
      try limits.integer("preview", in: 1...500, into: &previewCharacters)
    }
    if let languages = try file.object("urgentWords") {
      guard languages.names.count <= 100 else { throw PolicyError("urgentWords: at most 100 languages are allowed") }
      var words: [String: [String]] = [:]
      for language in languages.names {
        words[language] = try languages.texts(language, atMost: 200, characters: 1...64)
      }
      urgentWords = UrgentWords(words)
    }
    try file.integer("analysesPerHour", in: 0...SchemaLimits.analysesPerHour, into: &analysesPerHour)
    var seconds = Int(freshness / 1_000)
    try file.integer("freshnessSeconds", in: 1...7 * 86_400, into: &seconds)
    if file.has("freshnessSeconds") { freshness = Milliseconds(seconds) * 1_000 }
    if let waits = try file.object("waits", known: ["presenceSeconds", "highSeconds", "otherSeconds", "mediumSeconds"])
    {
      try waits.integer("presenceSeconds", in: 0...600, into: &presenceSeconds)
      try waits.integer("highSeconds", in: 0...60, into: &highWaitSeconds)
      // The name of `otherSeconds` in earlier releases.
      try waits.integer("mediumSeconds", in: 0...60, into: &otherWaitSeconds)
      try waits.integer("otherSeconds", in: 0...60, into: &otherWaitSeconds)
    }
    if let history = try file.object("history", known: ["afterHours"]) {
      try history.integer("afterHours", in: 1...8_760, into: &historyAfterHours)
    }
    if let presence = try file.object("presence", known: ["repeatMinutes"]) {
      try presence.integer("repeatMinutes", in: 1...1_440, into: &presenceRepeatMinutes)
    }
    if file.has("badgeMode") { badgeMode = try file.choice("badgeMode") }
    if let budget = try file.object("budget", known: ["dailyAlerts"]) {
      try budget.integer("dailyAlerts", in: 0...SchemaLimits.dailyAlerts, into: &dailyAlerts)
    }
    if let catchUp = try file.object("catchUp", known: ["spreadSeconds", "budgetTime"]) {
      try catchUp.integer("spreadSeconds", in: 0...3_600, into: &catchUpSpreadSeconds)
      try catchUp.minuteOfDay("budgetTime", into: &budgetCatchUp)
    }
    if let escalation = try file.object("escalation", known: ["againSeconds", "webhookSeconds"]) {
      try escalation.integer("againSeconds", in: 0...21_600, into: &againSeconds)
      try escalation.integer("webhookSeconds", in: 0...21_600, into: &webhookSeconds)
    }
    if let mentions = try file.object("mentions", known: ["everybody"]),
      let everybody = try mentions.object("everybody", known: ["who", "upToMembers"])
    {
      if everybody.has("who") { self.everybody.who = try everybody.choice("who") }
      try everybody.integer("upToMembers", in: 0...1_000_000, into: &self.everybody.upToMembers)
    }
    if let answers = try file.object("answers", known: ["messages", "days"]) {
      try answers.integer("messages", in: 128...4_000, into: &self.answers.messages)
      try answers.integer("days", in: 0...365, into: &self.answers.days)
    }
    if let pictures = try file.object("pictures", known: ["hosts"]), pictures.has("hosts") {
      pictureHosts = try Self.hosts(pictures)
    }
    if let rules = try file.object("simpleRules") { simpleRules = try SimpleRules(rules) }
  }

  private static func hosts(_ pictures: PolicyFields) throws(PolicyError) -> [String] {
    let hosts = try pictures.texts("hosts", atMost: 100, characters: 1...253)
    for host in hosts {
      let name = host.hasPrefix("*.") ? String(host.dropFirst(2)) : host
      guard HTTPSAddress("https://\(name)/")?.host == name.lowercased() else {
        throw PolicyError(
          "\(pictures.path("hosts")): they must be names of hosts, such as cdn.example.com or *.example.com")
      }
    }
    return hosts
  }

  /// The whole policy as JSON, its fields in the order of their names.
  public func json(pretty: Bool) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = pretty ? [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes] : [.sortedKeys]
    // Numbers, texts and lists of them: nothing that could not be written.
    return (try? encoder.encode(Document(self))).map { [UInt8]($0) } ?? []
  }

  private struct Document: Encodable {
    let defaultLevels: [String: String]
    let smallGroupMembers: Int
    let thresholds: [String: Double]
    let weights: [String: Double]
    let bursts: [String: Int]
    let textLimits: [String: Int]
    let urgentWords: [String: [String]]
    let analysesPerHour: Int
    let freshnessSeconds: Int
    let waits: [String: Int]
    let history: [String: Int]
    let presence: [String: Int]
    let badgeMode: String
    let budget: [String: Int?]
    let catchUp: CatchUp
    let escalation: [String: Int]
    let mentions: [String: Everybody]
    let answers: [String: Int]
    let pictures: [String: [String]]
    let simpleRules: SimpleRules

    struct Everybody: Encodable {
      let who: String
      let upToMembers: Int
    }

    struct CatchUp: Encodable {
      let spreadSeconds: Int
      let budgetTime: String
    }

    init(_ policy: NotificationPolicy) {
      defaultLevels = ["direct": policy.directLevel.rawValue, "group": policy.groupLevel.rawValue]
      smallGroupMembers = policy.smallGroupMembers
      thresholds = ["high": policy.highFrom, "medium": policy.mediumFrom]
      weights = Dictionary(
        uniqueKeysWithValues: SignalWeights.fields.map { ($0.name, policy.weights[keyPath: $0.path]) })
      bursts = ["groupSeconds": policy.groupBurstSeconds, "directSeconds": policy.directBurstSeconds]
      textLimits = ["body": policy.bodyCharacters, "preview": policy.previewCharacters]
      urgentWords = policy.urgentWords.byLanguage
      analysesPerHour = policy.analysesPerHour
      freshnessSeconds = Int(policy.freshness / 1_000)
      waits = [
        "presenceSeconds": policy.presenceSeconds, "highSeconds": policy.highWaitSeconds,
        "otherSeconds": policy.otherWaitSeconds,
      ]
      history = ["afterHours": policy.historyAfterHours]
      presence = ["repeatMinutes": policy.presenceRepeatMinutes]
      badgeMode = policy.badgeMode.rawValue
      budget = ["dailyAlerts": policy.dailyAlerts]
      catchUp = CatchUp(
        spreadSeconds: policy.catchUpSpreadSeconds, budgetTime: QuietSpan.text(policy.budgetCatchUp))
      escalation = ["againSeconds": policy.againSeconds, "webhookSeconds": policy.webhookSeconds]
      mentions = ["everybody": Everybody(who: policy.everybody.who.rawValue, upToMembers: policy.everybody.upToMembers)]
      answers = ["messages": policy.answers.messages, "days": policy.answers.days]
      pictures = ["hosts": policy.pictureHosts]
      simpleRules = policy.simpleRules
    }
  }
}

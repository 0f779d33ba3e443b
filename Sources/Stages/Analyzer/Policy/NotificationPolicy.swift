import Foundation
public import NudgeSchema
import ServiceKit

/// The operator's policy (D15): defaults for people's preferences, and how messages are scored, shown and limited.
///
/// The defaults equal `Deploy/policy.json`. Every instance of a deployment must have the same policy.
public struct NotificationPolicy: Sendable, Equatable {
  /// What the badge counts for people who have not chosen (D6).
  public var badgeMode = BadgeMode.conversations
  /// The level of direct conversations without their own level (D14).
  public var directLevel = NotificationLevel.all
  /// The level of groups without their own level (D14).
  public var groupLevel = NotificationLevel.smart
  /// At level `smart`, messages of groups with up to this many members are shown at least silently.
  public var smallGroupMembers = 20
  /// The score from which a message has high priority. The default has the highest F1 on the validation logs: 84 % of
  /// the group messages above it were for the person.
  public var highFrom = 0.4
  /// The score from which a message has medium priority. Above the default, 63 % of the group messages in the
  /// validation logs were for the person, and 93 % of the messages for the person are above it.
  public var mediumFrom = 0.1
  /// The weights of the signals beside the relevance model.
  public var weights = SignalWeights()
  /// For this many seconds after an alert in a group at level `smart` or `mentions`, its messages do not alert; 0 turns
  /// this off. A person's `burstSeconds` overrides it.
  public var groupBurstSeconds = 60
  /// For this many seconds after an alert in a direct conversation, or in a group at level `all`, its messages do not
  /// alert; 0 turns this off.
  public var directBurstSeconds = 5
  /// The most characters (grapheme clusters) of a push's body, including the `…` of a cut one. The default is about
  /// what the lock screens of iOS and Android show.
  public var bodyCharacters = 240
  /// The most characters of the text in an in-app banner, including the `…`.
  public var previewCharacters = Banner.previewLength
  /// Words that make a message urgent.
  public var urgentWords = UrgentWords.standard
  /// Smart analyses per hour for people who have not set a limit (D4).
  public var analysesPerHour = 10
  /// The greatest age at which a message notifies, in milliseconds.
  public var freshness: Milliseconds = 3_600_000
  /// How long a message waits for a read while a device reports its conversation as open, in seconds. With 0 it counts
  /// as read at once.
  public var presenceSeconds = 120
  /// How many minutes after the last sign of a person repeated reports still keep messages from the person's other
  /// devices.
  public var presenceRepeatMinutes = 5
  /// How long an alert of high priority waits while the person is active on another device, in seconds; 0 for no wait.
  public var highWaitSeconds = 2
  /// How long any other alert waits while the person is active on another device, in seconds; 0 for no wait.
  public var otherWaitSeconds = 4
  /// A message that was written more than this many hours before it arrived is history and notifies nobody.
  public var historyAfterHours = 24
  /// The number of seconds over which catch-ups of the same time are spread.
  public var catchUpSpreadSeconds = 300
  /// The minute of the day at which people with a budget of alerts catch up if they have neither quiet hours nor times
  /// of their own. Default: 18:00.
  public var budgetCatchUp = 18 * 60
  /// The most alerts per day for people who have not chosen (D20); nil without a limit.
  public var dailyAlerts: Int?
  /// How long after its push a message of high priority that mentions the person or is direct is pushed again, if it
  /// neither arrived nor was read, in seconds. With 0 it is never pushed again, and no webhook is called.
  public var againSeconds = 0
  /// How long after that the webhook is called, if the message still neither arrived nor was read, in seconds; 0 for
  /// never.
  public var webhookSeconds = 300
  /// Who may mention everybody, and in groups of which size.
  public var everybody = EverybodyMention()
  /// How far back an answered message may be.
  public var answers = AnswersReach()
  /// The hosts from which phones may fetch pictures published by people's own apps. `*.` stands for all names below a
  /// host.
  public var pictureHosts: [String] = []
  /// The rules that score messages at levels other than `smart`, and at `smart` past the hourly limit.
  public var simpleRules = SimpleRules.standard

  public init() {}

  /// `historyAfterHours` in milliseconds, at least the freshness.
  var historyAfter: Milliseconds { max(freshness, Milliseconds(historyAfterHours) * 3_600_000) }

  /// Whether messages are pushed again.
  var escalates: Bool { againSeconds > 0 }

  /// The time from a message's push to the last step of its escalation, in milliseconds; 0 without escalation.
  var escalationSpan: Milliseconds { escalates ? Milliseconds(againSeconds + webhookSeconds) * 1_000 : 0 }
}

/// How far back a message may be for its author to be known when somebody answers it: among the last ones, or some days
/// old.
public struct AnswersReach: Sendable, Equatable {
  /// The number of last messages. Default: 1,000.
  public var messages = 1_000
  /// The number of days for older messages. Default: 14.
  public var days = 14

  /// The defaults.
  public init() {}

  /// Whether a message of that time may answer one that far back.
  func includes(_ answered: AnsweredMessage, at time: Milliseconds) -> Bool {
    answered.messagesBack <= messages || time - answered.sentAt <= Milliseconds(days) * 86_400_000
  }
}

/// Who may mention everybody in a group (`mentions: ["*"]`).
public struct EverybodyMention: Sendable, Equatable {
  /// The senders who may do so.
  public enum Allowed: String, Sendable, CaseIterable {
    /// Every member.
    case members
    /// Only backends, which know who is allowed to. In messages published with a user's own token it mentions nobody.
    case backends
    /// Nobody.
    case nobody
  }

  /// The senders who may do so.
  public var who = Allowed.members
  /// The largest group in which it counts.
  public var upToMembers = 100

  /// Every member, in groups of up to 100 members.
  public init() {}

  /// Whether a message mentions everybody.
  func counts(for candidate: MessageCandidate) -> Bool {
    guard candidate.mentions.contains(MessageCandidate.everybody), candidate.conversation.memberCount <= upToMembers
    else { return false }
    switch who {
    case .members: return true
    case .backends: return candidate.byUser != true
    case .nobody: return false
    }
  }
}

extension NotificationPolicy {
  /// A message as the policy permits it: its mentions, its answer, and the pictures that phones may fetch.
  func applied(to candidate: MessageCandidate, sentAt: Milliseconds) -> MessageCandidate {
    var candidate = candidate
    if let answered = candidate.answers, !answers.includes(answered, at: sentAt) {
      for index in candidate.recipients.indices { candidate.recipients[index].context.answered = false }
    }
    if candidate.byUser == true, let url = candidate.attachment?.url, !isPictureAllowed(url) {
      candidate.attachment?.url = nil
    }
    if everybody.counts(for: candidate) {
      for index in candidate.recipients.indices { candidate.recipients[index].context.mentioned = true }
    }
    return candidate
  }

  private func isPictureAllowed(_ url: String) -> Bool {
    guard let address = HTTPSAddress(url) else { return false }
    return pictureHosts.contains { address.isOf($0) }
  }
}

/// The weight of each signal besides the model: the share, 0 to 1, of the distance from a score to 1 that it adds.
public struct SignalWeights: Sendable, Equatable {
  /// The initial score of a direct conversation. Default: 0.3, which alone gives medium priority.
  public var direct = 0.3
  /// The person is mentioned by id. Default: 0.9, which alone gives high priority.
  public var mentioned = 0.9
  /// The message replies to one of the person's. Default: 0.8, which alone gives high priority.
  public var answered = 0.8
  /// The person starred the sender. Default: 0.3, which alone gives medium priority; with a keyword high.
  public var starredSender = 0.3
  /// The text contains one of the person's keywords. Default: 0.3.
  public var keyword = 0.3
  /// In a group, the text contains the name of a member who is not among the last speakers. Default: 0.6, which alone
  /// gives high priority.
  public var namedNewcomer = 0.6
  /// In a direct conversation, the text contains the person's name. Default: 0.3.
  public var named = 0.3
  /// In a direct conversation, both people write in turns. The weight is full from 4 turns on. Default: 0.2.
  public var exchange = 0.2
  /// The text is urgent. Default: 0.3.
  public var urgentWords = 0.3
  /// In a direct conversation, the text asks a question. Default: 0.1.
  public var question = 0.1

  /// The default weights.
  public init() {}

  /// All weights by their names in a policy file.
  static let fields: [(name: String, path: any WritableKeyPath<SignalWeights, Double> & Sendable)] = [
    ("direct", \.direct), ("mentioned", \.mentioned), ("answered", \.answered), ("starredSender", \.starredSender),
    ("keyword", \.keyword), ("namedNewcomer", \.namedNewcomer), ("named", \.named), ("exchange", \.exchange),
    ("urgentWords", \.urgentWords), ("question", \.question),
  ]
}

/// A policy with values that are derived from it once. Stages share it and compare it by identity.
public final class PolicyVersion: Sendable {
  /// The policy's fields.
  public let policy: NotificationPolicy
  /// The first 12 hexadecimal digits of the SHA-256 of the whole policy as JSON, including defaults. Decisions contain
  /// it.
  public let version: String

  /// - Parameter hash: SHA-256.
  public init(_ policy: NotificationPolicy, hash: ([UInt8]) -> [UInt8]) {
    self.policy = policy
    version = Hexadecimal.encode(hash(policy.json(pretty: false)).prefix(6))
  }
}

extension NotificationPolicy {
  private static let names: Set<String> = [
    "defaultLevels", "smallGroupMembers", "thresholds", "weights", "bursts", "textLimits", "urgentWords",
    "analysesPerHour", "freshnessSeconds", "waits", "history", "presence", "badgeMode", "budget", "catchUp",
    "escalation", "mentions", "answers", "pictures", "simpleRules",
  ]

  /// Reads a policy file (`Schemas/policy.schema.json`). Fields that the file does not name have the values of
  /// `defaults`.
  ///
  /// - Throws: `PolicyError` if the file is not JSON, has an unknown field, or has a value out of range.
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

  /// The whole policy as JSON, with fields ordered by name.
  public func json(pretty: Bool) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = pretty ? [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes] : [.sortedKeys]
    // It contains only numbers, texts and lists, so encoding cannot fail.
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

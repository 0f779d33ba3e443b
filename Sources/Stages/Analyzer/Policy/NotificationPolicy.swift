import Foundation
public import NudgeSchema
import ServiceKit

/// The operator's policy (D15): the defaults of people's preferences, and how messages are judged, shown and bounded.
///
/// The defaults are those of `Deploy/policy.json`. Every instance of a deployment must have the same policy.
public struct NotificationPolicy: Sendable, Equatable {
  /// The count that the badge shows for people who did not choose (D6).
  public var badgeMode = BadgeMode.conversations
  /// The level of direct conversations without one of their own (D14).
  public var directLevel = NotificationLevel.all
  /// The level of groups without one of their own (D14).
  public var groupLevel = NotificationLevel.smart
  /// At level `smart`, messages of groups with up to this many members are shown at least silently.
  public var smallGroupMembers = 20
  /// The score from which a message has high priority. Default: of a group's messages above it 84 in 100 were for the
  /// person on the validation logs, where F1 is highest.
  public var highFrom = 0.4
  /// The score from which a message has medium priority. Default: of a group's messages above it 63 in 100 were for the
  /// person on the validation logs, and 93 in 100 of those for them are above it.
  public var mediumFrom = 0.1
  /// The weights of the signals beside the relevance model.
  public var weights = SignalWeights()
  /// For this many seconds after an alert in a group at level `smart` or `mentions`, its messages appear without one; 0: off.
  /// A person's `burstSeconds` stands above it.
  public var groupBurstSeconds = 60
  /// For this many seconds after an alert in a direct conversation, or in a group at level `all`, its messages appear without
  /// one; 0: off.
  public var directBurstSeconds = 5
  /// Characters (grapheme clusters) of a push's body, the `…` of a cut one included. The default is about what the lock
  /// screens of iOS and Android show.
  public var bodyCharacters = 240
  /// Characters of the text in an in-app banner, the `…` included.
  public var previewCharacters = Banner.previewLength
  /// Words that say a message cannot wait.
  public var urgentWords = UrgentWords.standard
  /// Smart analyses an hour of a person who set no limit (D4).
  public var analysesPerHour = 10
  /// How long after a message's time people are notified of it, in milliseconds.
  public var freshness: Milliseconds = 3_600_000
  /// For how long a message waits for a read, where a device says that its conversation is open, in seconds; 0: it counts as read
  /// at once.
  public var presenceSeconds = 120
  /// For how many minutes after the last sign of a person reports that only repeat keep messages from the person's other devices.
  public var presenceRepeatMinutes = 5
  /// For how long an alert of a message of high priority waits while another device of the person is active, in seconds; 0: it does not.
  public var highWaitSeconds = 2
  /// The same of other messages that alert.
  public var otherWaitSeconds = 4
  /// A message sent longer than this before it arrived is history: nobody is told of it, in hours.
  public var historyAfterHours = 24
  /// Over how many seconds the catch-ups of one time are spread.
  public var catchUpSpreadSeconds = 300
  /// The minute of the day at which people with a budget of alerts catch up who have neither quiet hours nor times of their own.
  /// Default: 18:00.
  public var budgetCatchUp = 18 * 60
  /// The most alerts in a day of a person who did not choose (D20); nil: there is no bound.
  public var dailyAlerts: Int?
  /// How long after its push a message of high priority that mentions the person or is direct, and neither arrived nor was read, is
  /// pushed once more, in seconds; 0: never, and no webhook is told.
  public var againSeconds = 0
  /// How long after that the webhook is told, if it still neither arrived nor was read, in seconds; 0: never.
  public var webhookSeconds = 300
  /// The senders who may mention everybody, and the largest group in which they may.
  public var everybody = EverybodyMention()
  /// Which messages can still be answered.
  public var answers = AnswersReach()
  /// The hosts from which phones may fetch pictures that people's own apps published, `*.` for all names below one.
  public var pictureHosts: [String] = []
  /// The rules that judge messages at levels other than `smart`, and at `smart` past the hourly limit.
  public var simpleRules = SimpleRules.standard

  public init() {}

  /// The same in milliseconds; never less than freshness.
  var historyAfter: Milliseconds { max(freshness, Milliseconds(historyAfterHours) * 3_600_000) }

  /// Whether messages are said again.
  var escalates: Bool { againSeconds > 0 }

  /// The time from a message's push to the last step of saying it again, in milliseconds; 0: it is said once.
  var escalationSpan: Milliseconds { escalates ? Milliseconds(againSeconds + webhookSeconds) * 1_000 : 0 }
}

/// The messages of a conversation whose authors are still known when somebody answers: the last ones, and older ones for some days.
public struct AnswersReach: Sendable, Equatable {
  /// The last messages. Default: 1,000.
  public var messages = 1_000
  /// For how many days others can be. Default: 14.
  public var days = 14

  /// The defaults.
  public init() {}

  /// Whether a message of that time may answer one that far back.
  func includes(_ answered: AnsweredMessage, at time: Milliseconds) -> Bool {
    answered.messagesBack <= messages || time - answered.sentAt <= Milliseconds(days) * 86_400_000
  }
}

/// The senders who may mention everybody in a group (`mentions: ["*"]`).
public struct EverybodyMention: Sendable, Equatable {
  /// Those who may.
  public enum Allowed: String, Sendable, CaseIterable {
    /// Every member.
    case members
    /// Backends alone, which know who may: what a user's own token sends mentions nobody by it.
    case backends
    /// Nobody.
    case nobody
  }

  /// Who may.
  public var who = Allowed.members
  /// In groups of up to this many members.
  public var upToMembers = 100

  /// Every member, in groups of up to 100.
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
  /// A message as the policy lets it through: whom it mentions and answers, and the picture that phones may fetch.
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

/// The weight of each signal beside the model: the share, from 0 to 1, of the distance from a score to 1 that it adds.
public struct SignalWeights: Sendable, Equatable {
  /// Where the score of a direct conversation begins. Default: 0.3, medium on its own.
  public var direct = 0.3
  /// The person is mentioned by id. Default: 0.9, high on its own.
  public var mentioned = 0.9
  /// The message is a reply to one of the person's. Default: 0.8, high on its own.
  public var answered = 0.8
  /// The person starred the sender. Default: 0.3, medium on its own; with a keyword high.
  public var starredSender = 0.3
  /// The text has one of the person's keywords. Default: 0.3.
  public var keyword = 0.3
  /// In a group, the text has the name of somebody who is not among the last speakers. Default: 0.6, high on its own.
  public var namedNewcomer = 0.6
  /// In a direct conversation, the text has the person's name. Default: 0.3.
  public var named = 0.3
  /// In a direct conversation, both write in turns; full weight from 4 turns on. Default: 0.2.
  public var exchange = 0.2
  /// In a direct conversation, the text has an urgent word. Default: 0.3.
  public var urgentWords = 0.3
  /// In a direct conversation, the text asks something. Default: 0.1.
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

/// A policy with what is derived from it once: stages share it and compare it by identity.
public final class PolicyVersion: Sendable {
  /// The policy's fields.
  public let policy: NotificationPolicy
  /// The first 12 hexadecimal digits of the SHA-256 of the whole policy as JSON, defaults included. Decisions name it.
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

public import Foundation

/// A daily span in the person's own time in which only urgent messages notify (D2).
public struct QuietHours: Codable, Sendable, Equatable {
  /// The first minute of the span, `HH:MM`, inclusive.
  public var start: String
  /// The end of the span, `HH:MM`, exclusive. A time before `start` is on the next day. The same time as `start` means
  /// no quiet hours.
  public var end: String
  /// The IANA name of the time zone. Absent means the person's `timeZone`, or else UTC.
  public var timeZone: String?

  /// A span.
  public init(start: String, end: String, timeZone: String? = nil) {
    self.start = start
    self.end = end
    self.timeZone = timeZone
  }
}

/// The fallback once a person's hourly analyses are used up (D4).
public enum AnalysisFallback: String, NamedValue {
  /// A fixed set of rules.
  case simpleRules = "simple_rules"
  /// Every message notifies, with medium priority.
  case notifyAll = "notify_all"
  /// No message notifies.
  case suppressAll = "suppress_all"
}

/// A muted conversation.
public struct MutedConversation: Codable, Sendable, Equatable {
  /// The conversation.
  public var conversationId: String
  /// When the mute ends; absent if it has no end.
  public var until: Milliseconds?
  /// Whether messages that mention the person, or answer them, still notify.
  public var exceptMentions: Bool?

  /// A muted conversation.
  public init(conversationId: String, until: Milliseconds? = nil, exceptMentions: Bool? = nil) {
    self.conversationId = conversationId
    self.until = until
    self.exceptMentions = exceptMentions
  }

  private enum CodingKeys: String, CodingKey { case conversationId, until, exceptMentions }

  /// Reads the value; fields it does not know are ignored.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    conversationId = try fields.decode(String.self, forKey: .conversationId)
    until = try fields.decodeTimeIfPresent(forKey: .until)
    exceptMentions = try fields.decodeIfPresent(Bool.self, forKey: .exceptMentions)
  }
}

/// Which messages of a conversation are shown to a person (D14).
public enum NotificationLevel: String, NamedValue {
  /// Each message alerts.
  case all
  /// The message's priority decides: high alerts, medium is silent, low changes the badge. In small groups messages are
  /// at least silent.
  case smart
  /// Mentions, replies to the person and their keywords alert. Other messages change the badge.
  case mentions
  /// Messages only change the badge.
  case none
}

/// The levels of conversations without a level of their own. A kind that is absent keeps its level.
public struct DefaultLevels: Codable, Sendable, Equatable {
  /// The level of direct conversations.
  public var direct: NotificationLevel?
  /// The level of groups.
  public var group: NotificationLevel?

  /// Levels by kind of conversation.
  public init(direct: NotificationLevel? = nil, group: NotificationLevel? = nil) {
    self.direct = direct
    self.group = group
  }
}

/// A conversation with a level of its own.
public struct ConversationLevel: Codable, Sendable, Equatable {
  /// The conversation's id.
  public var conversationId: String
  /// The level, which overrides `DefaultLevels`.
  public var level: NotificationLevel

  /// A conversation's level.
  public init(conversationId: String, level: NotificationLevel) {
    self.conversationId = conversationId
    self.level = level
  }
}

/// The unit of the badge (D6).
public enum BadgeMode: String, NamedValue {
  /// Conversations with something unread.
  case conversations
  /// Unread messages.
  case messages
}

/// A field of a patch: either unchanged or set. A nullable field can be set to null.
public enum Change<Value: Codable & Sendable & Equatable>: Sendable, Equatable {
  /// The patch does not name the field, so its value stays.
  case unchanged
  /// Set to a value.
  case set(Value)
}

/// A change of preferences. Only the fields that it names change.
public struct PreferencesPatch: Codable, Sendable, Equatable {
  /// Whether the person wants notifications at all.
  public var enabled: Bool?
  /// Quiet hours. Setting nil turns them off.
  public var quietHours: Change<QuietHours?>
  /// Smart analyses per hour, 0 or more.
  public var maxAnalysesPerHour: Int?
  /// The fallback once the hourly analyses are used up.
  public var fallback: AnalysisFallback?
  /// All muted conversations. They replace the former list.
  public var muted: [MutedConversation]?
  /// Senders whose messages matter more.
  public var starredSenders: [String]?
  /// Words that matter to the person.
  public var keywords: [String]?
  /// The unit of the badge.
  public var badgeMode: BadgeMode?
  /// Whether message text may appear in a notification (D8).
  public var showPreviews: Bool?
  /// The person's language as a BCP 47 tag.
  public var locale: String?
  /// What was learned from feedback and behaviour up to this time is forgotten. The current time restarts learning.
  public var learnSince: Milliseconds?
  /// The length of a burst in groups at level `smart` or `mentions`, in seconds; 0 turns bursts off. During a burst,
  /// which follows an alert, messages do not alert unless they mention, answer or name the person, come from a starred
  /// sender, or matter more than the last message that alerted.
  public var burstSeconds: Int?
  /// The levels of conversations without one of their own.
  public var defaultLevels: DefaultLevels?
  /// All conversations with a level of their own. They replace the former list.
  public var conversationLevels: [ConversationLevel]?
  /// Ids of all senders whose messages are neither shown nor counted. They replace the former list.
  public var mutedSenders: [String]?
  /// The times at which the person catches up on what was held back, each `HH:MM` in their time zone. An empty list
  /// means never. Setting nil means at the end of quiet hours.
  public var digestTimes: Change<[String]?>
  /// The IANA name of the person's time zone, used for `digestTimes` and the days of `dailyAlerts`. Until it is set,
  /// the zone of quiet hours counts, or else UTC.
  public var timeZone: String?
  /// The most alerts per day, 0 to 1,000. Mentions and direct messages of starred senders are not counted. Setting nil
  /// means the operator's number.
  public var dailyAlerts: Change<Int?>
  /// Changes of lists that the patch does not replace.
  public var changes = ListChanges()

  /// A patch.
  public init(
    enabled: Bool? = nil, quietHours: Change<QuietHours?> = .unchanged, maxAnalysesPerHour: Int? = nil,
    fallback: AnalysisFallback? = nil, muted: [MutedConversation]? = nil, starredSenders: [String]? = nil,
    keywords: [String]? = nil, badgeMode: BadgeMode? = nil, showPreviews: Bool? = nil, locale: String? = nil,
    learnSince: Milliseconds? = nil, burstSeconds: Int? = nil, defaultLevels: DefaultLevels? = nil,
    conversationLevels: [ConversationLevel]? = nil, mutedSenders: [String]? = nil,
    digestTimes: Change<[String]?> = .unchanged, timeZone: String? = nil, dailyAlerts: Change<Int?> = .unchanged,
    changes: ListChanges = ListChanges()
  ) {
    self.enabled = enabled
    self.quietHours = quietHours
    self.maxAnalysesPerHour = maxAnalysesPerHour
    self.fallback = fallback
    self.muted = muted
    self.starredSenders = starredSenders
    self.keywords = keywords
    self.badgeMode = badgeMode
    self.showPreviews = showPreviews
    self.locale = locale
    self.learnSince = learnSince
    self.burstSeconds = burstSeconds
    self.defaultLevels = defaultLevels
    self.conversationLevels = conversationLevels
    self.mutedSenders = mutedSenders
    self.digestTimes = digestTimes
    self.timeZone = timeZone
    self.dailyAlerts = dailyAlerts
    self.changes = changes
  }

  private enum CodingKeys: String, CodingKey {
    case enabled, quietHours, maxAnalysesPerHour, fallback, muted, starredSenders, keywords, badgeMode, showPreviews
    case locale, learnSince, burstSeconds, defaultLevels, conversationLevels, mutedSenders, digestTimes, timeZone,
      dailyAlerts
  }

  /// Reads the value; fields it does not know are ignored.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    enabled = try fields.decodeIfPresent(Bool.self, forKey: .enabled)
    if fields.contains(.quietHours) {
      quietHours = .set(try fields.decode(QuietHours?.self, forKey: .quietHours))
    } else {
      quietHours = .unchanged
    }
    maxAnalysesPerHour = try fields.decodeIfPresent(Int.self, forKey: .maxAnalysesPerHour)
    fallback = try fields.decodeIfPresent(AnalysisFallback.self, forKey: .fallback)
    muted = try fields.decodeList(MutedConversation.self, forKey: .muted, &changes.muted)
    starredSenders = try fields.decodeList(String.self, forKey: .starredSenders, &changes.starredSenders)
    keywords = try fields.decodeList(String.self, forKey: .keywords, &changes.keywords)
    badgeMode = try fields.decodeIfPresent(BadgeMode.self, forKey: .badgeMode)
    showPreviews = try fields.decodeIfPresent(Bool.self, forKey: .showPreviews)
    locale = try fields.cosmeticText(.locale)
    learnSince = try fields.decodeIfPresent(Milliseconds.self, forKey: .learnSince)
    burstSeconds = try fields.decodeIfPresent(Int.self, forKey: .burstSeconds)
    defaultLevels = try fields.decodeIfPresent(DefaultLevels.self, forKey: .defaultLevels)
    conversationLevels = try fields.decodeList(
      ConversationLevel.self, forKey: .conversationLevels, &changes.conversationLevels)
    mutedSenders = try fields.decodeList(String.self, forKey: .mutedSenders, &changes.mutedSenders)
    digestTimes =
      fields.contains(.digestTimes)
      ? .set(try fields.decode([String]?.self, forKey: .digestTimes)) : .unchanged
    timeZone = try fields.decodeIfPresent(String.self, forKey: .timeZone)
    dailyAlerts =
      fields.contains(.dailyAlerts) ? .set(try fields.decode(Int?.self, forKey: .dailyAlerts)) : .unchanged
  }

  /// Writes the value; fields that are nil are left out.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encodeIfPresent(enabled, forKey: .enabled)
    if case .set(let hours) = quietHours { try fields.encode(hours, forKey: .quietHours) }
    try fields.encodeIfPresent(maxAnalysesPerHour, forKey: .maxAnalysesPerHour)
    try fields.encodeIfPresent(fallback, forKey: .fallback)
    try fields.encodeList(muted, changes.muted, forKey: .muted)
    try fields.encodeList(starredSenders, changes.starredSenders, forKey: .starredSenders)
    try fields.encodeList(keywords, changes.keywords, forKey: .keywords)
    try fields.encodeIfPresent(badgeMode, forKey: .badgeMode)
    try fields.encodeIfPresent(showPreviews, forKey: .showPreviews)
    try fields.encodeIfPresent(locale, forKey: .locale)
    try fields.encodeIfPresent(learnSince, forKey: .learnSince)
    try fields.encodeIfPresent(burstSeconds, forKey: .burstSeconds)
    try fields.encodeIfPresent(defaultLevels, forKey: .defaultLevels)
    try fields.encodeList(conversationLevels, changes.conversationLevels, forKey: .conversationLevels)
    try fields.encodeList(mutedSenders, changes.mutedSenders, forKey: .mutedSenders)
    if case .set(let times) = digestTimes { try fields.encode(times, forKey: .digestTimes) }
    try fields.encodeIfPresent(timeZone, forKey: .timeZone)
    if case .set(let alerts) = dailyAlerts { try fields.encode(alerts, forKey: .dailyAlerts) }
  }
}

/// Quiet hours as minutes of the day (D2), from `start` inclusive to `end` exclusive. An end before the start is on the
/// next day. Equal times mean no quiet hours.
public struct QuietSpan: Sendable, Equatable {
  /// The first minute of the day, 0 to 1,439.
  public var start: Int
  /// The end, exclusive, as a minute of the day, 0 to 1,439.
  public var end: Int

  /// nil if a time is not `HH:MM`.
  public init?(_ hours: QuietHours) {
    guard let start = Self.minutes(hours.start), let end = Self.minutes(hours.end) else { return nil }
    self.start = start
    self.end = end
  }

  /// Whether the span contains a minute of the day, 0 to 1,439.
  public func contains(_ minute: Int) -> Bool {
    start <= end ? start <= minute && minute < end : minute >= start || minute < end
  }

  /// The minute of the day on the person's clock. Quiet hours depend only on that clock: an hour that daylight saving
  /// skips never occurs, and a repeated hour counts twice.
  public static func minuteOfDay(_ time: Milliseconds, in zone: TimeZone) -> Int {
    let seconds = Int64((Double(time) / 1000).rounded(.down))
    let offset = zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
    let secondOfDay = (seconds + Int64(offset)) % 86_400
    return Int((secondOfDay + 86_400) % 86_400 / 60)
  }

  /// The minute of the day as `HH:MM`.
  public static func text(_ minute: Int) -> String {
    func pad(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(pad(minute / 60)):\(pad(minute % 60))"
  }

  /// The minute of the day of `HH:MM`; nil if the text has another form.
  public static func minutes(_ text: String) -> Int? {
    let bytes = Array(text.utf8)
    guard bytes.count == 5, bytes[2] == UInt8(ascii: ":") else { return nil }
    let digits = [bytes[0], bytes[1], bytes[3], bytes[4]].map { Int($0) - 48 }
    guard digits.allSatisfy({ (0...9).contains($0) }) else { return nil }
    let (hour, minute) = (digits[0] * 10 + digits[1], digits[2] * 10 + digits[3])
    return hour < 24 && minute < 60 ? hour * 60 + minute : nil
  }
}

/// A cache of time zones by name, because creating one reads its rules from the system.
public struct TimeZones: Sendable {
  /// More than the number of IANA names.
  static let maxKept = 1_000
  /// The zone for people who have not set one.
  public static let utc = TimeZone(secondsFromGMT: 0) ?? .gmt

  private var zones: [String: TimeZone] = [:]

  /// An empty cache.
  public init() {}

  /// The names of the tz database without a region. Foundation also reads abbreviations, of which nobody knows the place
  /// (`BST` is Dhaka to it), and offsets.
  private static let namesWithoutRegion: Set<String> = [
    "CET", "CST6CDT", "Cuba", "EET", "EST", "EST5EDT", "Egypt", "Eire", "GB", "GB-Eire", "GMT", "GMT+0", "GMT-0",
    "GMT0",
    "Greenwich", "HST", "Hongkong", "Iceland", "Iran", "Israel", "Jamaica", "Japan", "Kwajalein", "Libya", "MET", "MST",
    "MST7MDT", "NZ", "NZ-CHAT", "Navajo", "PRC", "PST8PDT", "Poland", "Portugal", "ROC", "ROK", "Singapore", "Turkey",
    "UCT", "UTC", "Universal", "W-SU", "WET", "Zulu",
  ]

  /// Whether a text is a name of the tz database that the system knows. `zone(named:)` reads others too, because earlier
  /// releases accepted them.
  public static func isName(_ text: String) -> Bool {
    let hasRegion = text.utf8.contains(UInt8(ascii: "/")) && !text.hasPrefix("SystemV/")
    return (hasRegion || namesWithoutRegion.contains(text)) && TimeZone(identifier: text) != nil
  }

  /// The zone of an IANA name, or UTC without a name; nil if the name is unknown.
  public mutating func zone(named name: String?) -> TimeZone? {
    guard let name else { return Self.utc }
    if let zone = zones[name] { return zone }
    guard let zone = TimeZone(identifier: name) else { return nil }
    if zones.count >= Self.maxKept { zones.removeAll() }
    zones[name] = zone
    return zone
  }
}

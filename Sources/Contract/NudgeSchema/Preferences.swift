public import Foundation

/// A daily span in which only messages of high priority notify, in the person's own time (D2).
public struct QuietHours: Codable, Sendable, Equatable {
  /// First minute of the span, `HH:MM`, inclusive.
  public var start: String
  /// The minute it ends at, `HH:MM`, exclusive; before `start`: the next day. Equal to it: no quiet hours.
  public var end: String
  /// IANA name; absent: UTC.
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
  /// The fixed rule set.
  case simpleRules = "simple_rules"
  /// Everything, at medium priority.
  case notifyAll = "notify_all"
  /// Nothing.
  case suppressAll = "suppress_all"
}

/// A muted conversation.
public struct MutedConversation: Codable, Sendable, Equatable {
  /// The conversation.
  public var conversationId: String
  /// When it ends; absent: never.
  public var until: Milliseconds?
  /// Whether a mention is let through all the same.
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
  /// By the message's priority: high alerts, medium is silent, low changes the badge. In small groups at least silent.
  case smart
  /// Mentions, replies to the person and their keywords alert; the rest changes the badge.
  case mentions
  /// Nothing is shown; messages change the badge.
  case none
}

/// The levels of conversations that have none of their own. A kind that is nil stays as it is.
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
  /// The level, which stands above `DefaultLevels`.
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

/// A field of a patch: not named, or set (to null where the field can be).
public enum Change<Value: Codable & Sendable & Equatable>: Sendable, Equatable {
  /// Not named: stays as it is.
  case unchanged
  /// Set to a value.
  case set(Value)
}

/// A change of preferences: only the fields it names.
public struct PreferencesPatch: Codable, Sendable, Equatable {
  /// Whether the person wants notifications at all.
  public var enabled: Bool?
  /// Quiet hours; set to nil: none.
  public var quietHours: Change<QuietHours?>
  /// Smart analyses in an hour, 0 or more.
  public var maxAnalysesPerHour: Int?
  /// The fallback once these are used up.
  public var fallback: AnalysisFallback?
  /// All muted conversations; those of before are replaced.
  public var muted: [MutedConversation]?
  /// Senders whose messages matter more.
  public var starredSenders: [String]?
  /// Words that matter to the person.
  public var keywords: [String]?
  /// The unit of the badge.
  public var badgeMode: BadgeMode?
  /// Whether message text may appear in a notification (D8).
  public var showPreviews: Bool?
  /// The person's language, as BCP 47.
  public var locale: String?
  /// Lessons from feedback and behaviour up to this time are forgotten. Set to now, learning starts over.
  public var learnSince: Milliseconds?
  /// For this many seconds after an alert in a group, its messages appear without one, unless they mention, answer or name
  /// the person, or come from a starred sender. 0: off.
  public var burstSeconds: Int?
  /// The levels of conversations without one of their own.
  public var defaultLevels: DefaultLevels?
  /// All conversations with a level of their own; those of before are replaced.
  public var conversationLevels: [ConversationLevel]?
  /// Ids of all senders of whom nothing is shown in groups; those of before are replaced.
  public var mutedSenders: [String]?
  /// When the person catches up on what was held back, each `HH:MM` in their time zone. None: never. Set to nil: when quiet
  /// hours end.
  public var digestTimes: Change<[String]?>
  /// The person's time zone, an IANA name, by which `digestTimes` and the days of `dailyAlerts` go. Never set: that of quiet
  /// hours, else UTC.
  public var timeZone: String?
  /// The most alerts in a day, 0 to 1,000; mentions, and direct messages of starred senders, are not counted. Set to nil: the
  /// operator's number.
  public var dailyAlerts: Change<Int?>
  /// Changes of lists that the patch does not set as a whole.
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

/// Quiet hours as minutes of the day (D2): from start inclusive to end exclusive, over midnight where the end is before
/// the start. Start and end alike: none.
public struct QuietSpan: Sendable, Equatable {
  /// The first minute of the day, 0 to 1,439.
  public var start: Int
  /// The minute of the day it ends at, exclusive, 0 to 1,439.
  public var end: Int

  /// nil: not `HH:MM`.
  public init?(_ hours: QuietHours) {
    guard let start = Self.minutes(hours.start), let end = Self.minutes(hours.end) else { return nil }
    self.start = start
    self.end = end
  }

  /// Whether the span contains a minute of the day, 0 to 1,439.
  public func contains(_ minute: Int) -> Bool {
    start <= end ? start <= minute && minute < end : minute >= start || minute < end
  }

  /// The minute of the day a person's clock shows. That clock is all quiet hours look at: an hour that daylight saving
  /// skips is never reached, one that it repeats counts twice.
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

  /// The minute of the day of `HH:MM`; nil: it is not that.
  public static func minutes(_ text: String) -> Int? {
    let bytes = Array(text.utf8)
    guard bytes.count == 5, bytes[2] == UInt8(ascii: ":") else { return nil }
    let digits = [bytes[0], bytes[1], bytes[3], bytes[4]].map { Int($0) - 48 }
    guard digits.allSatisfy({ (0...9).contains($0) }) else { return nil }
    let (hour, minute) = (digits[0] * 10 + digits[1], digits[2] * 10 + digits[3])
    return hour < 24 && minute < 60 ? hour * 60 + minute : nil
  }
}

/// Time zones by their names. Making one reads its rules from the system, so that they are kept.
public struct TimeZones: Sendable {
  /// More than there are IANA names.
  static let maxKept = 1_000
  /// Where nobody named a zone.
  public static let utc = TimeZone(secondsFromGMT: 0) ?? .gmt

  private var zones: [String: TimeZone] = [:]

  /// None read yet.
  public init() {}

  /// The zone of an IANA name; nil: there is none. No name is UTC.
  public mutating func zone(named name: String?) -> TimeZone? {
    guard let name else { return Self.utc }
    if let zone = zones[name] { return zone }
    guard let zone = TimeZone(identifier: name) else { return nil }
    if zones.count >= Self.maxKept { zones.removeAll() }
    zones[name] = zone
    return zone
  }
}

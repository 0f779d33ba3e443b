public import Foundation

/// A change of the user's notification preferences. Fields that are nil keep their values. Fields that were never set
/// have defaults in the services.
///
/// ```swift
/// var change = PreferencesChange()
/// change.quietHours = .set(.init(start: "22:00", end: "07:00", timeZone: TimeZone.current.identifier))
/// change.conversationLevels = .changed(add: [.init(conversationId: "c1", level: .mentions)])
/// change.muted = .changed(remove: ["c2"])
/// publish(ClientEvent(
///   eventId: UUID().uuidString, occurredAt: Date(),
///   .preferencesUpdated(.init(userId: "ann", preferences: change))))
/// ```
public struct PreferencesChange: Codable, Sendable, Equatable {
  /// Which messages of a conversation the user sees.
  public enum Level: String, Codable, Sendable {
    /// Every message alerts.
    case all
    /// The priority decides: high alerts, medium is silent, low changes the badge. Messages of small groups are always
    /// shown, at least silently.
    case smart
    /// Mentions, replies to the user and their keywords alert. Other messages change the badge.
    case mentions
    /// Every message only changes the badge.
    case none
  }

  /// The levels of conversations without a level of their own. A kind that is nil keeps its level.
  public struct DefaultLevels: Codable, Sendable, Equatable {
    /// The level of direct conversations.
    public var direct: Level?
    /// The level of groups.
    public var group: Level?

    /// Levels by kind of conversation.
    public init(direct: Level? = nil, group: Level? = nil) {
      self.direct = direct
      self.group = group
    }
  }

  /// The level of one conversation.
  public struct ConversationLevel: Codable, Sendable, Equatable {
    /// The conversation.
    public let conversationId: String
    /// Its level.
    public let level: Level

    /// A level of one conversation.
    public init(conversationId: String, level: Level) {
      self.conversationId = conversationId
      self.level = level
    }
  }

  /// A daily span in which only urgent messages are shown. Equal times turn it off.
  public struct QuietHours: Codable, Sendable, Equatable {
    /// The first minute of the span, `HH:MM`, inclusive.
    public let start: String
    /// The end of the span, `HH:MM`, exclusive. A time before `start` is on the next day.
    public let end: String
    /// The IANA name of the span's time zone; nil for the user's `timeZone`, or else UTC.
    public let timeZone: String?

    /// A daily span.
    public init(start: String, end: String, timeZone: String?) {
      self.start = start
      self.end = end
      self.timeZone = timeZone
    }
  }

  /// A change of the quiet hours.
  public enum QuietHoursChange: Sendable, Equatable {
    /// Turns quiet hours off.
    case off
    /// Sets quiet hours.
    case set(QuietHours)
  }

  /// A change of the times to catch up.
  public enum DigestTimesChange: Sendable, Equatable {
    /// The user catches up at the end of quiet hours, which is the default.
    case atQuietHoursEnd
    /// The user catches up at these times of the day, each `HH:MM` in `timeZone`; at most 12. An empty list means
    /// never.
    case set([String])
  }

  /// A change of the most alerts per day.
  public enum DailyAlertsChange: Sendable, Equatable {
    /// The operator's number applies, which is the default. Unless the operator set one, there is no limit.
    case asDefault
    /// At most this number, 0 to 1,000, per day in `timeZone`. The most important messages alert; the others are shown
    /// without a sound. Mentions and direct messages of starred senders are not counted.
    case set(Int)
  }

  /// How the services decide once the hourly smart analyses are used up.
  public enum Fallback: String, Codable, Sendable {
    /// By a fixed set of rules.
    case simpleRules = "simple_rules"
    /// Every message is shown silently.
    case notifyAll = "notify_all"
    /// No message is shown.
    case suppressAll = "suppress_all"
  }

  /// A conversation that the user has muted.
  public struct MutedConversation: Codable, Sendable, Equatable {
    /// The conversation.
    public let conversationId: String
    /// The end of the mute, in milliseconds since the epoch; nil if it has no end.
    public let until: Int64?
    /// True if messages that mention the user, or answer them, are still shown.
    public let exceptMentions: Bool?

    /// A muted conversation. Without `until` the mute has no end.
    public init(conversationId: String, until: Date? = nil, exceptMentions: Bool? = nil) {
      self.conversationId = conversationId
      self.until = until.map { Int64(($0.timeIntervalSince1970 * 1_000).rounded()) }
      self.exceptMentions = exceptMentions
    }
  }

  /// False turns all notifications off.
  public var enabled: Bool?
  /// The quiet hours.
  public var quietHours: QuietHoursChange?
  /// The number of smart analyses per hour, 0 or more.
  public var maxAnalysesPerHour: Int?
  /// The fallback beyond that number.
  public var fallback: Fallback?
  /// Muted conversations; `remove` takes their ids.
  public var muted: PreferenceList<MutedConversation>?
  /// The user ids of senders whose messages matter more.
  public var starredSenders: PreferenceList<String>?
  /// The user ids of senders whose messages are neither shown nor counted.
  public var mutedSenders: PreferenceList<String>?
  /// Words that matter to the user; `remove` takes the words.
  public var keywords: PreferenceList<String>?
  /// The levels of conversations without one of their own.
  public var defaultLevels: DefaultLevels?
  /// The levels of conversations that have one of their own; `remove` takes the conversations' ids.
  public var conversationLevels: PreferenceList<ConversationLevel>?
  /// The unit that the badge counts.
  public var badgeMode: BadgeCounter.Mode?
  /// False removes message texts from notifications.
  public var showPreviews: Bool?
  /// The user's language as a BCP 47 tag.
  public var locale: String?
  /// Forgets what the services learned about the user until this time, in milliseconds since the epoch. The current
  /// time restarts learning.
  public var learnSince: Int64?
  /// The length of a burst in groups at level `smart` or `mentions`, in seconds. After an alert, the burst's later
  /// messages are silent unless they mention, answer or name the user, come from a starred sender, or matter more than
  /// the last message that alerted. With 0 there are no bursts.
  public var burstSeconds: Int?
  /// When the user catches up on what was held back.
  public var digestTimes: DigestTimesChange?
  /// The IANA name of the user's time zone, for `digestTimes` and for the days of `dailyAlerts`. Until it is set, the
  /// zone of quiet hours counts, or else UTC.
  public var timeZone: String?
  /// The most alerts per day.
  public var dailyAlerts: DailyAlertsChange?

  /// A change that changes nothing yet.
  public init() {}

  private enum Key: String, CodingKey {
    case enabled, quietHours, maxAnalysesPerHour, fallback, muted, starredSenders, mutedSenders, keywords
    case defaultLevels, conversationLevels, badgeMode, showPreviews, locale, learnSince, burstSeconds, digestTimes,
      timeZone, dailyAlerts
  }

  /// Decodes what `encode(to:)` wrote.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    enabled = try container.decodeIfPresent(Bool.self, forKey: .enabled)
    if container.contains(.quietHours) {
      quietHours = try container.decode(QuietHours?.self, forKey: .quietHours).map { .set($0) } ?? .off
    }
    maxAnalysesPerHour = try container.decodeIfPresent(Int.self, forKey: .maxAnalysesPerHour)
    fallback = try container.decodeIfPresent(Fallback.self, forKey: .fallback)
    muted = try container.decodeIfPresent(PreferenceList<MutedConversation>.self, forKey: .muted)
    starredSenders = try container.decodeIfPresent(PreferenceList<String>.self, forKey: .starredSenders)
    mutedSenders = try container.decodeIfPresent(PreferenceList<String>.self, forKey: .mutedSenders)
    keywords = try container.decodeIfPresent(PreferenceList<String>.self, forKey: .keywords)
    defaultLevels = try container.decodeIfPresent(DefaultLevels.self, forKey: .defaultLevels)
    conversationLevels = try container.decodeIfPresent(
      PreferenceList<ConversationLevel>.self, forKey: .conversationLevels)
    badgeMode = try container.decodeIfPresent(BadgeCounter.Mode.self, forKey: .badgeMode)
    showPreviews = try container.decodeIfPresent(Bool.self, forKey: .showPreviews)
    locale = try container.decodeIfPresent(String.self, forKey: .locale)
    learnSince = try container.decodeIfPresent(Int64.self, forKey: .learnSince)
    burstSeconds = try container.decodeIfPresent(Int.self, forKey: .burstSeconds)
    if container.contains(.digestTimes) {
      digestTimes = try container.decode([String]?.self, forKey: .digestTimes).map { .set($0) } ?? .atQuietHoursEnd
    }
    timeZone = try container.decodeIfPresent(String.self, forKey: .timeZone)
    if container.contains(.dailyAlerts) {
      dailyAlerts = try container.decode(Int?.self, forKey: .dailyAlerts).map { .set($0) } ?? .asDefault
    }
  }

  /// Encodes the fields that are set. Turning quiet hours off and returning to a default are encoded as null.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encodeIfPresent(enabled, forKey: .enabled)
    switch quietHours {
    case .set(let hours): try container.encode(hours, forKey: .quietHours)
    case .off: try container.encodeNil(forKey: .quietHours)
    case nil: break
    }
    try container.encodeIfPresent(maxAnalysesPerHour, forKey: .maxAnalysesPerHour)
    try container.encodeIfPresent(fallback, forKey: .fallback)
    try container.encodeIfPresent(muted, forKey: .muted)
    try container.encodeIfPresent(starredSenders, forKey: .starredSenders)
    try container.encodeIfPresent(mutedSenders, forKey: .mutedSenders)
    try container.encodeIfPresent(keywords, forKey: .keywords)
    try container.encodeIfPresent(defaultLevels, forKey: .defaultLevels)
    try container.encodeIfPresent(conversationLevels, forKey: .conversationLevels)
    try container.encodeIfPresent(badgeMode, forKey: .badgeMode)
    try container.encodeIfPresent(showPreviews, forKey: .showPreviews)
    try container.encodeIfPresent(locale, forKey: .locale)
    try container.encodeIfPresent(learnSince, forKey: .learnSince)
    try container.encodeIfPresent(burstSeconds, forKey: .burstSeconds)
    switch digestTimes {
    case nil: break
    case .atQuietHoursEnd: try container.encodeNil(forKey: .digestTimes)
    case .set(let times): try container.encode(times, forKey: .digestTimes)
    }
    try container.encodeIfPresent(timeZone, forKey: .timeZone)
    switch dailyAlerts {
    case nil: break
    case .asDefault: try container.encodeNil(forKey: .dailyAlerts)
    case .set(let alerts): try container.encode(alerts, forKey: .dailyAlerts)
    }
  }
}

/// A list of the user's preferences: the whole list, or a change of it.
///
/// Two devices of a user may change a list at the same time. Publish only the change, so that neither undoes the
/// other's.
///
/// ```swift
/// change.muted = .changed(add: [.init(conversationId: "c1")])   // mutes one conversation more
/// change.muted = .changed(remove: ["c2"])                       // unmutes another
/// change.keywords = ["release", "deadline"]                     // replaces all
/// ```
public enum PreferenceList<Element: Codable & Sendable & Equatable>: Sendable, Equatable {
  /// The whole list. It replaces the former one.
  case all([Element])
  /// Adds elements, which replace those with the same id, and removes the elements with the given ids. The later change
  /// of an element wins.
  case changed(add: [Element] = [], remove: [String] = [])
}

extension PreferenceList: ExpressibleByArrayLiteral {
  /// The whole list.
  public init(arrayLiteral elements: Element...) { self = .all(elements) }
}

extension PreferenceList: Codable {
  private enum Key: String, CodingKey { case add, remove }

  /// Decodes what `encode(to:)` wrote.
  public init(from decoder: any Decoder) throws {
    guard let fields = try? decoder.container(keyedBy: Key.self) else {
      self = .all(try decoder.singleValueContainer().decode([Element].self))
      return
    }
    self = .changed(
      add: try fields.decodeIfPresent([Element].self, forKey: .add) ?? [],
      remove: try fields.decodeIfPresent([String].self, forKey: .remove) ?? [])
  }

  /// Encodes the whole list as an array, a change as an object.
  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .all(let elements):
      var container = encoder.singleValueContainer()
      try container.encode(elements)
    case .changed(let add, let remove):
      var fields = encoder.container(keyedBy: Key.self)
      if !add.isEmpty { try fields.encode(add, forKey: .add) }
      if !remove.isEmpty { try fields.encode(remove, forKey: .remove) }
    }
  }
}

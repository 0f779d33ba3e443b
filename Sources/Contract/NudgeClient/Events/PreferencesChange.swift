public import Foundation

/// A change of what the user wants to be notified of: only the fields that are set. The services' defaults apply to what
/// was never set.
public struct PreferencesChange: Codable, Sendable, Equatable {
  /// A daily span in which only messages of high priority get through. Equal times: none.
  public struct QuietHours: Codable, Sendable, Equatable {
    /// The first minute, `HH:MM`, inclusive.
    public let start: String
    /// The minute it ends at, `HH:MM`, exclusive; before `start`: on the next day.
    public let end: String
    /// The user's time zone, by its IANA name; nil: UTC.
    public let timeZone: String?

    /// A span.
    public init(start: String, end: String, timeZone: String?) {
      self.start = start
      self.end = end
      self.timeZone = timeZone
    }
  }

  /// What becomes of quiet hours.
  public enum QuietHoursChange: Sendable, Equatable {
    /// There are none from now on.
    case off
    /// From now on these.
    case set(QuietHours)
  }

  /// What applies once the smart analyses of an hour are used up.
  public enum Fallback: String, Codable, Sendable {
    /// A fixed set of rules.
    case simpleRules = "simple_rules"
    /// Everything, without sound.
    case notifyAll = "notify_all"
    /// Nothing.
    case suppressAll = "suppress_all"
  }

  /// A conversation of which the user wants to hear nothing.
  public struct MutedConversation: Codable, Sendable, Equatable {
    /// The conversation.
    public let conversationId: String
    /// Until when, in milliseconds since the epoch; nil: for good.
    public let until: Int64?
    /// Whether messages that mention the user get through all the same.
    public let exceptMentions: Bool?

    /// A muted conversation; `until` nil: for good.
    public init(conversationId: String, until: Date? = nil, exceptMentions: Bool? = nil) {
      self.conversationId = conversationId
      self.until = until.map { Int64(($0.timeIntervalSince1970 * 1_000).rounded()) }
      self.exceptMentions = exceptMentions
    }
  }

  /// Whether the user wants notifications at all.
  public var enabled: Bool?
  /// Quiet hours; nil: as they were.
  public var quietHours: QuietHoursChange?
  /// Smart analyses an hour, 0 or more.
  public var maxAnalysesPerHour: Int?
  /// What applies past that.
  public var fallback: Fallback?
  /// All muted conversations.
  public var muted: [MutedConversation]?
  /// The ids of senders whose messages matter more.
  public var starredSenders: [String]?
  /// Words that matter to the user.
  public var keywords: [String]?
  /// What the badge counts.
  public var badgeMode: BadgeCounter.Mode?
  /// Whether the text of messages may appear in notifications.
  public var showPreviews: Bool?
  /// The user's language, as BCP 47.
  public var locale: String?
  /// What was learned of the user from feedback and behaviour up to this time is forgotten, in milliseconds since the
  /// epoch: set to now, learning starts anew.
  public var learnSince: Int64?
  /// For so many seconds after an alert in a group, its messages are shown without one, unless they mention the user; 0:
  /// each may alert.
  public var burstSeconds: Int?

  /// A change of nothing.
  public init() {}

  private enum Key: String, CodingKey {
    case enabled, quietHours, maxAnalysesPerHour, fallback, muted, starredSenders, keywords, badgeMode, showPreviews
    case locale, learnSince, burstSeconds
  }

  /// From what `encode` has written.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    enabled = try container.decodeIfPresent(Bool.self, forKey: .enabled)
    if container.contains(.quietHours) {
      quietHours = try container.decode(QuietHours?.self, forKey: .quietHours).map { .set($0) } ?? .off
    }
    maxAnalysesPerHour = try container.decodeIfPresent(Int.self, forKey: .maxAnalysesPerHour)
    fallback = try container.decodeIfPresent(Fallback.self, forKey: .fallback)
    muted = try container.decodeIfPresent([MutedConversation].self, forKey: .muted)
    starredSenders = try container.decodeIfPresent([String].self, forKey: .starredSenders)
    keywords = try container.decodeIfPresent([String].self, forKey: .keywords)
    badgeMode = try container.decodeIfPresent(BadgeCounter.Mode.self, forKey: .badgeMode)
    showPreviews = try container.decodeIfPresent(Bool.self, forKey: .showPreviews)
    locale = try container.decodeIfPresent(String.self, forKey: .locale)
    learnSince = try container.decodeIfPresent(Int64.self, forKey: .learnSince)
    burstSeconds = try container.decodeIfPresent(Int.self, forKey: .burstSeconds)
  }

  /// Writes the fields that are set; the end of quiet hours as null.
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
    try container.encodeIfPresent(keywords, forKey: .keywords)
    try container.encodeIfPresent(badgeMode, forKey: .badgeMode)
    try container.encodeIfPresent(showPreviews, forKey: .showPreviews)
    try container.encodeIfPresent(locale, forKey: .locale)
    try container.encodeIfPresent(learnSince, forKey: .learnSince)
    try container.encodeIfPresent(burstSeconds, forKey: .burstSeconds)
  }
}

public import Foundation

/// The user's preferences in the services, each with its source: a part of the answer to `GET /v1/me` (`KnownPerson`).
///
/// ```swift
/// var edited = person.preferences
/// edited.enabled.value = false
/// edited.keywords.value.append("release")
/// patch(person.preferences.change(to: edited))   // PATCH /v1/me/preferences
/// ```
public struct Preferences: Decodable, Sendable, Equatable {
  /// Where a value comes from.
  public enum Source: String, Decodable, Sendable {
    /// The user set it.
    case person
    /// The operator's policy sets it.
    case policy
    /// Neither the user nor the operator has set it.
    case `default`
  }

  /// A preference.
  public struct Field<Value: Decodable & Sendable & Equatable>: Decodable, Sendable, Equatable {
    /// The value in force.
    public var value: Value
    /// The source of the value.
    public let source: Source
    /// When the user set it, in milliseconds since the epoch; nil if they did not.
    public let setAt: Int64?
  }

  /// The levels of conversations without a level of their own.
  public struct DefaultLevels: Decodable, Sendable, Equatable {
    /// The level of direct conversations.
    public var direct: Field<PreferencesChange.Level>
    /// The level of groups.
    public var group: Field<PreferencesChange.Level>
  }

  /// The level of one conversation.
  public struct ConversationLevel: Decodable, Sendable, Equatable {
    /// The conversation; nil if the services know only the key of its id.
    public let conversationId: String?
    /// The key of the conversation's id (`IdKey`).
    public let conversationKey: String
    /// Its level.
    public var level: PreferencesChange.Level

    /// A level of one conversation.
    public init(conversationId: String, level: PreferencesChange.Level) {
      self.conversationId = conversationId
      self.level = level
      conversationKey = IdKey.of(conversationId)
    }
  }

  /// False if all notifications are off.
  public var enabled: Field<Bool>
  /// The quiet hours; nil if there are none.
  public var quietHours: Field<PreferencesChange.QuietHours?>
  /// The number of smart analyses per hour.
  public var maxAnalysesPerHour: Field<Int>
  /// The fallback beyond that number.
  public var fallback: Field<PreferencesChange.Fallback>
  /// Muted conversations.
  public var muted: Field<[PreferencesChange.MutedConversation]>
  /// The user ids of senders whose messages matter more.
  public var starredSenders: Field<[String]>
  /// Words that matter to the user.
  public var keywords: Field<[String]>
  /// The unit that the badge counts.
  public var badgeMode: Field<BadgeCounter.Mode>
  /// False if notifications contain no message texts.
  public var showPreviews: Field<Bool>
  /// The user's language as a BCP 47 tag; nil for the language of the device.
  public var locale: Field<String?>
  /// The time until which feedback is forgotten, in milliseconds since the epoch; nil if none is.
  public var learnSince: Field<Int64?>
  /// The length of a burst in seconds.
  public var burstSeconds: Field<Int>
  /// The levels of conversations without one of their own.
  public var defaultLevels: DefaultLevels
  /// The levels of conversations that have one of their own.
  public var conversationLevels: Field<[ConversationLevel]>
  /// The keys of the senders whose messages are neither shown nor counted; see `isMuted(sender:)`.
  public let mutedSenders: Field<[String]>
  /// When the user catches up; nil for the end of quiet hours.
  public var digestTimes: Field<[String]?>
  /// The IANA name of the user's time zone; nil for UTC.
  public var timeZone: Field<String?>
  /// The most alerts per day; nil without a limit.
  public var dailyAlerts: Field<Int?>

  /// Whether a sender's messages are neither shown nor counted. To change it, set `PreferencesChange.mutedSenders`.
  public func isMuted(sender userId: String) -> Bool { mutedSenders.value.contains(IdKey.of(userId)) }

  /// The conversation's own level; nil if `defaultLevels` apply.
  public func level(of conversationId: String) -> PreferencesChange.Level? {
    let key = IdKey.of(conversationId)
    return conversationLevels.value.first { $0.conversationKey == key }?.level
  }

  /// The change that turns these preferences into the edited ones. It contains only the fields that differ, and for
  /// lists the additions and removals. So a change that another device made in between is kept.
  public func change(to edited: Preferences) -> PreferencesChange {
    var change = PreferencesChange()
    func changed<Value>(_ field: KeyPath<Preferences, Field<Value>>) -> Value? {
      let value = edited[keyPath: field].value
      return value == self[keyPath: field].value ? nil : value
    }
    change.enabled = changed(\.enabled)
    if let hours = changed(\.quietHours) { change.quietHours = hours.map { .set($0) } ?? .off }
    change.maxAnalysesPerHour = changed(\.maxAnalysesPerHour)
    change.fallback = changed(\.fallback)
    change.badgeMode = changed(\.badgeMode)
    change.showPreviews = changed(\.showPreviews)
    change.locale = changed(\.locale) ?? nil
    change.learnSince = changed(\.learnSince) ?? nil
    change.burstSeconds = changed(\.burstSeconds)
    if let times = changed(\.digestTimes) { change.digestTimes = times.map { .set($0) } ?? .atQuietHoursEnd }
    change.timeZone = changed(\.timeZone) ?? nil
    if let alerts = changed(\.dailyAlerts) { change.dailyAlerts = alerts.map { .set($0) } ?? .asDefault }
    let levels = PreferencesChange.DefaultLevels(
      direct: changed(\.defaultLevels.direct), group: changed(\.defaultLevels.group))
    if levels.direct != nil || levels.group != nil { change.defaultLevels = levels }
    change.muted = Self.listChange(muted.value, edited.muted.value) { $0.conversationId }
    change.starredSenders = Self.listChange(starredSenders.value, edited.starredSenders.value) { $0 }
    change.keywords = Self.listChange(keywords.value, edited.keywords.value) { $0 }
    func known(_ levels: [ConversationLevel]) -> [PreferencesChange.ConversationLevel] {
      levels.compactMap { level in
        level.conversationId.map { PreferencesChange.ConversationLevel(conversationId: $0, level: level.level) }
      }
    }
    change.conversationLevels = Self.listChange(
      known(conversationLevels.value), known(edited.conversationLevels.value)
    ) { $0.conversationId }
    return change
  }

  private static func listChange<Element: Equatable>(
    _ before: [Element], _ after: [Element], id: (Element) -> String
  ) -> PreferenceList<Element>? {
    let added = after.filter { !before.contains($0) }
    let kept = Set(after.map(id))
    let removed = before.map(id).filter { !kept.contains($0) }
    return added.isEmpty && removed.isEmpty ? nil : .changed(add: added, remove: removed)
  }
}

/// The services' knowledge of the user: the answer to `GET /v1/me` and `PATCH /v1/me/preferences`.
public struct KnownPerson: Decodable, Sendable, Equatable {
  /// A device of the user.
  public struct Device: Decodable, Sendable, Equatable {
    /// The device.
    public let deviceId: String
    /// `ios`, `android`, `web`, `desktop`.
    public let platform: String
    /// False if the device signed out or its token is gone.
    public let isReachable: Bool
    /// `fcm`, or the host of its push service; nil if the device cannot be reached.
    public let pushService: String?
    /// The app's version.
    public let appVersion: String?
    /// When it registered, in milliseconds since the epoch.
    public let registeredAt: Int64
    /// When it was last active, to the day, in milliseconds since the epoch.
    public let lastSeenAt: Int64
  }

  /// The unread messages.
  public struct Unread: Decodable, Sendable, Equatable {
    /// A conversation with something unread.
    public struct Conversation: Decodable, Sendable, Equatable {
      /// The conversation.
      public let conversationId: String
      /// Its unread messages.
      public let unread: Int
    }
    /// The number of unread messages.
    public let messages: Int
    /// The number of conversations with unread messages.
    public let conversations: Int
    /// The 500 latest of these conversations.
    public let byConversation: [Conversation]
  }

  /// How much of a limit is used.
  public struct Use: Decodable, Sendable, Equatable {
    /// The number used.
    public let used: Int
    /// The limit.
    public let limit: Int
    /// When the current hour ends, in milliseconds since the epoch; nil before the first use, and for a daily limit.
    public let windowEndsAt: Int64?
  }

  /// The next catch-up.
  public struct CatchUp: Decodable, Sendable, Equatable {
    /// Its time, in milliseconds since the epoch; nil if there will be none.
    public let at: Int64?
    /// Whether messages wait for it.
    public let isPlanned: Bool
  }

  /// The messages of the last 24 hours that did not alert.
  public struct HeldBack: Decodable, Sendable, Equatable {
    /// A message that did not alert.
    public struct Message: Decodable, Sendable, Equatable {
      /// Its conversation.
      public let conversationId: String
      /// The key of its id (`IdKey`).
      public let messageKey: String
      /// When it arrived, in milliseconds since the epoch.
      public let arrivedAt: Int64
      /// `silent` if it was shown without a sound, `badge` if it only counts on the badge, `none` if it does neither: of a
      /// muted sender, or written long before it arrived.
      public let presentation: String
      /// The reason, for the app.
      public let reason: String
      /// The reason, for the user in their language.
      public let text: String
      /// Whether the user has read it.
      public let isRead: Bool
    }
    /// The number of these messages.
    public let count: Int
    /// The 50 latest of them, the latest first.
    public let messages: [Message]
  }

  /// The user.
  public let userId: String
  /// When the services answered, in milliseconds since the epoch.
  public let answeredAt: Int64
  /// Their preferences.
  public let preferences: Preferences
  /// Their devices. Reachable devices come first.
  public let devices: [Device]
  /// The number for the app's icon.
  public let badge: Int
  /// The unread messages.
  public let unread: Unread
  /// The smart analyses of the current hour.
  public let analyses: Use
  /// The alerts of the day; nil without a limit.
  public let alerts: Use?
  /// The next catch-up.
  public let catchUp: CatchUp
  /// The messages that did not alert.
  public let heldBack: HeldBack

  /// Decodes an answer. Throws `DecodingError` for other JSON.
  public init(json: Data) throws { self = try JSONDecoder().decode(KnownPerson.self, from: json) }
}

/// A key for an id, because the services keep only a hash of it: FNV-1a in 64 bits of the id's UTF-8 bytes, in
/// hexadecimal.
public enum IdKey {
  /// The key of an id.
  public static func of(_ id: String) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in id.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return String(hash, radix: 16)
  }
}

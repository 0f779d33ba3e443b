import NudgeSchema

/// A person's preferences (D8): each field with the event that set it last. A field that was never set has its default.
public struct PreferencesRow: Codable, Sendable, Equatable {
  /// Bytes `muted` may take as JSON: about 100 conversations with ids of 36 characters.
  static let maxMutedBytes = 7_500
  /// Bytes `starredSenders` may take as JSON.
  static let maxStarredBytes = 2_500
  /// Bytes `keywords` may take as JSON.
  static let maxKeywordBytes = 1_500
  /// Bytes of a time zone's or locale's name.
  static let maxNameBytes = 64

  /// Whether the person wants notifications; default: yes.
  var enabled: Stamped<Bool>?
  /// Default: none.
  var quietHours: Stamped<QuietHours?>?
  /// Default: the policy's `analysesPerHour`.
  var maxAnalysesPerHour: Stamped<Int>?
  /// Default: `simple_rules`.
  var fallback: Stamped<AnalysisFallback>?
  /// Default: none.
  var muted: Stamped<[MutedConversation]>?
  /// Default: none.
  var starredSenders: Stamped<[String]>?
  /// Default: none.
  var keywords: Stamped<[String]>?
  /// Default: `conversations`.
  var badgeMode: Stamped<BadgeMode>?
  /// Default: yes.
  var showPreviews: Stamped<Bool>?
  /// Default: none, the device's own.
  var locale: Stamped<String>?
  /// Feedback up to this time is forgotten; default: none.
  var learnSince: Stamped<Milliseconds>?
  /// Default: the policy's `groupBurstSeconds`.
  var burstSeconds: Stamped<Int>?
  /// The level of direct conversations (D14); default: the policy's.
  var directLevel: Stamped<NotificationLevel>?
  /// The level of groups (D14); default: the policy's.
  var groupLevel: Stamped<NotificationLevel>?
  /// Conversations with a level of their own; default: none.
  var conversationLevels: Stamped<[KeyedLevel]>?
  /// Senders of whom nothing is shown in groups; default: none.
  var mutedSenders: Stamped<[MessageKey]>?
  /// When the person catches up; default: when quiet hours end.
  var digestTimes: Stamped<[String]?>?
  /// Default: that of quiet hours, else UTC.
  var timeZone: Stamped<String>?
  /// The most alerts in a day; default: the policy's `dailyAlerts`.
  var dailyAlerts: Stamped<Int?>?
  /// Elements of lists that were changed later than their lists; absent until there is one.
  var elements: [ListedElement]?
}

/// The level of a conversation, whose id a key stands for: 9 bytes of a row.
struct KeyedLevel: Codable, Sendable, Equatable {
  var conversation: MessageKey
  var level: NotificationLevel
}

extension PreferencesRow {
  /// Forgets the level of a conversation that the person has left.
  mutating func forgetLevel(of conversationId: String) {
    let key = MessageKey(conversationId)
    conversationLevels?.value.removeAll { $0.conversation == key }
  }
}

/// A value and the event that set it.
struct Stamped<Value: Codable & Sendable & Equatable>: Codable, Sendable, Equatable {
  var value: Value
  var stamp: EventStamp
}

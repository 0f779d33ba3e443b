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
  /// Default: `AnalyzerRules.analysesPerHour`.
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
  /// What was learned from the person before this time is forgotten; default: nothing is.
  var learnSince: Stamped<Milliseconds>?
  /// Default: `AnalyzerRules.burstSeconds`.
  var burstSeconds: Stamped<Int>?
}

/// A value and the event that set it.
struct Stamped<Value: Codable & Sendable & Equatable>: Codable, Sendable, Equatable {
  var value: Value
  var stamp: EventStamp
}

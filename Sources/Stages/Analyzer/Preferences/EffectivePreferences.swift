import NudgeSchema

/// A person's preferences with the defaults in place of what they never set.
struct EffectivePreferences {
  var enabled: Bool
  var quietHours: QuietHours?
  /// 0 or more.
  var maxAnalysesPerHour: Int
  var fallback: AnalysisFallback
  var muted: [MutedConversation]
  var starredSenders: [String]
  var keywords: [String]
  var badgeMode: BadgeMode
  var showPreviews: Bool
  /// BCP 47; nil: never said.
  var locale: String?
  /// 0 or more; 0: every message may alert.
  var burst: Milliseconds

  init(_ row: PreferencesRow, rules: AnalyzerRules) {
    enabled = row.enabled?.value ?? true
    quietHours = row.quietHours?.value
    maxAnalysesPerHour = max(0, row.maxAnalysesPerHour?.value ?? rules.analysesPerHour)
    fallback = row.fallback?.value ?? .simpleRules
    muted = row.muted?.value ?? []
    starredSenders = row.starredSenders?.value ?? []
    keywords = row.keywords?.value ?? []
    badgeMode = row.badgeMode?.value ?? .conversations
    showPreviews = row.showPreviews?.value ?? true
    locale = row.locale?.value
    burst = Milliseconds(row.burstSeconds?.value ?? rules.burstSeconds) * 1_000
  }
}

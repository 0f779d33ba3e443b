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
  /// For how long after an alert in a group its messages appear without one, 0 or more.
  var groupBurst: Milliseconds
  /// The level of direct conversations, and where it comes from.
  var directLevel: AppliedLevel
  /// The level of groups, and where it comes from.
  var groupLevel: AppliedLevel
  var conversationLevels: [KeyedLevel]
  var mutedSenders: [MessageKey]
  /// When the person catches up; nil: they never said, so when quiet hours end.
  var digestTimes: [String]?
  /// What was said before counts for nothing; absent: the person never said so.
  var learnSince: Milliseconds?
  /// The name of the person's time zone; nil: UTC.
  var timeZone: String?
  /// The most alerts in a day, 0 or more; nil: there is no bound.
  var dailyAlerts: Int?
  /// The minute of the day at which people with a budget catch up who said nothing.
  var budgetCatchUp: Int

  init(_ row: PreferencesRow, rules: AnalyzerRules) {
    enabled = row.enabled?.value ?? true
    // Without a zone of their own they go by the person's.
    quietHours = row.quietHours?.value
    if let hours = quietHours { quietHours?.timeZone = hours.timeZone ?? row.timeZone?.value }
    maxAnalysesPerHour = max(0, row.maxAnalysesPerHour?.value ?? rules.policy.analysesPerHour)
    fallback = row.fallback?.value ?? .simpleRules
    muted = row.muted?.value ?? []
    starredSenders = row.starredSenders?.value ?? []
    keywords = row.keywords?.value ?? []
    badgeMode = row.badgeMode?.value ?? rules.policy.badgeMode
    showPreviews = row.showPreviews?.value ?? true
    locale = row.locale?.value
    groupBurst = Milliseconds(row.burstSeconds?.value ?? rules.policy.groupBurstSeconds) * 1_000
    directLevel = AppliedLevel(row.directLevel?.value, or: rules.policy.directLevel)
    groupLevel = AppliedLevel(row.groupLevel?.value, or: rules.policy.groupLevel)
    conversationLevels = row.conversationLevels?.value ?? []
    mutedSenders = row.mutedSenders?.value ?? []
    digestTimes = row.digestTimes?.value
    learnSince = row.learnSince?.value
    timeZone = row.timeZone?.value ?? quietHours?.timeZone
    dailyAlerts = (row.dailyAlerts?.value ?? nil) ?? rules.policy.dailyAlerts
    budgetCatchUp = rules.policy.budgetCatchUp
  }

  func isStarred(_ userId: String) -> Bool { starredSenders.contains { sameId($0, userId) } }

  /// The level that applies to a message (D14).
  func level(of message: CandidateMessage) -> AppliedLevel {
    let isGroup = message.candidate.conversation.kind == .group
    if !conversationLevels.isEmpty {
      let key = MessageKey(message.candidate.conversationId)
      if let entry = conversationLevels.first(where: { $0.conversation == key }) {
        return AppliedLevel(level: entry.level, source: .conversation)
      }
    }
    return isGroup ? groupLevel : directLevel
  }
}

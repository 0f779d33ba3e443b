import NudgeSchema

/// A person's preferences with the defaults in place of what they never set. An object: each copy of a structure would count the
/// references of all lists.
final class EffectivePreferences: Sendable {
  let enabled: Bool
  let quietHours: QuietHours?
  /// 0 or more.
  let maxAnalysesPerHour: Int
  let fallback: AnalysisFallback
  let muted: [MutedConversation]
  let starredSenders: [String]
  let keywords: [String]
  let badgeMode: BadgeMode
  let showPreviews: Bool
  /// BCP 47; nil: never said.
  let locale: String?
  /// For how long after an alert in a group its messages appear without one, 0 or more.
  let groupBurst: Milliseconds
  /// The level of direct conversations, and where it comes from.
  let directLevel: AppliedLevel
  /// The level of groups, and where it comes from.
  let groupLevel: AppliedLevel
  let conversationLevels: [KeyedLevel]
  let mutedSenders: [MessageKey]
  /// When the person catches up; nil: they never said, so when quiet hours end.
  let digestTimes: [String]?
  /// What was said before counts for nothing; absent: the person never said so.
  let learnSince: Milliseconds?
  /// The name of the person's time zone; nil: UTC.
  let timeZone: String?
  /// The most alerts in a day, 0 or more; nil: there is no bound.
  let dailyAlerts: Int?
  /// The minute of the day at which people with a budget catch up who said nothing.
  let budgetCatchUp: Int

  init(_ row: PreferencesRow, rules: AnalyzerRules) {
    let policy = rules.policy
    enabled = row.enabled?.value ?? true
    // Without a zone of their own they go by the person's.
    var hours = row.quietHours?.value
    if let own = hours { hours?.timeZone = own.timeZone ?? row.timeZone?.value }
    quietHours = hours
    maxAnalysesPerHour = max(0, row.maxAnalysesPerHour?.value ?? policy.analysesPerHour)
    fallback = row.fallback?.value ?? .simpleRules
    muted = row.muted?.value ?? []
    starredSenders = row.starredSenders?.value ?? []
    keywords = row.keywords?.value ?? []
    badgeMode = row.badgeMode?.value ?? policy.badgeMode
    showPreviews = row.showPreviews?.value ?? true
    locale = row.locale?.value
    groupBurst = Milliseconds(row.burstSeconds?.value ?? policy.groupBurstSeconds) * 1_000
    directLevel = AppliedLevel(row.directLevel?.value, or: policy.directLevel)
    groupLevel = AppliedLevel(row.groupLevel?.value, or: policy.groupLevel)
    conversationLevels = row.conversationLevels?.value ?? []
    mutedSenders = row.mutedSenders?.value ?? []
    digestTimes = row.digestTimes?.value
    learnSince = row.learnSince?.value
    timeZone = row.timeZone?.value ?? hours?.timeZone
    dailyAlerts = (row.dailyAlerts?.value ?? nil) ?? policy.dailyAlerts
    budgetCatchUp = policy.budgetCatchUp
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

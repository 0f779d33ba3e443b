import Foundation
import NudgeSchema
import Wording

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

/// The level of a message's conversation for one person, and its source (D14).
struct AppliedLevel: Equatable, Sendable {
  /// The source of a level. The raw values are inputs of the check `level`.
  enum Source: String {
    /// The person's level for this conversation.
    case conversation
    /// The person's default for direct conversations or groups.
    case preferences
    /// The operator's default for direct conversations or groups.
    case policy
  }
  var level: NotificationLevel
  var source: Source

  init(level: NotificationLevel, source: Source) {
    self.level = level
    self.source = source
  }

  /// The person's own default, or the operator's.
  init(_ own: NotificationLevel?, or policy: NotificationLevel) {
    self.init(level: own ?? policy, source: own == nil ? .policy : .preferences)
  }

  /// Why a message is shown, or not, in words. nil: the level alone does not say so.
  func reason(isGroup: Bool) -> ReasonCode? {
    switch (level, source) {
    case (.smart, _): nil
    case (.all, .conversation): .allHere
    case (.all, _): isGroup ? .allInGroups : .allDirect
    case (.mentions, .conversation): .mentionsHere
    case (.mentions, _): isGroup ? .mentionsInGroups : .mentionsDirect
    case (.none, .conversation): .noneHere
    case (.none, _): isGroup ? .noneInGroups : .noneDirect
    }
  }
}

extension EffectivePreferences {
  /// Whether what is held back waits for a time: the person has quiet hours, said when they catch up, or has a budget of alerts. Nobody
  /// else has asked for a catch-up.
  var catchesUp: Bool { catchesUpOnAll || digestTimes == nil && dailyAlerts != nil }

  /// Whether that is more than what a budget silenced.
  var catchesUpOnAll: Bool { digestTimes.map { !$0.isEmpty } ?? (quietSpan != nil) }

  /// The person's quiet hours; nil: none.
  var quietSpan: QuietSpan? {
    quietHours.flatMap { QuietSpan($0) }.flatMap { $0.start == $0.end ? nil : $0 }
  }

  /// The first time after `now` at which the person catches up: one of theirs, else the end of quiet hours, else with a budget the
  /// policy's time. A time in quiet hours is moved to their end. nil: they never do.
  func catchUpTime(after now: Milliseconds, zones: inout TimeZones) -> Milliseconds? {
    var times: [Milliseconds] = []
    if let digestTimes {
      let zone = zones.zone(named: timeZone) ?? TimeZones.utc
      times = digestTimes.compactMap { QuietSpan.minutes($0) }.map { zone.next($0, after: now) }
    } else if let quietSpan {
      let zone = zones.zone(named: quietHours?.timeZone) ?? TimeZones.utc
      times = [zone.next(quietSpan.end, after: now)]
    } else if dailyAlerts != nil {
      let zone = zones.zone(named: timeZone) ?? TimeZones.utc
      times = [zone.next(budgetCatchUp, after: now)]
    }
    return times.min().map { quietHoursEnd(at: $0, zones: &zones) ?? $0 }
  }
}

extension AnalyzerRules {
  /// How much later than others somebody catches up, so that not everybody does in the same second. Always the same for a person.
  func catchUpOffset(of userId: String) -> Milliseconds {
    let window = UInt64(max(0, policy.catchUpSpreadSeconds)) * 1_000
    return window == 0 ? 0 : Milliseconds(FNV1a.spread(FNV1a.hash(userId)) % window)
  }
}

extension TimeZone {
  /// The next time after `now` at which a clock here shows a minute of the day. Where daylight saving leaves that out, a time within
  /// an hour of it.
  func next(_ minute: Int, after now: Milliseconds) -> Milliseconds {
    let ahead = (minute - QuietSpan.minuteOfDay(now, in: self) + 1_440) % 1_440
    let time = now - now % 60_000 + Milliseconds(ahead == 0 ? 1_440 : ahead) * 60_000
    // The clocks may be changed until then.
    let shifted = time + Milliseconds(seconds(at: now) - seconds(at: time)) * 1_000
    return shifted > now ? shifted : shifted + 86_400_000
  }

  /// How far the clocks here are ahead of UTC at a time, in seconds.
  func seconds(at time: Milliseconds) -> Int {
    secondsFromGMT(for: Date(timeIntervalSince1970: Double(time) / 1_000))
  }
}

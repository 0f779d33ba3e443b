import Foundation
import NudgeSchema
import Wording

/// A person's preferences, with defaults for those that were never set. It is an object, because each copy of a struct would count the
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
  /// A BCP 47 tag; nil if the person never set one.
  let locale: String?
  /// The length of a burst in groups; 0 or more.
  let groupBurst: Milliseconds
  /// The level of direct conversations, with its source.
  let directLevel: AppliedLevel
  /// The level of groups, with its source.
  let groupLevel: AppliedLevel
  let conversationLevels: [KeyedLevel]
  let mutedSenders: [MessageKey]
  /// When the person catches up; nil for the end of quiet hours, which is the default.
  let digestTimes: [String]?
  /// Signals up to this time are ignored; nil if the person never set it.
  let learnSince: Milliseconds?
  /// The name of the person's time zone; nil for UTC.
  let timeZone: String?
  /// The most alerts per day, 0 or more; nil without a limit.
  let dailyAlerts: Int?
  /// The minute of the day at which people with a budget catch up by default.
  let budgetCatchUp: Int

  init(_ row: PreferencesRow, rules: AnalyzerRules) {
    let policy = rules.policy
    enabled = row.enabled?.value ?? true
    // Quiet hours without a zone use the person's.
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
    level(of: message.candidate.conversationId, isGroup: message.candidate.conversation.kind == .group)
  }

  /// The reason of a push for a message whose decision is in the past, by the level of its conversation. Nil at level `smart`, where an
  /// analysis may have judged the message.
  func reason(in conversationId: String, isGroup: Bool) -> DecisionReason? {
    switch level(of: conversationId, isGroup: isGroup).level {
    case .all: .notifyAll
    case .mentions: .simpleRules
    case .smart, .none: nil
    }
  }

  private func level(of conversationId: String, isGroup: Bool) -> AppliedLevel {
    if !conversationLevels.isEmpty {
      let key = MessageKey(conversationId)
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

  /// The reason, in words, why a message is or is not shown; nil if the level alone does not decide.
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
  /// Whether held-back messages wait for a catch-up: the person has quiet hours, has set catch-up times, or has a budget of alerts. Nobody
  /// else has asked for one.
  var catchesUp: Bool { catchesUpOnAll || digestTimes == nil && dailyAlerts != nil }

  /// Whether messages wait for it other than those that a budget silenced.
  var catchesUpOnAll: Bool { digestTimes.map { !$0.isEmpty } ?? (quietSpan != nil) }

  /// The person's quiet hours; nil if there are none.
  var quietSpan: QuietSpan? {
    quietHours.flatMap { QuietSpan($0) }.flatMap { $0.start == $0.end ? nil : $0 }
  }

  /// The first time after `now` at which the person catches up: at one of their own times, or at the end of quiet hours, or with a budget
  /// at the policy's time. A time in quiet hours is moved to their end. Nil if they never do.
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
  /// How much later than the catch-up time this person catches up. The offset spreads people over time and is constant for a person.
  func catchUpOffset(of userId: String) -> Milliseconds {
    let window = UInt64(max(0, policy.catchUpSpreadSeconds)) * 1_000
    return window == 0 ? 0 : Milliseconds(FNV1a.spread(FNV1a.hash(userId)) % window)
  }
}

extension TimeZone {
  /// The next time after `now` at which the zone's clock shows a minute of the day. If daylight saving skips that minute, a time within an
  /// hour of it.
  func next(_ minute: Int, after now: Milliseconds) -> Milliseconds {
    let ahead = (minute - QuietSpan.minuteOfDay(now, in: self) + 1_440) % 1_440
    let time = now - now % 60_000 + Milliseconds(ahead == 0 ? 1_440 : ahead) * 60_000
    // The clocks may change before that time.
    let shifted = time + Milliseconds(seconds(at: now) - seconds(at: time)) * 1_000
    return shifted > now ? shifted : shifted + 86_400_000
  }

  /// How far the zone's clocks are ahead of UTC at a time, in seconds.
  func seconds(at time: Milliseconds) -> Int {
    secondsFromGMT(for: Date(timeIntervalSince1970: Double(time) / 1_000))
  }
}

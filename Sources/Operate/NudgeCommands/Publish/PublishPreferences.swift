import NudgeSchema
import ServiceKit

enum PublishPreferences {
  private static let user = PublishCommand.required("user", "USER", "Whose preferences they are.")
  private static let enabled = Setting<Bool?>(
    "enabled", environment: .none, default: nil, help: "Whether the person gets notifications.")
  private static let previews = Setting<Bool?>(
    "previews", environment: .none, default: nil, help: "Whether notifications show texts.")
  private static let quietHours = PublishCommand.optional(
    "quiet-hours", "HH:MM-HH:MM", "Quiet hours, in --time-zone; none: there are none.")
  private static let timeZone = PublishCommand.optional(
    "time-zone", "ZONE", "The time zone of --quiet-hours, --digest-times and the days of --daily-alerts. Default: UTC.")
  private static let digestTimes = PublishCommand.optional(
    "digest-times", "HH:MM,…", "When the person catches up, in --time-zone; none: never; quiet: when quiet hours end.")
  private static let limit = Setting<Int?>(
    "analyses-per-hour", environment: .none, default: nil, help: "The most smart analyses in an hour.",
    check: { ($0 ?? 0) >= 0 ? nil : "0 or more" })
  private static let fallback = Setting<Fallback?>(
    "fallback", environment: .none, default: nil, help: "The rule after that limit.")
  private static let muted = Setting<[String]?>(
    "muted", environment: .none, default: nil, placeholder: "CONVERSATION,…",
    help: "All muted conversations; replaces the former list.")
  private static let starred = Setting<[String]?>(
    "starred", environment: .none, default: nil, placeholder: "USER,…",
    help: "All starred senders; replaces the former list.")
  private static let keywords = Setting<[String]?>(
    "keywords", environment: .none, default: nil, placeholder: "WORD,…",
    help: "All keywords; replaces the former list.")
  private static let badge = Setting<Badge?>("badge", environment: .none, default: nil, help: "The badge mode.")
  private static let locale = PublishCommand.optional("locale", "TAG", "The person's language, such as de-CH.")
  private static let burst = Setting<Int?>(
    "burst-seconds", environment: .none, default: nil,
    help: "After an alert in a group, its messages are silent for this time; 0: each may alert.",
    check: { (0...SchemaLimits.burstSeconds).contains($0 ?? 0) ? nil : "from 0 to \(SchemaLimits.burstSeconds)" })

  private static let dailyAlerts = PublishCommand.optional(
    "daily-alerts", "NUMBER", "The most alerts in a day, 0 to 1000; default: what the policy says.")
  private static let directLevel = Setting<Level?>(
    "direct-level", environment: .none, default: nil, help: "Which messages of direct conversations are shown.")
  private static let groupLevel = Setting<Level?>(
    "group-level", environment: .none, default: nil, help: "Which messages of groups are shown.")
  private static let levels = Setting<[String]?>(
    "levels", environment: .none, default: nil, placeholder: "CONVERSATION=LEVEL,…",
    help: "All conversations with a level of their own; they replace those of before.")
  private static let mutedSenders = Setting<[String]?>(
    "muted-senders", environment: .none, default: nil, placeholder: "USER,…",
    help: "All senders of whom nothing is shown in groups; they replace those of before.")

  enum Level: String, SettingValue, CaseIterable {
    case all, smart, mentions, none
  }

  enum Fallback: String, SettingValue, CaseIterable {
    case simpleRules = "simple_rules"
    case notifyAll = "notify_all"
    case suppressAll = "suppress_all"
  }

  enum Badge: String, SettingValue, CaseIterable {
    case conversations, messages
  }

  static let command = Command(
    "preferences", abstract: "Changes a person's preferences: those that are named, the others stay.",
    settings: [
      user, enabled, previews, quietHours, timeZone, digestTimes, limit, fallback, directLevel, groupLevel, levels,
      muted,
      mutedSenders, starred, keywords, badge, locale, burst, dailyAlerts,
    ] + PublishCommand.common,
    examples: [
      "nudge publish preferences --user bob --quiet-hours 22:00-07:00 --time-zone Europe/Berlin "
        + "--bootstrap-servers kafka:9092",
      "nudge publish preferences --user bob --direct-level smart --levels c-9=mentions,c-12=none --wait "
        + "--bootstrap-servers kafka:9092",
      "nudge publish preferences --user bob --no-previews --muted c-9,c-12 --wait --bootstrap-servers kafka:9092",
    ]
  ) { input in
    let patch = try patch(input)
    guard patch != PreferencesPatch() else {
      throw SettingsError("nothing to change: give a preference, such as --no-enabled")
    }
    return try PublishCommand.publish(
      UserEvent(
        PublishCommand.envelope(input, "publish"),
        .preferences(PreferencesUpdated(userId: input[user], preferences: patch))), input)
  }

  static func patch(_ input: CommandInput) throws(SettingsError) -> PreferencesPatch {
    PreferencesPatch(
      enabled: input[enabled], quietHours: try hours(input), maxAnalysesPerHour: input[limit],
      fallback: input[fallback].flatMap { AnalysisFallback(rawValue: $0.rawValue) },
      muted: input[muted]?.map { MutedConversation(conversationId: $0) }, starredSenders: input[starred],
      keywords: input[keywords], badgeMode: input[badge].flatMap { BadgeMode(rawValue: $0.rawValue) },
      showPreviews: input[previews], locale: input[locale], burstSeconds: input[burst],
      defaultLevels: defaultLevels(input), conversationLevels: try conversationLevels(input),
      mutedSenders: input[mutedSenders], digestTimes: times(input),
      timeZone: namesOwnZone(input) ? input[timeZone] : nil, dailyAlerts: try alerts(input))
  }

  /// Whether --time-zone is the person's, and not only that of quiet hours.
  private static func namesOwnZone(_ input: CommandInput) -> Bool {
    input[digestTimes] != nil || input[dailyAlerts] != nil
  }

  private static func alerts(_ input: CommandInput) throws(SettingsError) -> Change<Int?> {
    guard let text = input[dailyAlerts] else { return .unchanged }
    if text == "default" { return .set(nil) }
    guard let number = Int(text), (0...SchemaLimits.dailyAlerts).contains(number) else {
      throw SettingsError("--daily-alerts: use a number from 0 to \(SchemaLimits.dailyAlerts), or default")
    }
    return .set(number)
  }

  private static func times(_ input: CommandInput) -> Change<[String]?> {
    switch input[digestTimes] {
    case nil: .unchanged
    case "none": .set([])
    case "quiet": .set(nil)
    case let text?: .set(text.split(separator: ",").map(String.init))
    }
  }

  private static func defaultLevels(_ input: CommandInput) -> DefaultLevels? {
    let levels = DefaultLevels(
      direct: input[directLevel].flatMap { NotificationLevel(rawValue: $0.rawValue) },
      group: input[groupLevel].flatMap { NotificationLevel(rawValue: $0.rawValue) })
    return levels == DefaultLevels() ? nil : levels
  }

  private static func conversationLevels(_ input: CommandInput) throws(SettingsError) -> [ConversationLevel]? {
    guard let texts = input[levels] else { return nil }
    var entries: [ConversationLevel] = []
    for text in texts {
      guard let place = text.lastIndex(of: "="),
        let level = NotificationLevel(rawValue: String(text[text.index(after: place)...]))
      else { throw SettingsError("--levels: use CONVERSATION=LEVEL with all, smart, mentions or none, not \(text)") }
      entries.append(ConversationLevel(conversationId: String(text[..<place]), level: level))
    }
    return entries
  }

  private static func hours(_ input: CommandInput) throws(SettingsError) -> Change<QuietHours?> {
    guard let text = input[quietHours] else {
      guard input[timeZone] == nil || namesOwnZone(input) else {
        throw SettingsError("--time-zone belongs to --quiet-hours, --digest-times or --daily-alerts: give both")
      }
      return .unchanged
    }
    if text == "none" { return .set(nil) }
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2 else { throw SettingsError("--quiet-hours: use HH:MM-HH:MM, such as 22:00-07:00, or none") }
    return .set(QuietHours(start: String(parts[0]), end: String(parts[1]), timeZone: input[timeZone]))
  }
}

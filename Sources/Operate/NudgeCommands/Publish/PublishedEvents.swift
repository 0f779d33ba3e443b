public import NudgeSchema
public import ServiceKit

extension Attachment.Kind: SettingValue {}
extension Platform: SettingValue {}
extension NotificationLevel: SettingValue {}
extension AnalysisFallback: SettingValue {}
extension BadgeMode: SettingValue {}

enum PublishMessage {
  private static let from = PublishCommand.required("from", "USER", "Who writes.")
  private static let to = Setting<[String]>(
    "to", environment: .none, default: [], placeholder: "USER,…",
    help: "The other members: publishes the conversation with them. Without it, --conversation must be known.")
  private static let text = PublishCommand.optional("text", "TEXT", "What it says.")
  private static let attachment = Setting<Attachment.Kind?>(
    "attachment", environment: .none, default: nil, help: "An attachment, with or without a text.")
  private static let conversation = PublishCommand.optional(
    "conversation", "ID", "The conversation. Default with --to: one of these people.")
  private static let group = PublishCommand.optional(
    "group", "NAME", "Makes it a group of this name. Default: direct if --to names one.")
  private static let names = Setting<[String: String]>(
    "name", environment: .none, default: [:], placeholder: "USER=NAME",
    help: "A person's display name. Default: the id.")
  private static let mention = Setting<[String]>(
    "mention", environment: .none, default: [], placeholder: "USER,…", help: "Mentioned people.")
  private static let replyTo = PublishCommand.optional("reply-to", "ID", "The message it answers.")
  private static let messageId = PublishCommand.optional("message-id", "ID", "The message's id. Default: a new one.")

  static let command = Command(
    "message", abstract: "Publishes a message; with --to also who is in the conversation.",
    settings: [from, to, text, attachment, conversation, group, names, mention, replyTo, messageId]
      + PublishCommand.common,
    examples: [
      "nudge publish message --from ann --to bob --text 'Bob, lunch?' --wait --bootstrap-servers kafka:9092",
      "nudge publish message --from ann --conversation c-9 --text 'On my way' --bootstrap-servers kafka:9092",
      "nudge publish message --from ann --to bob,cleo --group Hikers --mention bob --text Ready? "
        + "--bootstrap-servers kafka:9092",
    ]
  ) { input in
    let message = try message(input)
    let event = ChatEvent(PublishCommand.envelope(input, "publish"), .messageCreated(message))
    return try PublishCommand.publish(event, input, awaiting: Set(input[to]).subtracting([input[from]]))
  }

  static func message(_ input: CommandInput) throws(SettingsError) -> MessageCreated {
    let sender = input[from]
    var snapshot: ConversationSnapshot?
    let others = input[to].filter { !sameId($0, sender) }
    if !others.isEmpty {
      let isGroup = input[group] != nil || others.count > 1
      snapshot = ConversationSnapshot(
        kind: isGroup ? .group : .direct, name: input[group],
        members: ([sender] + others).map { Member(userId: $0, displayName: input[names][$0] ?? $0) })
    } else if input[conversation] == nil {
      throw SettingsError("a message needs --to USER, or a --conversation whose members were published before")
    }
    guard input[text] != nil || input[attachment] != nil else {
      throw SettingsError("a message needs --text or --attachment")
    }
    return MessageCreated(
      conversationId: input[conversation] ?? ([sender] + others).sorted().joined(separator: "-"),
      messageId: input[messageId] ?? PublishCommand.newID("m"), senderId: sender, text: input[text],
      attachments: input[attachment].map { [Attachment(kind: $0)] },
      replyTo: input[replyTo], mentions: input[mention].isEmpty ? nil : input[mention], conversation: snapshot)
  }
}

enum PublishDevice {
  private static let user = PublishCommand.required("user", "USER", "Whose device it is.")
  private static let device = Setting<String>(
    "device", environment: .none, default: "phone", placeholder: "ID", help: "The device's id, unique for the person.")
  private static let token = Setting<String?>(
    "token", environment: "NUDGE_DEVICE_TOKEN", default: nil, placeholder: "TOKEN",
    help: "The app's FCM registration token.", secret: true)
  private static let webPush = Setting<String?>(
    "web-push", environment: "NUDGE_DEVICE_WEB_PUSH", default: nil, placeholder: "JSON",
    help:
      "In place of a token: the subscription as the browser's PushSubscription.toJSON() gives it. Better in the environment, as "
      + "whoever knows it can push.", secret: true)
  private static let sealing = Setting<String?>(
    "sealing", environment: "NUDGE_DEVICE_SEALING", default: nil, placeholder: "JSON",
    help: "Keys beside a token, p256dh and auth: what the app shows goes sealed.", secret: true)
  private static let platform = Setting<Platform>(
    "platform", environment: .none, default: .ios, help: "The device's platform.")
  private static let appVersion = PublishCommand.optional("app-version", "VERSION", "The app's version.")
  private static let locale = PublishCommand.optional("locale", "TAG", "Its language, such as de-CH.")
  private static let project = PublishCommand.optional(
    "project", "ID", "The FCM project the token belongs to. Default: the dispatcher's own.")
  private static let unregister = Setting<Bool>(
    "unregister", environment: .none, default: false, help: "Sign the person out: the device gets no further pushes.")

  static let command = Command(
    "device", abstract: "Registers a person's device, or signs them out on it.",
    settings: [user, device, token, webPush, sealing, platform, appVersion, locale, project, unregister]
      + PublishCommand.common,
    examples: [
      "nudge publish device --user bob --token token-of-bob --wait --bootstrap-servers kafka:9092",
      "nudge publish device --user bob --device tablet --unregister --bootstrap-servers kafka:9092",
    ]
  ) { input in
    try PublishCommand.publish(UserEvent(PublishCommand.envelope(input, "publish"), try body(input)), input)
  }

  static func body(_ input: CommandInput) throws(SettingsError) -> UserEventBody {
    if input[unregister] {
      return .deviceUnregistered(DeviceUnregistered(userId: input[user], deviceId: input[device]))
    }
    guard input[token] != nil || input[webPush] != nil else {
      throw SettingsError(
        "a device needs --token (NUDGE_DEVICE_TOKEN) or --web-push (NUDGE_DEVICE_WEB_PUSH), or --unregister")
    }
    let subscription = try input[webPush].map { (json) throws(SettingsError) in try GivenKeys(json, "web-push") }
    guard subscription == nil || subscription?.endpoint != nil else {
      throw SettingsError("--web-push has no endpoint")
    }
    return .deviceRegistered(
      DeviceRegistered(
        userId: input[user], deviceId: input[device], token: input[token],
        webPush: subscription.map {
          WebPushSubscription(endpoint: $0.endpoint ?? "", p256dh: $0.p256dh, auth: $0.auth)
        },
        sealing: try input[sealing].map { (json) throws(SettingsError) in
          let keys = try GivenKeys(json, "sealing")
          return SealingKeys(p256dh: keys.p256dh, auth: keys.auth)
        }, platform: input[platform], appVersion: input[appVersion], locale: input[locale], projectId: input[project]))
  }

  /// A subscription or keys. `p256dh` and `auth` may be in `keys`, as browsers write them, or beside the endpoint, as in events.
  private struct GivenKeys {
    let endpoint: String?
    let p256dh: String
    let auth: String

    init(_ json: String, _ flag: String) throws(SettingsError) {
      guard let given = try? JSONValue(Array(json.utf8)) else { throw SettingsError("--\(flag) is not JSON") }
      let keys = given["keys"] ?? given
      guard let p256dh = keys["p256dh"]?.string, let auth = keys["auth"]?.string else {
        throw SettingsError("--\(flag) has no p256dh and auth")
      }
      endpoint = given["endpoint"]?.string
      self.p256dh = p256dh
      self.auth = auth
    }
  }
}

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
  private static let fallback = Setting<AnalysisFallback?>(
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
  private static let badge = Setting<BadgeMode?>("badge", environment: .none, default: nil, help: "The badge mode.")
  private static let locale = PublishCommand.optional("locale", "TAG", "The person's language, such as de-CH.")
  private static let burst = Setting<Int?>(
    "burst-seconds", environment: .none, default: nil,
    help: "After an alert in a group, its messages are silent for this time; 0: each may alert.",
    check: { (0...SchemaLimits.burstSeconds).contains($0 ?? 0) ? nil : "from 0 to \(SchemaLimits.burstSeconds)" })

  private static let dailyAlerts = PublishCommand.optional(
    "daily-alerts", "NUMBER", "The most alerts in a day, 0 to 1000; default: what the policy says.")
  private static let directLevel = Setting<NotificationLevel?>(
    "direct-level", environment: .none, default: nil, help: "Which messages of direct conversations are shown.")
  private static let groupLevel = Setting<NotificationLevel?>(
    "group-level", environment: .none, default: nil, help: "Which messages of groups are shown.")
  private static let levels = Setting<[String]?>(
    "levels", environment: .none, default: nil, placeholder: "CONVERSATION=LEVEL,…",
    help: "All conversations with a level of their own; they replace those of before.")
  private static let mutedSenders = Setting<[String]?>(
    "muted-senders", environment: .none, default: nil, placeholder: "USER,…",
    help: "All senders of whom nothing is shown; they replace those of before.")

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
      fallback: input[fallback],
      muted: input[muted]?.map { MutedConversation(conversationId: $0) }, starredSenders: input[starred],
      keywords: input[keywords], badgeMode: input[badge],
      showPreviews: input[previews], locale: input[locale], burstSeconds: input[burst],
      defaultLevels: defaultLevels(input), conversationLevels: try conversationLevels(input),
      mutedSenders: input[mutedSenders], digestTimes: times(input),
      timeZone: namesOwnZone(input) ? input[timeZone] : nil, dailyAlerts: try alerts(input))
  }

  /// Whether --time-zone is the person's time zone, and not only that of quiet hours.
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
    let levels = DefaultLevels(direct: input[directLevel], group: input[groupLevel])
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

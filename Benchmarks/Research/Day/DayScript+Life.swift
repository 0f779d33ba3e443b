import NudgeLab
import NudgeSchema

/// Actions of people, apps and backends while messages are written.
extension DayScript {
  private static let zones = [
    "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Auckland", "Pacific/Honolulu", "UTC",
  ]
  private static let texts = [
    "can you call me?", "urgent: please call me asap", "ok", "where are you? I am at the gate", "see you at seven 🎉",
    "emergency, the oven is smoking!", "did you get the tickets?", "thanks", "https://example.org/map", "bis gleich",
  ]
  /// Records of producers that are no events.
  private static let nonsense = [
    "{", "null", #"{"schemaVersion":1,"type":"message.created"}"#,
    #"{"schemaVersion":9,"type":"user.activity","eventId":"x","occurredAt":1}"#,
    #"{"schemaVersion":1,"type":"no.such_type","eventId":"x","occurredAt":1}"#,
  ]

  private mutating func later(_ at: Milliseconds, _ range: ClosedRange<Int>) -> Milliseconds {
    at + Milliseconds(random.number(range))
  }

  /// Writes the consequences of a message.
  mutating func happen(after message: Recent, at: Milliseconds) throws {
    guard !message.recipients.isEmpty else { return }
    let reader = random.pick(message.recipients)
    if random.chance(25) { try report(by: reader, in: message.conversationId, at: later(at, -5_000...5_000)) }
    if random.chance(8) {
      try user(
        .read(
          MessageRead(
            userId: reader, conversationId: message.conversationId,
            messageId: random.chance(60) ? message.messageId : nil,
            deviceId: LoadPerson.device(0, of: reader))), at: later(at, 500...120_000))
    }
    if random.chance(7) {
      try chat(
        .messageEdited(
          MessageRevision(
            conversationId: message.conversationId, messageId: message.messageId,
            text: random.pick(Self.texts) + " (edited)")), at: later(at, 100...900_000))
    }
    if random.chance(4) {
      try chat(
        .messageDeleted(
          MessageRevision(conversationId: message.conversationId, messageId: message.messageId)),
        at: later(at, 100...900_000))
    }
    if random.chance(14) { try talk(reader, with: message.senderId, at: later(at, 1_000...60_000)) }
    if random.chance(3) { try changeWishes(of: reader, at: later(at, 0...60_000)) }
    if random.chance(2) {
      try user(
        .feedback(
          FeedbackSubmitted(
            userId: reader, conversationId: message.conversationId, messageId: message.messageId,
            feedback: random.chance(40) ? .helpful : .notHelpful)), at: later(at, 1_000...600_000))
    }
    if random.chance(1) { try replay(at: later(at, 1_000...60_000)) }
    if random.chance(1) {
      var again = message.record
      again.at = later(again.at, 1...60_000)
      add(again)
    }
    try happenSeldom(to: reader, message, at: at)
  }

  private mutating func happenSeldom(to reader: String, _ message: Recent, at: Milliseconds) throws {
    switch random.number(0...999) {
    case ..<6:
      let change = MembershipChange(conversationId: message.conversationId, userId: reader)
      try chat(.memberRemoved(change), at: at + 100)
      try chat(
        .memberAdded(
          MembershipChange(conversationId: message.conversationId, userId: reader, displayName: reader)),
        at: later(at, 60_000...900_000))
    case ..<10:
      let device = LoadPerson.device(0, of: reader)
      try user(.deviceUnregistered(DeviceUnregistered(userId: reader, deviceId: device)), at: at + 100)
      try register(device, of: reader, token: "\(device):anew-\(at)", at: later(at, 1_000...900_000))
    case ..<13:
      // Somebody else signs in on the same phone.
      try register(
        LoadPerson.device(1, of: message.senderId), of: message.senderId, token: "shared-\(reader)", at: at + 100)
      try register(LoadPerson.device(1, of: reader), of: reader, token: "shared-\(reader)", at: at + 5_000)
    case ..<15:
      try user(.deleted(UserDeleted(userId: reader)), at: at + 100)
      if random.chance(80) {
        let device = LoadPerson.device(0, of: reader)
        try register(device, of: reader, token: "\(device):back-\(at)", at: later(at, 60_000...1_800_000))
      }
    case ..<16:
      try chat(.conversationDeleted(.init(conversationId: message.conversationId)), at: at + 100)
      // The former members found it again.
      let members = ([message.senderId] + message.recipients).map { Member(userId: $0, displayName: $0) }
      try chat(
        .conversationUpdated(
          ConversationUpdated(
            conversationId: message.conversationId, kind: .group, name: message.conversationId, members: members)),
        at: later(at, 1_000...600_000))
    case ..<22: try ask(about: reader, at: at + 100)
    case ..<25:
      add(
        DayRecord(
          at: at + 100, topic: random.chance(50) ? .chatEvents : .userEvents, key: reader,
          value: Array(random.pick(Self.nonsense).utf8)))
    case ..<33:
      // Written long ago, or by a clock that is ahead.
      let age = random.pick([7_200_000, 108_000_000, 700_000_000, -600_000] as [Milliseconds])
      try self.message(
        message.conversationId, "late-\(message.messageId)", from: message.senderId, at: at - age, taken: at + 300)
    case ..<38:
      try self.message(
        message.conversationId, "all-\(message.messageId)", from: message.senderId, "this concerns everybody",
        replyTo: message.messageId, mentions: random.chance(50) ? ["*"] : [reader], at: at + 700)
    case ..<43:
      // A picture, whose name the message before has.
      try self.message(message.conversationId, message.messageId, from: reader, nil, at: at + 800)
    case ..<48:
      try user(
        .activity(Activity(userId: reader, deviceId: LoadPerson.device(0, of: reader), state: .foreground)),
        at: at - 90_000, taken: at + 10)
    default: break
    }
  }

  private mutating func register(_ device: String, of userId: String, token: String, at: Milliseconds) throws {
    try user(
      .deviceRegistered(
        DeviceRegistered(
          userId: userId, deviceId: device, token: token, platform: random.pick([.ios, .android, .web]),
          locale: random.pick(["en", "de", "fr-CA", "ja"]), renders: random.chance(30) ? true : nil)), at: at)
  }

  /// A device reports its state.
  private mutating func report(by userId: String, in conversationId: String, at: Milliseconds) throws {
    let state = random.pick([.foreground, .foreground, .foreground, .background, .idle] as [Activity.State])
    var activity = Activity(
      userId: userId, deviceId: LoadPerson.device(random.chance(70) ? 0 : 1, of: userId), state: state,
      conversationId: state == .foreground && random.chance(65) ? conversationId : nil)
    if random.chance(30) { activity.lastInputAt = at - Milliseconds(random.number(0...400_000)) }
    if random.chance(20) { activity.tabId = random.pick(["left", "right"]) }
    if random.chance(8) {
      activity.conversationId = nil
      activity.tabId = "stream"
      activity.live = state == .foreground
    }
    try user(.activity(activity), at: at)
  }

  /// Two people write to each other.
  private mutating func talk(_ first: String, with second: String, at: Milliseconds) throws {
    guard first != second else { return }
    let pair = [first, second].sorted()
    let conversation = ConversationSnapshot(
      kind: .direct, members: pair.map { Member(userId: $0, displayName: $0) })
    var at = at
    for turn in 0..<random.number(1...4) {
      let sender = turn % 2 == 0 ? first : second
      try message(
        "direct/\(pair[0])/\(pair[1])", "direct-\(first)-\(at)-\(turn)", from: sender, random.pick(Self.texts),
        in: conversation, at: at)
      at = later(at, 2_000...90_000)
    }
  }

  /// A change of a person's preferences.
  mutating func changeWishes(of userId: String, at: Milliseconds) throws {
    var patch = PreferencesPatch()
    let group = recent.last?.conversationId ?? "assembly"
    let other = recent.last?.senderId ?? userId
    switch random.number(0...21) {
    case 0, 1, 2:
      let from = random.number(0...23)
      patch.quietHours = .set(
        QuietHours(
          start: Self.time(from), end: Self.time(from + random.number(1...10)), timeZone: random.pick(Self.zones)))
    case 3: patch.quietHours = .set(nil)
    case 4, 5: patch.digestTimes = .set((0...random.number(0...2)).map { _ in Self.time(random.number(0...23)) })
    case 6: patch.digestTimes = .set(random.chance(50) ? [] : nil)
    case 7, 8: patch.dailyAlerts = .set(random.chance(80) ? random.number(0...6) : nil)
    case 9, 10:
      patch.muted = [
        MutedConversation(
          conversationId: group, until: random.chance(70) ? at + Milliseconds(random.number(60_000...20_000_000)) : nil,
          exceptMentions: random.chance(50) ? true : nil)
      ]
    case 11: patch.changes.muted = ListChange(remove: [group])
    case 12, 13:
      patch.conversationLevels = [
        ConversationLevel(conversationId: group, level: random.pick([.all, .smart, .mentions, .none]))
      ]
    case 14:
      patch.defaultLevels = DefaultLevels(
        direct: random.pick([.all, .smart, .mentions]),
        group: random.pick([.all, .smart, .mentions, NotificationLevel.none]))
    case 15: patch.enabled = random.chance(70)
    case 16: patch.changes.mutedSenders = ListChange(add: [other])
    case 17: patch.changes.starredSenders = ListChange(add: [other])
    case 18: patch.keywords = ["tickets", "kernel", "mount"]
    case 19:
      patch.burstSeconds = random.number(0...300)
      patch.showPreviews = random.chance(50)
    case 20:
      patch.timeZone = random.pick(Self.zones)
      patch.locale = random.pick(["en", "de", "fr", "ja", "es"])
    default:
      patch.badgeMode = random.chance(50) ? .messages : .conversations
      patch.maxAnalysesPerHour = random.number(1...30)
      patch.fallback = random.pick([.simpleRules, .notifyAll, .suppressAll])
    }
    try user(.preferences(PreferencesUpdated(userId: userId, preferences: patch)), at: at)
  }

  private static func time(_ hour: Int) -> String {
    let hour = hour % 24
    return "\(hour < 10 ? "0" : "")\(hour):30"
  }
}

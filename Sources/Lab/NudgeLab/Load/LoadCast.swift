import NudgeSchema
import VirtualPhone
import WebPush

/// An author of a chat log as a user of the app. Devices and preferences follow from the seed and the user id.
package struct LoadPerson: Sendable, Equatable {
  /// The user's id, which is also the display name.
  package let userId: String
  /// A conversation that this author writes in.
  let conversationId: String
  /// Another author in that conversation. Absent if there is none.
  let friend: String?
  /// The base URL of the push service that reaches the person's browsers. Absent if FCM reaches them.
  var pushService: String?
  private let seed: UInt64

  init(userId: String, conversationId: String, friend: String?, seed: UInt64) {
    self.userId = userId
    self.conversationId = conversationId
    self.friend = friend
    self.seed = seed
  }

  /// The address of the person's picture. Only a quarter of the people have one.
  static func avatar(of userId: String, seed: UInt64) -> String? {
    var random = SeededRandom(seed: seed, "avatar " + userId)
    return random.chance(25) ? "https://avatars.example.org/\(random.next() % 1_000_000).png" : nil
  }

  /// One or two devices. The first is the phone in use.
  var devices: [DeviceRegistered] {
    var random = SeededRandom(seed: seed, "devices " + userId)
    return (0..<(random.chance(40) ? 2 : 1)).map { index in
      // An FCM token is an instance id, a colon and a long suffix.
      let instance = Self.word(&random, 22)
      var device = DeviceRegistered(
        userId: userId, deviceId: Self.device(index, of: userId),
        token: "\(instance):demo-\(Self.word(&random, 100))",
        platform: random.pick([.ios, .ios, .ios, .ios, .android, .android, .android, .android, .android, .web]),
        appVersion: "1.\(random.number(0...9)).\(random.number(0...9))",
        locale: random.pick(["en", "de-CH", "sv", "ja"]))
      if device.platform == .web, let pushService, let subscription = BrowserSubscription(name: "demo-\(instance)") {
        device.token = nil
        device.webPush = WebPushSubscription(
          endpoint: subscription.endpoint(at: pushService), p256dh: subscription.receiver.p256dh,
          auth: subscription.receiver.auth)
      }
      return device
    }
  }

  /// A device's id, unique among all people.
  package static func device(_ index: Int, of userId: String) -> String {
    "\(userId)/\(index == 0 ? "phone" : "tablet")"
  }

  private static func word(_ random: inout SeededRandom, _ length: Int) -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-".utf8)
    return String(decoding: (0..<length).map { _ in random.pick(letters) }, as: UTF8.self)
  }

  /// The person's preferences. Absent for most people. `now` places quiet hours so that some are in force.
  func preferences(now: Milliseconds) -> PreferencesPatch? {
    var random = SeededRandom(seed: seed, "preferences " + userId)
    switch random.number(0...99) {
    case ..<4: return PreferencesPatch(enabled: false)
    case ..<10:
      // Adding a day keeps the minute of the day positive near the epoch.
      let minute = Int(now / 60_000) + 24 * 60
      return PreferencesPatch(
        quietHours: .set(QuietHours(start: Self.time(minute - 30), end: Self.time(minute + 360), timeZone: "UTC")))
    case ..<13:
      return PreferencesPatch(quietHours: .set(QuietHours(start: "22:00", end: "07:00", timeZone: "Europe/Zurich")))
    case ..<19:
      return PreferencesPatch(muted: [
        MutedConversation(conversationId: conversationId, exceptMentions: random.chance(50))
      ])
    case ..<25: return PreferencesPatch(starredSenders: friend.map { [$0] } ?? [])
    case ..<29: return PreferencesPatch(keywords: ["train", "build", "kernel", "mount", "cake"])
    case ..<33: return PreferencesPatch(badgeMode: .messages)
    case ..<37: return PreferencesPatch(showPreviews: false)
    case ..<45: return PreferencesPatch(maxAnalysesPerHour: 200)
    case ..<50: return PreferencesPatch(fallback: .notifyAll)
    case ..<54: return PreferencesPatch(fallback: .suppressAll)
    default: return nil
    }
  }

  /// The time of day, `HH:MM`, of a minute since the epoch.
  private static func time(_ minute: Int) -> String {
    let (hour, rest) = (minute / 60 % 24, minute % 60)
    return "\(hour < 10 ? "0" : "")\(hour):\(rest < 10 ? "0" : "")\(rest)"
  }
}

/// The authors of a log's first messages. The log is read once to find them, because their devices are registered before the load begins.
package struct LoadCast: Sendable {
  /// The authors in the order of their first messages.
  package private(set) var people: [LoadPerson]
  /// The number of messages of the load, which is lower than asked for if the log is shorter.
  package let messages: Int
  /// The number of conversations of these messages.
  let conversations: Int

  /// Gives browsers subscriptions at a push service in place of FCM's tokens.
  mutating func reachBrowsers(by pushService: String) {
    for index in people.indices { people[index].pushService = pushService }
  }

  /// Reads at most `limit` messages. `prefix` is put before ids, as `LoadScript` does.
  package init(_ source: ChatLogSource, messages limit: Int, seed: UInt64, prefix: String = "") throws(ChatLogError) {
    var log = try source.open()
    var order: [(userId: String, conversationId: String)] = []
    var friends: [String: String] = [:]
    var known: Set<String> = []
    var latest: [String: String] = [:]
    var count = 0
    while count < limit, let message = try log.next() {
      count += 1
      let userId = prefix + ChatNames.user(message.nick)
      let conversationId = prefix + ChatNames.conversation(message.log)
      if known.insert(userId).inserted { order.append((userId, conversationId)) }
      if let before = latest[conversationId], before != userId, friends[userId] == nil { friends[userId] = before }
      latest[conversationId] = userId
    }
    messages = count
    conversations = latest.count
    people = order.map {
      LoadPerson(userId: $0.userId, conversationId: $0.conversationId, friend: friends[$0.userId], seed: seed)
    }
  }
}

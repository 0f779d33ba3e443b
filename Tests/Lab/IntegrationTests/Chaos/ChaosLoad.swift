import Foundation
import NudgeSchema

@testable import NudgeLab

/// A chat of small groups, made from a seed: messages, and between them reads, activity and changes of devices. The third member of
/// each group only reads; that of some groups has a bound on alerts, and that of others quiet hours and never opens the app.
struct ChaosLoad {
  private let chat: ChatLoad
  /// In order; each gets its time when it is published.
  let events: [@Sendable () -> PublishedEvent]
  /// The number of chat events among them.
  var messages: Int { chat.messages }
  /// How long the messages take, in seconds. nil: nobody's attention is limited.
  private let limitingAttentionFor: Int?
  /// The people whose attention is limited.
  let attention: PipelineChecker.Attention
  /// One of its conversations.
  var conversation: String { chat.group(0) }
  /// The recipients of each message.
  var expected: [String: Set<String>] { chat.expected }

  /// Messages for each event of a person.
  private static let messagesPerUserEvent = 8
  var eventsPerMessage: Double { 1 + 1 / Double(Self.messagesPerUserEvent) }

  /// The member whose attention is limited, and the alerts in a day of those with a bound.
  private static let (reader, dailyAlerts) = (2, 2)

  /// The limit of a group's reader.
  private enum Limit { case none, alerts, quietHours }

  private static func limit(of group: Int) -> Limit {
    switch group {
    case ..<100: .none
    case ..<200: .alerts
    default: .quietHours
    }
  }

  /// Quiet hours of UTC that began an hour before `now` and end at the first full minute after `seconds` more.
  static func quietHours(now: Int64, endingAfter seconds: Int) -> String {
    func text(_ time: Int64) -> String { QuietSpan.text(Int(time / 60_000 % 1_440)) }
    let (start, end) = (now - 3_600_000, now + Int64(seconds) * 1_000 + 60_000)
    return #""quietHours":{"start":"\#(text(start))","end":"\#(text(end))","timeZone":"UTC"}"#
  }

  /// The people, their devices, and the preferences of some. Make them once the services are ready: quiet hours end in the second half of
  /// the messages' time after `now`.
  func introductions(now: Int64 = ChatLoad.now()) -> [PublishedEvent] {
    guard let seconds = limitingAttentionFor else { return chat.introductions }
    let quietHours = Self.quietHours(now: now, endingAfter: seconds * 3 / 5)
    return chat.introductions { group, member in
      guard member == Self.reader else { return nil }
      return switch Self.limit(of: group) {
      case .none: nil
      // Their keyword makes alerts that cost something, as no mention and no urgent message does.
      case .alerts:
        #""dailyAlerts":\#(Self.dailyAlerts),"burstSeconds":0,"keywords":["\#(ChatLoad.keyword)"]"#
      case .quietHours: quietHours
      }
    }
  }

  /// `seconds`: how long the messages take. nil: nobody's attention is limited.
  init(seed: UInt64, messages: Int, limitingAttentionFor seconds: Int?, browsers: ChatLoad.Browsers = .init()) {
    // Enough people that each gets a push every few seconds at most: a full lane would give pushes up, which would hide lost
    // ones.
    let (groups, members) = (300, 3)
    // No divisor of the groups: each has some that are urgent.
    let chat = ChatLoad("c", groups: groups, members: members, messages: messages, urgentEvery: 31, browsers: browsers)
    self.chat = chat
    limitingAttentionFor = seconds
    let readers = Dictionary(grouping: 0..<groups) { seconds == nil ? .none : Self.limit(of: $0) }
      .mapValues { $0.map { chat.user($0, Self.reader) } }
    attention = PipelineChecker.Attention(
      silent: Set(readers[.quietHours] ?? []),
      dailyAlerts: Dictionary(uniqueKeysWithValues: (readers[.alerts] ?? []).map { ($0, Self.dailyAlerts) }),
      urgent: chat.urgent)
    var random = SeededRandom(seed: seed)
    // The token of each person's first device, unless somebody else registered it.
    var tokens: [String: String] = [:]
    for group in 0..<groups {
      for member in 0..<members { tokens[chat.user(group, member)] = "token-\(chat.user(group, member))-0" }
    }
    var events: [@Sendable () -> PublishedEvent] = []
    for (number, message) in chat.chat.enumerated() {
      events.append(message)
      guard number % Self.messagesPerUserEvent == 0 else { continue }
      let group = Int.random(in: 0..<groups, using: &random)
      let member = Int.random(in: 0..<members, using: &random)
      let other = chat.user(.random(in: 0..<groups, using: &random), .random(in: 0..<members, using: &random))
      // The silent never read: each message that is held back from them comes in a catch-up.
      if attention.silent.contains(chat.user(group, member)) || attention.silent.contains(other) { continue }
      events.append(
        Self.doing(
          of: chat.user(group, member), in: chat.group(group), number, or: other, tokens: &tokens, browsers,
          using: &random))
    }
    self.events = events
  }

  /// A person opens the app, reads, gets a new token, signs a device out or in, or signs in on somebody else's device without a
  /// sign-out.
  private static func doing(
    of user: String, in conversation: String, _ number: Int, or other: String, tokens: inout [String: String],
    _ browsers: ChatLoad.Browsers, using random: inout SeededRandom
  ) -> @Sendable () -> PublishedEvent {
    let device = "\(user)-d0"
    let type: String
    let fields: String
    switch Int.random(in: 0..<10, using: &random) {
    case 0..<3:
      type = "user.activity"
      let isOpen = Bool.random(using: &random)
      fields =
        #""deviceId":"\#(device)","state":"\#(isOpen ? "foreground" : "background")","#
        + #""conversationId":\#(isOpen ? #""\#(conversation)""# : "null")"#
    case 3..<6:
      type = "message.read"
      fields = #""conversationId":"\#(conversation)","deviceId":"\#(device)""#
    case 6:
      type = "device.registered"
      // Somebody else's token, if they have one.
      let token = (other == user ? nil : tokens.removeValue(forKey: other)) ?? "token-\(user)-\(number)"
      tokens[user] = token
      fields = #""deviceId":"\#(device)",\#(browsers.address(of: token)),"platform":"android""#
    case 7..<9:
      type = "device.registered"
      // A new token.
      let token = "token-\(user)-\(number)"
      tokens[user] = token
      fields = #""deviceId":"\#(device)",\#(browsers.address(of: token)),"platform":"android""#
    default:
      type = "device.unregistered"
      tokens[user] = nil
      fields = #""deviceId":"\#(device)""#
    }
    return {
      PublishedEvent(
        topic: .userEvents, key: user,
        value: ChatLoad.event(type, "doing-\(number)", ChatLoad.now(), #""userId":"\#(user)",\#(fields)"#))
    }
  }
}

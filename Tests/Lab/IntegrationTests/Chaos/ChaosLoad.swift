import Foundation
import NudgeSchema

@testable import NudgeLab

/// A chat of small groups, made from a seed: messages, and between them reads, activity and changes of devices.
struct ChaosLoad {
  private let chat: ChatLoad
  /// In order; each gets its time when it is published.
  let events: [@Sendable () -> PublishedEvent]
  /// The number of chat events among them.
  var messages: Int { chat.messages }
  var introductions: [PublishedEvent] { chat.introductions }
  /// One of its conversations.
  var conversation: String { chat.group(0) }
  /// The recipients of each message.
  var expected: [String: Set<String>] { chat.expected }

  /// Messages for each event of a person.
  private static let messagesPerUserEvent = 8
  var eventsPerMessage: Double { 1 + 1 / Double(Self.messagesPerUserEvent) }

  init(seed: UInt64, messages: Int) {
    // Enough people that each gets a push every few seconds at most: a full lane would give pushes up, which would hide lost
    // ones.
    let (groups, members) = (300, 3)
    let chat = ChatLoad("c", groups: groups, members: members, messages: messages)
    self.chat = chat
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
      events.append(
        Self.doing(
          of: chat.user(group, member), in: chat.group(group), number, or: other, tokens: &tokens, using: &random))
    }
    self.events = events
  }

  /// A person opens the app, reads, gets a new token, signs a device out or in, or signs in on somebody else's device without a
  /// sign-out.
  private static func doing(
    of user: String, in conversation: String, _ number: Int, or other: String, tokens: inout [String: String],
    using random: inout SeededRandom
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
      fields = #""deviceId":"\#(device)","token":"\#(token)","platform":"android""#
    case 7..<9:
      type = "device.registered"
      // A new token.
      let token = "token-\(user)-\(number)"
      tokens[user] = token
      fields = #""deviceId":"\#(device)","token":"\#(token)","platform":"android""#
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

import Foundation
import NudgeSchema

@testable import NudgeCommands

/// A chat of small groups, made of a seed: messages, and among them what people do with their devices.
struct ChaosLoad {
  private let chat: ChatLoad
  /// In order; each takes its time when it is published.
  let events: [@Sendable () -> PublishedEvent]
  /// How many of them are chat events.
  var messages: Int { chat.messages }
  var introductions: [PublishedEvent] { chat.introductions }
  /// One of its conversations.
  var conversation: String { chat.group(0) }
  /// The recipients of each message.
  var expected: [String: Set<String>] { chat.expected }

  /// One event of a person's to so many messages.
  private static let messagesPerUserEvent = 8
  var eventsPerMessage: Double { 1 + 1 / Double(Self.messagesPerUserEvent) }

  init(seed: UInt64, messages: Int) {
    // So many that a person is told of something every few seconds at most: a lane that holds a minute's pushes must not
    // be full, or what is given up hides what is lost.
    let (groups, members) = (300, 3)
    let chat = ChatLoad("c", groups: groups, members: members, messages: messages)
    self.chat = chat
    var random = SeededRandom(seed: seed)
    // The token each person's first device has, unless somebody else took it.
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

  /// Something a person does: opens the app, reads, gets a new token, signs a device out or in again, or signs in on the
  /// device of another, who has not signed out.
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
      // A token that somebody else has, where one has it.
      let token = (other == user ? nil : tokens.removeValue(forKey: other)) ?? "token-\(user)-\(number)"
      tokens[user] = token
      fields = #""deviceId":"\#(device)","token":"\#(token)","platform":"android""#
    case 7..<9:
      type = "device.registered"
      // Tokens change.
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

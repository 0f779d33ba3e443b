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
    var events: [@Sendable () -> PublishedEvent] = []
    for (number, message) in chat.chat.enumerated() {
      events.append(message)
      guard number % Self.messagesPerUserEvent == 0 else { continue }
      let group = Int.random(in: 0..<groups, using: &random)
      let member = Int.random(in: 0..<members, using: &random)
      events.append(Self.doing(of: chat.user(group, member), in: chat.group(group), number, using: &random))
    }
    self.events = events
  }

  /// Something a person does: opens the app, reads, gets a new token, signs a device out or in again.
  private static func doing(
    of user: String, in conversation: String, _ number: Int, using random: inout SeededRandom
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
    case 3..<7:
      type = "message.read"
      fields = #""conversationId":"\#(conversation)","deviceId":"\#(device)""#
    case 7..<9:
      type = "device.registered"
      // Tokens change; which person a token belongs to does not.
      fields = #""deviceId":"\#(device)","token":"token-\#(user)-\#(number)","platform":"android""#
    default:
      type = "device.unregistered"
      fields = #""deviceId":"\#(device)""#
    }
    return {
      PublishedEvent(
        topic: .userEvents, key: user,
        value: ChatLoad.event(type, "doing-\(number)", ChatLoad.now(), #""userId":"\#(user)",\#(fields)"#))
    }
  }
}

import Foundation
import Kafka
import NudgeSchema

/// The people of a backlog and their messages: groups of equal size; each person is in one group and has one device.
struct BacklogWorld {
  let people: Int
  let members: Int
  /// The distribution of platforms.
  private static let platforms: [Platform] = [.ios, .android, .ios, .android, .web]
  private static let tokenLetters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-".utf8)

  private let coder = RecordCoder()

  init(people: Int, members: Int) {
    self.people = people
    self.members = members
  }

  /// The number of groups; the last one may be smaller.
  var groups: Int { (people + members - 1) / members }

  private func members(of group: Int) -> Range<Int> { group * members..<min((group + 1) * members, people) }
  private func user(_ number: Int) -> String {
    "user-\(String(number, radix: 36))-\(number &* 2_654_435_761 % 1_000_003)"
  }
  private func conversation(_ group: Int) -> String { "conversation-\(group)" }

  /// Writes all groups, devices and preferences. Everybody is notified of each message once their hourly analyses are used up, so
  /// that a backlog of any length has pushes. Returns the number of records that ingest reads: a device's claim adds one.
  func introduce(to topics: BacklogTopics) throws -> Int {
    let now = Milliseconds(Date().timeIntervalSince1970 * 1000)
    for group in 0..<groups {
      let updated = ConversationUpdated(
        conversationId: conversation(group), kind: members(of: group).count > 2 ? .group : .direct,
        name: "Group \(group)", members: members(of: group).map { Member(userId: user($0), displayName: "Name \($0)") })
      try topics.write(
        coder.encode(
          ChatEvent(Envelope(eventId: "conversation-event-\(group)", occurredAt: now), .conversationUpdated(updated))),
        to: .chatEvents, key: updated.conversationId)
    }
    for number in 0..<people {
      let registered = DeviceRegistered(
        userId: user(number), deviceId: "\(user(number))/phone", token: token(number),
        platform: Self.platforms[number % Self.platforms.count], appVersion: "1.4.2", locale: "en")
      try topics.write(
        coder.encode(
          UserEvent(Envelope(eventId: "device-event-\(number)", occurredAt: now), .deviceRegistered(registered))),
        to: .userEvents, key: registered.userId)
      let preferences = PreferencesUpdated(
        userId: user(number), preferences: PreferencesPatch(fallback: .notifyAll))
      try topics.write(
        coder.encode(
          UserEvent(Envelope(eventId: "preferences-event-\(number)", occurredAt: now), .preferences(preferences))),
        to: .userEvents, key: preferences.userId)
    }
    try topics.flush()
    return groups + 3 * people
  }

  /// A token as long as FCM's: an instance id, a colon and a long rest.
  private func token(_ number: Int) -> String {
    var state = UInt64(number) &+ 0x9e37_79b9_7f4a_7c15
    let letters = (0..<140).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Self.tokenLetters[Int(state >> 58)]
    }
    return "\(String(decoding: letters[..<22], as: UTF8.self)):\(String(decoding: letters[22...], as: UTF8.self))"
  }

  /// The writers of a group. A person who writes counts as reading, and is not notified in that conversation for a while.
  private static let writers = 2

  /// Writes messages, rotating over the groups and each group's writers. Returns the number of recipients.
  func write(messages count: Int, texts: inout ChatTexts, to topics: BacklogTopics) throws -> Int {
    let now = Milliseconds(Date().timeIntervalSince1970 * 1000)
    var recipients = 0
    for index in 0..<count {
      let group = index % groups
      let members = members(of: group)
      let sender = members.lowerBound + index / groups % min(Self.writers, members.count)
      let message = MessageCreated(
        conversationId: conversation(group), messageId: "message-\(index)", senderId: user(sender),
        text: texts.take(), sender: SenderProfile(displayName: "Name \(sender)"))
      try topics.write(
        coder.encode(
          ChatEvent(
            Envelope(eventId: "message-event-\(index)", occurredAt: now + Milliseconds(index / 1_000)),
            .messageCreated(message))), to: .chatEvents, key: message.conversationId)
      recipients += members.count - 1
    }
    try topics.flush()
    return recipients
  }
}

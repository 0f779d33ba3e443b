import Foundation
import NudgeSchema
import VirtualPhone
import WebPush

/// A generated chat of some groups. The recipients of each message are known beforehand.
struct ChatLoad {
  /// The name in all its ids, which separates several loads on one pipeline.
  let name: String
  let groups: Int
  let members: Int
  let messages: Int
  /// The number of the first message, so that a second load can continue the first.
  let firstMessage: Int
  /// One message of this many is urgent, and the one after it has the word of `keyword`; nil: none.
  let urgentEvery: Int?
  /// A word that some people may wait for.
  static let keyword = "lunch"
  /// The devices with subscriptions of Web Push.
  let browsers: Browsers

  init(
    _ name: String, groups: Int = 12, members: Int = 5, messages: Int = 400, firstMessage: Int = 0,
    urgentEvery: Int? = nil, browsers: Browsers = Browsers()
  ) {
    self.browsers = browsers
    self.urgentEvery = urgentEvery
    self.name = name
    self.groups = groups
    self.members = members
    self.messages = messages
    self.firstMessage = firstMessage
  }

  func user(_ group: Int, _ member: Int) -> String { "\(name)-u\(group)-\(member)" }
  func group(_ group: Int) -> String { "\(name)-g\(group)" }
  private func message(_ number: Int) -> String { "\(name)-m\(number)" }

  /// Whether a message has a place in the load's turns of `urgentEvery`.
  private func isTurn(_ place: Int, of number: Int) -> Bool { urgentEvery.map { number % $0 == place } ?? false }

  /// The first two members of a group write by turns; the others only read.
  private func sender(of number: Int) -> (group: Int, member: Int) { (number % groups, number / groups % 2) }

  /// Devices and preferences of all people, and the groups. Every second person is notified of everything, the others by smart
  /// analysis.
  var introductions: [PublishedEvent] { introductions { _, _ in nil } }

  /// The same, with more preferences of a group's member as JSON fields; nil: no more.
  func introductions(preferring more: (_ group: Int, _ member: Int) -> String?) -> [PublishedEvent] {
    var events: [PublishedEvent] = []
    let now = Self.now()
    for group in 0..<groups {
      var list: [String] = []
      for member in 0..<members {
        let user = user(group, member)
        list.append(#"{"userId":"\#(user)","displayName":"\#(user)"}"#)
        let platforms = ["ios", "android", "web"]
        for device in 0...(member % 2) {
          events.append(
            PublishedEvent(
              topic: .userEvents, key: user,
              value: Self.event(
                "device.registered", "\(user)-d\(device)", now,
                #""userId":"\#(user)","deviceId":"\#(user)-d\#(device)",\#(browsers.address(of: "token-\(user)-\(device)")),"#
                  + #""platform":"\#(platforms[(group + member + device) % 3])""#)))
        }
        let preferences =
          member % 2 == 0 ? #""maxAnalysesPerHour":0,"fallback":"notify_all""# : #""maxAnalysesPerHour":200"#
        events.append(
          PublishedEvent(
            topic: .userEvents, key: user,
            value: Self.event(
              "preferences.updated", "\(user)-p", now,
              #""userId":"\#(user)","preferences":{\#(preferences)\#(more(group, member).map { ",\($0)" } ?? "")}"#)))
      }
      events.append(
        PublishedEvent(
          topic: .chatEvents, key: self.group(group),
          value: Self.event(
            "conversation.updated", "\(self.group(group))-c", now,
            #""conversationId":"\#(self.group(group))","kind":"group","name":"Group \#(group)","members":[\#(list.joined(separator: ","))]"#
          )))
    }
    return events
  }

  /// The messages in order. Each gets its time when it is published.
  var chat: [@Sendable () -> PublishedEvent] {
    (firstMessage..<(firstMessage + messages)).map { number in
      let (group, member) = sender(of: number)
      let conversation = self.group(group)
      let sender = user(group, member)
      let isUrgent = isTurn(0, of: number)
      let text =
        isUrgent
        ? "This is urgent, call me"
        : "Message number \(number)" + (isTurn(1, of: number) ? " about \(Self.keyword)" : "")
      // Some messages name a person, which makes them alerts. An urgent one names the second writer, who has smart analysis.
      let mention =
        isUrgent && member == 0
        ? user(group, 1) : number % 3 == 0 ? user(group, 2 + number % max(1, members - 2)) : nil
      let fields =
        #""conversationId":"\#(conversation)","messageId":"\#(message(number))","senderId":"\#(sender)","#
        + #""text":"\#(text)""#
        + (mention.map { #","mentions":["\#($0)"]"# } ?? "")
      let id = "\(message(number))-e"
      return {
        PublishedEvent(
          topic: .chatEvents, key: conversation, value: Self.event("message.created", id, Self.now(), fields))
      }
    }
  }

  /// The messages that are urgent.
  var urgent: Set<String> {
    Set((firstMessage..<(firstMessage + messages)).filter { isTurn(0, of: $0) }.map(message))
  }

  /// The recipients of each message.
  var expected: [String: Set<String>] {
    var expected: [String: Set<String>] = [:]
    for number in firstMessage..<(firstMessage + messages) {
      let (group, sender) = sender(of: number)
      expected[message(number)] = Set((0..<members).filter { $0 != sender }.map { user(group, $0) })
    }
    return expected
  }

  /// Which devices have a subscription of Web Push in place of a token, and at which push service.
  struct Browsers {
    /// In percent of all devices.
    var share = 0
    var pushService = ""

    /// The field of a registration with the token, or with a subscription in its place.
    func address(of token: String) -> String {
      let hash = token.utf8.reduce(5_381) { ($0 &* 33 &+ Int($1)) & 0xFFFF_FFFF }
      guard hash / 7 % 100 < share, let subscription = BrowserSubscription(name: token) else {
        return #""token":"\#(token)""#
      }
      let receiver = subscription.receiver
      return #""webPush":{"endpoint":"\#(subscription.endpoint(at: pushService))","p256dh":"\#(receiver.p256dh)","#
        + #""auth":"\#(receiver.auth)"}"#
    }
  }

  static func now() -> Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

  /// An event in the catalogue's form.
  static func event(_ type: String, _ id: String, _ occurredAt: Int64, _ fields: String) -> String {
    #"{"schemaVersion":1,"type":"\#(type)","eventId":"\#(id)","occurredAt":\#(occurredAt),\#(fields)}"#
  }
}

import Foundation
import NudgeClient
import Synchronization
import Testing

@testable import VirtualPhone

/// A virtual phone with a clock that only the test moves.
struct Owned {
  var phone: VirtualPhone
  var now = Date(timeIntervalSince1970: 1_800_000_000)
  /// All that was asked to be published, and is not yet answered.
  var published: [ClientEvent] = []
  /// All that was to be seen, since it was last looked at.
  var notes: [PhoneNote] = []
  var uninstalled: [String] = []

  init(_ platform: Device.Platform = .ios, isAllowed: Bool = true, answersBanners: Bool = false) {
    let counter = Atomic<Int>(0)
    phone = VirtualPhone(
      device: Device(deviceId: "phone", platform: platform), token: "token-1", isAllowed: isAllowed,
      answersBanners: answersBanners, makeId: { "id\(counter.add(1, ordering: .relaxed).newValue)" })
  }

  /// A phone of ann's, whose token the services have.
  static func byAnn(_ platform: Device.Platform = .ios, answersBanners: Bool = false) -> Owned {
    var owned = Owned(platform, answersBanners: answersBanners)
    owned.take(.signIn(userId: "ann"))
    owned.acceptAll()
    owned.notes = []
    return owned
  }

  mutating func take(_ input: PhoneInput) {
    for output in phone.take(input, at: now) {
      switch output {
      case .publish(let event): published.append(event)
      case .cancel(let eventId): published.removeAll { $0.eventId == eventId }
      case .uninstalled(let token): uninstalled.append(token)
      case .note(let note): notes.append(note)
      }
    }
  }

  /// The services answer to what was published so far, and to what follows from that.
  @discardableResult
  mutating func acceptAll(_ succeeded: Bool = true) -> [ClientEvent] {
    var all: [ClientEvent] = []
    while let event = published.first {
      published.removeFirst()
      all.append(event)
      take(.published(eventId: event.eventId, succeeded: succeeded))
    }
    return all
  }

  /// Time passes; the phone is woken whenever it asked to be.
  mutating func pass(_ seconds: TimeInterval) {
    let end = now.addingTimeInterval(seconds)
    while let next = phone.nextWake, next <= end {
      now = max(now, next)
      take(.time)
    }
    now = end
  }

  mutating func push(_ push: TestPush) throws {
    let message = try #require(DeliveredMessage(body: Array(push.json(token: phone.token).utf8)))
    take(.delivery(message, takenAt: Int64(now.timeIntervalSince1970 * 1_000)))
  }

  var told: [String] {
    notes.compactMap { if case .told(let text) = $0 { text } else { nil } }
  }

  var faults: [String] {
    notes.compactMap { if case .fault(let text) = $0 { text } else { nil } }
  }

  var titles: [String] { phone.lockScreen.entries.map(\.title) }
}

/// A push as the dispatcher writes it for iOS.
struct TestPush {
  var id = "p1"
  var type = "smart_notification"
  var message: String? = "m1"
  var conversation: String? = "c1"
  var recipient = "ann"
  var priority = "high"
  var badge = 1
  var presentation: String?
  var timestamp = 1_800_000_000
  var title: String? = "Bob"
  var body = "Hello"
  var sound = true
  var replaces = false
  var thread: String?
  var expiration: Int64?

  func json(token: String) -> String {
    var data = [
      "type": type, "recipientId": recipient, "pushId": id, "priority": priority, "badge": "\(badge)",
      "timestamp": "\(timestamp)",
    ]
    data["messageId"] = message
    data["presentation"] = presentation
    data["conversationId"] = conversation
    data["senderId"] = message == nil ? nil : "bob"
    if replaces { data["replaces"] = "true" }
    var aps: [String: Any] = ["badge": badge]
    var request: [String: Any] = ["token": token, "data": data]
    if let title {
      request["notification"] = ["title": title, "body": body]
      aps["thread-id"] = thread ?? conversation
      if sound { aps["sound"] = "default" }
    }
    var headers = ["apns-collapse-id": type == "read" ? "read-\(conversation ?? "")" : message ?? "badge"]
    if let expiration { headers["apns-expiration"] = "\(expiration)" }
    request["apns"] = ["headers": headers, "payload": ["aps": aps]]
    let bytes = try? JSONSerialization.data(withJSONObject: ["message": request])
    return String(decoding: bytes ?? Data(), as: UTF8.self)
  }

  static func badge(_ number: Int, message: String? = nil, in conversation: String? = nil) -> TestPush {
    TestPush(
      type: "badge", message: message, conversation: conversation, priority: "low", badge: number, title: nil)
  }

  static func read(
    _ conversation: String, upTo message: String? = nil, at timestamp: Int = 1_800_000_000, badge: Int
  ) -> TestPush {
    TestPush(
      type: "read", message: message, conversation: conversation, priority: "low", badge: badge, timestamp: timestamp,
      title: nil)
  }

  static func deleted(_ message: String, in conversation: String, badge: Int) -> TestPush {
    TestPush(
      type: "deleted", message: message, conversation: conversation, priority: "low", badge: badge, title: nil)
  }
}

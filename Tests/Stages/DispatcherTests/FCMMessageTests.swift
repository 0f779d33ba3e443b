import Foundation
import NudgeSchema
import Testing

@testable import Dispatcher

@Suite("P2: the payload of each platform")
struct FCMMessageTests {
  /// The first 32 digits of `printf 2:c1m-p1 | sha256sum`.
  private static let id = "7054b1d5b9f6bca32855cefc42964fd3"

  private func message(_ push: Push, occurredAt: Milliseconds = 1_700_000_000_999) throws -> [String: Any] {
    let message = FCMMessage(
      push: push, target: push.targets[0], occurredAt: occurredAt, hash: DispatcherRules.sha256)
    let bytes = try #require(message.encoded())
    let root = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    #expect(root["validate_only"] as? Bool == false)
    return try #require(root["message"] as? [String: Any])
  }

  /// The value at a path of keys joined by `/`.
  private func at(_ path: String, _ message: [String: Any]) -> Any? {
    path.split(separator: "/").reduce(message as Any?) { ($0 as? [String: Any])?[String($1)] }
  }

  private func text(_ path: String, _ message: [String: Any]) -> String? { at(path, message) as? String }

  private func push(_ platform: Platform, _ presentation: Presentation, kind: Push.Kind = .message) -> Push {
    var push = DispatcherBench.push("p1", kind: kind, presentation: presentation, platform: platform)
    push.imageUrl = "https://example.org/cat.png"
    push.avatarUrl = "https://example.org/bob.png"
    return push
  }

  @Test("P2: high on iOS: an immediate alert with sound, thread, collapse id, category, badge and picture")
  func iosAlert() throws {
    let message = try message(push(.ios, .alert))
    #expect(text("token", message) == "token-phone-1")
    #expect(text("notification/title", message) == "Bob")
    #expect(text("notification/body", message) == "Hello")
    #expect(text("notification/image", message) == "https://example.org/cat.png")
    #expect(text("apns/headers/apns-push-type", message) == "alert")
    #expect(text("apns/headers/apns-priority", message) == "10")
    #expect(text("apns/headers/apns-collapse-id", message) == Self.id)
    #expect(
      text("apns/headers/apns-expiration", message) == String(DispatcherBench.start / 1000 + 2_419_200))
    #expect(text("apns/payload/aps/sound", message) == "default")
    #expect(text("apns/payload/aps/thread-id", message) == "c1")
    #expect(text("apns/payload/aps/category", message) == "SMART_NOTIFICATION_CATEGORY")
    #expect(text("apns/payload/aps/interruption-level", message) == "active")
    #expect(at("apns/payload/aps/badge", message) as? Int == 3)
    #expect(at("apns/payload/aps/mutable-content", message) as? Int == 1)
    #expect(at("apns/payload/aps/content-available", message) as? Int == 1)
    #expect(text("apns/fcm_options/image", message) == "https://example.org/cat.png")
    #expect(message["android"] == nil && message["webpush"] == nil)
  }

  @Test("P2: medium on iOS: no sound, passive, priority 5")
  func iosSilent() throws {
    let message = try message(push(.ios, .silent))
    #expect(text("notification/body", message) == "Hello")
    #expect(at("apns/payload/aps/sound", message) == nil)
    #expect(text("apns/payload/aps/interruption-level", message) == "passive")
    #expect(text("apns/headers/apns-priority", message) == "5")
  }

  @Test("P10: a push has a label for FCM's statistics: a few, as FCM allows them", arguments: Platform.everyOne)
  func label(platform: Platform) throws {
    var labels: Set<String> = []
    for kind in Push.Kind.allCases {
      for presentation in Presentation.allCases {
        let label = try #require(
          text("fcm_options/analytics_label", try message(push(platform, presentation, kind: kind))))
        #expect(label.wholeMatch(of: /[a-zA-Z0-9_.~%-]{1,50}/) != nil)
        labels.insert(label)
      }
    }
    #expect(labels.contains("smart_notification-alert") && labels.contains("read"))
    #expect(labels.count <= 10, "FCM takes 100 a day")
  }

  @Test(
    "P2: low, badge and read pushes show nothing", arguments: Platform.everyOne, [Push.Kind.message, .badge, .read])
  func quiet(platform: Platform, kind: Push.Kind) throws {
    let message = try message(push(platform, .badge, kind: kind))
    #expect(message["notification"] == nil)
    #expect(text("data/type", message) == (kind == .read ? "read" : "badge"))
    #expect(text("data/badge", message) == "3")
    switch platform {
    case .ios:
      #expect(at("apns/payload/aps/badge", message) as? Int == 3)
      #expect(at("apns/payload/aps/content-available", message) as? Int == 1)
      #expect(at("apns/payload/aps/sound", message) == nil)
      #expect(text("apns/headers/apns-priority", message) == "5")
      #expect(
        text("apns/headers/apns-collapse-id", message)
          == (kind == .read ? "read-70b2b603ebc9e2d2ab32229256d302b9" : "badge"))
    case .android:
      #expect(text("android/priority", message) == "NORMAL")
      #expect(at("android/notification", message) == nil)
      #expect(text("android/collapse_key", message) == (kind == .read ? nil : "badge"))
    case .web, .desktop:
      #expect(text("webpush/headers/Urgency", message) == "low")
      #expect(at("webpush/notification", message) == nil)
    }
  }

  @Test("P2: Android: channel, tag, ttl and priority; no collapse_key on visible pushes")
  func android() throws {
    let high = try message(push(.android, .alert))
    #expect(text("android/priority", high) == "HIGH")
    #expect(text("android/ttl", high) == "2419200s")
    #expect(text("android/notification/channel_id", high) == "messages")
    #expect(text("android/notification/tag", high) == Self.id)
    #expect(text("android/notification/sound", high) == "default")
    #expect(at("android/collapse_key", high) == nil)
    let medium = try message(push(.android, .silent))
    #expect(text("android/priority", medium) == "NORMAL")
    #expect(text("android/notification/channel_id", medium) == "messages_silent")
    #expect(at("android/notification/sound", medium) == nil)
    #expect(high["apns"] == nil && high["webpush"] == nil)
  }

  @Test("P2: Web Push: TTL and urgency")
  func web() throws {
    let high = try message(push(.web, .alert))
    #expect(text("webpush/headers/TTL", high) == "2419200")
    #expect(text("webpush/headers/Urgency", high) == "high")
    #expect(text("webpush/notification/tag", high) == Self.id)
    #expect(at("webpush/notification/silent", high) as? Bool == false)
    let medium = try message(push(.web, .silent))
    #expect(text("webpush/headers/Urgency", medium) == "normal")
    #expect(at("webpush/notification/silent", medium) as? Bool == true)
  }

  @Test("P2: data: every value a string, with recipient and time")
  func data() throws {
    let data = try #require(try message(push(.ios, .alert))["data"] as? [String: String])
    #expect(
      data == [
        "type": "smart_notification", "conversationId": "c1", "messageId": "m-p1", "senderId": "bob",
        "recipientId": "ann", "pushId": "p1", "priority": "high", "presentation": "alert", "badge": "3",
        "timestamp": "1700000000",
        "avatarUrl": "https://example.org/bob.png",
      ])
  }

  @Test("P11: phones that show conversations get the names of sender and group", arguments: [Platform.ios, .android])
  func names(platform: Platform) throws {
    var push = push(platform, .silent)
    push.conversation = PushConversation(senderName: "Bob", kind: .direct)
    let direct = try message(push)
    #expect(text("data/senderName", direct) == "Bob")
    #expect(at("data/isGroup", direct) == nil && at("data/conversationTitle", direct) == nil)
    push.conversation = PushConversation(senderName: "Bob", kind: .group, name: "Team")
    let group = try message(push)
    #expect(text("data/senderName", group) == "Bob" && text("data/conversationTitle", group) == "Team")
    #expect(text("data/isGroup", group) == "true")
    push.targets[0].platform = .web
    #expect(at("data/senderName", try message(push)) == nil)
    (push.targets[0].platform, push.presentation) = (platform, .badge)
    #expect(at("data/senderName", try message(push)) == nil)
  }

  @Test("P11: names are cut like the title, and the push stays below 4,096 bytes", arguments: Platform.everyOne)
  func longNames(platform: Platform) throws {
    var push = push(platform, .alert)
    push.body = String(repeating: "b", count: 3_600)
    push.title = String(repeating: "t", count: 1_000)
    push.conversation = PushConversation(
      senderName: String(repeating: "ü", count: 3_000), kind: .group, name: String(repeating: "g", count: 3_000))
    let message = try message(push)
    #expect("message".utf8.count + payloadBytes(message) <= FCMMessage.maxPayloadBytes)
    #expect(text("data/messageId", message) == push.messageId)
    if platform != .web { #expect(text("data/isGroup", message) == "true") }
  }

  @Test("P11: what is urgent, and a mention or a reply that matters much, passes a Focus on iOS, nothing else does")
  func timeSensitive() throws {
    func level(_ change: (inout Push) -> Void) throws -> String? {
      var push = push(.ios, .alert)
      change(&push)
      return text("apns/payload/aps/interruption-level", try message(push))
    }
    #expect(try level { $0.mentioned = true } == "time-sensitive")
    #expect(try level { $0.answered = true } == "time-sensitive")
    #expect(try level { $0.urgent = true } == "time-sensitive")
    #expect(try level { ($0.urgent, $0.presentation) = (true, .silent) } == "passive")
    #expect(try level { _ in } == "active")
    #expect(try level { ($0.mentioned, $0.priority) = (true, .medium) } == "active")
    #expect(try level { ($0.mentioned, $0.presentation) = (true, .silent) } == "passive")
    #expect(try level { ($0.mentioned, $0.answered) = (false, false) } == "active")
  }

  @Test("P2: without a picture the sender's is the thumbnail on iOS and the icon on the web, and absent on Android")
  func avatar() throws {
    for platform in Platform.allCases {
      var push = push(platform, .alert)
      push.imageUrl = nil
      let message = try message(push)
      #expect(at("notification/image", message) == nil)
      switch platform {
      case .ios: #expect(text("apns/fcm_options/image", message) == push.avatarUrl)
      case .android: #expect(text("data/avatarUrl", message) == push.avatarUrl)
      case .web, .desktop:
        #expect(text("webpush/notification/icon", message) == push.avatarUrl)
        #expect(at("webpush/notification/image", message) == nil)
        #expect(at("data/avatarUrl", message) == nil)
      }
    }
  }

  @Test("D13: an edited message has the same collapse id, no sound, and the time it was written")
  func edited() throws {
    var push = push(.ios, .silent)
    push.replaces = true
    push.sentAt = 1_600_000_000_000
    let ios = try message(push)
    #expect(text("apns/headers/apns-collapse-id", ios) == Self.id)
    #expect(at("apns/payload/aps/sound", ios) == nil)
    #expect(text("data/timestamp", ios) == "1600000000")
    // By which the app knows that it is to be shown although its message was.
    #expect(text("data/replaces", ios) == "true")
    #expect(at("data/replaces", try message(self.push(.ios, .silent))) == nil)
    push.targets[0].platform = .android
    #expect(text("android/notification/tag", try message(push)) == Self.id)
  }

  @Test("D13: a deleted message is removed by a silent push that carries its id", arguments: Platform.allCases)
  func deleted(platform: Platform) throws {
    let message = try message(push(platform, .badge, kind: .deleted))
    #expect(message["notification"] == nil)
    #expect(text("data/type", message) == "deleted" && text("data/messageId", message) == "m-p1")
    #expect(at("data/avatarUrl", message) == nil)
    switch platform {
    case .ios:
      #expect(text("apns/headers/apns-collapse-id", message) == Self.id)
      #expect(text("apns/headers/apns-priority", message) == "5")
      #expect(at("apns/payload/aps/sound", message) == nil)
      #expect(at("apns/payload/aps/badge", message) as? Int == 3)
    case .android:
      #expect(at("android/notification", message) == nil)
      // FCM keeps four collapse keys a device: deletions must not drive each other out.
      #expect(at("android/collapse_key", message) == nil)
    case .web, .desktop: #expect(at("webpush/notification", message) == nil)
    }
  }

  private func digest(_ platform: Platform, text: String = "Ready?") -> Push {
    var push = DispatcherBench.push("p1", kind: .digest, presentation: .silent, platform: platform)
    let lines = (1...3).map { number in
      Digest.Line(conversationId: "c\(number)", messageId: "m\(number)", title: "Ben in \"Launch\"", text: text)
    }
    (push.conversationId, push.messageId, push.senderId) = (nil, nil, nil)
    push.digest = Digest(
      messages: 14, conversations: 3, lines: lines,
      parts: [Digest.Part(conversationId: "c1", messages: 14, keys: [Digest.key("m1")])])
    push.title = "14 messages in 3 conversations"
    push.body = lines.map { "\($0.title): \($0.text)" }.joined(separator: "\n")
    return push
  }

  @Test("D18: a catch-up is visible, has its counts and lines as data, no buttons, and replaces nothing")
  func catchUp() throws {
    for platform in Platform.allCases {
      let push = digest(platform)
      let message = try message(push)
      #expect(text("data/type", message) == "digest" && text("data/messages", message) == "14")
      #expect(text("data/conversations", message) == "3" && text("data/presentation", message) == "silent")
      #expect(text("notification/title", message) == push.title && text("notification/body", message) == push.body)
      let lines = try #require(text("data/lines", message))
      #expect(try JSONDecoder().decode([Digest.Line].self, from: Data(lines.utf8)) == push.digest?.lines)
      #expect(!lines.contains("keys") && text("data/conversationId", message) == nil)
    }
    let ios = try message(digest(.ios))
    #expect(text("apns/payload/aps/category", ios) == nil && text("apns/payload/aps/thread-id", ios) == nil)
    #expect(text("apns/headers/apns-collapse-id", ios) == "p1")
    #expect(text("android/notification/tag", try message(digest(.android))) == "p1")
  }

  @Test("D18: of a catch-up that is too large the last lines go first", arguments: Platform.everyOne)
  func catchUpTooLarge(platform: Platform) throws {
    let push = digest(platform, text: String(repeating: "ü", count: 300))
    let message = FCMMessage(push: push, target: push.targets[0], occurredAt: 1, hash: DispatcherRules.sha256)
    let bytes = try #require(message.encoded())
    let root = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    let sent = try #require(root["message"] as? [String: Any])
    let lines = try JSONDecoder().decode([Digest.Line].self, from: Data((text("data/lines", sent) ?? "").utf8))
    #expect(!lines.isEmpty && lines.count < 3 && lines == Array((push.digest?.lines ?? []).prefix(lines.count)))
    #expect(text("data/messages", sent) == "14")
  }

  @Test("C1: a fallback's notification is new_message with its own category")
  func fallback() throws {
    var push = push(.ios, .silent)
    for reason in [DecisionReason.simpleRules, .notifyAll] {
      push.reason = reason
      let message = try message(push)
      #expect(text("data/type", message) == "new_message")
      #expect(text("apns/payload/aps/category", message) == "MESSAGE")
    }
  }

  @Test("P2: ttl is clamped to FCM's range")
  func ttl() throws {
    var push = push(.android, .alert)
    push.ttlSeconds = 3_000_000
    #expect(text("android/ttl", try message(push)) == "2419200s")
    push.ttlSeconds = -1
    #expect(text("android/ttl", try message(push)) == "0s")
    push.targets[0].platform = .ios
    #expect(text("apns/headers/apns-expiration", try message(push)) == "0")
  }

  @Test("P2: a long body is cut at a grapheme boundary to 4,096 bytes; ids are never cut", arguments: Platform.everyOne)
  func longBody(platform: Platform) throws {
    let family = "👨‍👩‍👧‍👦"
    var push = push(platform, .alert)
    push.body = String(repeating: family, count: 1_000)
    push.messageId = String(repeating: "m", count: 256)
    push.conversationId = String(repeating: "c", count: 256)
    let message = try message(push)
    let body = try #require(text("notification/body", message))
    #expect(body.hasSuffix("…"))
    #expect(body.dropLast().allSatisfy { String($0) == family })
    let shown = body.count - 1
    #expect(shown > 80)
    #expect(text("data/messageId", message) == push.messageId)
    #expect(text("data/conversationId", message) == push.conversationId)
    // One character more would have been too much; the writer counts the name of the message as well.
    #expect(payloadBytes(message) <= 4096)
    #expect("message".utf8.count + payloadBytes(message) + family.utf8.count > 4096)
  }

  /// Keys and values below `message`, the token apart, counted as the limit counts them.
  private func payloadBytes(_ value: Any) -> Int {
    switch value {
    case let object as [String: Any]:
      object.filter { $0.key != "token" }.reduce(0) { $0 + $1.key.utf8.count + payloadBytes($1.value) }
    case let text as String: text.utf8.count
    case let number as NSNumber where CFGetTypeIDIsBoolean(number): number.boolValue ? 4 : 5
    default: "\(value)".utf8.count
    }
  }

  private func CFGetTypeIDIsBoolean(_ number: NSNumber) -> Bool { number.objCType.pointee == 0x63 }

  @Test("P2: words stay longer than pictures; nil where the ids alone are too large")
  func longEverything() throws {
    var push = push(.ios, .alert)
    push.title = String(repeating: "t", count: 5_000)
    push.body = String(repeating: "b", count: 5_000)
    let titleCut = try message(push)
    #expect(text("notification/body", titleCut)?.hasSuffix("…") == true)
    #expect(text("notification/title", titleCut)?.hasSuffix("…") == true)
    push.imageUrl = "https://example.org/" + String(repeating: "i", count: 4_000)
    let pictureGone = try message(push)
    #expect(at("notification/image", pictureGone) == nil)
    #expect(at("apns/fcm_options/image", pictureGone) == nil)
    push.pushId = String(repeating: "p", count: 5_000)
    #expect(
      FCMMessage(push: push, target: push.targets[0], occurredAt: 0, hash: DispatcherRules.sha256).encoded() == nil)
  }

  @Test("P2: any text is valid JSON and arrives unchanged")
  func escapes() throws {
    var push = push(.ios, .alert)
    push.title = "a\"b\\c\u{0}\u{1F}\u{7F}\n\t"
    push.body = "שלום \u{202E}x\u{2028} 🇫🇷 \u{FEFF}"
    let message = try message(push)
    #expect(text("notification/title", message) == push.title)
    #expect(text("notification/body", message)?.utf8.elementsEqual(push.body?.utf8 ?? "".utf8) == true)
  }

  @Test("P2: cut text keeps whole characters, and is nil where the ellipsis does not fit")
  func cut() {
    #expect(TextCut.shortened("hello", toBytes: 5) == "hello")
    #expect(TextCut.shortened("hello!", toBytes: 5) == "he…")
    #expect(TextCut.shortened("👍🏽👍🏽", toBytes: 12) == "👍🏽…")
    #expect(TextCut.shortened("👍🏽👍🏽", toBytes: 10) == "…")
    #expect(TextCut.shortened("hello", toBytes: 2) == nil)
    #expect(TextCut.shortened("", toBytes: 0) == "")
  }

  @Test("T4: a printed request shows neither token nor text")
  func printing() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1"))
    let request = try #require(bench.air.first)
    var dumped = ""
    dump(request, to: &dumped)
    for text in ["\(request)", String(reflecting: request), dumped, "\([request])"] {
      #expect(!text.contains("token-phone") && !text.contains("Hello"))
    }
  }
}

extension Platform {
  static let everyOne: [Platform] = [.ios, .android, .web]
}

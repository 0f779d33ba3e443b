import Foundation
import NudgeSchema
import TestSupport
import Testing

@testable import Dispatcher

@Suite("P2: any push says something, fits, and has legal headers")
struct PayloadPropertyTests {
  private static let scripts = [
    "a", "ß", "Ж", "م", "ש", "字", "👍🏽", "👨‍👩‍👧‍👦", "\u{200B}", "\u{3164}", "\u{202E}", " ", "\n", "\"", "\\", "\u{0}",
    "e\u{301}",
    "\u{200D}", "🇫🇷", "<", "\u{2800}",
  ]
  private static let pictures = [
    "https://cdn.example.com/i.png", "http://cdn.example.com/i.png", "/i.png", "i.png", "data:image/png;base64,AAAA",
    "javascript:alert(1)", "https:///i.png", "https://user:word@cdn.example.com/", "https://cdn.example.com/ü.png", "",
    " https://cdn.example.com/i.png", "HTTPS://CDN.example.com/i.png", "https://", "//cdn.example.com/i.png",
    "ftp://x/y",
  ]

  /// Whether a picture may leave, by the words of the requirement: an absolute https address.
  private static let usable: Set<String> = ["https://cdn.example.com/i.png", "HTTPS://CDN.example.com/i.png"]

  private struct Maker {
    var random: SeededGenerator

    mutating func text(upTo most: Int) -> String {
      let parts =
        random.below(3) == 0
        ? Array(PayloadPropertyTests.scripts.shuffled(using: &random).prefix(2)) : PayloadPropertyTests.scripts
      let length = random.below(4) == 0 ? random.below(most) : random.below(40)
      var text = ""
      while text.utf8.count < length { text += parts[random.below(parts.count)] }
      return text
    }

    mutating func id() -> String {
      var id = ""
      let length = random.below(3) == 0 ? 240 : 1 + random.below(30)
      while id.utf8.count < length { id += ["a", "7", "é", "字", " ", "/", "\"", "👍"][random.below(8)] }
      return id
    }

    mutating func picture() -> String? {
      switch random.below(4) {
      case 0: nil
      case 1: "https://cdn.example.com/" + String(repeating: "x", count: random.below(2_000))
      default: PayloadPropertyTests.pictures[random.below(PayloadPropertyTests.pictures.count)]
      }
    }

    mutating func push() -> Push {
      var push = DispatcherBench.push("p", presentation: random.below(2) == 0 ? .alert : .silent)
      push.pushId = random.below(2) == 0 ? id() : "0123456789abcdef"
      (push.conversationId, push.messageId, push.senderId, push.userId) = (id(), id(), id(), id())
      push.title = random.below(5) == 0 ? nil : text(upTo: 1_000)
      push.body = random.below(5) == 0 ? nil : text(upTo: 3_600)
      (push.imageUrl, push.avatarUrl) = (picture(), picture())
      if random.below(2) == 0 {
        push.conversation = PushConversation(
          senderName: text(upTo: 256), kind: random.below(2) == 0 ? .group : .direct,
          name: random.below(2) == 0 ? text(upTo: 256) : nil)
      }
      push.language = [nil, "de", "ja", "xx"][random.below(4)]
      push.unread = [nil, 1, 7][random.below(3)]
      if random.below(5) == 0 {
        push.kind = .digest
        push.digest = Digest(
          messages: 9, conversations: 3,
          lines: (0..<3).map { _ in
            Digest.Line(conversationId: id(), messageId: id(), title: text(upTo: 500), text: text(upTo: 500))
          })
        (push.conversationId, push.messageId, push.senderId, push.conversation) = (nil, nil, nil, nil)
      }
      push.targets[0].platform = Platform.allCases[random.below(Platform.allCases.count)]
      push.targets[0].renders = [nil, true][random.below(2)]
      return push
    }
  }

  /// Keys and values, the token and the request's own fields apart.
  private func payloadBytes(_ value: Any) -> Int {
    switch value {
    case let object as [String: Any]:
      object.filter { $0.key != "token" }.reduce(0) { $0 + $1.key.utf8.count + payloadBytes($1.value) }
    case let text as String: text.utf8.count
    case let number as NSNumber where number.objCType.pointee == 0x63: number.boolValue ? 4 : 5
    default: "\(value)".utf8.count
    }
  }

  /// Whether a text has anything that can be seen, by a list of what cannot.
  private func isReadable(_ text: String?) -> Bool {
    let unseen: Set<Unicode.Scalar> = [
      " ", "\n", "\u{0}", "\u{200B}", "\u{200D}", "\u{202E}", "\u{2800}", "\u{3164}", "\u{301}",
    ]
    return text?.unicodeScalars.contains { !unseen.contains($0) } ?? false
  }

  /// A push that waits in its lane.
  private func waiting(_ push: Push) -> WaitingPush {
    var item = WaitingPush(
      push: push, target: push.targets[0], cause: Origin(topic: "t", partition: 0, offset: 1),
      origin: Origin(topic: "t", partition: 0, offset: 1),
      source: RecordPosition(topic: "t", partition: 0, offset: 1), occurredAt: 1_700_000_000_000)
    item.fitRow()
    return item
  }

  @Test(
    "Google's description has each field, word and type of any push",
    .enabled(if: FCMDescription.isInstalled, "\(FCMDescription.missing)"))
  func described() throws {
    var maker = Maker(random: SeededGenerator(announcedFor: "described"))
    var rules = DispatcherRules()
    rules.webLink = try WebLink("https://chat.example.com/c/{conversationId}/{messageId}")
    let bodies = try (0..<1_000).map { _ in
      String(decoding: try #require(FCMMessage(waiting(maker.push()), rules: rules).encoded()), as: UTF8.self)
    }
    let (status, output) = try FCMDescription.judge(lines: bodies)
    #expect(status == 0, "seed \(maker.random.seed): \(output)")
  }

  @Test("any text, names, ids and addresses of any length and script")
  func anyPush() throws {
    var maker = Maker(random: SeededGenerator(announcedFor: "anyPush"))
    for round in 0..<4_000 {
      let item = waiting(maker.push())
      let push = item.push
      let name = "seed \(maker.random.seed), round \(round)"
      let link = try WebLink("https://chat.example.com/c/{conversationId}/{messageId}")
      var rules = DispatcherRules()
      rules.webLink = link
      let bytes = try #require(FCMMessage(item, rules: rules).encoded(), "\(name)")
      let root = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any], "\(name)")
      let message = try #require(root["message"] as? [String: Any])
      func text(_ path: String...) -> String? {
        path.reduce(message as Any?) { ($0 as? [String: Any])?[$1] } as? String
      }
      #expect("message".utf8.count + payloadBytes(message) <= 4_096, "\(name)")
      let isDrawn = item.target.platform == .android && item.target.renders == true
      #expect((message["notification"] == nil) == isDrawn, "\(name)")
      let (title, body) =
        isDrawn
        ? (text("data", "title"), text("data", "body")) : (text("notification", "title"), text("notification", "body"))
      #expect(isReadable(title) || isReadable(body), "\(name): \(title ?? "") / \(body ?? "")")
      #expect([title, body].allSatisfy { $0.map(isReadable) ?? true }, "\(name)")
      let data = try #require(message["data"] as? [String: String])
      #expect(data["pushId"] == push.pushId && data["recipientId"] == push.userId, "\(name)")
      #expect(data["conversationId"] == push.conversationId && data["messageId"] == push.messageId, "\(name)")
      for headers in [["apns", "headers"], ["webpush", "headers"]] {
        let fields = headers.reduce(message as Any?) { ($0 as? [String: Any])?[$1] } as? [String: String] ?? [:]
        #expect(fields.values.allSatisfy { $0.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } }, "\(name)")
        #expect(fields["apns-collapse-id"]?.utf8.count ?? 0 <= 64, "\(name)")
      }
      let sent = [
        text("notification", "image"), text("apns", "fcm_options", "image"), text("data", "avatarUrl"),
        text("data", "imageUrl"), text("webpush", "notification", "icon"), text("webpush", "notification", "image"),
      ].compactMap { $0 }
      for picture in sent {
        let isLong = picture.hasPrefix("https://cdn.example.com/") && picture.dropFirst(24).allSatisfy { $0 == "x" }
        #expect(Self.usable.contains(picture) || isLong, "\(name): \(picture)")
      }
      if let link = text("webpush", "fcm_options", "link") {
        #expect(link.hasPrefix("https://chat.example.com/c/") && link.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
      }
    }
  }

  @Test("issue 57: any push to a subscription fits once it is sealed, has its data whole, and says something")
  func anyWebPush() throws {
    var maker = Maker(random: SeededGenerator(announcedFor: "anyWebPush"))
    let subscriber = try Subscriber()
    var rules = DispatcherRules()
    var (declarative, mutable) = (0, 0)
    for round in 0..<3_000 {
      var push = maker.push()
      push.kind = [push.kind, push.kind, .read, .badge, .deleted][maker.random.below(5)]
      push.targets[0].token = nil
      push.targets[0].webPush = subscriber.subscription()
      rules.webLink =
        maker.random.below(3) == 0 ? nil : try WebLink("https://chat.example.com/c/{conversationId}/{messageId}")
      let origin = Origin(topic: "t", partition: 0, offset: 1)
      var item = WaitingPush(
        push: push, target: push.targets[0], cause: origin, origin: origin,
        source: RecordPosition(topic: "t", partition: 0, offset: 1), occurredAt: 1_700_000_000_000)
      item.fitRow()
      push = item.push
      let name = "seed \(maker.random.seed), round \(round)"
      let bytes = try #require(WebPushMessage(item, rules: rules).encoded(), "\(name)")
      #expect(bytes.count <= 3_993, "\(name)")
      if let shorter = WebPushMessage(item, rules: rules).encoded(toBytes: WebPushMessage.shorter) {
        #expect(shorter.count <= WebPushMessage.shorter, "\(name)")
      }
      let fields = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any], "\(name)")
      func text(_ field: String) -> String? { fields[field] as? String }
      #expect(text("pushId") == push.pushId && text("recipientId") == push.userId, "\(name)")
      #expect(text("conversationId") == push.conversationId && text("messageId") == push.messageId, "\(name)")
      #expect(text("badge") == "3" && text("tag")?.isEmpty == false, "\(name)")
      let sentAt = try #require(text("sentAt").flatMap(Int64.init), "\(name)")
      #expect(sentAt == push.sentAt ?? 1_700_000_000_000 && text("timestamp") == "\(sentAt / 1_000)", "\(name)")
      let isVisible = push.kind == .message || push.kind == .digest
      #expect((text("title") != nil || text("body") != nil) == isVisible, "\(name)")
      #expect(!isVisible || isReadable(text("title")) || isReadable(text("body")), "\(name)")
      for picture in [text("imageUrl"), text("avatarUrl")].compactMap({ $0 }) {
        #expect(Self.usable.contains(picture) || picture.hasPrefix("https://cdn.example.com/"), "\(name): \(picture)")
      }
      guard let notification = fields["notification"] as? [String: Any] else {
        #expect(fields["web_push"] == nil, "\(name)")
        continue
      }
      declarative += 1
      #expect(fields["web_push"] as? Int == 8030 && fields["app_badge"] as? Int == 3 && isVisible, "\(name)")
      #expect(notification["title"] as? String == text("title") && text("title") != nil, "\(name)")
      #expect(
        notification["body"] as? String == text("body") && notification["tag"] as? String == text("tag"), "\(name)")
      #expect((notification["navigate"] as? String)?.hasPrefix("https://chat.example.com/c/") == true, "\(name)")
      #expect(notification["silent"] as? Bool == (push.presentation != .alert), "\(name)")
      // A browser that asks its worker may give it nothing but the notification: it has all that others' workers get.
      let own = ["web_push", "notification", "app_badge", "mutable"]
      let data = notification["data"] as? [String: String]
      #expect(fields["mutable"] as? Bool == (data == nil ? nil : true), "\(name)")
      if let data {
        mutable += 1
        #expect(data == fields.filter { !own.contains($0.key) } as? [String: String], "\(name)")
      }
    }
    #expect(declarative > 50 && mutable > 25 && mutable < declarative, "\(declarative), \(mutable)")
  }

  @Test("a picture with a signed address of any length costs no word of a text that fits without it")
  func longPicture() throws {
    for platform in Platform.allCases {
      for length in stride(from: 1_400, through: 2_040, by: 20) {
        var push = DispatcherBench.push("p1", platform: platform, body: "The plan for tomorrow")
        push.avatarUrl = "https://cdn.example.com/a.png"
        push.imageUrl = "https://cdn.example.com/i.png?signature=" + String(repeating: "x", count: length)
        let bytes = try #require(
          FCMMessage(push: push, target: push.targets[0], occurredAt: 1, hash: DispatcherRules.sha256).encoded())
        let sent = String(decoding: bytes, as: UTF8.self)
        #expect(sent.contains("\"The plan for tomorrow\"") && sent.contains("\"Bob\""), "\(platform), \(length)")
        // Of the pictures what fits is put back.
        #expect(sent.contains("cdn.example.com"), "\(platform), \(length)")
      }
    }
  }
}

import Foundation
import HTTPTransport
import TestSupport
import Testing
import WebPush

/// Pushes that a real Firefox opens and shows by the worker of `Schemas/app/web`. Its push service is a rig beside the repository
/// (`../shared/webpush`), which checks what it is sent as RFC 8030, 8188 and 8292 say.
@Suite("Issue 57: Web Push in Firefox", .serialized, .timeLimit(.minutes(3)))
struct FirefoxTests {
  private static let rig = Repository.file("../shared/webpush")
  private static let python = Repository.file(".build/python/bin/python")

  /// The missing part; nil: none.
  private static let missing: String? = {
    let files = FileManager.default
    guard files.isReadableFile(atPath: rig.path + "/push_server.py") else { return "no rig at ../shared/webpush" }
    guard ["/usr/bin/firefox-esr", "/usr/local/bin/firefox-esr"].contains(where: files.isExecutableFile(atPath:)) else {
      return "no Firefox: apt-get install firefox-esr"
    }
    let check = Process()
    check.executableURL = python
    check.arguments = ["-c", "import hypercorn, h2, cryptography"]
    check.standardError = FileHandle.nullDevice
    guard files.isExecutableFile(atPath: python.path), (try? check.run()) != nil else { return "no tools: make tools" }
    check.waitUntilExit()
    return check.terminationStatus == 0 ? nil : "no hypercorn, h2 and cryptography for .build/python: make tools"
  }()

  private struct Subscription: Decodable {
    struct Keys: Decodable {
      var p256dh: String
      var auth: String
    }
    var endpoint: String
    var keys: Keys
  }

  private struct Shown: Decodable, Equatable {
    var title: String
    var body: String
    var tag: String
  }

  /// Firefox, and a client for its push service.
  private final class Desk {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let client: HTTPClient
    private var tokens = VAPIDTokens(subject: "mailto:ops@example.org")
    private let key: VAPIDKey
    private(set) var subscription: Subscription

    init() throws {
      key = try VAPIDKey(pem: VAPIDKey.makePEM())
      client = try HTTPClient(HTTPClientConfiguration(plainProtocol: .http1))
      process.executableURL = FirefoxTests.python
      process.arguments = [
        Repository.file("Tests/Browser/firefox.py").path, FirefoxTests.rig.path,
        Repository.file("Schemas/app/web").path,
        key.publicKey,
      ]
      process.standardInput = input
      process.standardOutput = output
      try process.run()
      let line = Self.line(output)
      subscription = try JSONDecoder().decode(Subscription.self, from: line)
    }

    /// Ends Firefox and its service.
    func end() throws {
      client.shutdown(grace: .seconds(1))
      try input.fileHandleForWriting.close()
      process.waitUntilExit()
    }

    private static func line(_ pipe: Pipe) -> Data {
      var line = Data()
      while let byte = try? pipe.fileHandleForReading.read(upToCount: 1), byte.first != nil, byte.first != 0x0A {
        line += byte
      }
      return line
    }

    func ask<Answer: Decodable>(_ question: String, _: Answer.Type = Answer.self) throws -> Answer {
      try input.fileHandleForWriting.write(contentsOf: Data("\(question)\n".utf8))
      return try JSONDecoder().decode(Answer.self, from: Self.line(output))
    }

    /// Seals a push for the subscription, signs for it and posts it, as the dispatcher does; the status of the answer.
    func push(_ data: [String: String], topic: String? = nil) throws -> Int {
      let keys = try WebPushKeys(p256dh: subscription.keys.p256dh, auth: subscription.keys.auth)
      let endpoint = try WebPushEndpoint(subscription.endpoint, allowsPlain: true)
      let authorization = try tokens.authorization(
        for: endpoint.origin, by: key, now: Int64(Date().timeIntervalSince1970))
      let text = try JSONSerialization.data(withJSONObject: data)
      let headers = WebPushHeaders(ttl: 60, urgency: .high, topic: topic, authorization: authorization).fields
      let request = HTTPRequest(
        url: endpoint.url, headers: headers, body: try WebPushSealing.seal(Array(text), for: keys),
        timeout: .seconds(10))
      return try client.response(to: request).get().status
    }
  }

  /// A desk; nil, after a line that says so, where a part is missing.
  private static func desk(for test: String) throws -> Desk? {
    guard let missing else { return try Desk() }
    print("SKIPPED \(test): \(missing)")
    return nil
  }

  /// The worker's messages to the page, and the events that it keeps.
  private struct Told: Decodable {
    var messages: [[String: [String: String]]]
    var outbox: [String]
  }

  private func message(_ number: Int, _ change: [String: String] = [:]) -> [String: String] {
    [
      "type": "new_message", "pushId": "p\(number)", "recipientId": "ada", "conversationId": "c",
      "messageId": "m\(number)",
      "senderId": "ben", "priority": "high", "presentation": "silent", "badge": "\(number)",
      "timestamp": "1763712000", "sentAt": "\(1_763_712_000_000 + number)", "title": "Ben",
      "body": "Nummer \(number) 🦊", "tag": "tag-\(number)",
    ].merging(change) { $1 }
  }

  @Test("a click opens the conversation: in the page that is open, or else where the push leads; it is reported")
  func clicked() throws {
    guard let desk = try Self.desk(for: "clicks in Firefox") else { return }
    // The app's page is open: it is told, and no other is opened.
    #expect(try desk.push(message(1, ["title": "Ann"])) == 201)
    #expect(try desk.ask("shown 1", [Shown].self).map(\.title) == ["Ann"])
    #expect(try desk.ask("click Ann", Bool.self))
    #expect(try desk.ask("shown 0", [Shown].self) == [])
    let told = try desk.ask("told 1 2", Told.self)
    #expect(told.messages == [["open": ["conversationId": "c", "messageId": "m1"]]])
    #expect(told.outbox == ["notification.received m1", "notification.opened m1"])
    #expect(try desk.ask("opened", [String].self).count == 1)
    // It is not: the address of the push is opened.
    #expect(try desk.ask("leave", Bool.self))
    let origin = try WebPushEndpoint(desk.subscription.endpoint, allowsPlain: true).origin
    let link = "\(origin)/u/ada/?conversation=c2"
    #expect(try desk.push(message(2, ["title": "Cy", "link": link])) == 201)
    #expect(try desk.ask("click Cy", Bool.self))
    #expect(try desk.ask("opened", [String].self).contains(link))
    #expect(try desk.ask("told 0 3", Told.self).outbox.last == "notification.opened m2")
    try desk.end()
  }

  @Test("an edit that follows its message at once takes its place, and nobody dismissed the message")
  func editedAtOnce() throws {
    guard let desk = try Self.desk(for: "edits in Firefox") else { return }
    let numbers = 1...20
    for number in numbers {
      #expect(try desk.push(message(number)) == 201)
      let edit = ["pushId": "e\(number)", "replaces": "true", "body": "edited"]
      #expect(try desk.push(message(number, edit)) == 201)
    }
    let outbox = try desk.ask("told 0 40", Told.self).outbox
    // Firefox opens pushes side by side, so an edit may come first.
    #expect(outbox.sorted() == numbers.flatMap { Array(repeating: "notification.received m\($0)", count: 2) }.sorted())
    let shown = try desk.ask("shown 20", [Shown].self)
    #expect(shown.count == 20 && shown.allSatisfy { $0.body == "edited" }, "\(shown)")
    try desk.end()
  }

  @Test("sealed messages are opened and shown, replaced and removed; an ended subscription is gone")
  func shown() throws {
    guard let desk = try Self.desk(for: "Web Push in Firefox") else { return }
    for number in [1, 2, 3, 4, 6, 5, 7, 8] { #expect(try desk.push(message(number)) == 201) }
    // Twice, and for somebody else: nothing more is shown.
    #expect(try desk.push(message(3)) == 201)
    #expect(try desk.push(message(9, ["recipientId": "cy"])) == 201)
    #expect(
      try desk.push(message(10, ["messageId": "m2", "tag": "tag-2", "replaces": "true", "body": "edited"])) == 201)
    #expect(try desk.push(message(11)) == 201)
    let all = try desk.ask("shown 9", [Shown].self).sorted { $0.tag < $1.tag }
    let expected =
      ([1, 3, 4, 5, 6, 7, 8, 11].map { Shown(title: "Ben", body: "Nummer \($0) 🦊", tag: "tag-\($0)") }
      + [Shown(title: "Ben", body: "edited", tag: "tag-2")]).sorted { $0.tag < $1.tag }
    #expect(all == expected)
    // Read up to the sixth, elsewhere.
    let read = [
      "type": "read", "pushId": "r1", "recipientId": "ada", "conversationId": "c", "messageId": "m6", "badge": "2",
      "timestamp": "1763712000", "sentAt": "1763712000006", "tag": "read",
    ]
    #expect(try desk.push(read) == 201)
    // The edit was made after that.
    #expect(try desk.ask("shown 4", [Shown].self).map(\.tag).sorted() == ["tag-11", "tag-2", "tag-7", "tag-8"])
    #expect(try desk.push(message(13)) == 201)
    #expect(try desk.ask("shown 5", [Shown].self).count == 5)
    // Nobody dismissed a notification that was replaced or taken away: Firefox says notificationclose for that, too.
    let outbox = try desk.ask("told 0 11", Told.self).outbox
    #expect(outbox.count == 11 && outbox.allSatisfy { $0.hasPrefix("notification.received ") }, "\(outbox)")
    #expect(try desk.ask("gone", Bool.self))
    let status = try desk.push(message(12))
    #expect(WebPushAnswer(status: status) == .gone, "\(status)")
    try desk.end()
  }
}

@testable import FCMEmulator
import Foundation
import HTTPTransport
import NudgeSchema
import ServiceKit
import StreamRuntime
import Synchronization
import TestSupport
import Testing

@testable import Dispatcher
@testable import WebPush

@Suite("Pushes that FCM cannot read")
struct SealedDataTests {
  private func item(_ push: Push, _ subscriber: Subscriber) -> WaitingPush {
    var target = push.targets[0]
    target.sealing = SealingKeys(p256dh: subscriber.p256dh, auth: subscriber.auth)
    let origin = Origin(topic: "t", partition: 0, offset: 1)
    var item = WaitingPush(
      push: push, target: target, cause: origin, origin: origin,
      source: RecordPosition(topic: "t", partition: 0, offset: 1), occurredAt: push.decidedAt)
    item.fitRow()
    return item
  }

  /// The body as it leaves, and the data before it was sealed.
  private func sealed(_ item: WaitingPush) throws -> (body: [UInt8], data: [String: Any], message: [String: Any]) {
    var rules = DispatcherRules()
    rules.webLink = try WebLink("https://chat.example.com/c/{conversationId}")
    let body = try #require(FCMMessage(item, rules: rules).encoded())
    let part = try #require(SealedData(item, rules, in: body))
    let data = try #require(try JSONSerialization.jsonObject(with: Data(part.data)) as? [String: Any])
    let sealed = try #require(part.sealed(into: body))
    let root = try #require(try JSONSerialization.jsonObject(with: Data(sealed)) as? [String: Any])
    return (sealed, data, try #require(root["message"] as? [String: Any]))
  }

  private func payloadBytes(_ value: Any) -> Int {
    switch value {
    case let object as [String: Any]:
      object.filter { $0.key != "token" }.reduce(0) { $0 + $1.key.utf8.count + payloadBytes($1.value) }
    case let text as String: text.utf8.count
    default: "\(value)".utf8.count
    }
  }

  @Test(
    "issue 57: no byte of a request has a text, a name or an id of a device with keys; what is sealed has all of it, and fits",
    arguments: Platform.allCases)
  func canary(_ platform: Platform) throws {
    let subscriber = try Subscriber()
    for kind in [Push.Kind.message, .read, .deleted, .badge, .digest] {
      for length in [5, 3_000] {
        var push = DispatcherBench.push(
          "p-1", user: "canary-user", kind: kind, presentation: kind == .message ? .alert : .badge,
          conversation: "canary-conversation", platform: platform,
          body: "canary-" + String(repeating: "t", count: length))
        (push.title, push.messageId, push.senderId) = ("canary-title", "canary-message", "canary-sender")
        (push.avatarUrl, push.imageUrl) = ("https://cdn.example.com/canary.png", "https://cdn.example.com/canary2.png")
        push.conversation = PushConversation(senderName: "canary-name", kind: .group, name: "canary-group")
        push.unread = 3
        if kind == .digest {
          push.presentation = .silent
          push.digest = Digest(
            messages: 1, conversations: 1,
            lines: [
              Digest.Line(conversationId: "canary-c", messageId: "canary-m", title: "canary-t", text: "canary-text")
            ])
        }
        let (body, data, message) = try sealed(item(push, subscriber))
        let text = String(decoding: body, as: UTF8.self)
        #expect(!text.contains("canary"), "\(kind): \(text)")
        #expect("message".utf8.count + payloadBytes(message) <= FCMMessage.maxPayloadBytes, "\(kind)")
        #expect(data["pushId"] as? String == "p-1")
        #expect(data["conversationId"] as? String == "canary-conversation")
        let sealed = try #require((message["data"] as? [String: String])?["sealed"])
        #expect((message["data"] as? [String: String])?.count == 1)
        let isVisible = kind == .message || kind == .digest
        #expect(isVisible == (data["title"] != nil), "\(kind)")
        // iOS runs the extension that opens it for a notification alone.
        #expect((message["notification"] != nil) == (isVisible && platform == .ios), "\(kind)")
        guard let opened = try subscriber.opened([try #require(Base64URL.decode(sealed))]) else {
          return print("SKIPPED sealed data: \(PythonJudge.missing)")
        }
        let read = try JSONSerialization.jsonObject(with: Data(opened.first.flatMap { $0 } ?? [])) as? [String: Any]
        #expect(read?.keys.sorted() == data.keys.sorted() && read?["title"] as? String == data["title"] as? String)
      }
    }
  }

  @Test("issue 57: a request is sealed when it leaves, each time anew; keys that are none end the push")
  func client() throws {
    let subscriber = try Subscriber()
    let bench = DispatcherBench()
    var push = DispatcherBench.push("p1", platform: .android)
    push.targets[0].sealing = SealingKeys(p256dh: subscriber.p256dh, auth: subscriber.auth)
    try bench.send(push)
    let request = try #require(bench.air.first)
    let part = try #require(request.sealed)
    let bodies = (0..<2).map { _ in part.sealed(into: request.body) }
    #expect(bodies[0] != nil && bodies[0] != bodies[1])
    push.pushId = "p2"
    push.targets[0].deviceId = "other"
    push.targets[0].sealing?.p256dh = String(repeating: "A", count: 87)
    try bench.send(push)
    let unusable = try #require(bench.air.last)
    #expect(unusable.sealed != nil && unusable.sealed?.sealed(into: unusable.body) == nil)
    let http = StandInHTTP()
    http.answer = StandInHTTP.token("t")
    let emulator = try FCMEmulator()
    let client = FCMClient(
      accounts: [try ServiceAccount(file: emulator.serviceAccountFile)], http: http,
      baseURL: "https://fcm.example",
      log: Logger(label: "test", sink: LogCapture().sink), monitor: nil, clocks: Clocks(), shutDown: {})
    let replies = Mutex<[SendReply]>([])
    for request in [unusable, request] { client.perform(request) { reply in replies.withLock { $0.append(reply) } } }
    let answers = replies.withLock { $0.map(\.answer) }
    #expect(answers.first?.verdict == .rejected && answers.first?.errorCode == "sealing_keys")
    let sent = http.requests.filter { $0.url.contains("messages:send") }
    #expect(sent.count == 1, "nothing leaves unsealed")
    let text = String(decoding: sent.first?.body ?? [], as: UTF8.self)
    #expect(text.contains(#""sealed":""#) && !text.contains("Hello") && !text.contains("Bob"))
  }
}

@testable import FCMEmulator
import Foundation
import HTTPTransport
import NudgeClient
import ServiceKit
import TestSupport
import Testing
import VirtualPhone
import WebPush

@Suite("The emulator's push service", .timeLimit(.minutes(2)))
struct PushServiceTests {
  /// An emulator with a key to sign with.
  private struct Service {
    let desk: Desk
    let key: VAPIDKey
    let subscription: BrowserSubscription

    init(_ change: (inout FCMEmulatorConfiguration) -> Void = { _ in }) throws {
      var configuration = FCMEmulatorConfiguration(
        adminAddress: FCMEmulatorAddress(), keepRequests: 100, countsTokens: true)
      change(&configuration)
      desk = try Desk(configuration, keptHeaders: ["retry-after", "location", "ttl"])
      key = try VAPIDKey(pem: VAPIDKey.makePEM())
      subscription = try #require(BrowserSubscription(name: "web-1"))
    }

    func authorization(
      origin: String? = nil, subject: String = "mailto:ops@example.org", key: VAPIDKey? = nil, at now: Int64? = nil
    ) throws -> String {
      var tokens = VAPIDTokens(subject: subject)
      return try tokens.authorization(
        for: origin ?? desk.emulator.url, by: key ?? self.key, now: now ?? Int64(Date().timeIntervalSince1970))
    }

    /// Posts a sealed text; `change` changes the header fields.
    func post(
      _ text: String = #"{"pushId":"p-1","recipientId":"ann","title":"Ada","body":"Hello","presentation":"alert"}"#,
      to endpoint: String? = nil, body: [UInt8]? = nil, _ change: (inout [String: String]) -> Void = { _ in }
    ) async throws -> HTTPResponse {
      let receiver = subscription.receiver
      let keys = try WebPushKeys(p256dh: receiver.p256dh, auth: receiver.auth)
      var headers = [
        "ttl": "60", "urgency": "high", "topic": "abc_-9", "content-encoding": "aes128gcm",
        "authorization": try authorization(),
      ]
      change(&headers)
      return try await desk.post(
        endpoint ?? subscription.endpoint(at: desk.emulator.url),
        try body ?? WebPushSealing.seal(Array(text.utf8), for: keys), headers: headers.map { ($0.key, $0.value) }
      ).get()
    }
  }

  @Test("a sealed push is taken, and its browser gets what is in it, with what was asked of the service")
  func taken() async throws {
    let service = try Service()
    let answer = try await service.post()
    #expect(answer.status == 201 && answer.headers["ttl"] == "60")
    #expect(answer.headers["location"]?.hasPrefix(service.desk.emulator.url + "/wpush-message/") == true)
    let request = try #require(service.desk.emulator.requests().first)
    let message = try #require(DeliveredMessage(body: request.body))
    #expect(request.status == 201 && request.path == "/wpush/" + service.subscription.id)
    #expect(message.token == service.subscription.endpoint(at: service.desk.emulator.url) && message.platform == .web)
    #expect(message.pushId == "p-1" && message.collapseId == "abc_-9" && message.keptUntil(takenAt: 0) == 60_000)
    guard case .visible(let visible) = message.content else {
      Issue.record("\(message.content)")
      return
    }
    #expect(visible.title == "Ada" && visible.body == "Hello" && visible.isAlert)
    // The token of the request is nobody's business.
    #expect(!request.headers.contains { $0.value.contains("vapid t=") })
    service.desk.end()
  }

  @Test("it refuses what services refuse, each by its status")
  func refused() async throws {
    let service = try Service()
    typealias Headers = [String: String]
    let other = try VAPIDKey(pem: VAPIDKey.makePEM())
    let cases: [(String, Int, (inout Headers) throws -> Void)] = [
      ("no TTL", 400, { $0["ttl"] = nil }), ("a TTL that is no number", 400, { $0["ttl"] = "-1" }),
      ("a TTL in words", 400, { $0["ttl"] = "1h" }), ("another urgency", 400, { $0["urgency"] = "urgent" }),
      ("a long topic", 400, { $0["topic"] = String(repeating: "a", count: 33) }),
      ("a topic with a dot", 400, { $0["topic"] = "a.b" }), ("an empty topic", 400, { $0["topic"] = "" }),
      ("another encoding", 400, { $0["content-encoding"] = "aesgcm" }),
      ("no encoding", 400, { $0["content-encoding"] = nil }),
      ("no token", 401, { $0["authorization"] = nil }), ("a bearer token", 401, { $0["authorization"] = "Bearer x" }),
      ("half of it", 401, { $0["authorization"] = "vapid t=x" }),
      ("no JWT", 403, { $0["authorization"] = "vapid t=x,k=\(service.key.publicKey)" }),
      ("another origin", 403, { $0["authorization"] = try service.authorization(origin: "https://push.example") }),
      ("a token of yesterday", 403, { $0["authorization"] = try service.authorization(at: 1_700_000_000) }),
      (
        "24 hours and more", 403,
        { $0["authorization"] = try service.authorization(at: Int64(Date().timeIntervalSince1970) + 46_800) }
      ),
      ("no subject", 403, { $0["authorization"] = try service.authorization(subject: "me") }),
      (
        "another key than signed", 403,
        { $0["authorization"] = $0["authorization"]?.replacing(service.key.publicKey, with: other.publicKey) }
      ),
    ]
    for (name, status, change) in cases {
      let answer = try await service.post { headers in try? change(&headers) }
      #expect(answer.status == status, "\(name): \(String(decoding: answer.body, as: UTF8.self))")
    }
    let endpoint = service.subscription.endpoint(at: service.desk.emulator.url)
    #expect(try await service.post(to: endpoint + "x").status == 404)
    #expect(try await service.post(to: service.desk.emulator.url + "/wpush/web-1").status == 404)
    #expect(try await service.post(body: [UInt8](repeating: 7, count: 4_097)).status == 413)
    #expect(try await service.post(body: Array("short".utf8)).status == 400)
    #expect(try await service.post(body: []).status == 400)
    let gone = Array(#"{"tokens":["\#(endpoint)"]}"#.utf8)
    _ = try await service.desk.post(service.desk.emulator.url + "/emulator/uninstalled", gone, headers: []).get()
    #expect(try await service.post().status == 410)
    #expect(service.desk.emulator.counters.byStatus[201] == nil)
    service.desk.end()
  }

  @Test("a subscription that was made with a key takes no other's pushes")
  func ownKey() async throws {
    let mine = try VAPIDKey(pem: VAPIDKey.makePEM())
    let service = try Service { $0.vapidKeys = [mine.publicKey] }
    #expect(try await service.post().status == 403)
    let authorization = try service.authorization(key: mine)
    #expect(try await service.post { $0["authorization"] = authorization }.status == 201)
    service.desk.end()
  }

  @Test("what was sealed for other keys is taken, since nobody on the way can know, and reaches no browser")
  func otherKeys() async throws {
    let service = try Service()
    let other = try WebPushReceiver.random()
    let body = try WebPushSealing.seal(
      Array("{}".utf8), for: try WebPushKeys(p256dh: other.p256dh, auth: other.auth))
    #expect(try await service.post(body: body).status == 201)
    #expect(service.desk.emulator.requests().first?.body == [] && service.desk.emulator.counters.notOpened == 1)
    service.desk.end()
  }

  @Test("faults of the endpoint push are for it alone, by the subscription's name; what is lost reaches nobody")
  func faults() async throws {
    let service = try Service()
    service.desk.emulator.setFaults([
      Fault(
        endpoint: .push, tokenPrefix: "web-", times: 1,
        action: .answer(EmulatorAnswer(status: 429, headers: [("retry-after", "7")], body: "later"))),
      Fault(endpoint: .push, tokenPrefix: "other-", action: .answer(EmulatorAnswer(status: 500))),
      Fault(endpoint: .push, skip: 0, times: 1, action: .lose),
    ])
    #expect(try await service.desk.message(to: "web-1").get().status == 200)
    let busy = try await service.post()
    #expect(busy.status == 429 && busy.headers["retry-after"] == "7")
    #expect(try await service.post().status == 200)
    #expect(try await service.post().status == 201)
    service.desk.end()
  }

  @Test("a subscription follows from its name alone, and no id of another service is one")
  func subscriptions() throws {
    let names = ["a", "web-1", "A_b~c-9", String(repeating: "n", count: 200)]
    let made = try names.map { try #require(BrowserSubscription(name: $0)) }
    for (name, subscription) in zip(names, made) {
      let again = try #require(BrowserSubscription(id: subscription.id))
      #expect(
        again.receiver.p256dh == subscription.receiver.p256dh && again.receiver.auth == subscription.receiver.auth)
      let registration = subscription.registration(at: "https://127.0.0.1:1")
      #expect(registration.endpoint == "https://127.0.0.1:1/wpush/" + subscription.id)
      #expect(throws: Never.self) { try WebPushKeys(p256dh: registration.p256dh, auth: registration.auth) }
      #expect(subscription.id.hasPrefix(name + "."))
    }
    #expect(Set(made.map(\.receiver.p256dh)).count == names.count)
    for name in ["", "a.b", "a/b", "a b", "é", String(repeating: "n", count: 201)] {
      #expect(BrowserSubscription(name: name) == nil, "\(name)")
    }
    for id in ["", "a", "a.", ".x", "a.b", made[0].id + "x"] { #expect(BrowserSubscription(id: id) == nil, "\(id)") }
  }
}

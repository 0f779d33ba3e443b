import Foundation
import HTTPTransport
import NudgeSchema
import ServiceKit
import Synchronization
import TestSupport
import Testing

@testable import Dispatcher
@testable import WebPush

@Suite("Requests to Web Push services")
struct WebPushClientTests {
  private static let keys = (0..<2).compactMap { _ in try? VAPIDKey(pem: VAPIDKey.makePEM()) }

  private final class Bench {
    let service: StandInPushService
    let clock = HandClock()
    let log = LogCapture()
    let client: WebPushClient
    let metrics = MetricsRegistry()
    let spans = SpanCapture()

    init(_ service: StandInPushService, signers: Int = 1, rules: WebPushRules = .open) {
      self.service = service
      client = WebPushClient(
        signers: Array(keys.prefix(signers)), subject: "mailto:push@example.org", rules: rules, http: service,
        log: Logger(label: "test", sink: log.sink),
        monitor: WebPushMonitor(metrics: metrics, names: rules.services.patterns), spans: spans, clocks: clock.clocks)
    }

    /// The answer to a request for a push.
    func send(
      _ push: Push, id: UInt64 = 1, change: (inout WaitingPush) -> Void = { _ in }
    ) throws -> SendReply {
      var rules = DispatcherRules()
      rules.webPush = .open
      rules.webLink = try WebLink("https://chat.example.com/c/{conversationId}")
      var untargeted = push
      untargeted.targets = []
      let origin = Origin(topic: "nudge.timeline", partition: 0, offset: 1)
      var item = WaitingPush(
        push: untargeted, target: push.targets[0], cause: origin, origin: origin,
        source: RecordPosition(topic: "chat.events", partition: 0, offset: 1), occurredAt: push.decidedAt)
      change(&item)
      let now = clock.wall.withLock { $0 }
      let destination = Destination(of: item, rules)
      let request = SendRequest(
        id: id, destination: destination,
        subject: .init(userId: push.userId, deviceId: item.target.deviceId, pushId: push.pushId, attempt: 1),
        token: item.target.address, body: try #require(destination.body(for: item, rules)),
        traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        webPush: WebPushDelivery(item, rules, now: now))
      let replies = Mutex<[SendReply]>([])
      client.perform(request) { reply in replies.withLock { $0.append(reply) } }
      let all = replies.withLock { $0 }
      #expect(all.count == 1 && all.first?.id == id)
      return try #require(all.first)
    }
  }

  private func headers(_ request: HTTPRequest) -> [String: String] {
    Dictionary(uniqueKeysWithValues: request.headers.map { ($0.0.lowercased(), $0.1) })
  }

  @Test(
    "issue 57: a request has what RFC 8030, 8188 and 8292 ask for; its body opens to the message, title and text among it"
  )
  func request() throws {
    let subscriber = try Subscriber()
    let bench = Bench(StandInPushService(201))
    bench.clock.wall.withLock { $0 = DispatcherBench.start + 90_000 }
    let push = DispatcherBench.webPush("p1", to: subscriber.subscription())
    let reply = try bench.send(push)
    #expect(reply.answer.verdict == .sent(name: nil) && reply.requests == 1)
    let (request, origin) = try #require(bench.service.requests.first)
    #expect(origin == "https://updates.push.services.mozilla.com")
    #expect(request.method == .post && request.url == subscriber.subscription().endpoint)
    let headers = headers(request)
    #expect(headers["ttl"] == String(push.ttlSeconds - 90), "what is left since the decision")
    #expect(headers["urgency"] == "high" && headers["content-encoding"] == "aes128gcm")
    #expect(headers["topic"]?.wholeMatch(of: /[A-Za-z0-9_-]{32}/) != nil)
    #expect(headers["authorization"]?.hasSuffix(",k=\(Self.keys[0].publicKey)") == true)
    #expect(request.body.count <= 4_096)
    guard let opened = try subscriber.opened([request.body]) else {
      return print("SKIPPED the body of a request: \(PythonJudge.missing)")
    }
    let fields =
      try JSONSerialization.jsonObject(with: Data(opened.first.flatMap { $0 } ?? [])) as? [String: Any] ?? [:]
    #expect(fields["type"] as? String == "smart_notification" && fields["pushId"] as? String == "p1")
    #expect(fields["title"] as? String == "Bob" && fields["body"] as? String == "Hello")
  }

  @Test("issue 57: urgency follows how a push appears")
  func urgency() throws {
    let subscription = try Subscriber().subscription()
    for (kind, presentation, expected) in [
      (Push.Kind.message, Presentation.alert, "high"), (.message, .silent, "normal"), (.message, .badge, "low"),
      (.badge, .badge, "low"), (.read, .badge, "low"), (.digest, .silent, "normal"),
    ] {
      let bench = Bench(StandInPushService(201))
      _ = try bench.send(
        DispatcherBench.webPush("p", to: subscription, kind: kind, presentation: presentation, platform: .android))
      #expect(headers(bench.service.requests[0].request)["urgency"] == expected, "\(kind) \(presentation)")
    }
  }

  @Test(
    "issue 57: a repeat, an edit and a deletion have the message's topic, badges have one; no topic is another subscription's"
  )
  func topics() throws {
    let (one, other) = (try Subscriber().subscription(), try Subscriber().subscription())
    func topic(_ push: Push) throws -> String {
      let bench = Bench(StandInPushService(201))
      _ = try bench.send(push)
      return try #require(headers(bench.service.requests[0].request)["topic"])
    }
    let message = DispatcherBench.webPush("p1", to: one)
    var edit = message
    (edit.pushId, edit.replaces, edit.presentation) = ("p2", true, .silent)
    var deletion = message
    (deletion.pushId, deletion.kind) = ("p3", .deleted)
    #expect(try Set([message, edit, deletion].map(topic)).count == 1)
    let others = [message, DispatcherBench.webPush("p4", to: one), DispatcherBench.webPush("p1", to: other)]
    #expect(try Set(others.map(topic)).count == 3, "another message, another person")
    let badges = try ["b1", "b2"].map {
      try topic(DispatcherBench.webPush($0, to: one, kind: .badge, presentation: .badge))
    }
    let shown = try topic(message)
    #expect(badges[0] == badges[1] && badges[0] != shown)
  }

  @Test(
    "issue 57: what each status means",
    arguments: [
      (200, PushAnswer.Verdict.sent(name: nil), 1), (201, .sent(name: nil), 1), (202, .sent(name: nil), 1),
      (204, .sent(name: nil), 1), (400, .rejected, 1), (401, .projectRefused, 1), (403, .projectRefused, 1),
      (404, .invalidToken, 1), (410, .invalidToken, 1), (413, .rejected, 1), (429, .quotaExceeded(.device), 1),
      (500, .serverFailed, 1), (502, .serverFailed, 1), (503, .serverFailed, 1), (301, .rejected, 1),
      (302, .rejected, 1), (307, .rejected, 1), (308, .rejected, 1), (405, .rejected, 1), (415, .rejected, 1),
    ])
  func statuses(_ status: Int, _ expected: PushAnswer.Verdict, _ requests: Int) throws {
    let bench = Bench(StandInPushService(status, retryAfter: "7"))
    let reply = try bench.send(DispatcherBench.webPush("p1", to: try Subscriber().subscription()))
    #expect(reply.answer.verdict == expected && reply.requests == requests)
    #expect(reply.answer.httpStatus == status && reply.answer.retryAfter == (reply.answer.isSent ? nil : 7_000))
    #expect(bench.service.requests.count == requests, "no redirect is followed")
  }

  @Test("issue 57: a message that is too long for a service is sent once more, shortened, and then rejected")
  func tooLong() throws {
    let subscriber = try Subscriber()
    let push = DispatcherBench.webPush(
      "p1", to: subscriber.subscription(), body: String(repeating: "word ", count: 700))
    let accepted = Bench(StandInPushService(413, 201))
    #expect(try accepted.send(push).answer.isSent)
    let sizes = accepted.service.requests.map(\.request.body.count)
    #expect(sizes.count == 2 && sizes[0] > 3_000 && sizes[1] <= WebPushMessage.shorter + 103)
    if let opened = try subscriber.opened(accepted.service.requests.map(\.request.body)) {
      let texts = try opened.map { bytes in
        let fields = try JSONSerialization.jsonObject(with: Data(bytes ?? [])) as? [String: Any]
        #expect(fields?["messageId"] as? String == "m-p1")
        return fields?["body"] as? String ?? ""
      }
      #expect(texts[0].hasPrefix("word word") && texts[1].hasPrefix("word word") && texts[1].count < texts[0].count)
    }
    let refused = Bench(StandInPushService(413))
    let reply = try refused.send(push)
    #expect(reply.answer.verdict == .rejected && reply.requests == 2)
  }

  @Test("issue 57: while keys change a subscription's own key is found, and used from then on")
  func rotation() throws {
    let bench = Bench(StandInPushService(403, 201), signers: 2)
    let push = DispatcherBench.webPush("p1", to: try Subscriber().subscription())
    #expect(try bench.send(push).requests == 2)
    bench.service.answer(201)
    #expect(try bench.send(push).requests == 1)
    let used = bench.service.requests.map { headers($0.request)["authorization"]?.suffix(87).description }
    #expect(used == [Self.keys[0].publicKey, Self.keys[1].publicKey, Self.keys[1].publicKey])
  }

  @Test(
    "issue 57: keys that change while it runs are used for the next push; a subscription keeps the key that was found")
  func replacedKeys() throws {
    let bench = Bench(StandInPushService(201))
    let push = DispatcherBench.webPush("p1", to: try Subscriber().subscription())
    _ = try bench.send(push)
    bench.client.replace(Self.keys.reversed())
    // It was made with the former key, which is the second one now.
    bench.service.answer(403, 201)
    #expect(try bench.send(push).answer.isSent)
    bench.service.answer(201)
    _ = try bench.send(push)
    let other = DispatcherBench.webPush("p2", to: try Subscriber().subscription("https://push.example.org/other"))
    _ = try bench.send(other)
    bench.client.replace([Self.keys[1]])
    _ = try bench.send(push)
    let used = bench.service.requests.map { headers($0.request)["authorization"]?.suffix(87).description }
    let (former, new) = (Self.keys[0].publicKey, Self.keys[1].publicKey)
    #expect(used == [former, new, former, former, new, new])
  }

  @Test(
    "issue 57: a key that no service takes is the operator's fault; at a service that takes others' it is the subscription's"
  )
  func refusedKeys() throws {
    let bench = Bench(StandInPushService(403))
    let push = DispatcherBench.webPush("p1", to: try Subscriber().subscription())
    #expect(try bench.send(push).answer.verdict == .projectRefused)
    bench.service.answer(201)
    #expect(try bench.send(push).answer.isSent)
    bench.service.answer(403)
    #expect(try bench.send(push).answer.verdict == .subscriptionRefused)
    bench.clock.wall.withLock { $0 += WebPushMemory.trust }
    #expect(try bench.send(push).answer.verdict == .projectRefused)
    let elsewhere = DispatcherBench.webPush("p1", to: try Subscriber().subscription("https://push.example.org/x"))
    #expect(try bench.send(elsewhere).answer.verdict == .projectRefused)
  }

  @Test("issue 57: an address that may not be connected to ends the push, and no other failure does")
  func failures() throws {
    let push = DispatcherBench.webPush("p1", to: try Subscriber().subscription())
    for kind in HTTPTransportError.Kind.allCases {
      let reply = try Bench(StandInPushService(failing: HTTPTransportError(kind: kind, message: ""))).send(push)
      switch kind {
      case .addressRefused, .invalidRequest: #expect(reply.answer.verdict == .rejected && reply.requests == 0)
      case .withheld: #expect(reply.answer.verdict == .notSent)
      case .tls: #expect(reply.answer.verdict == .projectRefused)
      default: #expect(reply.answer.verdict == .unreachable)
      }
    }
  }

  @Test("issue 57: a subscription that is none is rejected without a request")
  func unusable() throws {
    var subscription = try Subscriber().subscription()
    subscription.p256dh = String(repeating: "A", count: 87)
    let bench = Bench(StandInPushService(201))
    #expect(try bench.send(DispatcherBench.webPush("p", to: subscription)).answer.errorCode == "subscription_keys")
    for endpoint in ["http://push.example.org/x", "https://127.0.0.1/x", "https://user@push.example.org/x", "nothing"] {
      let push = DispatcherBench.webPush("p", to: try Subscriber().subscription(endpoint))
      let answer = try bench.send(push).answer
      #expect(answer.verdict == .rejected && answer.errorCode == "endpoint_not_allowed", "\(endpoint)")
    }
    #expect(bench.service.requests.isEmpty)
  }

  @Test(
    "T4: no endpoint, key, name or text is in logs, spans and metrics, whatever is answered; of hosts there are a few names"
  )
  func canary() throws {
    let subscriber = try Subscriber()
    let endpoint = "https://canary-host.example.org/canary-path?canary-query=1"
    for status in [201, 301, 400, 401, 403, 404, 410, 413, 429, 500, 503] {
      for endpoint in [endpoint, "https://fcm.googleapis.com/fcm/send/canary-token"] {
        let bench = Bench(StandInPushService(status))
        _ = try bench.send(
          DispatcherBench.webPush(
            "canary-push", user: "canary-user", to: subscriber.subscription(endpoint), body: "canary-text"))
        let log = bench.log.entries.map { "\($0)" }.joined(separator: "\n")
        let spans = bench.spans.spans.map { "\($0)" }.joined()
        let metrics = bench.metrics.exposition()
        #expect(!spans.isEmpty)
        for text in [log, spans, metrics] {
          #expect(
            !text.contains("canary") && !text.contains(subscriber.p256dh) && !text.contains(subscriber.auth), "\(text)")
        }
        let label = endpoint.contains("google") ? "fcm.googleapis.com" : "other"
        #expect(spans.contains(label))
        #expect(metrics.contains(#"nudge_web_push_requests_total{host="\#(label)"} "#))
      }
    }
  }
}

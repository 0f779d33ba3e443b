import Foundation
import NudgeSchema
import ServiceKit
import StreamRuntime
import TestSupport
import Testing

@testable import Dispatcher
@testable import WebPush

@Suite("Pushes to Web Push subscriptions in their lanes")
struct WebPushLaneTests {
  private let subscriber: Subscriber

  init() throws { subscriber = try Subscriber() }

  private func bench(monitor: LaneMonitor? = nil, _ change: (inout DispatcherRules) -> Void = { _ in })
    -> DispatcherBench
  {
    DispatcherBench(monitor: monitor) {
      $0.webPush = .open
      change(&$0)
    }
  }

  @Test(
    "issue 57: a push to a subscription is a request to its service, and its outcome names the way and the endpoint's hash alone"
  )
  func sent() throws {
    let bench = bench()
    let subscription = subscriber.subscription()
    try bench.send(DispatcherBench.webPush("p1", to: subscription))
    let request = try #require(bench.air.first)
    #expect(request.destination == .webPush(service: "https://updates.push.services.mozilla.com"))
    #expect(request.webPush?.subscription == subscription && request.webPush?.urgency == .high)
    try bench.answer(.sent)
    let outcome = try #require(bench.outcomes.first)
    #expect(outcome.result == .sent && outcome.destination == .webPush)
    #expect(outcome.tokenHash == DispatcherRules.sha256(subscription.endpoint))
    let record = String(decoding: try #require(bench.outcomeRecords.first?.value), as: UTF8.self)
    #expect(record.contains(#""destination":"web_push""#))
    for secret in [subscription.endpoint, subscription.p256dh, subscription.auth, "wpush"] {
      #expect(!record.contains(secret))
    }
  }

  @Test("issue 57: without a VAPID key a push to a subscription ends, with the reason; one to FCM goes on")
  func noKey() throws {
    let bench = DispatcherBench()
    var push = DispatcherBench.webPush("p1", to: subscriber.subscription())
    push.targets.append(PushTarget(deviceId: "phone", token: "t", version: 1, platform: .ios))
    try bench.send(push)
    #expect(bench.outcomes.map(\.result) == [.cancelled] && bench.outcomes.map(\.errorCode) == ["no_vapid_key"])
    #expect(bench.outcomes.map(\.destination) == [.webPush])
    #expect(bench.air.map(\.subject.deviceId) == ["phone"] && bench.wakeAt == nil)
  }

  @Test(
    "issue 57: an endpoint that the rules do not allow gets nothing",
    arguments: [
      "http://push.example.org/x", "https://127.0.0.1/x", "https://10.1.2.3/x", "https://[::1]/x",
      "https://localhost/x",
      "https://push/x", "https://user:word@push.example.org/x", "https://2130706433/x",
    ])
  func notAllowed(_ endpoint: String) throws {
    let bench = bench()
    try bench.send(DispatcherBench.webPush("p1", to: subscriber.subscription(endpoint)))
    #expect(bench.air.isEmpty && bench.outcomes.map(\.result) == [.rejected])
    #expect(bench.outcomes.first?.errorCode == "endpoint_not_allowed")
  }

  @Test("issue 57: a list of hosts allows no other")
  func hosts() throws {
    let bench = bench {
      $0.webPush = WebPushRules(
        endpoints: EndpointRules(hosts: ["*.example.org"]), services: WebPushServices(hosts: ["*.example.org"], salt: 2)
      )
    }
    try bench.send(DispatcherBench.webPush("p1", to: subscriber.subscription("https://push.example.org/x")))
    #expect(bench.air.count == 1)
    try bench.send(
      DispatcherBench.webPush("p2", user: "eve", to: subscriber.subscription("https://push.example.com/x")))
    #expect(bench.air.count == 1 && bench.outcomes.map(\.errorCode) == ["endpoint_not_allowed"])
  }

  @Test("T3: a subscription that has ended is pruned with its version, and not where the device has a later one")
  func pruned() throws {
    let bench = bench()
    let former = subscriber.subscription("https://web.push.apple.com/former")
    try bench.send(DispatcherBench.webPush("p1", to: former, version: 3))
    try bench.answer(PushAnswer(webPush: .gone, status: 410, retryAfter: nil, now: 0))
    #expect(bench.outcomes.map(\.result) == [.invalidToken])
    let invalidated = try #require(bench.invalidated.first)
    #expect(invalidated.tokenHash == DispatcherRules.sha256(former.endpoint) && invalidated.version == 3)
    // While a request is in flight, the device subscribes again.
    try bench.send(DispatcherBench.webPush("p2", to: former, version: 3))
    let later = subscriber.subscription("https://web.push.apple.com/later")
    try bench.send(DispatcherBench.webPush("p3", to: later, version: 4))
    try bench.answer(PushAnswer(webPush: .gone, status: 410, retryAfter: nil, now: 0))
    #expect(bench.invalidated.count == 1, "it says nothing of the subscription that the device has now")
    #expect(bench.air.map(\.webPush?.subscription) == [later])
  }

  @Test("issue 57: a service that refuses the key is probed by one request at a time; others and FCM go on")
  func refused() throws {
    let monitor = LaneMonitor(metrics: MetricsRegistry(), readiness: HealthChecks(), now: { 0 })
    let bench = bench(monitor: monitor)
    let refusing = "https://fcm.googleapis.com/fcm/send/x"
    try bench.send(DispatcherBench.webPush("p0", user: "u0", to: subscriber.subscription(refusing)))
    try bench.answer(PushAnswer(webPush: .keyRefused, status: 403, retryAfter: nil, now: 0))
    #expect(monitor.total.webPushPauses == 1 && monitor.total.openBreakers.isEmpty)
    for number in 1...5 {
      try bench.send(DispatcherBench.webPush("p\(number)", user: "u\(number)", to: subscriber.subscription(refusing)))
    }
    #expect(bench.air.isEmpty && bench.outcomes.isEmpty)
    try bench.send(
      DispatcherBench.webPush("other", user: "v", to: subscriber.subscription("https://web.push.apple.com/x")))
    try bench.send(DispatcherBench.push("fcm", user: "w"))
    #expect(bench.air.map(\.subject.pushId) == ["other", "fcm"])
    for request in bench.air { try bench.answer(.sent, to: request) }
    try bench.wakeUntilSent()
    #expect(bench.air.count == 1, "a probe")
    try bench.answer(.sent)
    #expect(monitor.total.webPushPauses == 0)
    while bench.outcomes.count < 8 {
      try bench.wakeUntilSent()
      while let request = bench.air.first { try bench.answer(.sent, to: request) }
    }
    #expect(bench.outcomes.allSatisfy { $0.result == .sent } && Set(bench.outcomes.map(\.pushId)).count == 8)
  }

  @Test("issue 57: a subscription with somebody else's key waits for itself, and stops no other")
  func othersKey() throws {
    let bench = bench()
    try bench.send(DispatcherBench.webPush("p1", user: "eve", to: subscriber.subscription()))
    try bench.answer(PushAnswer(.subscriptionRefused, httpStatus: 403, errorCode: "HTTP_403"))
    try bench.send(DispatcherBench.webPush("p2", user: "ann", to: subscriber.subscription()))
    #expect(bench.air.map(\.subject.userId) == ["ann"])
    try bench.answer(.sent)
    let before = bench.now
    try bench.wakeUntilSent()
    #expect(bench.air.map(\.subject.userId) == ["eve"] && bench.now - before >= 60_000)
  }

  @Test("issue 57: where one service answers slowly, the requests to others do not become fewer")
  func windows() throws {
    let bench = bench { $0.maxInFlight = 100 }
    for number in 0..<100 {
      try bench.send(
        DispatcherBench.webPush(
          "s\(number)", user: "s\(number)", to: subscriber.subscription("https://web.push.apple.com/\(number)")))
    }
    // They wait in the process for longer than they may.
    bench.now += 1_100
    for request in bench.air.prefix(50) { try bench.answer(PushAnswer(.notSent), to: request, requests: 0) }
    let slow = bench.air.count
    #expect(slow < 100)
    for number in 0..<100 { try bench.send(DispatcherBench.push("f\(number)", user: "f\(number)")) }
    #expect(bench.air.count { $0.destination.isFCM } == 100)
  }

  @Test("P8: TTL is what is left since the decision, and 0 where nothing is")
  func ttl() throws {
    for (ttl, later, expected): (Int, Milliseconds, Int64) in [
      (2_419_200, 0, 2_419_200), (60, 20_500, 39), (60, 60_001, 0), (0, 0, 0), (9_999_999, 1_000, 2_419_199),
    ] {
      let bench = bench()
      bench.now += later
      var push = DispatcherBench.webPush("p1", to: subscriber.subscription())
      push.ttlSeconds = ttl
      try bench.send(push)
      #expect(bench.air.first?.webPush?.ttlSeconds == expected, "\(ttl) after \(later)")
    }
  }

  @Test(
    "issue 57: the users of an app choose endpoints; what is kept of services is bounded, and known ones have a place of their own"
  )
  func bounded() {
    let services = WebPushServices(hosts: ["push.example.org", "*.example.net"], salt: 7)
    var places = Set<String>()
    for number in 0..<20_000 {
      places.insert(services.service(of: "https://h\(number).example.com/x"))
      places.insert(services.service(of: "https://fcm.googleapis.com:\(number)/x"))
    }
    #expect(places.count == 256)
    let known = ["https://fcm.googleapis.com/a", "https://FCM.googleapis.com/b", "https://push.example.org/a"].map(
      services.service)
    #expect(known[0] == known[1] && Set(known + places).count == 258)
    #expect(services.label(ofHost: "sg2p.notify.windows.com") == "*.notify.windows.com")
    #expect(services.label(ofHost: "a.b.example.net") == "*.example.net")
    #expect(services.label(ofHost: "evil.example.com") == "other")
    // A user cannot compute which hosts share a place.
    let (one, other) = (WebPushServices(salt: 1), WebPushServices(salt: 2))
    let moved = (0..<100).count { one.service(of: "https://h\($0).test/") != other.service(of: "https://h\($0).test/") }
    #expect(moved > 80)
  }
}

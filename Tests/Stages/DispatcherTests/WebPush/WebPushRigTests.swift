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

@Suite("Web Push against a push service of other people")
struct WebPushRigTests {
  @Test(
    "issue 57: another implementation takes the requests, over HTTP/2, checks key and form, and its messages open",
    .timeLimit(.minutes(3)))
  func rig() throws {
    if let missing = PushServiceRig.missing { return print("SKIPPED rig: \(missing)") }
    let subscriber = try Subscriber()
    let (key, other) = (try VAPIDKey(pem: VAPIDKey.makePEM()), try VAPIDKey(pem: VAPIDKey.makePEM()))
    let rig = try PushServiceRig(
      [("live", key, false), ("gone", key, true), ("others", other, false)].map {
        PushServiceRig.Subscription($0.0, key: $0.1.publicKey, isGone: $0.2)
      })
    defer { _ = try? rig.stop() }
    let rules = WebPushRules(
      endpoints: EndpointRules(allowsPrivateAddresses: true), services: WebPushServices(salt: 1))
    wait(for: "the rig has its certificates") { FileManager.default.fileExists(atPath: rig.caFile) }
    let connections = WebPushConnections(HTTPClientConfiguration(caFile: rig.caFile, maxConnectionsPerHost: 4))
    defer { connections.shutdown() }
    let client = WebPushClient(
      signers: [key], subject: "mailto:push@example.org", rules: rules, http: connections,
      log: Logger(label: "test", sink: LogCapture().sink))
    let replies = Mutex<[UInt64: PushAnswer]>([:])
    func send(_ id: UInt64, _ push: Push, to path: String) throws {
      var dispatcher = DispatcherRules()
      dispatcher.webPush = rules
      let target = PushTarget(
        deviceId: "d", webPush: subscriber.subscription(rig.origin + "/wpush/" + path), version: 1, platform: .web)
      let origin = Origin(topic: "t", partition: 0, offset: 1)
      let item = WaitingPush(
        push: push, target: target, cause: origin, origin: origin,
        source: RecordPosition(topic: "t", partition: 0, offset: 1), occurredAt: push.decidedAt)
      let destination = Destination(of: item, dispatcher)
      client.perform(
        SendRequest(
          id: id, destination: destination,
          subject: .init(userId: "ann", deviceId: "d", pushId: push.pushId, attempt: 1), token: target.address,
          body: try #require(destination.body(for: item, dispatcher)),
          webPush: WebPushDelivery(item, dispatcher, now: push.decidedAt))
      ) { reply in replies.withLock { $0[reply.id] = reply.answer } }
    }
    func answer(_ id: UInt64) -> PushAnswer? {
      wait(for: "answer \(id)", atMost: 20) { replies.withLock { $0[id] } != nil }
      return replies.withLock { $0[id] }
    }
    let now = SystemClock.milliseconds()
    // It prints its addresses before it listens.
    var first: UInt64 = 0
    try wait(for: "the rig listens", atMost: 20) {
      first += 1
      try send(first, DispatcherBench.push("p0", at: now), to: "live")
      return answer(first)?.verdict != .unreachable
    }
    for number in 1...300 {
      try send(
        1_000 + UInt64(number),
        DispatcherBench.push("p\(number)", at: now, body: String(repeating: "ß", count: number * 5)), to: "live")
    }
    for number in 1...300 { #expect(answer(1_000 + UInt64(number))?.verdict == .sent(name: nil), "\(number)") }
    // An edit takes the place of what waits.
    var edit = DispatcherBench.push("e1", presentation: .silent, at: now, body: "Edited")
    (edit.messageId, edit.replaces) = ("m-p300", true)
    try send(2_000, edit, to: "live")
    for (id, path, expected): (UInt64, String, PushAnswer.Verdict) in [
      (2_000, "live", .sent(name: nil)), (2_001, "gone", .invalidToken), (2_002, "nobody", .invalidToken),
      (2_003, "others", .subscriptionRefused), (2_004, "live?status=429&retry_after=7", .quotaExceeded(.device)),
      (2_005, "live?status=503&retry_after=date:30", .serverFailed), (2_006, "live?status=400", .rejected),
      (2_007, "live?status=302", .rejected), (2_008, "live?status=413", .rejected),
    ] {
      if id > 2_000 { try send(id, DispatcherBench.push("f\(id)", at: now), to: path) }
      #expect(answer(id)?.verdict == expected, "\(path): \(String(describing: answer(id)))")
    }
    #expect(answer(2_004)?.retryAfter == 7_000)
    #expect(answer(2_005)?.retryAfter.map { (20_000...31_000).contains($0) } == true)

    let requests = try rig.requests().filter { $0["kind"] as? String == "http" }
    #expect(requests.count >= 309 && requests.allSatisfy { $0["version"] as? String == "2" })
    let messages = try rig.stop().first { $0.token == "live" }?.messages ?? []
    #expect(messages.count == 301, "p0 to p299, and the edit in place of p300")
    let opened = try subscriber.opened(messages.map(\.bytes)) ?? []
    let pushes = try opened.map { bytes in
      try JSONSerialization.jsonObject(with: Data(bytes ?? [])) as? [String: Any] ?? [:]
    }
    #expect(Set(pushes.compactMap { $0["pushId"] as? String }) == Set((0...299).map { "p\($0)" } + ["e1"]))
    #expect(pushes.last?["body"] as? String == "Edited" && pushes.last?["replaces"] as? String == "true")
    #expect(messages.last?.urgency == "normal" && messages.first?.urgency == "high")
  }
}

import NudgeSchema
import StreamRuntime
import Testing

@testable import Dispatcher
@testable import NudgeLab

@Suite("Pushes that wait for quota")
struct QuotaWaitsTests {
  private static let now: Milliseconds = 1_800_000_000_000
  private static let hour: Milliseconds = 3_600_000
  private static let phone = "b/phone"

  private func origin(_ offset: Int64) -> Origin { Origin(topic: "t", partition: 0, offset: offset) }

  private func item(
    _ pushId: String, expiresAt: Milliseconds = now + hour, inAir: Bool = false, attempts: Int = 0, status: Int? = nil
  ) -> WaitingPush {
    WaitingPush(
      push: Push(
        pushId: pushId, kind: .message, userId: "b", targets: [], priority: .medium, presentation: .alert, badge: 1,
        ttlSeconds: 3_600, expiresAt: expiresAt, decidedAt: Self.now - 1_000),
      target: PushTarget(deviceId: Self.phone, token: "token", version: 1, platform: .android), cause: origin(1),
      origin: origin(2), source: RecordPosition(topic: "t", partition: 0, offset: 0), occurredAt: Self.now - 1_000,
      attempts: attempts, inAir: inAir, httpStatus: status)
  }

  /// b's phone has taken `sent` pushes, `ago` before now; two more, p1 and p2, have no outcome.
  private func ledger(
    sent: Int = 4_999, ago: Milliseconds = 1_800_000, platform: Platform = .android, lane: [WaitingPush]
  ) throws -> DeliveryLedger {
    var ledger = DeliveryLedger(seesAborted: false, seesRequests: false)
    ledger.register(deviceId: Self.phone, token: "token", platform: platform)
    for number in 0..<sent {
      ledger.push(
        pushId: "s\(number)", userId: "b", messageId: nil, deviceIds: [Self.phone], origin: origin(Int64(number)))
      ledger.outcome(
        pushId: "s\(number)", deviceId: Self.phone, result: .sent, origin: origin(Int64(number)), requests: 1,
        at: Self.now - ago)
    }
    for number in 1...2 {
      ledger.push(
        pushId: "p\(number)", userId: "b", messageId: nil, deviceIds: [Self.phone],
        origin: origin(10_000 + Int64(number)))
    }
    if !lane.isEmpty { try row(LaneRow(items: lane, count: lane.count), into: &ledger) }
    return ledger
  }

  private let key = DeviceKey(userId: "b", deviceId: phone).lane

  private func row(_ lane: LaneRow?, into ledger: inout DeliveryLedger) throws {
    let coder = RecordCoder()
    guard let lane else { return try ledger.quotaWaits.row(key, nil, coder: coder) }
    try DispatcherRow(.lane(lane)).encoded(coder: coder, at: .latest).withUnsafeBytes {
      try ledger.quotaWaits.row(key, $0, coder: coder)
    }
  }

  private func verdict(_ ledger: DeliveryLedger) -> LedgerVerdict {
    var ledger = ledger
    ledger.findWaits(at: Self.now)
    return LedgerVerdict(ledger, load: EventPublisher.Progress(), wasDispatcherKilled: false)
  }

  /// Their number with its reason, and what is missing.
  private func told(_ ledger: DeliveryLedger) -> (waiting: [QuotaWaits.Quota: Int], missing: [String]) {
    let verdict = verdict(ledger)
    return (verdict.waiting, verdict.checks.flatMap(\.missing).sorted())
  }

  @Test(
    "those in the lane of a device that had its 5,000 of an hour are waiting, on a line of their own, and no failure")
  func device() throws {
    let ledger = try ledger(sent: 5_000, lane: [item("p1"), item("p2")])
    #expect(!ledger.isSettled)
    let verdict = verdict(ledger)
    #expect(verdict.isBalanced)
    #expect(verdict.waiting == [.device: 2])
    #expect(
      verdict.lines(Paint(isOn: false)).last == "  … pushes that wait: 2 for FCM's hourly limit of an Android device")
    #expect(
      String(decoding: try RecordCoder().encode(verdict), as: UTF8.self).contains(#""waiting":{"device":2}"#))
  }

  @Test("one that is in no lane is missing, though its device has used up its quota")
  func missing() throws {
    let (waiting, missing) = told(try ledger(sent: 5_000, lane: [item("p1")]))
    #expect(waiting == [.device: 1])
    #expect(missing == ["push p2 on b/phone"])
    #expect(told(try ledger(sent: 5_000, lane: [])).missing.count == 2)
  }

  @Test("one that left its lane without an outcome is missing")
  func removed() throws {
    var ledger = try ledger(sent: 5_000, lane: [item("p1"), item("p2")])
    try row(LaneRow(items: [item("p2")], count: 1), into: &ledger)
    #expect(told(ledger).missing == ["push p1 on b/phone"])
    try row(nil, into: &ledger)
    #expect(told(ledger).missing.count == 2)
    #expect(told(ledger).waiting.isEmpty)
  }

  @Test("one in a lane is missing if nothing holds it back: quota is left, or it is not limited, or long past")
  func noReason() throws {
    let lane = [item("p1"), item("p2")]
    for ledger in [
      try ledger(sent: 4_999, lane: lane), try ledger(sent: 5_000, platform: .ios, lane: lane),
      try ledger(sent: 5_000, ago: 2 * Self.hour + 20_000, lane: lane),
    ] {
      #expect(told(ledger).waiting.isEmpty)
      #expect(told(ledger).missing.count == 2)
      #expect(!verdict(ledger).isBalanced)
    }
    var unlimited = try ledger(sent: 5_000, lane: lane)
    unlimited.quotaWaits.limits.perDeviceAndHour = 0
    #expect(told(unlimited).missing.count == 2)
  }

  @Test("one that is in flight, or past its freshness, is missing")
  func stuck() throws {
    #expect(told(try ledger(sent: 5_000, lane: [item("p1", inAir: true), item("p2")])).missing.count == 2)
    let (waiting, missing) = told(
      try ledger(sent: 5_000, lane: [item("p1"), item("p2", expiresAt: Self.now)]))
    #expect(waiting == [.device: 1])
    #expect(missing == ["push p2 on b/phone"])
  }

  @Test("requests of pushes that still wait count too")
  func retries() throws {
    #expect(told(try ledger(sent: 4_997, lane: [item("p1", attempts: 3), item("p2")])).waiting == [.device: 2])
  }

  @Test("those behind a push that FCM answered 429 are waiting; behind another failure they are missing")
  func refused() throws {
    let lane = [item("p1", attempts: 1, status: 429), item("p2")]
    #expect(told(try ledger(sent: 1, platform: .ios, lane: lane)).waiting == [.refused: 2])
    let failing = [item("p1", attempts: 1, status: 503), item("p2")]
    #expect(told(try ledger(sent: 1, platform: .ios, lane: failing)).missing.count == 2)
  }

  @Test("those of a project are waiting while its requests come at its quota, and missing once they do not")
  func project() throws {
    let lane = [item("p1"), item("p2")]
    func told(sent: Int, ago: Milliseconds) throws -> [QuotaWaits.Quota: Int] {
      var ledger = try ledger(sent: sent, ago: ago, platform: .ios, lane: lane)
      ledger.quotaWaits.limits.perProjectAndMinute = 300
      // A stream thread with one partition of two has half of it, and a minute's requests may be half a minute's.
      ledger.quotaWaits.limits.partitions = 2
      return self.told(ledger).waiting
    }
    #expect(try told(sent: 75, ago: 1_000) == [.project: 2])
    #expect(try told(sent: 74, ago: 1_000) == [:])
    #expect(try told(sent: 300, ago: 80_000) == [:])
  }

  @Test("an outcome that comes afterwards counts, and nothing waits any more")
  func afterwards() throws {
    var ledger = try ledger(sent: 5_000, lane: [item("p1"), item("p2")])
    ledger.findWaits(at: Self.now)
    for push in ["p1", "p2"] {
      ledger.outcome(pushId: push, deviceId: Self.phone, result: .sent, origin: origin(20_000))
    }
    let verdict = LedgerVerdict(ledger, load: EventPublisher.Progress(), wasDispatcherKilled: false)
    #expect(verdict.isBalanced && verdict.waiting.isEmpty && verdict.waitingLine == nil)
  }
}

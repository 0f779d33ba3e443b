import NudgeSchema
import StreamRuntime
import Testing

@testable import Dispatcher

@Suite("State: small rows")
struct RowTests {
  /// The largest push that is taken, with what costs most in JSON.
  private func largest(_ number: Int) -> Push {
    let id = String(repeating: "\"", count: 250) + String(10_000 + number)
    var push = DispatcherBench.push(id, user: String(repeating: "\\", count: 256), devices: [id])
    push.targets[0].token = String(repeating: "t", count: 4096)
    push.targets[0].projectId = String(repeating: "p", count: 256)
    push.title = String(repeating: "\u{1}", count: 5_000)
    push.body = String(repeating: "\u{2}", count: 50_000)
    push.imageUrl = String(repeating: "u", count: 2_048)
    push.avatarUrl = String(repeating: "a", count: 704)
    push.quietHours = QuietHours(start: "22:00", end: "07:00", timeZone: String(repeating: "z", count: 64))
    push.mentioned = true
    push.answered = true
    push.conversation = PushConversation(
      senderName: String(repeating: "n", count: 1_000), kind: .group, name: String(repeating: "g", count: 1_000))
    push.replaces = false
    push.sentAt = .max
    push.conversationId = String(repeating: "c", count: 256)
    push.messageId = String(repeating: "\"", count: 256)
    push.senderId = String(repeating: "s", count: 256)
    return push
  }

  @Test("No row exceeds 16 kB, whatever waits in a lane")
  func rowSize() throws {
    let bench = DispatcherBench()
    let coder = RecordCoder()
    let trace = RecordHeaderField(RecordHeader.traceparent, String(repeating: "0", count: 256))
    let user = String(repeating: "\\", count: 256)
    let device = largest(0).targets[0].deviceId
    for number in 0..<20 {
      var push = largest(number)
      push.targets[0].deviceId = device
      try bench.send(push, headers: [trace])
    }
    #expect(bench.rejections.isEmpty)
    let key = DeviceKey(userId: user, deviceId: device)
    let lane = try #require(try bench.driver.row(key.lane))
    #expect(try lane.encoded(coder: coder, at: .latest).count <= StateLimits.maxRowBytes)
    guard case .lane(let row) = lane.content else { return }
    #expect(row.count == 20)
    #expect(row.endOverflow > 0)
    for number in row.firstOverflow..<row.endOverflow {
      let overflow = try #require(try bench.driver.row(key.overflow(number)))
      #expect(try overflow.encoded(coder: coder, at: .latest).count <= StateLimits.maxRowBytes)
    }
  }

  @Test("The estimated size of a push is never below its real size")
  func estimate() throws {
    let coder = RecordCoder()
    for (push, traceparent) in [(DispatcherBench.push("p"), nil), (largest(1), String(repeating: "1", count: 256))] {
      var item = WaitingPush(
        push: push, target: push.targets[0],
        cause: Origin(topic: "nudge.timeline", partition: .max, offset: .max, index: .max, generation: .max),
        origin: Origin(
          topic: "nudge.pushes", partition: .max, offset: .max, index: .max, generation: .max),
        source: RecordPosition(topic: "chat.events", partition: .max, offset: .max), occurredAt: .max,
        traceparent: traceparent, replayId: traceparent, attempts: .max, firstAttemptAt: .max, failingSince: .max,
        notBefore: .max,
        inAir: true, httpStatus: 599, errorCode: String(repeating: "E", count: 64), withdrawn: .superseded)
      item.push.targets = []
      item.push.badge = .max
      item.push.ttlSeconds = .max
      item.push.expiresAt = .max
      item.push.decidedAt = .max
      item.target.version = .max
      item.fitRow()
      let size = try DispatcherRow(.lane(LaneRow(items: [item], count: 1))).encoded(coder: coder, at: .latest).count
      #expect(size <= item.rowBytes, "\(size) bytes, estimated \(item.rowBytes)")
      #expect(item.rowBytes <= StateLimits.maxRowBytes - 200)
    }
  }

  @Test("A long lane is split into rows, keeps its order across a restart, and leaves only the device's row")
  func overflow() throws {
    let bench = DispatcherBench()
    for number in 0..<100 {
      try bench.send(DispatcherBench.push("p\(number)", body: String(repeating: "x", count: 1_000)))
    }
    #expect(try #require(try bench.lane()).endOverflow > 5)
    try bench.restart()
    try bench.wake()
    while !bench.air.isEmpty { try bench.answer(.sent) }
    #expect(bench.outcomes.map(\.pushId) == (0..<100).map { "p\($0)" })
    let key = DeviceKey(userId: "ann", deviceId: "phone")
    #expect(try bench.driver.row(key.lane) == nil)
    for number in 0..<100 { #expect(try bench.driver.row(key.overflow(number)) == nil) }
    #expect(try bench.driver.row(key.device) != nil)
  }

  @Test("Removing from the middle of a lane with many rows keeps the order of the rest")
  func removeFromMany() throws {
    let bench = DispatcherBench()
    for number in 0..<60 {
      try bench.send(
        DispatcherBench.push(
          "p\(number)", conversation: number % 3 == 0 ? "odd" : "c1", body: String(repeating: "x", count: 1_000)))
    }
    try bench.cancel(conversation: "odd")
    #expect(bench.outcomes.count == 19)  // p0 is in flight
    #expect(try bench.lane()?.count == 41)
    while !bench.air.isEmpty { try bench.answer(.sent) }
    let sent = bench.outcomes.filter { $0.result == .sent }.map(\.pushId)
    #expect(sent == (0..<60).filter { $0 == 0 || $0 % 3 != 0 }.map { "p\($0)" })
  }

  @Test("A row with an unknown key is an error that says so")
  func foreignKey() {
    #expect(throws: StoreFailure.self) {
      try [UInt8]("{}".utf8).withUnsafeBytes {
        try DispatcherRow(key: RowKey("x", "y"), bytes: $0, coder: RecordCoder())
      }
    }
  }

  @Test("Canonically equivalent ids are different devices")
  func canonicalEquivalence() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1", devices: ["\u{E9}"]))
    try bench.send(DispatcherBench.push("p2", devices: ["e\u{301}"]))
    #expect(bench.air.count == 2)
    try bench.cancel(device: "e\u{301}")
    try bench.answer(.unavailable)
    try bench.answer(.unavailable)
    #expect(bench.outcomes.map(\.pushId) == ["p2"])
  }
}

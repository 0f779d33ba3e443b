import NudgeCodec
import NudgeSchema
import StreamRuntime
import TestSupport
import Testing

@testable import Analyzer

@Suite("D22: a device whose stream shows the message answers for its push")
struct StreamTests {
  /// ann's phone and laptop. The app is open on the phone, with a stream that answers banners.
  private func live() throws -> Scene {
    let scene = try Scene.withPhone()
    try scene.gain("laptop")
    try scene.activity("phone", in: nil, at: noon)
    try scene.stream("phone", at: noon)
    return scene
  }

  /// When each device may get the push, after the message's time; nil: at once.
  private func waits(_ written: Written, at time: Milliseconds) throws -> [String: Milliseconds?] {
    let targets = try #require(written.push).targets
    return Dictionary(uniqueKeysWithValues: targets.map { ($0.deviceId, $0.notBefore.map { $0 - time }) })
  }

  @Test("its push waits 2 s, those of other devices do not; the banner names the push, and the decision says who waits")
  func waits() throws {
    let scene = try live()
    try scene.prefer(PreferencesPatch(defaultLevels: DefaultLevels(direct: .smart)))
    // Silent: nothing waits for another device to be read on.
    let written = try scene.message("m1", at: noon + second, body: "the weather is fine")
    #expect(written.push?.presentation == .silent)
    #expect(try waits(written, at: noon + second) == ["phone": 2 * second, "laptop": nil])
    #expect(written.banners.map(\.pushId) == [written.push?.pushId])
    let check = try #require(written.decision?.checks.last)
    #expect(check == Check(check: "live", inputs: ["devices": 1, "waitsUntil": .number(noon + 3 * second)]))
    #expect(written.decision?.outcome == .notify)
  }

  @Test("an alert waits for the answer there, and elsewhere to be read (D17)")
  func alert() throws {
    let scene = try live()
    let written = try scene.message("m1", at: noon + second, RecipientContext(mentioned: true))
    #expect(try waits(written, at: noon + second) == ["phone": 2 * second])
    #expect(written.decision?.outcome == .deferred)
    #expect(try scene.answer(written, on: "phone", at: noon + 2 * second).cancelled.count == 1)
    scene.driver.now = noon + hour
    let later = try scene.driver.fireTimers().map { try scene.written($0) }.flatMap(\.pushes)
    #expect(later.map { $0.targets.map(\.deviceId) } == [["laptop"]])
    #expect(later.allSatisfy { $0.targets.allSatisfy { $0.notBefore == nil } })
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let waits: Bool
    let act: @Sendable (Scene) throws -> Written

    init(_ name: String, waits: Bool = false, _ act: @escaping @Sendable (Scene) throws -> Written) {
      (testDescription, self.waits, self.act) = (name, waits, act)
    }
  }

  private static let later = noon + second

  static let cases: [Case] = [
    Case("a direct message", waits: true) { try $0.message("m1", at: later) },
    Case("what is urgent") { try $0.message("m1", at: later, body: "this is urgent") },
    Case("the app said that it went into the background") {
      try $0.activity("phone", .background, at: noon + 1)
      return try $0.message("m1", at: later)
    },
    Case("nobody is at it") {
      try $0.activity("phone", .idle, at: noon + 1)
      return try $0.message("m1", at: later)
    },
    Case("the stream has ended") {
      try $0.stream("phone", isOpen: false, at: noon + 1)
      return try $0.message("m1", at: later)
    },
    Case("a stream of before has ended", waits: true) {
      try $0.stream("phone", "stream-2", at: noon + 1)
      try $0.stream("phone", "stream-1", isOpen: false, at: noon + 2)
      return try $0.message("m1", at: later)
    },
    Case("an end that is older than what is known", waits: true) {
      try $0.stream("phone", isOpen: false, at: noon - 1)
      return try $0.message("m1", at: later)
    },
    Case("reported two minutes ago", waits: true) {
      try $0.activity("phone", in: nil, at: noon + minute)
      return try $0.message("m1", at: noon + 2 * minute)
    },
    Case("not reported for two minutes") {
      try $0.activity("phone", in: nil, at: noon + minute)
      return try $0.message("m1", at: noon + 2 * minute + 1)
    },
    Case("renewed in time", waits: true) {
      try $0.activity("phone", in: nil, at: noon + minute)
      try $0.stream("phone", at: noon + minute)
      return try $0.message("m1", at: noon + 2 * minute + 1)
    },
    Case("decided when the stream is long gone") { try $0.message("m1", at: later, decidedAt: noon + 10 * minute) },
    Case("a badge alone") {
      try $0.prefer(PreferencesPatch(defaultLevels: DefaultLevels(direct: NotificationLevel.none)))
      return try $0.message("m1", at: later)
    },
    Case("a replay") {
      try $0.prefer(PreferencesPatch(enabled: false))
      try $0.message("m1", at: later)
      try $0.prefer(PreferencesPatch(enabled: true), at: noon)
      return try $0.redecide("m1", at: later)
    },
  ]

  @Test("what waits for an answer, and what does not", arguments: cases)
  func kinds(_ example: Case) throws {
    let scene = try Scene.withPhone()
    try scene.activity("phone", in: nil, at: noon)
    try scene.stream("phone", at: noon)
    let written = try example.act(scene)
    let target = try #require(written.push?.targets.first)
    #expect(target.deviceId == "phone")
    #expect((target.notBefore != nil) == example.waits)
    if example.waits { #expect(target.notBefore == scene.driver.now + 2 * second) }
  }

  @Test("a stream alone shows that the app is open: there is a banner, other devices do not wait")
  func alone() throws {
    let scene = try Scene.withPhone()
    try scene.gain("laptop")
    #expect(try scene.message("m0", in: "c0").banners.isEmpty)
    try scene.stream("laptop", at: noon)
    let written = try scene.message("m1", at: noon + second)
    #expect(written.decision?.outcome == .notify && written.banners.count == 1)
    #expect(try waits(written, at: noon + second) == ["phone": nil, "laptop": 2 * second])
    // A stream of somebody else's device shows and delays nothing.
    let other = try Scene.withPhone()
    try other.stream("bob's phone", at: noon)
    #expect(try waits(other.message("m1", at: noon + second), at: noon + second) == ["phone": nil])
  }

  @Test("the answer takes the push from its device alone, once; the message has arrived there")
  func answer() throws {
    let scene = try live()
    let written = try scene.message("m1", at: noon + second)
    let answer = try scene.answer(written, on: "phone", at: noon + 2 * second)
    #expect(
      answer.cancelled == [
        PushCancelled(userId: "ann", deviceId: "phone", messageId: "m1", conversationId: "c1", kind: .message)
      ])
    #expect(answer.receipts.map(\.body.state) == [.arrived])
    #expect(try scene.answer(written, on: "phone", at: noon + 3 * second).pushEvents.isEmpty)
    // The receipt of a push is no answer.
    let next = try scene.message("m2", at: noon + 10 * second)
    #expect(try scene.answer(next, on: "phone", isBanner: nil, at: noon + 11 * second).pushEvents.isEmpty)
  }

  @Test("an answer that is nobody's, or names a push that there is not, takes nothing")
  func wrongAnswers() throws {
    let scene = try live()
    let written = try scene.message("m1", at: noon + second)
    #expect(try scene.answer(written, on: "bob's phone", at: noon + 2 * second).pushEvents.isEmpty)
    let other = try scene.message("m2", in: "c2", at: noon + second)
    var mixed = try #require(written.banners.first)
    mixed.pushId = try #require(other.banners.first).pushId
    #expect(try scene.answer(mixed, on: "phone", at: noon + 2 * second).pushEvents.isEmpty)
    mixed.pushId = "p-invented"
    #expect(try scene.answer(mixed, on: "phone", at: noon + 2 * second).pushEvents.isEmpty)
  }

  @Test("streams and reports of activity do not drive each other out, and rows are as former releases read them")
  func rows() throws {
    var user = UserRow()
    func stamp(_ number: Int) -> EventStamp { EventStamp(occurredAt: noon + Int64(number), eventId: "e\(number)") }
    for number in 0..<20 {
      let device = "device-\(number)"
      user.report(DeviceActivity(deviceId: device, state: .foreground, conversationId: nil, stamp: stamp(number)))
      user.report(
        stream: Activity(userId: "ann", deviceId: device, state: .idle, tabId: "s\(number)"), isOpen: true,
        stamp(number))
    }
    let (streams, reports) = (user.activities.filter(\.isStream), user.activities.filter { !$0.isStream })
    #expect(streams.map(\.deviceId) == (16..<20).reversed().map { "device-\($0)" })
    #expect(reports.map(\.deviceId) == (14..<20).reversed().map { "device-\($0)" })
    #expect(streams.allSatisfy { $0.state == .idle && $0.conversationId == nil })
    let packed = user.packed(capacity: 1_024)
    #expect(try packed.withUnsafeBytes { try UserRow(bytes: $0) } == user)
    // The longest ids there may be.
    var largest = UserRow()
    let id = String(repeating: "x", count: SchemaLimits.idBytes)
    for number in 0..<10 {
      let name = id.dropLast(2) + "\(10 + number)"
      let stamp = EventStamp(occurredAt: noon + Int64(number), eventId: id + id)
      largest.report(
        DeviceActivity(deviceId: String(name), state: .foreground, conversationId: id, stamp: stamp, tabId: id))
      largest.report(
        stream: Activity(userId: "ann", deviceId: String(name), state: .idle, tabId: id), isOpen: true, stamp)
    }
    #expect(largest.packed(capacity: 1_024).count + UserRow.maxDeviceIdBytes + 300 < StateLimits.maxRowBytes)
  }

  @Test("no client can say what a stream's report says of another tab")
  func mark() throws {
    let event = UserEvent(
      Envelope(eventId: "e", occurredAt: noon),
      .activity(Activity(userId: "ann", deviceId: "phone", state: .idle, tabId: "\u{1}stream-1")))
    #expect(throws: SchemaViolation.self) { try event.validate() }
  }
}

extension Scene {
  /// A stream of `ann`'s that answers banners is open, or has ended.
  @discardableResult
  fileprivate func stream(
    _ deviceId: String, _ name: String = "stream-1", isOpen: Bool = true, at time: Milliseconds
  ) throws -> Written {
    try send(
      .user(
        .activity(
          Activity(userId: "ann", deviceId: deviceId, state: isOpen ? .idle : .background, tabId: name, live: isOpen))),
      at: time)
  }

  fileprivate func answer(
    _ written: Written, on deviceId: String, isBanner: Bool? = true, at time: Milliseconds
  ) throws -> Written {
    guard let banner = written.banners.first else { throw NoBanner() }
    return try answer(banner, on: deviceId, isBanner: isBanner, at: time)
  }

  fileprivate func answer(
    _ banner: Banner, on deviceId: String, isBanner: Bool? = true, at time: Milliseconds
  ) throws -> Written {
    driver.now = time
    return try send(
      .user(
        .notificationReceived(
          NotificationReport(
            userId: "ann", deviceId: deviceId, pushId: banner.pushId ?? "", conversationId: banner.conversationId,
            messageId: banner.messageId, banner: isBanner))),
      at: time)
  }
}

private struct NoBanner: Error {}

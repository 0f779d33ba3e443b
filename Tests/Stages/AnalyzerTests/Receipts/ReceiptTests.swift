import NudgeCodec
import NudgeSchema
import StreamRuntime
import TestSupport
import Testing

@testable import Analyzer

@Suite("Receipts: what became of a push on a device, once")
struct ReceiptTests {
  private static let day: Milliseconds = 86_400_000

  /// With two phones whose apps report.
  private func twoPhones() throws -> Scene {
    let scene = try Scene.withPhone()
    try scene.gain("tablet")
    return scene
  }

  @Test("P10: arrived, opened and dismissed are recorded once each, with device, platform and times")
  func once() throws {
    let scene = try Scene.withPhone()
    let push = try #require(try scene.message("m1").push)
    let arrived = try #require(try scene.report(.arrived, push, at: noon + 2 * second).receipts.first)
    #expect(arrived.envelope.occurredAt == noon + 2 * second)
    #expect(
      arrived.body
        == ReceiptBody(
          pushId: push.pushId, userId: "ann", deviceId: "phone", state: .arrived, platform: .ios, sentAt: noon))
    #expect(arrived.origin.topic == "nudge.timeline" && arrived.source.topic == "user.events")
    #expect(try scene.report(.opened, push, at: noon + minute).states == [.opened])
    // The app sends the same again, in other events.
    for state in [ReceiptState.arrived, .opened, .arrived] {
      #expect(try scene.report(state, push, at: noon + 2 * minute).states == [])
    }
    let other = try #require(try scene.message("m2", at: noon + minute).push)
    #expect(try scene.report(.dismissed, other, at: noon + 2 * minute).states == [.dismissed])
    #expect(try scene.report(.arrived, other, at: noon + 3 * minute).states == [.arrived], "in any order")
  }

  @Test("P10: the time of a receipt is the device's, or ingest's where the device's clock is ahead")
  func clocks() throws {
    let scene = try Scene.withPhone()
    let push = try #require(try scene.message("m1").push)
    scene.driver.now = noon + second
    let event = TimelineEvent(
      Envelope(eventId: "ahead", occurredAt: noon + hour), origin: scene.nextOrigin(),
      source: scene.nextOrigin().position, takenAt: noon + second,
      .user(.notificationReceived(Scene.fields(push, "phone"))))
    let written = try scene.written(scene.driver.send(event, to: .timeline, key: "ann"))
    #expect(written.receipts.first?.envelope.occurredAt == noon + second)
  }

  @Test("P10: a report of a push or a device that the person does not have counts for nothing")
  func unknown() throws {
    let scene = try Scene.withPhone()
    let push = try #require(try scene.message("m1").push)
    var invented = push
    invented.pushId = "p-1"
    #expect(try scene.report(.arrived, invented, at: noon + second).states == [])
    var elsewhere = push
    elsewhere.conversationId = "c2"
    #expect(try scene.report(.arrived, elsewhere, at: noon + second).states == [])
    var nameless = push
    (nameless.conversationId, nameless.messageId) = (nil, nil)
    #expect(try scene.report(.arrived, nameless, at: noon + second).states == [])
    #expect(try scene.report(.arrived, push, on: "lost phone", at: noon + second).states == [])
    // A message that notified nobody has no push, although its id could be made.
    try scene.prefer(PreferencesPatch(enabled: false))
    #expect(try scene.message("m2", at: noon + minute).push == nil)
    var unsent = push
    unsent.messageId = "m2"
    unsent.pushId = AnalyzerRules(hash: standInHash).pushId(
      userId: "ann", kind: .message, cause: .message(conversationId: "c1", messageId: "m2"))
    #expect(try scene.report(.arrived, unsent, at: noon + 2 * minute).states == [])
    #expect(try scene.driver.allRows().allSatisfy { if case .receipts = $0.1 { false } else { true } })
  }

  @Test("P10: a day after the push nothing is recorded any more, so nothing is recorded twice")
  func aDay() throws {
    let scene = try Scene.withPhone()
    let push = try #require(try scene.message("m1").push)
    #expect(try scene.report(.arrived, push, at: noon + second).states == [.arrived])
    #expect(try scene.report(.opened, push, at: noon + Self.day).states == [.opened])
    let next = try #require(try scene.message("m2", at: noon + Self.day).push)
    #expect(try scene.report(.arrived, next, at: noon + Self.day + 1).states == [.arrived])
    // By now the first is forgotten.
    #expect(try scene.receiptsRow("phone")?.pushes.map(\.pushId) == [next.pushId])
    for state in [ReceiptState.arrived, .opened, .dismissed] {
      #expect(try scene.report(state, push, at: noon + Self.day + 1).states == [])
    }
  }

  @Test("P10: a notification is withdrawn where its conversation was read elsewhere, whichever event comes first")
  func withdrawn() throws {
    let scene = try twoPhones()
    let push = try #require(try scene.message("m1").push)
    #expect(try scene.report(.arrived, push, at: noon + second).states == [.arrived])
    #expect(try scene.report(.arrived, push, on: "tablet", at: noon + second).states == [.arrived])
    let read = try scene.read(upTo: "m1", at: noon + minute, on: "phone")
    #expect(read.receipts.map(\.body.deviceId) == ["tablet"] && read.states == [.withdrawn])
    #expect(try scene.read(upTo: "m1", at: noon + minute + 1, on: "phone").states == [])
    // The tablet's report of the next one is late.
    let next = try #require(try scene.message("m2", at: noon + 2 * minute).push)
    #expect(try scene.read(upTo: "m2", at: noon + 3 * minute, on: "phone").states == [])
    #expect(
      try scene.report(.arrived, next, on: "tablet", at: noon + 2 * minute, now: noon + 4 * minute).states
        == [.arrived, .withdrawn])
    #expect(try scene.report(.arrived, next, at: noon + 2 * minute, now: noon + 4 * minute).states == [.arrived])
    // A message after the read stays.
    let last = try #require(try scene.message("m3", at: noon + 5 * minute).push)
    #expect(try scene.report(.arrived, last, on: "tablet", at: noon + 6 * minute).states == [.arrived])
  }

  @Test("P10: what the person opened or dismissed is not withdrawn; a tap that is reported later still counts")
  func opened() throws {
    let scene = try twoPhones()
    let push = try #require(try scene.message("m1").push)
    try scene.report(.opened, push, on: "tablet", at: noon + second)
    #expect(try scene.read(upTo: "m1", at: noon + minute, on: "phone").states == [])
    let next = try #require(try scene.message("m2", at: noon + 2 * minute).push)
    try scene.report(.arrived, next, on: "tablet", at: noon + 2 * minute)
    #expect(try scene.read(upTo: "m2", at: noon + 3 * minute, on: "phone").states == [.withdrawn])
    #expect(
      try scene.report(.opened, next, on: "tablet", at: noon + 2 * minute, now: noon + 4 * minute).states == [.opened])
    #expect(PushEndState(.sent, receipts: [.arrived, .withdrawn, .opened]) == .opened)
  }

  @Test("P10: of a message older than the last ones of its conversation the report says when it was written")
  func older() throws {
    let scene = try Scene.withPhone()
    let push = try #require(try scene.message("m0").push)
    for number in 1...PersonConversationRow.maxRecent {
      try scene.message("m\(number)", at: noon + Int64(number) * second)
    }
    let now = noon + minute
    #expect(try scene.report(.arrived, push, at: now, sentAt: nil).states == [])
    #expect(try scene.report(.arrived, push, at: now, sentAt: now + hour).states == [], "it is not that new")
    #expect(try scene.report(.arrived, push, at: now, sentAt: now - 2 * Self.day).states == [])
    #expect(try scene.report(.arrived, push, at: now, sentAt: noon).states == [.arrived])
    #expect(try scene.report(.arrived, push, at: now, sentAt: noon).states == [])
  }

  @Test("P10: pushes made later, by an edit or a replay, have receipts of their own")
  func madeLater() throws {
    let scene = try Scene.withPhone()
    let push = try #require(try scene.message("m1").push)
    try scene.report(.arrived, push, at: noon + second)
    scene.driver.now = noon + minute
    let edited = try #require(try scene.edit("m1", body: "hello here", at: noon + minute).push)
    #expect(edited.pushId != push.pushId)
    let receipt = try scene.report(.arrived, edited, at: noon + 2 * minute).receipts.first
    #expect(receipt?.body.sentAt == noon + minute && receipt?.body.pushId == edited.pushId)
    #expect(try scene.report(.arrived, edited, at: noon + 2 * minute).states == [])

    var candidate = Scene.candidate("m1", body: "hello here", replayId: "replay-1")
    candidate.forced = true
    scene.driver.now = noon + 3 * minute
    let again = try #require(try scene.send(.redecide(candidate), at: noon).push)
    #expect(again.pushId != push.pushId)
    #expect(try scene.report(.arrived, again, at: noon + 4 * minute).states == [.arrived])
    #expect(try scene.report(.opened, push, at: noon + 4 * minute).states == [.opened])
  }

  @Test("P10: a device's row has a bound; what it had to forget is recorded no second time")
  func bounded() throws {
    let scene = try Scene.withPhone()
    var pushes: [Push] = []
    for number in 0..<150 {
      let time = noon + Int64(number) * second
      let push = try #require(try scene.message("m\(number)", in: "c\(number % 7)", at: time).push)
      pushes.append(push)
      #expect(try scene.report(.arrived, push, at: time + 1).states == [.arrived])
    }
    let row = try #require(try scene.receiptsRow("phone"))
    #expect(row.pushes.count == DeviceReceiptsRow.maxPushes)
    #expect(row.packed().count < 4_096)
    let now = noon + 200 * second
    for (number, push) in pushes.enumerated() {
      #expect(try scene.report(.arrived, push, at: now, sentAt: noon + Int64(number) * second).states == [])
    }
    let opened = try pushes.map { try scene.report(.opened, $0, at: now).states.count }
    #expect(opened.reduce(0, +) == DeviceReceiptsRow.maxPushes)
  }

  @Test("P10: making a push writes no row for its receipts")
  func cost() throws {
    func rows(reporting: Bool) throws -> (rows: Int, bytes: Int) {
      let scene = try twoPhones()
      let first = try #require(try scene.message("m0").push)
      for device in ["phone", "tablet"] where reporting { try scene.report(.arrived, first, on: device, at: noon + 1) }
      try scene.driver.commit()
      var total = (rows: 0, bytes: 0)
      for number in 1...20 {
        try scene.message("m\(number)", at: noon + Int64(number) * minute)
        let written = try scene.driver.commit()
        total = (total.rows + written.rows, total.bytes + written.bytes)
      }
      return total
    }
    let (with, without) = (try rows(reporting: true), try rows(reporting: false))
    #expect(with == without)
    #expect(without.rows == 40, "the person's and the conversation's")
  }

  @Test("P10: whatever comes in whatever order, twice, with restarts: each state of a push and device once")
  func anyOrder() throws {
    var random = SeededGenerator(announcedFor: "receipts")
    let seed = random.seed
    for _ in 0..<20 {
      let scene = try twoPhones()
      var pushes: [Push] = []
      for number in 0..<12 {
        pushes.append(
          try #require(try scene.message("m\(number)", in: "c\(number % 3)", at: noon + Int64(number) * second).push))
      }
      var reports: [(Push, String, ReceiptState)] = []
      for push in pushes {
        for device in ["phone", "tablet"] {
          for state in [ReceiptState.arrived, .opened, .dismissed] where !random.oneIn(3) {
            for _ in 0...random.below(3) { reports.append((push, device, state)) }
          }
        }
      }
      reports.shuffle(using: &random)
      var seen: [String: Int] = [:]
      func note(_ written: Written) {
        for receipt in written.receipts {
          seen["\(receipt.body.pushId) \(receipt.body.deviceId) \(receipt.body.state)", default: 0] += 1
        }
      }
      for (number, report) in reports.enumerated() {
        note(try scene.report(report.2, report.0, on: report.1, at: noon + minute + Int64(number)))
        if random.oneIn(9) {
          note(
            try scene.read(
              "c\(random.below(3))", at: noon + minute + Int64(number), on: random.oneIn(2) ? "phone" : "tablet"))
        }
        if random.oneIn(7) { try scene.driver.restart() }
      }
      #expect(seen.values.allSatisfy { $0 == 1 }, "seed \(seed)")
      let wanted = Set(reports.map { "\($0.0.pushId) \($0.1) \($0.2)" })
      #expect(Set(seen.keys.filter { !$0.hasSuffix("withdrawn") }) == wanted, "seed \(seed)")
    }
  }

  @Test("P10: receipts outrank the outcome; the person's act outranks what happened elsewhere")
  func endStates() {
    #expect(PushEndState(nil, receipts: []) == .waiting)
    #expect(PushEndState(.sent, receipts: []) == .taken)
    #expect(PushEndState(nil, receipts: [.opened]) == .opened, "before FCM's answer was recorded")
    #expect(PushEndState(.gaveUp, receipts: [.arrived]) == .arrived, "FCM's answer was lost")
    #expect(PushEndState(.sent, receipts: [.withdrawn, .arrived]) == .withdrawn)
    #expect(PushEndState(.sent, receipts: [.dismissed, .withdrawn]) == .dismissed)
    #expect(PushEndState(.cancelled, receipts: []) == .withdrawn)
    #expect(PushEndState(.cancelled, errorCode: "UNAVAILABLE", receipts: []) == .withdrawn)
    #expect(PushEndState(.cancelled, errorCode: "lane_full", receipts: []) == .failed)
    for result in [OutcomeResult.expired, .invalidToken, .quarantined, .rejected, .gaveUp] {
      #expect(PushEndState(result, receipts: []) == .failed)
    }
  }

  @Test("D16: receipts are erased with the person, and with a device that is forgotten")
  func erased() throws {
    let scene = try Scene.withPhone()
    let push = try #require(try scene.message("m1").push)
    try scene.report(.arrived, push, at: noon + second)
    scene.driver.now = noon + minute
    try scene.send(.user(.deleted(UserDeleted(userId: "ann"))), at: noon + minute)
    scene.driver.now += 20
    scene.driver.wake()
    #expect(try scene.receiptsRow("phone") == nil)

    let other = try Scene.withPhone()
    try other.report(.arrived, try #require(try other.message("m1").push), at: noon + second)
    other.driver.now = noon + 271 * Self.day
    try other.driver.fireTimers()
    #expect(try other.receiptsRow("phone") == nil)
  }
}

extension Written {
  fileprivate var states: [ReceiptState] { receipts.map(\.body.state) }
}

extension Scene {
  fileprivate static func fields(_ push: Push, _ device: String, sentAt: Milliseconds? = nil) -> NotificationReport {
    NotificationReport(
      userId: "ann", deviceId: device, pushId: push.pushId, conversationId: push.conversationId,
      messageId: push.messageId, sentAt: sentAt)
  }

  @discardableResult
  fileprivate func report(
    _ state: ReceiptState, _ push: Push, on device: String = "phone", at time: Milliseconds, now: Milliseconds? = nil,
    sentAt: Milliseconds? = nil
  ) throws -> Written {
    driver.now = now ?? time
    let fields = Self.fields(push, device, sentAt: sentAt)
    switch state {
    case .opened: return try send(.user(.notificationOpened(fields)), at: time)
    case .dismissed: return try send(.user(.notificationDismissed(fields)), at: time)
    case .arrived, .withdrawn: return try send(.user(.notificationReceived(fields)), at: time)
    }
  }

  fileprivate func receiptsRow(_ device: String) throws -> DeviceReceiptsRow? {
    guard case .receipts(let row)? = try driver.row(AnalyzerRow.receiptsKey("ann", device)) else { return nil }
    return row
  }
}

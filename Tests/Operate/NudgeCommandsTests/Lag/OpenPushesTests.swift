import Dispatcher
import NudgeSchema
import TestSupport
import Testing

@testable import NudgeCommands

@Suite("Pushes without an outcome")
struct OpenPushesTests {
  @Test("one a push and device, from its decision to its outcome, in whatever order the two are read")
  func counts() {
    var pushes = OpenPushes()
    pushes.decided("p1", on: "phone", at: 1_000)
    pushes.decided("p1", on: "tablet", at: 1_000)
    pushes.decided("p2", on: "phone", at: 3_000)
    #expect(pushes.standing(now: 5_000) == DeliveryStanding(waiting: 3, oldestAge: 4_000, sinceJudged: nil))
    pushes.ended("p1", on: "phone", .sent, attempts: 1, at: 4_000)
    pushes.ended("p3", on: "phone", .cancelled, attempts: 0, at: 4_500)
    pushes.decided("p3", on: "phone", at: 4_400)
    #expect(pushes.standing(now: 5_000) == DeliveryStanding(waiting: 2, oldestAge: 4_000, sinceJudged: 1_000))
    // Its time was over, and nobody was asked: that judges nothing.
    pushes.ended("p1", on: "tablet", .expired, attempts: 0, at: 4_900)
    #expect(pushes.standing(now: 5_000) == DeliveryStanding(waiting: 1, oldestAge: 2_000, sinceJudged: 1_000))
    pushes.forget(before: 3_001)
    #expect(pushes.standing(now: 5_000).waiting == 0)
  }

  @Test("a held message is late once its time is over without a final decision; a later deferral moves the time")
  func holds() {
    var holds = OpenHolds()
    holds.decided("ann", "c", "m1", heldUntil: 10_000)
    holds.decided("ben", "c", "m1", heldUntil: 20_000)
    #expect(holds.count == 2 && holds.lateness(now: 9_999) == nil && holds.lateness(now: 12_000) == 2_000)
    holds.decided("ann", "c", "m1", heldUntil: 90_000)
    #expect(holds.lateness(now: 12_000) == nil && holds.lateness(now: 21_000) == 1_000)
    holds.decided("ben", "c", "m1", heldUntil: nil)
    #expect(holds.count == 1 && holds.lateness(now: 60_000) == nil)
    var report = LagReport(inputs: [])
    report.held = LagReport.Held(waiting: 1, late: 45_000)
    #expect(
      report.age == 45_000
        && report.text(byPartition: false).contains("1 message is held, the first should have been decided 45s ago"))
    report.held = LagReport.Held(waiting: 0, late: 0)
    #expect(report.age == 0 && report.text(byPartition: false).isEmpty)
  }

  @Test("a catch-up waits until its task has changed its state after it was due, and is late where it has not")
  func catchUps() {
    var catchUps = OpenCatchUps()
    catchUps.add("ann", in: 0, due: 50_000)
    catchUps.add("ann", in: 0, due: 50_000)
    catchUps.add("ben", in: 0, due: 90_000)
    catchUps.add("cleo", in: 1, due: 60_000)
    #expect(catchUps.count == 3 && catchUps.tasks == [0, 1])
    #expect(catchUps.next(after: 55_000) == 60_000 && catchUps.lateness(now: 49_999) == nil)
    catchUps.madeAll(of: 0, dueBy: 50_004)
    #expect(catchUps.count == 2 && catchUps.lateness(now: 59_000) == nil)
    // Task 1 stands still.
    catchUps.madeAll(of: 1, dueBy: 40_000)
    #expect(catchUps.lateness(now: 160_000) == 100_000)
    // A new time is that of the person's catch-up.
    catchUps.add("cleo", in: 1, due: 200_000)
    #expect(catchUps.count == 2 && catchUps.next(after: 100_000) == 200_000)

    var report = LagReport(inputs: [])
    report.catchUps = LagReport.CatchUps(waiting: 1, next: Self.morning, late: 0, isPartial: false)
    #expect(report.age == 0)
    #expect(
      report.text(byPartition: false)
        == "analyzer  (catch-ups)  1 person waits for a catch-up, the next is due at 2026-11-21T15:40:00.000Z",
      "\(report.text(byPartition: false))")
    report.catchUps = LagReport.CatchUps(waiting: 3, next: nil, late: 120_000, isPartial: true)
    #expect(report.age == 120_000)
    #expect(report.text(byPartition: false).contains("at least 3 people wait for a catch-up, the first was due 2m ago"))
  }

  private static let morning: Milliseconds = 1_795_275_600_000

  @Test("memory is bounded, and it says that some are left out")
  func bound() {
    var pushes = OpenPushes(most: 10)
    for number in 0..<12 { pushes.decided("p\(number)", on: "d", at: Milliseconds(number)) }
    #expect(pushes.isFull && pushes.standing(now: 20).waiting == 10)
    pushes.forget(before: 5)
    #expect(!pushes.isFull && pushes.standing(now: 20).waiting == 5)
  }

  @Test(
    "lag says how many wait and since when, and counts them for --max-age; the doctor has a problem where they stand")
  func shown() {
    var report = LagReport(inputs: [])
    let standing = DeliveryStanding(waiting: 359, oldestAge: 42_000, sinceJudged: 41_000)
    report.pushes = LagReport.Pushes(standing, isPartial: false)
    #expect(report.age == 42_000)
    #expect(
      report.text(byPartition: false).hasSuffix(
        "359 pushes without an outcome, the oldest decided 42s ago; the last was taken or refused 41s ago"))
    let finding = DoctorChecks.delivery(LagReport.Pushes(standing, isPartial: false))
    #expect(finding.weight == .problem && finding.text.contains("359 pushes"))
    #expect(DoctorExit.code([finding], failsOnNotice: false) == 1)
    let moving = DeliveryStanding(waiting: 1, oldestAge: 2_000, sinceJudged: 10)
    #expect(DoctorChecks.delivery(LagReport.Pushes(moving, isPartial: true)).weight == .good)
    report.pushes = LagReport.Pushes(moving, isPartial: true)
    #expect(report.text(byPartition: false).hasSuffix("at least 1 push without an outcome, the oldest decided 2s ago"))
    report.pushes = LagReport.Pushes(DeliveryStanding(waiting: 0, oldestAge: nil, sinceJudged: nil), isPartial: false)
    #expect(report.age == 0 && report.text(byPartition: false).hasSuffix("every push has its outcome"))
  }
}

@Suite("Pushes without an outcome, on topics")
struct OpenPushesOnTopicsTests {
  private static let now: Milliseconds = 1_795_275_600_000

  private func push(_ id: String, devices: [String], at time: Milliseconds) -> String {
    let targets = devices.map { #"{"deviceId":"\#($0)","token":"t","version":1,"platform":"ios"}"# }.joined(
      separator: ",")
    return
      #"{"schemaVersion":1,"type":"push","eventId":"e\#(id)","occurredAt":\#(time),"pushId":"\#(id)","kind":"message","userId":"ann","targets":[\#(targets)],"decidedAt":\#(time)}"#
  }

  private func outcome(_ id: String, device: String, _ result: String, at time: Milliseconds) -> String {
    #"{"type":"outcome","pushId":"\#(id)","userId":"ann","deviceId":"\#(device)","result":"\#(result)","attempts":1,"finishedAt":\#(time)}"#
  }

  @Test("the first look reads what there is, later ones what came since; cancellations and receipts are no outcomes")
  func looks() throws {
    let world = try BrowsedBroker()
    let start = Self.now
    try world.produce(push("p1", devices: ["phone", "tablet"], at: start), key: "ann", to: .pushes, at: start)
    try world.produce(
      #"{"type":"push.cancelled","userId":"ann","messageId":"m"}"#, key: "ann", to: .pushes, at: start)
    try world.produce(
      outcome("p1", device: "phone", "sent", at: start + 100), key: "ann", to: .outcomes, at: start + 100)
    try world.produce(
      #"{"type":"receipt","pushId":"p1","userId":"ann","deviceId":"tablet","state":"arrived"}"#, key: "ann",
      to: .outcomes,
      at: start + 200)
    try world.flush()
    let browser = try world.browser()
    try browser.find([.pushes, .outcomes])
    var reading = OpenPushesReading()
    let first = try reading.read(browser, now: start + 20_000)
    #expect(first == DeliveryStanding(waiting: 1, oldestAge: 20_000, sinceJudged: 19_900) && first.isStanding)
    try world.produce(
      outcome("p1", device: "tablet", "sent", at: start + 20_500), key: "ann", to: .outcomes, at: start + 20_500)
    try world.produce(push("p2", devices: ["phone"], at: start + 20_800), key: "ann", to: .pushes, at: start + 20_800)
    try world.flush()
    let second = try reading.read(browser, now: start + 21_000)
    #expect(second == DeliveryStanding(waiting: 1, oldestAge: 200, sinceJudged: 500) && !second.isStanding)
    #expect(!reading.isPartial)
  }

  @Test("an outcome whose push is not among those read is forgotten with the next reading")
  func outcomesWithoutPushes() throws {
    let world = try BrowsedBroker()
    let start = Self.now
    func produce(_ id: String, at time: Milliseconds) throws {
      try world.produce(outcome(id, device: "phone", "sent", at: time), key: "ann", to: .outcomes, at: time)
      try world.flush()
    }
    try world.produce(push("p1", devices: ["phone"], at: start), key: "ann", to: .pushes, at: start)
    try produce("older", at: start + 100)
    let browser = try world.browser()
    try browser.find([.pushes, .outcomes])
    var reading = OpenPushesReading()
    for number in 1...3 {
      let now = start + Milliseconds(number * 1_000)
      let standing = try reading.read(browser, now: now)
      #expect(standing.waiting == 1 && standing.sinceJudged == 900 && reading.pushes.early.count == 1)
      try produce("older\(number)", at: now + 100)
    }
  }
}

import NudgeSchema
import Testing

@testable import NudgeLab

@Suite("The delivery ledger")
struct DeliveryLedgerTests {
  private static let token = "token-of-b"

  private func origin(_ offset: Int64) -> Origin { Origin(topic: "t", partition: 0, offset: offset) }

  /// Two messages to b and c: b gets the first on one device, the rest is suppressed.
  private func complete(seesAborted: Bool = false, leavingOut part: String = "") -> DeliveryLedger {
    var ledger = DeliveryLedger(seesAborted: seesAborted)
    ledger.register(deviceId: "b/phone", token: Self.token, platform: .ios)
    if part != "load" {
      ledger.published(LoadMessage(messageId: "m1", recipients: ["b", "c"], at: 1_000))
    }
    ledger.published(LoadMessage(messageId: "m2", recipients: ["b"], at: 2_000))
    ledger.candidate(
      messageId: "m1", recipients: part == "recipient" ? ["b"] : ["b", "c"], origin: origin(1))
    if part != "candidate" { ledger.candidate(messageId: "m2", recipients: ["b"], origin: origin(2)) }
    decide(&ledger, "b", "m1", .relevant, push: "p1", offset: 10)
    if part != "decision" { decide(&ledger, "c", "m1", .quietHours, offset: 10) }
    decide(&ledger, "b", "m2", .activeConversation, offset: 11)
    if part != "push" {
      ledger.push(pushId: "p1", userId: "b", messageId: "m1", deviceIds: ["b/phone"], origin: origin(10))
    }
    if part != "outcome" {
      ledger.outcome(pushId: "p1", deviceId: "b/phone", result: .sent, origin: origin(20))
    }
    if part != "request" {
      ledger.request(pushId: "p1", token: Self.token, messageId: "m1", status: 200, at: 1_030)
    }
    return ledger
  }

  private func decide(
    _ ledger: inout DeliveryLedger, _ user: String, _ message: String, _ reason: DecisionReason, push: String? = nil,
    offset: Int64
  ) {
    ledger.decision(
      userId: user, messageId: message, reason: reason, pushId: push, origin: origin(offset), replayId: nil)
  }

  private func verdict(_ ledger: DeliveryLedger, killed: Bool = false, ending: LedgerVerdict.Ending? = nil)
    -> LedgerVerdict
  {
    var load = EventPublisher.Progress()
    load.produced = 3
    load.acknowledged = 3
    return LedgerVerdict(ledger, load: load, wasDispatcherKilled: killed, ending: ending)
  }

  /// The names of the checks that fail.
  private func failing(_ ledger: DeliveryLedger, killed: Bool = false) -> [String] {
    verdict(ledger, killed: killed).checks.filter { !$0.ok }.map(\.name)
  }

  @Test(
    "what others publish meanwhile counts for nothing, whatever is read first, and is said apart",
    arguments: [false, true])
  func foreign(_ outcomeFirst: Bool) {
    var ledger = DeliveryLedger(seesAborted: false, ownPrefix: "run/")
    ledger.register(deviceId: "b/phone", token: Self.token, platform: .ios)
    ledger.published(LoadMessage(messageId: "run/1", recipients: ["b"], at: 1_000))
    ledger.candidate(messageId: "run/1", recipients: ["b"], origin: origin(1))
    decide(&ledger, "b", "run/1", .relevant, push: "p1", offset: 10)
    ledger.push(pushId: "p1", userId: "b", messageId: "run/1", deviceIds: ["b/phone"], origin: origin(10))
    ledger.outcome(pushId: "p1", deviceId: "b/phone", result: .sent, origin: origin(20))
    ledger.request(pushId: "p1", token: Self.token, messageId: "run/1", status: 200, at: 1_030)
    // By hand, for a person of the load and for one that it does not know.
    ledger.candidate(messageId: "mine", recipients: ["b", "bob"], origin: origin(2))
    decide(&ledger, "b", "mine", .relevant, push: "p2", offset: 11)
    decide(&ledger, "bob", "mine", .relevant, push: "p3", offset: 11)
    let outcomes = { (ledger: inout DeliveryLedger) in
      ledger.outcome(pushId: "p2", deviceId: "b/phone", result: .sent, origin: self.origin(21))
      ledger.outcome(pushId: "p3", deviceId: "bob/phone", result: .sent, origin: self.origin(22))
      ledger.request(pushId: "p2", token: Self.token, messageId: "mine", status: 200, at: 1_040)
      ledger.request(pushId: "p3", token: "token-of-bob", messageId: "mine", status: 200, at: 1_040)
      ledger.request(pushId: "p4", token: "token-of-bob", messageId: nil, status: 200, at: 1_050)
    }
    if outcomeFirst { outcomes(&ledger) }
    ledger.push(pushId: "p2", userId: "b", messageId: "mine", deviceIds: ["b/phone"], origin: origin(11))
    ledger.push(pushId: "p3", userId: "bob", messageId: "mine", deviceIds: ["bob/phone"], origin: origin(11))
    ledger.push(pushId: "p4", userId: "bob", messageId: nil, deviceIds: ["bob/phone"], origin: origin(12))
    if !outcomeFirst { outcomes(&ledger) }
    #expect(ledger.isSettled && failing(ledger).isEmpty, "\(failing(ledger))")
    #expect(ledger.outcomes == 1 && ledger.requestsByStatus[200] == 1 && ledger.decisions == 1)
    #expect(verdict(ledger).foreignLine == "left out: 1 message that was published by hand")
    #expect(verdict(complete()).foreignLine == nil)
  }

  // MARK: Balance

  @Test("what somebody publishes by hand while the load introduces itself is none of its devices and preferences")
  func introducedByHand() {
    var ledger = DeliveryLedger(seesAborted: false, ownPrefix: "load-")
    ledger.register(deviceId: "own", token: "t", platform: .ios)
    ledger.introduction.expectPreferences(of: "ann")
    ledger.introduction.deviceRegistered("by-hand")
    ledger.introduction.preferencesUpdated("bob")
    #expect(ledger.introduction.seen == (0, 0))
    ledger.introduction.deviceRegistered("own")
    ledger.introduction.preferencesUpdated("ann")
    #expect(ledger.introduction.seen == (1, 1))
  }

  @Test("balances if every recipient has a decision, every target an outcome and every sent push a request")
  func balance() {
    let ledger = complete()
    #expect(ledger.isSettled)
    #expect(verdict(ledger).isBalanced)
    #expect((ledger.expected, ledger.candidates, ledger.decisions) == (3, 3, 3))
    #expect((ledger.pushes, ledger.targets, ledger.outcomes) == (1, 1, 1))
    #expect(ledger.decisionsByReason == [.relevant: 1, .quietHours: 1, .activeConversation: 1])
    #expect(ledger.latency.percentile(0.5) == 30)
  }

  @Test(
    "fails, and is not settled, if a record is missing",
    arguments: [
      ("load", "recipients of published messages = recipients of candidates"),
      ("candidate", "recipients of published messages = recipients of candidates"),
      ("recipient", "recipients of published messages = recipients of candidates"),
      ("decision", "recipients of candidates = decisions"),
      ("push", "decisions that notify = pushes of messages"),
      ("outcome", "targets of pushes = outcomes"),
      ("request", "outcomes sent = requests taken"),
    ])
  func missing(part: String, check: String) {
    let ledger = complete(leavingOut: part)
    #expect(!ledger.isSettled)
    #expect(failing(ledger).contains(check))
  }

  @Test("names the person whose decision is missing")
  func naming() {
    let complaints = verdict(complete(leavingOut: "decision")).complaints
    #expect(complaints.count == 1)
    #expect(complaints.first?.contains("expected 3, found 2") == true)
    #expect(complaints.first?.contains("message m1 for c") == true)
  }

  @Test("fails if the counts are equal and the people are not")
  func equalNumbers() {
    var ledger = complete(leavingOut: "decision")
    decide(&ledger, "stranger", "m1", .relevant, offset: 12)
    #expect(ledger.candidates == ledger.decisions)
    #expect(failing(ledger) == ["recipients of candidates = decisions"])
  }

  @Test("does not depend on the order in which the topics are read")
  func order() {
    var ledger = DeliveryLedger(seesAborted: false)
    ledger.register(deviceId: "b/phone", token: Self.token, platform: .ios)
    ledger.request(pushId: "p1", token: Self.token, messageId: "m1", status: 200, at: 1_030)
    ledger.outcome(pushId: "p1", deviceId: "b/phone", result: .sent, origin: origin(20))
    ledger.push(pushId: "p1", userId: "b", messageId: "m1", deviceIds: ["b/phone"], origin: origin(10))
    decide(&ledger, "b", "m1", .relevant, push: "p1", offset: 10)
    ledger.candidate(messageId: "m1", recipients: ["b"], origin: origin(1))
    #expect(!ledger.isSettled)
    ledger.published(LoadMessage(messageId: "m1", recipients: ["b"], at: 1_000))
    #expect(ledger.isSettled)
    #expect(verdict(ledger).isBalanced)
    #expect(ledger.latency.maximum == 30)
  }

  // MARK: Twice

  @Test("fails if a message has two decisions for a person")
  func doubleDecision() {
    var ledger = complete()
    decide(&ledger, "c", "m1", .relevant, offset: 10)
    #expect(ledger.decisions == 3)
    #expect(failing(ledger) == ["records written twice"])
    #expect(verdict(ledger).complaints.first?.contains("decision on m1 for c") == true)
  }

  @Test("fails if an outcome, a candidate or a push exists twice")
  func doubles() {
    var outcome = complete()
    outcome.outcome(pushId: "p1", deviceId: "b/phone", result: .cancelled, origin: origin(20))
    var candidate = complete()
    candidate.candidate(messageId: "m2", recipients: ["b"], origin: origin(2))
    var push = complete()
    push.push(pushId: "p1", userId: "b", messageId: "m1", deviceIds: ["b/phone"], origin: origin(10))
    for ledger in [outcome, candidate, push] { #expect(failing(ledger) == ["records written twice"]) }
    // This outcome names another record of the same push, which nobody wrote.
    var other = complete()
    other.outcome(pushId: "p1", deviceId: "b/phone", result: .cancelled, origin: origin(21))
    #expect(failing(other) == ["targets of pushes = outcomes"] && !other.isSettled)
  }

  @Test("recognises records of aborted transactions by their origin, on a broker without isolation")
  func repeats() {
    var ledger = complete(seesAborted: true)
    decide(&ledger, "c", "m1", .quietHours, offset: 10)
    ledger.outcome(pushId: "p1", deviceId: "b/phone", result: .sent, origin: origin(20))
    #expect(ledger.repeats == 2)
    #expect(verdict(ledger).isBalanced)
    decide(&ledger, "c", "m1", .quietHours, offset: 99)
    #expect(failing(ledger) == ["records written twice"])
  }

  @Test("leaves a replay's decisions out")
  func replay() {
    var ledger = complete()
    ledger.decision(
      userId: "b", messageId: "m1", reason: .duplicate, pushId: nil, origin: origin(50), replayId: "r1")
    #expect(verdict(ledger).isBalanced)
  }

  // MARK: Catch-ups

  /// The load of `complete`, and the catch-up of the only message that c missed.
  private func caughtUp(_ reason: DecisionReason = .quietHours, named push: String? = nil, catchUpFirst: Bool = false)
    -> DeliveryLedger
  {
    var ledger = complete(leavingOut: "decision")
    ledger.register(deviceId: "c/phone", token: "token-of-c", platform: .ios)
    let catchUp = { (ledger: inout DeliveryLedger) in
      ledger.push(pushId: "p7", userId: "c", messageId: "m1", deviceIds: ["c/phone"], origin: self.origin(70))
      ledger.outcome(pushId: "p7", deviceId: "c/phone", result: .sent, origin: self.origin(71))
      ledger.request(pushId: "p7", token: "token-of-c", messageId: "m1", status: 200, at: 9_000)
    }
    if catchUpFirst { catchUp(&ledger) }
    decide(&ledger, "c", "m1", reason, push: push, offset: 10)
    if !catchUpFirst { catchUp(&ledger) }
    return ledger
  }

  @Test(
    "a message that waited alone is pushed as the catch-up without a decision of its own", arguments: [false, true])
  func catchUpOfOne(catchUpFirst: Bool) {
    let ledger = caughtUp(catchUpFirst: catchUpFirst)
    #expect(ledger.isSettled && failing(ledger).isEmpty, "\(verdict(ledger).complaints)")
    #expect(ledger.notifying == (1, 1) && ledger.pushes == 2)
  }

  @Test("a second push of a message is a catch-up only if a device left the message to it", arguments: [false, true])
  func secondPush(isLeft: Bool) {
    var ledger = caughtUp(.relevant, named: "p6")
    ledger.push(pushId: "p6", userId: "c", messageId: "m1", deviceIds: ["c/phone"], origin: origin(10))
    ledger.outcome(
      pushId: "p6", deviceId: "c/phone", result: .expired, origin: origin(60), isLeftToCatchUp: isLeft)
    #expect(ledger.isSettled == isLeft)
    #expect(failing(ledger) == (isLeft ? [] : ["decisions that notify = pushes of messages"]))
  }

  @Test("a catch-up is updated under its id, and each update has an outcome and a request")
  func updates() {
    var ledger = complete()
    let push = { (ledger: inout DeliveryLedger, isUpdate: Bool, offset: Int64) in
      ledger.push(
        pushId: "p8", userId: "b", messageId: nil, isUpdate: isUpdate, deviceIds: ["b/phone"],
        origin: self.origin(offset))
    }
    let send = { (ledger: inout DeliveryLedger, offset: Int64) in
      ledger.outcome(pushId: "p8", deviceId: "b/phone", result: .sent, origin: self.origin(offset))
      ledger.request(pushId: "p8", token: Self.token, messageId: nil, status: 200, at: 9_000)
    }
    push(&ledger, false, 80)
    send(&ledger, 90)
    // The outcome of an update may be read before the update itself.
    send(&ledger, 91)
    #expect(!ledger.isSettled && failing(ledger) == ["targets of pushes = outcomes"])
    push(&ledger, true, 81)
    #expect(ledger.isSettled && failing(ledger).isEmpty, "\(verdict(ledger).complaints)")
    push(&ledger, true, 82)
    #expect(!ledger.isSettled && failing(ledger) == ["targets of pushes = outcomes"])
    ledger.outcome(pushId: "p8", deviceId: "b/phone", result: .sent, origin: origin(92))
    #expect(failing(ledger) == ["outcomes sent = requests taken"])
    ledger.request(pushId: "p8", token: Self.token, messageId: nil, status: 200, at: 9_000)
    #expect(ledger.isSettled && failing(ledger).isEmpty, "\(verdict(ledger).complaints)")
    #expect((ledger.pushes, ledger.targets, ledger.outcomes) == (2, 4, 4))
    push(&ledger, true, 82)
    #expect(failing(ledger) == ["records written twice"])
  }

  // MARK: Requests

  @Test("accepts repeated requests only after a kill of the dispatcher")
  func resent() {
    var ledger = complete()
    ledger.request(pushId: "p1", token: Self.token, messageId: "m1", status: 200, at: 9_000)
    #expect(failing(ledger) == ["outcomes sent = requests taken"])
    #expect(verdict(ledger, killed: true).isBalanced)
    #expect(ledger.unrecorded == 1)
    #expect(ledger.latency.count == 1)
  }

  @Test("fails on a request without an outcome, and on one for an unknown token")
  func unregisteredTokens() {
    var ledger = complete()
    ledger.request(pushId: "p9", token: Self.token, messageId: "m1", status: 200, at: 9_000)
    #expect(failing(ledger).contains("outcomes sent = requests taken"))
    #expect(!ledger.isSettled)
    var other = complete()
    other.request(pushId: "p1", token: "unknown", messageId: "m1", status: 200, at: 9_000)
    #expect(failing(other, killed: true) == ["outcomes sent = requests taken"])
  }

  @Test("issue 57: a push service takes a push with 201, and one for somebody else's message is left out again")
  func browser() {
    var ledger = DeliveryLedger(seesAborted: false, ownPrefix: "run/")
    ledger.register(deviceId: "b/tablet", token: "https://push.example/1", platform: .web)
    ledger.push(pushId: "p1", userId: "b", messageId: "run/1", deviceIds: ["b/tablet"], origin: origin(10))
    ledger.outcome(pushId: "p1", deviceId: "b/tablet", result: .sent, origin: origin(20))
    ledger.request(
      pushId: "p1", token: "https://push.example/1", messageId: "run/1", status: 201, at: 1_030)
    // A read has no message of its own; that it is of somebody else's is known with its push.
    ledger.request(pushId: "p2", token: "https://push.example/1", messageId: nil, status: 201, at: 1_040)
    #expect(ledger.requestsTaken == 2)
    ledger.push(pushId: "p2", userId: "b", messageId: "mine", deviceIds: ["b/tablet"], origin: origin(11))
    #expect(ledger.requestsTaken == 1 && ledger.requestsByStatus[201] == 1 && ledger.requestsByStatus[200] == nil)
    #expect(!failing(ledger).contains("outcomes sent = requests taken"))
    // Taken, and without an outcome.
    ledger.request(
      pushId: "p3", token: "https://push.example/1", messageId: "run/2", status: 201, at: 1_050)
    #expect(failing(ledger).contains("outcomes sent = requests taken") && ledger.unrecorded == 1)
  }

  @Test("does not count rejected requests as sent")
  func refused() {
    var ledger = complete()
    ledger.request(pushId: "p1", token: Self.token, messageId: "m1", status: 503, at: 1_010)
    #expect(ledger.requestsByStatus == [200: 1, 503: 1])
    #expect(verdict(ledger).isBalanced)
  }

  // MARK: The rest

  @Test("fails on dead letters, unacknowledged events and a process that failed")
  func otherChecks() {
    var ledger = complete()
    ledger.deadLetter(code: "too_large")
    #expect(failing(ledger) == ["dead letters"])
    var load = EventPublisher.Progress()
    load.produced = 2
    load.acknowledged = 1
    load.failed = 1
    load.failure = "timed out"
    let verdict = LedgerVerdict(
      complete(), load: load, wasDispatcherKilled: false,
      ending: LedgerVerdict.Ending(processes: 4, endedWell: 3, complaints: ["nudge-analyzer ended with status 70"]))
    #expect(
      verdict.checks.filter { !$0.ok }.map(\.name) == ["events published = acknowledged", "processes that ended well"])
    #expect(!verdict.isBalanced)
  }
}

@Suite("Latencies")
struct LatencyHistogramTests {
  @Test("have the same percentiles as a sorted list", arguments: [1, 2, 3, 10, 99, 100, 101, 1_000])
  func percentiles(count: Int) {
    var random = SeededRandom(seed: UInt64(count))
    let values = (0..<count).map { _ in random.number(0...700) }
    var histogram = LatencyHistogram()
    for value in values { histogram.add(milliseconds: Int64(value)) }
    let sorted = values.sorted()
    for part in [0.01, 0.5, 0.9, 0.99, 1] {
      // Nearest rank: the smallest value that at least this part of all do not exceed.
      let expected = sorted.first { value in Double(sorted.count { $0 <= value }) >= part * Double(count) - 1e-9 }
      #expect(histogram.percentile(part) == expected, "\(part) of \(count)")
    }
    #expect(histogram.maximum == sorted.last)
    #expect(histogram.count == count)
  }

  @Test("start empty, are never below 0, and at most two minutes")
  func bounds() {
    var histogram = LatencyHistogram()
    #expect(histogram.percentile(0.5) == nil && histogram.maximum == nil)
    histogram.add(milliseconds: -5)
    #expect(histogram.maximum == 0)
    histogram.add(milliseconds: .max)
    #expect(histogram.maximum == LatencyHistogram.longest)
  }
}

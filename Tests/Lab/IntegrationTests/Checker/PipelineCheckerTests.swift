import Testing

@Suite("The checker finds what it is there to find")
struct PipelineCheckerTests {
  /// A rule, and a change of the sample that breaks this rule alone.
  struct Fault: CustomTestStringConvertible, Sendable {
    var rule: PipelineRule
    var name: String
    var spoil: @Sendable (inout SampleRun) throws -> Void

    init(_ rule: PipelineRule, _ name: String, _ spoil: @escaping @Sendable (inout SampleRun) throws -> Void) {
      (self.rule, self.name, self.spoil) = (rule, name, spoil)
    }

    var testDescription: String { "\(rule.rawValue): \(name)" }
  }

  static let faults: [Fault] = [
    Fault(.unprocessed, "an event behind ingest's position") {
      try $0.add("chat.events", 2, key: "c", ["type": "message.created"])
    },
    Fault(.unprocessed, "a task that has not run") {
      try $0.add("user.events", 0, key: "bob", ["type": "user.activity"])
    },
    Fault(.candidateMissing, "a recipient is left out") { $0.checker.expected?["m1"] = ["bob", "cem", "dan"] },
    Fault(.decisionMissing, "a candidate's recipient is skipped") {
      $0.checker.expected?["m1"] = ["bob", "cem", "dan"]
      try $0.change("nudge.timeline", 0) {
        $0["recipients"] = ["bob", "cem", "dan"].map { ["userId": $0] }
      }
    },
    Fault(.finalMissing, "what was deferred is forgotten") {
      try $0.change("nudge.decisions", 0) {
        $0["outcome"] = "deferred"
        $0["pushId"] = nil
      }
      try $0.again("nudge.decisions", 1) {
        $0["userId"] = "bob"
        $0["pushId"] = "m1-bob"
        $0["replayId"] = "r"
        $0["outcome"] = "suppress"
        $0["analysis"] = nil
      }
    },
    Fault(.pushMissing, "a decision's push was not made") {
      try $0.change("nudge.decisions", 0) { $0["pushId"] = "nobody-made-it" }
      try $0.again("nudge.decisions", 1) {
        $0["pushId"] = "m1-bob"
        $0["replayId"] = "r"
        $0["outcome"] = "suppress"
        $0["analysis"] = nil
      }
    },
    Fault(.outcomeMissing, "a target is forgotten") { $0.remove("nudge.outcomes", 1) },
    Fault(.receiptUncaused, "a receipt of a push that was never made") { try $0.addReceipt("nobody-made-it") },
    Fault(.receiptTwice, "the analyzer counted a report again") {
      try $0.addReceipt("m1-bob")
      try $0.addReceipt("m1-bob")
    },
    Fault(.requestMissing, "FCM was never asked") { $0.requests.remove(at: 0) },
    Fault(.unreadable, "a record that is no JSON") {
      $0.records.append(
        KafkaRecord(
          topic: "nudge.outcomes", partition: 1, offset: 0, timestamp: 0, key: "bob", value: Array("{".utf8)))
    },
    Fault(.unexpectedDeadLetter, "a record was refused") {
      $0.records.append(
        KafkaRecord(
          topic: "nudge.dead-letters", partition: 0, offset: 0, timestamp: 0, value: [],
          headers: ["nudge-error-code": "internal"]))
    },
    Fault(.unexpectedDeadLetter, "refused for another reason than it was to be") {
      try $0.addHostile("invalid_json")
      $0.addDeadLetter("schema_violation", 0)
    },
    Fault(.deadLetterTwice, "a record was refused again") {
      try $0.addHostile("invalid_json")
      $0.addDeadLetter("invalid_json", 0)
      $0.addDeadLetter("invalid_json", 1)
    },
    Fault(.deadLetterMissing, "what was to be refused is gone") { try $0.addHostile("invalid_json") },
    Fault(.unexpectedRecipient, "the sender hears of it") { $0.checker.expected?["m1"] = ["bob"] },
    Fault(.candidateTwice, "ingest did an event again") {
      try $0.again("nudge.timeline", 1)
      try $0.change("nudge.analyzer-state", 2) { $0["next"] = ["nudge.timeline": 3] }
      for index in $0.committed.indices where $0.committed[index].topic == "nudge.timeline" {
        $0.committed[index].offset = 3
      }
      for index in [2, 3] {
        try $0.again("nudge.decisions", index) {
          $0["origin"] = SampleRun.place("nudge.timeline", 2)
          $0["outcome"] = "suppress"
          $0["analysis"] = nil
          $0["pushId"] = nil
        }
      }
    },
    Fault(.decisionUncaused, "a decision out of nothing") {
      try $0.again("nudge.decisions", 3) {
        $0["userId"] = "dan"
        $0["outcome"] = "suppress"
      }
    },
    Fault(.decidedTwice, "the analyzer did a candidate again") {
      try $0.again("nudge.decisions", 3) {
        $0["outcome"] = "suppress"
        $0["analysis"] = nil
      }
    },
    Fault(.notifiedTwice, "a replay notified again") {
      try $0.again("nudge.decisions", 3) {
        $0["replayId"] = "r"
        $0["analysis"] = nil
      }
    },
    Fault(.pushUndecided, "a push nobody decided") {
      try $0.change("nudge.decisions", 3) {
        $0["pushId"] = nil
        $0["outcome"] = "suppress"
      }
    },
    Fault(.pushTwice, "a push was written again") {
      try $0.again("nudge.pushes", 3)
      try $0.change("nudge.dispatcher-state", 2) { $0["next"] = ["nudge.pushes": 5] }
      for index in $0.committed.indices where $0.committed[index].topic == "nudge.pushes" {
        $0.committed[index].offset = 5
      }
    },
    Fault(.escalatedTwice, "the webhook is told of a message by two pushes") {
      try $0.escalate(as: "w1")
      try $0.escalate(as: "w2")
    },
    Fault(.requestMissing, "the webhook got nothing") {
      try $0.escalate(as: "w1")
      $0.requests.removeLast()
    },
    Fault(.sentAgain, "the webhook had taken it") {
      try $0.escalate(as: "w1")
      $0.requests.append($0.requests[$0.requests.count - 1])
    },
    Fault(.outcomeUncaused, "an outcome of no target") {
      try $0.again("nudge.outcomes", 0) {
        $0["deviceId"] = "bob-2"
        $0["result"] = "expired"
      }
    },
    Fault(.outcomeTwice, "an outcome was written again") { try $0.again("nudge.outcomes", 0) },
    Fault(.sentAgain, "FCM had taken it") { $0.requests.insert($0.requests[0], at: 1) },
    Fault(.sentAgain, "long before the crash") { run in
      run.checker.dispatcherCrashes = [SampleRun.start + 60_000]
      run.requests.append(run.requests[0])
      run.requests[run.requests.count - 1].time = SampleRun.start + 60_001
      try run.change("nudge.outcomes", 0) { $0["finishedAt"] = SampleRun.start + 60_002 }
    },
    Fault(.sentAgain, "twice for one crash") { run in
      run.checker.dispatcherAbsences = [SampleRun.start + 5...SampleRun.start + 15]
      run.requests.insert(contentsOf: [run.requests[0], run.requests[0]], at: 1)
    },
    Fault(.sentAgain, "taken after the dispatcher was back") { run in
      run.checker.dispatcherAbsences = [SampleRun.start - 60_000...SampleRun.start + 9]
      run.requests.insert(run.requests[0], at: 1)
    },
    Fault(.catchUpMissing, "quiet hours held a message back, and no catch-up told of it") { run in
      run.checker.attention.silent = ["bob"]
      try run.hold("m1")
    },
    Fault(.catchUpMissing, "the catch-up left one out") { run in
      run.checker.attention.silent = ["bob"]
      try run.hold("m1")
      try run.hold("m2")
      try run.catchUp(["k1"])
    },
    Fault(.catchUpMissing, "it was not sent in time, and no catch-up told of it") { run in
      run.checker.attention.silent = ["bob"]
      try run.change("nudge.outcomes", 0) { $0["catchUp"] = true }
    },
    Fault(.caughtUpTwice, "in two catch-ups") { run in
      try run.catchUp(["k1"])
      try run.catchUp(["k2", "k1"])
    },
    Fault(.caughtUpTwice, "nothing was held back") { run in
      run.checker.attention.silent = ["bob"]
      try run.catchUp(["k1"])
    },
    Fault(.overBudget, "a second alert") { run in
      run.checker.attention.dailyAlerts = ["bob": 1]
      for index in [0, 2] { try run.change("nudge.decisions", index) { $0["presentation"] = "alert" } }
    },
    Fault(.sentAfterOutcome, "its end was on record") { run in
      run.checker.dispatcherCrashes = [SampleRun.start + 100]
      run.requests.append(run.requests[0])
      run.requests[run.requests.count - 1].time = SampleRun.start + 200
    },
    Fault(.sentAfterOutcome, "its end was on record, and the clock was right again") { run in
      run.checker.dispatcherCrashes = [SampleRun.start + 100]
      run.checker.dispatcherClocks = [.init(time: SampleRun.start + 500...SampleRun.start + 900, behind: 100)]
      run.requests.append(run.requests[0])
      run.requests[run.requests.count - 1].time = SampleRun.start + 200
    },
    Fault(.sentUncaused, "a request for no push") {
      $0.requests.append($0.requests[0])
      $0.requests[$0.requests.count - 1].pushId = "unknown"
    },
    Fault(.sentStale, "the freshness was over") { run in
      try run.change("nudge.pushes", 0) { $0["expiresAt"] = SampleRun.start + 9 }
    },
    // bob's second request comes 1,010 ms after the loss.
    Fault(.sentToFormerOwner, "somebody else had claimed the token") { try $0.loseToken(of: "bob", at: 2) },
    Fault(.pushedToFormerOwner, "the message came behind the loss") { run in
      run.checker.ownershipTime = 3_600_000
      try run.loseToken(of: "bob", at: 2)
      try run.change("nudge.pushes", 2) { $0["origin"] = SampleRun.place("nudge.timeline", 4) }
    },
    Fault(.userOrder, "two messages changed places") {
      for (index, offset) in [(0, 1), (2, 0)] {
        try $0.change("nudge.decisions", index) { $0["origin"] = SampleRun.place("nudge.timeline", Int64(offset)) }
      }
    },
    Fault(.deviceOrder, "the second push went first") { $0.requests.swapAt(0, 3) },
    Fault(.overLimit, "three analyses where two are allowed") {
      try $0.change("nudge.decisions", 0) {
        $0["analysis"] = ["used": 1, "limit": 1, "windowStartedAt": SampleRun.start]
      }
      try $0.change("nudge.decisions", 2) {
        $0["analysis"] = ["used": 1, "limit": 1, "windowStartedAt": SampleRun.start]
      }
    },
    Fault(.sequenceBroken, "a transaction is missing") { $0.remove("nudge.analyzer-state", 1) },
    Fault(.sequenceBroken, "two owners wrote the same") {
      let index = $0.records.firstIndex { $0.topic == "nudge.analyzer-state" } ?? 0
      $0.records.insert($0.records[index], at: index)
    },
    Fault(.positionMismatch, "the offsets are of another transaction") { $0.committed[0].metadata = "nudge:2" },
    Fault(.positionMismatch, "somebody moved the offsets") { $0.committed[0].offset = 77 },
    Fault(.positionMismatch, "nothing is committed") { $0.committed.remove(at: 0) },
  ]

  @Test("a run in which everything holds has no violation, and nothing is open")
  func good() throws {
    var run = try SampleRun()
    #expect(run.violations() == [])
    try run.escalate(as: "w1")
    #expect(run.violations() == [])
    var checker = run.checker
    for record in run.records { checker.read(record) }
    for request in run.requests { checker.read(request) }
    #expect(checker.open == [] && !checker.isOpen)
  }

  @Test("a fault breaks its rule and no other", arguments: faults)
  func finds(_ fault: Fault) throws {
    var run = try SampleRun()
    try fault.spoil(&run)
    let found = run.violations()
    #expect(Set(found.map(\.rule)) == [fault.rule], "\(found)")
    var checker = run.checker
    for record in run.records { checker.read(record) }
    for request in run.requests { checker.read(request) }
    #expect(checker.isOpen == !checker.open.isEmpty)
  }

  @Test("every rule has a fault that it finds")
  func complete() {
    #expect(Set(Self.faults.map(\.rule)) == Set(PipelineRule.allCases))
  }

  @Test(
    "what a replay by force asked for may notify again; the same asked for without force may not",
    arguments: [true, false])
  func forced(_ isForced: Bool) throws {
    var run = try SampleRun()
    try run.again("nudge.timeline", 0) {
      $0["type"] = "candidate.redecide"
      $0["replayId"] = "r"
      $0["forced"] = isForced ? true : nil
      $0["recipients"] = [["userId": "bob"]]
      $0["origin"] = SampleRun.place("nudge.timeline", 0)
    }
    try run.again("nudge.decisions", 0) {
      $0["replayId"] = "r"
      $0["origin"] = SampleRun.place("nudge.timeline", 2)
      $0["analysis"] = nil
    }
    let rules = run.violations().map(\.rule)
    #expect(rules.contains(.notifiedTwice) == !isForced)
  }

  @Test(
    "a failed push may be made again for devices that do not have it, and for no others", arguments: [true, false])
  func madeAgain(_ wasSent: Bool) throws {
    var run = try SampleRun()
    if !wasSent { try run.change("nudge.outcomes", 0) { $0["result"] = "gave_up" } }
    try run.again("nudge.timeline", 0) {
      $0["type"] = "candidate.redecide"
      $0["replayId"] = "r"
      $0["failedPushes"] = [["userId": "bob", "pushId": "p"]]
      $0["recipients"] = [["userId": "bob"]]
      $0["origin"] = SampleRun.place("nudge.timeline", 0)
    }
    try run.again("nudge.decisions", 0) {
      $0["replayId"] = "r"
      $0["origin"] = SampleRun.place("nudge.timeline", 2)
      $0["analysis"] = nil
    }
    #expect(run.violations().map(\.rule).contains(.notifiedTwice) == wasSent)
  }

  @Test("T2: the clock starts when the loss is committed, and does not run while something is the matter")
  func ownershipTime() throws {
    // bob's second request comes 1,010 ms after the loss was written.
    var run = try SampleRun()
    try run.loseToken(of: "bob", at: 2)
    #expect(run.violations().map(\.rule) == [.sentToFormerOwner])
    run.checker.commitTime = { partition, offset in
      partition == 0 && offset == 3 ? SampleRun.start + 500 : nil
    }
    #expect(run.violations() == [])
    run.checker.ownershipTime = 509
    #expect(run.violations().map(\.rule) == [.sentToFormerOwner])
    run.checker.troubles = [SampleRun.start...SampleRun.start + 499]
    #expect(run.violations().map(\.rule) == [.sentToFormerOwner])
    run.checker.troubles = [SampleRun.start + 600...SampleRun.start + 601]
    #expect(run.violations() == [])
    var checker = run.checker
    for record in run.records { checker.read(record) }
    #expect(checker.ownerChanges == (1, 0))
  }

  @Test("T2: who claims a token back is its owner again")
  func claimedBack() throws {
    var run = try SampleRun()
    run.checker.ownershipTime = -1
    try run.loseToken(of: "bob", at: 2, regaining: true)
    try run.change("nudge.pushes", 2) { $0["origin"] = SampleRun.place("nudge.timeline", 5) }
    #expect(run.violations() == [])
  }

  @Test("what is published to be refused, and refused once, is as it should be")
  func hostile() throws {
    var run = try SampleRun()
    try run.addHostile("invalid_json")
    run.addDeadLetter("invalid_json", 0)
    #expect(run.violations() == [])
  }

  @Test("P7: what was in flight when the dispatcher was killed may be sent once more, and is told")
  func inFlight() throws {
    var run = try SampleRun()
    run.checker.dispatcherCrashes = [SampleRun.start + 15]
    run.requests.append(run.requests[0])
    run.requests[run.requests.count - 1].time = SampleRun.start + 18
    #expect(run.violations() == [])
    var checker = run.checker
    for request in run.requests { checker.read(request) }
    #expect(checker.resends.count == 1)
  }

  @Test("D18: what was held back is in one catch-up; what was missed, too")
  func catchUps() throws {
    var run = try SampleRun()
    run.checker.attention.silent = ["bob"]
    try run.hold("m1")
    try run.change("nudge.outcomes", 3) { $0["catchUp"] = true }
    try run.catchUp(["k1", "k2"])
    #expect(run.violations() == [])
  }

  @Test("D20: mentions and urgent messages are on no budget, and each day has its own")
  func budget() throws {
    var run = try SampleRun()
    run.checker.attention.dailyAlerts = ["bob": 1]
    for index in [0, 2] { try run.change("nudge.decisions", index) { $0["presentation"] = "alert" } }
    try run.change("nudge.decisions", 2) { $0["decidedAt"] = Int64(86_400_000) }
    #expect(run.violations() == [])
    try run.change("nudge.decisions", 2) { $0["decidedAt"] = Int64(0) }
    #expect(run.violations().map(\.rule) == [.overBudget])
    run.checker.attention.urgent = ["m1"]
    #expect(run.violations() == [])
    run.checker.attention.urgent = []
    try run.change("nudge.timeline", 1) {
      $0["recipients"] = [["userId": "bob", "context": ["mentioned": true]], ["userId": "cem", "context": [:]]]
    }
    #expect(run.violations() == [])
  }

  @Test("P7: a dispatcher whose clock was behind writes an earlier time into its outcomes")
  func slowClock() throws {
    var run = try SampleRun()
    run.checker.dispatcherCrashes = [SampleRun.start + 15]
    run.requests.append(run.requests[0])
    run.requests[run.requests.count - 1].time = SampleRun.start + 90
    #expect(run.violations().map(\.rule) == [.sentAfterOutcome])
    run.checker.dispatcherClocks = [.init(time: SampleRun.start...SampleRun.start + 200, behind: 100)]
    #expect(run.violations() == [])
  }

  @Test("P7: what a dispatcher was told while it was cut off may be sent once more")
  func absence() throws {
    var run = try SampleRun()
    run.checker.dispatcherAbsences = [SampleRun.start + 5...SampleRun.start + 15]
    run.requests.append(run.requests[0])
    run.requests[run.requests.count - 1].time = SampleRun.start + 18
    #expect(run.violations() == [])
  }

  @Test(
    "P7: a dispatcher that dies while the broker is away has written nothing since then, and may send that once more")
  func diesWithoutBroker() throws {
    var run = try SampleRun()
    run.requests.append(run.requests[0])
    run.requests[run.requests.count - 1].time = SampleRun.start + 60_001
    try run.change("nudge.outcomes", 0) { $0["finishedAt"] = SampleRun.start + 60_002 }
    run.checker.dispatcherCrashes = [SampleRun.start + 60_000]
    #expect(run.violations().map(\.rule) == [.sentAgain], "the broker took its answers long before")
    run.checker.commitGaps = [SampleRun.start + 1_000...SampleRun.start + 61_000]
    #expect(run.violations() == [])
    run.checker.commitGaps = [SampleRun.start + 1_000...SampleRun.start + 59_000]
    #expect(run.violations().map(\.rule) == [.sentAgain], "it was back before the crash")
    run.checker.commitGaps.append(SampleRun.start + 58_000...SampleRun.start + 61_000)
    #expect(run.violations() == [], "the coordinator first, then the broker: nothing could be written between")
  }

  @Test("P7: what a crash has repeated may begin with an earlier push, where the later one follows it")
  func anew() throws {
    var run = try SampleRun()
    run.checker.dispatcherAbsences = [SampleRun.start...SampleRun.start + 9]
    var second = run.requests[3]
    second.time = SampleRun.start + 5
    run.requests.insert(second, at: 0)
    #expect(run.violations() == [])
    // It does not follow, so the device keeps the earlier one.
    run.requests.remove(at: 4)
    #expect(run.violations().map(\.rule) == [.deviceOrder])
  }
}

import FCMEmulator
import NudgeSchema
import ServiceKit
import StreamRuntime
import TestSupport
import Testing

@testable import Dispatcher

/// FCM's answer table, row by row, from the bytes on the wire to what becomes of the push, of its device, and of others.
@Suite("P4: the effects of each row of FCM's answer table")
struct AnswerTableTests {
  typealias Name = EmulatorAnswer.Name

  /// The open circuit breaker.
  enum Blocks: Sendable, Equatable { case nobody, platform, project }

  /// A row, by what follows from it.
  struct Row: Sendable, CustomTestStringConvertible {
    var name: Name
    /// How the push ends; nil: it is sent again.
    var outcome: OutcomeResult?
    /// The token is announced as gone.
    var prunes = false
    /// The push is on the dead letters too.
    var deadLetter = false
    /// It is sent again no sooner than this, in milliseconds.
    var least: Milliseconds = 0
    var blocks = Blocks.nobody

    var testDescription: String { name.rawValue }
  }

  static let rows: [Row] = [
    Row(name: .invalidToken, outcome: .invalidToken, prunes: true),
    Row(name: .invalidArgument, outcome: .rejected, deadLetter: true),
    Row(name: .tooLarge, outcome: .rejected, deadLetter: true),
    // The client has got a new access token and sent once more before this comes here.
    Row(name: .accessTokenExpired, least: 5_000, blocks: .project),
    Row(name: .thirdPartyAuthError, least: 5_000, blocks: .platform),
    Row(name: .senderIDMismatch, outcome: .quarantined),
    Row(name: .permissionDenied, least: 5_000, blocks: .project),
    Row(name: .unregistered, outcome: .invalidToken, prunes: true),
    Row(name: .notFound, least: 5_000, blocks: .project),
    Row(name: .quotaExceeded, least: 60_000, blocks: .project),
    Row(name: .deviceQuotaExceeded, least: 60_000),
    Row(name: .internalError, least: 10_000),
    Row(name: .badGateway, least: 10_000),
    Row(name: .unavailable, least: 10_000),
    Row(name: .gatewayTimeout, least: 10_000),
    Row(name: .unspecifiedError, outcome: .rejected, deadLetter: true),
  ]

  private func answer(_ name: Name, retryAfter: String? = nil) -> PushAnswer {
    let wire = EmulatorAnswer(name, retryAfter: retryAfter)
    return PushAnswer(
      status: wire.status, retryAfter: wire.headers.first { $0.0 == "retry-after" }?.1, body: Array(wire.body.utf8),
      now: DispatcherBench.start)
  }

  @Test("Every answer the emulator knows has its row")
  func complete() { #expect(Set(Self.rows.map(\.name)) == Set(Name.allCases)) }

  @Test("Outcome, pruning, dead letter, retry and circuit breaker are those of the row", arguments: rows)
  func row(row: Row) throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1", user: "ann", platform: .ios))
    let first = try #require(bench.air.first)
    try bench.answer(answer(row.name))
    #expect(bench.outcomes.map(\.result) == (row.outcome.map { [$0] } ?? []))
    #expect(bench.invalidated.count == (row.prunes ? 1 : 0))
    #expect(bench.deadLetters.count == (row.deadLetter ? 1 : 0))

    // Another device of the platform is held back or not, and one of another platform.
    try bench.send(DispatcherBench.push("same", user: "bea", platform: .ios))
    try bench.send(DispatcherBench.push("other", user: "cem", platform: .android))
    let sent = Set(bench.air.compactMap(\.pushId))
    switch row.blocks {
    case .nobody: #expect(sent == ["same", "other"])
    case .platform: #expect(sent == ["other"])
    case .project: #expect(sent.isEmpty)
    }
    while !bench.air.isEmpty { try bench.answer(.sent) }
    guard row.outcome == nil else {
      #expect(try bench.lane(user: "ann") == nil)
      return
    }
    // Sent again: not too soon, the very same message, until FCM takes it.
    while bench.outcomes.first(where: { $0.pushId == "p1" }) == nil, bench.wakeAt != nil {
      try bench.wakeUntilSent()
      if let again = bench.air.first(where: { $0.pushId == "p1" }) {
        #expect(bench.now - DispatcherBench.start >= row.least)
        #expect(again.body == first.body && again.attempt == 2)
      }
      while !bench.air.isEmpty { try bench.answer(.sent) }
    }
    #expect(bench.outcomes.count == 3 && bench.outcomes.allSatisfy { $0.result == .sent })
    #expect(bench.invalidated.isEmpty && bench.deadLetters.isEmpty)
  }

  @Test("Retry-After, in seconds or as a date, is the least wait wherever the push is sent again", arguments: rows)
  func retryAfter(row: Row) throws {
    guard row.outcome == nil else { return }
    // Four minutes after the answer, by the clock the bench begins with: 2027-01-15T08:00:00Z.
    for text in ["240", "Fri, 15 Jan 2027 08:04:00 GMT"] {
      let bench = DispatcherBench { $0.timeBudget = 3_600_000 }
      try bench.send(DispatcherBench.push("p1"))
      try bench.answer(answer(row.name, retryAfter: text))
      try bench.wakeUntilSent()
      #expect(bench.air.map(\.pushId) == ["p1"])
      #expect(bench.now - DispatcherBench.start >= 240_000, "\(text)")
    }
  }

  @Test("A failed or reset connection or a time-out: the push is sent again, and no other device waits")
  func noAnswer() throws {
    let bench = DispatcherBench()
    try bench.send(DispatcherBench.push("p1"))
    try bench.answer(.reset)
    #expect(bench.outcomes.isEmpty)
    try bench.send(DispatcherBench.push("other", user: "bea"))
    #expect(bench.air.map(\.pushId) == ["other"])
    try bench.answer(.sent)
    try bench.wakeUntilSent()
    #expect(bench.now - DispatcherBench.start >= 1_000)
    try bench.answer(.sent)
    #expect(bench.outcomes.map(\.attempts) == [1, 2])
  }

  @Test(
    "P3: a device that never answers and one in backoff delay no other device"
  )
  func deadAndSlow() throws {
    /// When each push of others was asked for after it came, and answered.
    func delays(withTroubled: Bool) throws -> [Milliseconds] {
      // Little room, so that who holds it would be felt.
      let bench = DispatcherBench { $0.maxInFlight = 12 }
      var came: [String: Milliseconds] = [:]
      var delays: [Milliseconds] = []
      var due: [(at: Milliseconds, request: SendRequest)] = []
      var known: Set<UInt64> = []
      var number = 0
      while bench.now < DispatcherBench.start + 30_000 {
        if withTroubled, number % 50 == 0 {
          try bench.send(DispatcherBench.push("dead-\(number)", devices: ["dead"]))
          try bench.send(DispatcherBench.push("slow-\(number)", devices: ["slow"]))
        }
        let id = "p\(number)"
        came[id] = bench.now
        try bench.send(DispatcherBench.push(id, user: "u\(number % 400)"))
        number += 1
        if let time = bench.wakeAt, time <= bench.now { try bench.wake() }
        for request in bench.air where known.insert(request.id).inserted {
          if request.deviceId == "dead" { continue }
          if let id = request.pushId, let time = came[id] { delays.append(bench.now - time) }
          due.append((bench.now + 50, request))
        }
        while let next = due.first, next.at <= bench.now {
          due.removeFirst()
          try bench.answer(next.request.deviceId == "slow" ? .unavailable : .sent, to: next.request)
        }
        bench.now += 10
      }
      #expect(bench.outcomes.count { $0.result == .sent } >= number - 12)
      return delays
    }
    let alone = try delays(withTroubled: false)
    let beside = try delays(withTroubled: true)
    #expect(alone == beside && alone.count == 3_000)
    #expect(alone.max() == 0)
  }

  @Test(
    "T3: a minute of 60 % invalid tokens with default rules prunes a window at most, and none while the breaker is open"
  )
  func invalidMinute() throws {
    var random = SeededGenerator(seed: 60)
    let monitor = LaneMonitor(metrics: MetricsRegistry(), readiness: HealthChecks(), now: { 0 })
    let bench = DispatcherBench(monitor: monitor)
    let window = DispatcherRules().invalidTokenWindow
    var due: [(at: Milliseconds, request: SendRequest)] = []
    var known: Set<UInt64> = []
    /// Tokens pruned since the breaker last closed, and requests made since it opened.
    var (pruned, probes, mostInAir) = (0, 0, 0)
    var wasOpen = false
    let end = DispatcherBench.start + 60_000
    var number = 0
    while bench.now < end {
      // 100 pushes a second, each to a device of its own; FCM takes 50 ms.
      try bench.send(DispatcherBench.push("p\(number)", user: "u\(number)", expiresIn: 10_000_000))
      number += 1
      if let time = bench.wakeAt, time <= bench.now { try bench.wake() }
      let before = bench.invalidated.count
      while let next = due.first, next.at <= bench.now {
        due.removeFirst()
        try bench.answer(random.below(100) < 60 ? .unregistered : .sent, to: next.request)
      }
      let isOpen = monitor.total.tokenTrials > 0
      if wasOpen {
        #expect(bench.invalidated.count == before, "pruned while the breaker is open")
      } else {
        pruned += bench.invalidated.count - before
        #expect(pruned <= window)
      }
      let asked = bench.air.filter { known.insert($0.id).inserted }
      due += asked.map { (bench.now + 50, $0) }
      if isOpen, wasOpen {
        probes += asked.count
        mostInAir = max(mostInAir, asked.count)
      }
      if !isOpen, wasOpen { pruned = 0 }
      wasOpen = isOpen
      bench.now += 10
    }
    #expect(wasOpen && mostInAir <= 1)
    #expect((window / 2...window).contains(bench.invalidated.count))
    #expect((3...60).contains(probes), "\(probes) probes")
    print("60 % invalid for a minute, \(number) pushes: \(bench.invalidated.count) pruned, then \(probes) probes")
  }
}

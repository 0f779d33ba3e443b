import NudgeSchema
import TestSupport
import Testing

@testable import Dispatcher

/// A model of circuit breakers that answers every question from the whole history.
private struct PauseOracle {
  enum Evidence {
    case works
    case refused
    case quota(Milliseconds)
  }
  private enum Event {
    case sent(UInt64)
    case answered(UInt64, DeliveryScope, Evidence, at: Milliseconds)
  }
  private var history: [Event] = []

  struct Verdict {
    var isPaused = false
    /// No try before this.
    var notBefore: Milliseconds = 0
    /// Requests sent since the pause began, or was prolonged.
    var triesInAir: Set<UInt64> = []
  }

  mutating func sent(_ id: UInt64) { history.append(.sent(id)) }

  mutating func answered(_ id: UInt64, _ evidence: [(DeliveryScope, Evidence)], at time: Milliseconds) {
    for (scope, evidence) in evidence { history.append(.answered(id, scope, evidence, at: time)) }
  }

  func verdict(_ scope: DeliveryScope) -> Verdict {
    var verdict = Verdict()
    /// Sent since the pause began: only they say something new of it.
    var telling: Set<UInt64> = []
    var endedLastPause: UInt64?
    for event in history {
      switch event {
      case .sent(let id): if verdict.isPaused { telling.insert(id) }
      case .answered(_, let other, _, _) where other != scope: break
      case .answered(let id, _, .works, _):
        if verdict.isPaused, telling.contains(id) {
          verdict = Verdict()
          telling = []
          endedLastPause = id
        }
      case .answered(let id, _, .refused, let time):
        if verdict.isPaused ? telling.contains(id) : endedLastPause.map({ id >= $0 }) ?? true {
          verdict.isPaused = true
          verdict.notBefore = max(verdict.notBefore, time + 5_000)
          telling = []
        }
      case .answered(_, _, .quota(let wait), let time):
        verdict.isPaused = true
        verdict.notBefore = max(verdict.notBefore, time + wait)
        telling = []
      }
    }
    verdict.triesInAir = telling
    return verdict
  }
}

@Suite("Circuit breakers with many requests in flight")
struct PausePropertyTests {
  private struct Sent {
    var user: String
    var projectId: String?
    var platform: Platform
    var scopes: [DeliveryScope] {
      [
        DeliveryScope(.fcm(project: projectId)), DeliveryScope(.fcm(project: projectId), platform: platform),
      ]
    }
  }

  @Test(
    "P6, P5: only an answer to a request sent after it opened closes a breaker; one request at a time probes; nothing else waits",
    arguments: Array(UInt64(1)...16))
  func oracle(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let bench = DispatcherBench { $0.invalidTokenWindow = 1_000_000 }
    var oracle = PauseOracle()
    var devices: [String: Sent] = [:]
    var inAir: [UInt64: String] = [:]
    var waiting: [String: Int] = [:]
    var pauses = 0
    var pushes = 0

    /// Checks that each new request was allowed.
    func look() throws {
      for request in bench.air where inAir[request.id] == nil {
        let user = String(request.token.split(separator: "-")[1])
        let sent = try #require(devices[user])
        for scope in sent.scopes {
          let verdict = oracle.verdict(scope)
          guard verdict.isPaused else { continue }
          #expect(bench.now >= verdict.notBefore, "seed \(seed): \(scope) was tried too early")
          let others = verdict.triesInAir.filter { id in
            inAir[id].flatMap { devices[$0] }?.scopes.contains(scope) ?? false
          }
          #expect(others.isEmpty, "seed \(seed): \(scope) has two tries in the air")
        }
        oracle.sent(request.id)
        inAir[request.id] = user
      }
      // Nobody waits for nothing.
      for (user, count) in waiting where count > 0 && !inAir.values.contains(user) {
        let isPaused = devices[user]?.scopes.contains { oracle.verdict($0).isPaused } ?? false
        #expect(isPaused, "seed \(seed): \(user) waits, and neither its project nor its platform is paused")
      }
    }

    for step in 0..<240 {
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<45:
        let user = "u\(Int.random(in: 0..<60, using: &random))"
        let sent =
          devices[user]
          ?? Sent(
            user: user, projectId: Bool.random(using: &random) ? nil : "second",
            platform: [.ios, .android, .web].randomElement(using: &random) ?? .ios)
        devices[user] = sent
        var push = DispatcherBench.push("p\(step)", user: user, expiresIn: 100_000_000)
        push.targets[0].token = "token-\(user)"
        push.targets[0].platform = sent.platform
        push.targets[0].projectId = sent.projectId
        waiting[user, default: 0] += 1
        pushes += 1
        try bench.send(push)
      case 45..<85:
        guard let request = bench.air.randomElement(using: &random), let user = inAir[request.id],
          let scopes = devices[user]?.scopes
        else { continue }
        inAir[request.id] = nil
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<70:
          oracle.answered(request.id, scopes.map { ($0, .works) }, at: bench.now)
          waiting[user, default: 0] -= 1
          try bench.answer(.sent, to: request)
        case 70..<80:
          pauses += 1
          oracle.answered(request.id, [(scopes[0], .refused)], at: bench.now)
          try bench.answer(.noProject, to: request)
        case 80..<90:
          pauses += 1
          oracle.answered(request.id, [(scopes[0], .works), (scopes[1], .refused)], at: bench.now)
          try bench.answer(.noPlatform, to: request)
        case 90..<95:
          pauses += 1
          let wait = Milliseconds.random(in: 1_000...90_000, using: &random)
          oracle.answered(request.id, [(scopes[0], .quota(wait))], at: bench.now)
          try bench.answer(
            PushAnswer(.quotaExceeded(.project), httpStatus: 429, retryAfter: wait), to: request)
        default:
          oracle.answered(request.id, [(scopes[0], .works)], at: bench.now)
          waiting[user, default: 0] -= 1
          try bench.answer(PushAnswer(.rejected, httpStatus: 400), to: request)
        }
      case 85..<95:
        // Not as far as where pushes end.
        if let time = bench.wakeAt, time < bench.now + 1_000_000 { try bench.wake() }
      default: bench.now += .random(in: 0...20_000, using: &random)
      }
      try look()
    }
    // Everything works: all that waits goes out.
    var turns = 0
    while turns < 20_000, !bench.air.isEmpty || bench.wakeAt != nil {
      turns += 1
      if let request = bench.air.first {
        oracle.answered(
          request.id, (devices[inAir[request.id] ?? ""]?.scopes ?? []).map { ($0, .works) }, at: bench.now)
        inAir[request.id] = nil
        waiting[String(request.token.split(separator: "-")[1]), default: 0] -= 1
        try bench.answer(.sent, to: request)
      } else {
        try bench.wake()
      }
      try look()
    }
    #expect(bench.outcomes.count == pushes, "seed \(seed)")
    #expect(pauses > 5, "seed \(seed) did too little to mean anything")
  }

  @Test("P5: with a hundred requests in flight, older 200s do not close the breaker of the project's 429")
  func quotaInTheAir() throws {
    let bench = DispatcherBench()
    for number in 0..<100 { try bench.send(DispatcherBench.push("p\(number)", user: "u\(number)")) }
    try bench.answer(PushAnswer(.quotaExceeded(.project), httpStatus: 429, errorCode: "QUOTA_EXCEEDED"))
    while !bench.air.isEmpty { try bench.answer(.sent) }
    #expect(bench.outcomes.count == 99)
    try bench.send(DispatcherBench.push("late", user: "late"))
    #expect(bench.air.isEmpty, "the pause was lifted by an answer to a request from before it")
    try bench.wakeUntilSent()
    #expect(bench.now == DispatcherBench.start + 60_000)
    #expect(bench.air.count == 1)
    while !bench.air.isEmpty { try bench.answer(.sent) }
    #expect(bench.outcomes.count == 101)
  }

  @Test("P6: a refusal of a request sent before the successful probe does not open the breaker again")
  func lateRefusal() throws {
    let bench = DispatcherBench()
    for number in 0..<3 { try bench.send(DispatcherBench.push("p\(number)", user: "u\(number)")) }
    let late = bench.air[2]
    try bench.answer(.noProject)
    try bench.wakeUntilSentBeside([late])
    try bench.answer(.sent, to: bench.air.last)
    try bench.answer(.noProject, to: late)
    #expect(bench.air.contains { $0.token == late.token }, "its push goes again at once")
    try bench.send(DispatcherBench.push("new", user: "new"))
    #expect(bench.air.contains { $0.pushId == "new" })
  }

  @Test("T3: 60 % invalid tokens, many in flight: at most a window is pruned, and none once the breaker is open")
  func invalidTokensInTheAir() throws {
    var random = SeededGenerator(seed: 14)
    let bench = DispatcherBench {
      $0.invalidTokenWindow = 50
      $0.tokenTrialLength = 20
    }
    for number in 0..<2_000 {
      try bench.send(DispatcherBench.push("p\(number)", user: "u\(number)", expiresIn: 100_000_000))
    }
    #expect(bench.air.count == 2_000)
    // A minute: every request is answered, 60 % by "unregistered".
    let end = bench.now + 60_000
    var tries = 0
    while bench.now < end {
      if bench.air.count <= 1 { tries += bench.air.count }
      if let request = bench.air.randomElement(using: &random) {
        try bench.answer(Int.random(in: 0..<100, using: &random) < 60 ? .unregistered : .sent, to: request)
      } else {
        try bench.wake()
      }
    }
    #expect(bench.invalidated.count <= 50)
    #expect(bench.invalidated.count >= 25)
    #expect((1...60).contains(tries), "\(tries) tries in a minute")
    // The fault is mended: all that waits is sent, and nothing was lost.
    var turns = 0
    while turns < 20_000, bench.outcomes.count < 2_000 {
      turns += 1
      if bench.air.isEmpty { try bench.wake() } else { try bench.answer(.sent) }
    }
    #expect(bench.outcomes.count == 2_000)
    #expect(bench.outcomes.filter { $0.result == .invalidToken }.count == bench.invalidated.count)
  }
}

extension DispatcherBench {
  /// Wakes until there is a request besides the known ones.
  fileprivate func wakeUntilSentBeside(_ known: [SendRequest]) throws {
    while !air.isEmpty, air.count > known.count { try answer(.sent) }
    while air.count <= known.count, wakeAt != nil { try wake() }
  }
}

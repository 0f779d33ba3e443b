import NudgeSchema
import StreamRuntime
import Testing

@testable import Dispatcher

/// D16, in the dispatcher.
@Suite("Erasure of a person's lanes and devices")
struct DeviceErasureTests {
  /// ann's phone has a request in flight and two pushes behind it, her tablet one that waits for another try; so has ben's phone.
  private func waiting() throws -> DispatcherBench {
    let bench = DispatcherBench()
    for (user, device) in [("ann", "tablet"), ("ben", "ben-phone")] {
      try bench.send(DispatcherBench.push("\(user)-retry", user: user, devices: [device]))
      try bench.answer(.unavailable)
    }
    for number in 1...3 { try bench.send(DispatcherBench.push("p\(number)")) }
    return bench
  }

  private func erase(_ bench: DispatcherBench, _ user: String = "ann") throws {
    try bench.send(.cancelled(PushCancelled(userId: user, erased: true)), user: user, cause: nil)
  }

  /// Keys of rows that name a person.
  private func rows(of user: String, _ bench: DispatcherBench) throws -> [String] {
    try bench.driver.allRows().map(\.0).filter { key in
      key.parts.contains { $0 == user || $0.hasPrefix("\(user)\u{1}") }
    }.map { "\($0)" }
  }

  @Test("D16: what waits for a deleted person is cancelled; the request in the air ends by its answer; no row stays")
  func nothingStays() throws {
    let bench = try waiting()
    let others = try rows(of: "ben", bench)
    #expect(others.count == 2)
    try erase(bench)
    #expect(Set(bench.outcomes.map(\.pushId)) == ["ann-retry", "p2", "p3"])
    #expect(bench.outcomes.allSatisfy { $0.result == .cancelled && $0.userId == "ann" })
    #expect(bench.air.map(\.pushId) == ["p1"])
    try bench.answer(.sent)
    #expect(bench.outcomes.last?.pushId == "p1" && bench.outcomes.last?.result == .sent)
    #expect(try rows(of: "ann", bench) == [])
    #expect(try rows(of: "ben", bench) == others)
    // Only ben's is tried again.
    try bench.wakeUntilSent()
    #expect(bench.air.map(\.pushId) == ["ben-retry"])
  }

  @Test("D16: a request in the air that fails is not repeated, nor is one whose answer a crash has lost")
  func notRepeated() throws {
    for crashes in [false, true] {
      let bench = try waiting()
      try erase(bench)
      if crashes { try bench.restart() } else { try bench.answer(.unavailable) }
      while bench.wakeAt != nil, bench.outcomes.count < 4 {
        try bench.wake()
        while let request = bench.air.first {
          #expect(request.subject.userId == "ben")
          try bench.answer(.unavailable)
        }
      }
      #expect(bench.outcomes.last?.pushId == "p1" && bench.outcomes.last?.result == .cancelled)
      #expect(try rows(of: "ann", bench) == [])
    }
  }

  @Test(
    "D16: no answer to the request in the air brings a row of the device back",
    arguments: [
      Dispatcher.PushAnswer(.senderMismatch, httpStatus: 403, errorCode: "SENDER_ID_MISMATCH"), .unregistered,
      Dispatcher.PushAnswer(.rejected, httpStatus: 400, errorCode: "INVALID_ARGUMENT"),
    ])
  func lateAnswer(answer: Dispatcher.PushAnswer) throws {
    let bench = try waiting()
    try erase(bench)
    try bench.answer(answer)
    #expect(bench.outcomes.count == 4)
    #expect(try rows(of: "ann", bench) == [])
  }

  @Test("D16: lanes that a restarted task has not loaded yet are emptied too, and so are overflow rows")
  func notLoaded() throws {
    let bench = DispatcherBench { $0.lanesPerStep = 2 }
    for number in 0..<6 {
      try bench.send(DispatcherBench.push("other\(number)", user: "aa\(number)"))
      try bench.answer(.unavailable)
    }
    try bench.send(DispatcherBench.push("front"))
    try bench.answer(.unavailable)
    for number in 0..<30 {
      try bench.send(DispatcherBench.push("p\(number)", body: String(repeating: "x", count: 1_000)))
    }
    #expect(try #require(try bench.lane()).endOverflow > 1)
    try bench.restart()
    try erase(bench)
    #expect(bench.outcomes.count == 31)
    #expect(bench.outcomes.allSatisfy { $0.result == .cancelled && $0.userId == "ann" })
    #expect(try rows(of: "ann", bench) == [])
  }

  @Test("D16: all rows of a person with hundreds of devices go")
  func manyDevices() throws {
    let bench = DispatcherBench()
    for number in 0..<620 {
      try bench.send(DispatcherBench.push("p\(number)", devices: ["phone-\(number)"]))
      try bench.answer(.sent)
    }
    try bench.driver.commit()
    #expect(try rows(of: "ann", bench).count == 620)
    try erase(bench)
    #expect(try rows(of: "ann", bench) == [])
  }

  @Test("D16: a person who registers again is sent to")
  func again() throws {
    let bench = try waiting()
    try erase(bench)
    try bench.answer(.sent)
    try bench.send(DispatcherBench.push("new", version: 2))
    #expect(bench.air.map(\.pushId) == ["new"])
  }
}

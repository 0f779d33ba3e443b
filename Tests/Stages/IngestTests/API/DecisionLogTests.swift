import NudgeSchema
import Testing

@testable import Ingest

@Suite("What awaited events become")
struct DecisionLogTests {
  private func position(_ offset: Int64) -> RecordPosition {
    RecordPosition(topic: "chat.events", partition: 0, offset: offset)
  }

  private func decided(_ user: String, _ outcome: String = "notify") -> DecisionLog.Report {
    .decided(.init(userId: user, outcome: outcome, reason: "r"))
  }

  @Test("nothing is kept of events that nobody waits for, and nothing once nobody waits any more")
  func awaitedAlone() {
    var log = DecisionLog()
    for offset in 0..<1_000 { log.record(position(Int64(offset)), decided("ann")) }
    #expect(!log.isWanted && log.keptBytes == 0 && log.keptEarlyBytes == 0)
    log.begin()
    #expect(log.isWanted)
    log.record(position(7), .recipients(1))
    log.record(position(8), decided("ann"))
    log.watch([position(7)], as: 1)
    #expect(log.keptEarlyBytes == 0 && !log.isDone(1), "its recipients were read before it was known to be awaited")
    log.record(position(8), decided("ann"))
    log.record(position(7), decided("ben", "deferred"))
    #expect(log.isDone(1))
    log.record(position(7), decided("ben"))
    let fate = log.fates(of: [position(7)])[position(7)]
    #expect(fate?.decided.map(\.outcome) == ["notify"] && fate?.isComplete == true)
    log.end(1, [position(7)])
    #expect(!log.isWanted && log.keptBytes == 0)
  }

  @Test("what is read while events are on their way is bounded in bytes, the latest is kept")
  func early() {
    var log = DecisionLog()
    log.begin()
    let user = String(repeating: "u", count: 200)
    for offset in 0..<100_000 {
      log.record(position(Int64(offset)), decided(user))
      #expect(log.keptEarlyBytes <= DecisionLog.earlyBytes)
    }
    log.watch([position(0), position(99_999)], as: 1)
    let fates = log.fates(of: [position(0), position(99_999)])
    #expect(fates[position(0)]?.decided.isEmpty == true && fates[position(99_999)]?.decided.count == 1)
  }

  @Test(
    "a message to a large group is answered with a thousand decisions, at the cost of each, and all events within bytes"
  )
  func large() {
    var log = DecisionLog()
    log.begin()
    log.watch([position(0)], as: 1)
    log.record(position(0), .recipients(100_000))
    for number in 0..<100_000 { log.record(position(0), decided("user-\(number)")) }
    let fate = log.fates(of: [position(0)])[position(0)]
    #expect(fate?.decided.count == DecisionLog.decisionsOfAnEvent && fate?.isComplete == false && log.isDone(1))
    let user = String(repeating: "u", count: 250)
    for event in 1...200 {
      log.begin()
      log.watch([position(Int64(event))], as: UInt64(event + 1))
      for number in 0..<1_000 { log.record(position(Int64(event)), decided(user + String(number))) }
    }
    #expect(log.keptBytes <= DecisionLog.bytes && log.isDone(201), "it is answered with what there is")
    log.end(1, [position(0)])
    for event in 1...200 { log.end(UInt64(event + 1), [position(Int64(event))]) }
    #expect(log.keptBytes == 0 && !log.isWanted)
  }

  @Test("two that wait for the same event are both answered, and one's end leaves the other's")
  func shared() {
    var log = DecisionLog()
    log.begin()
    log.watch([position(1)], as: 1)
    log.begin()
    log.watch([position(1), position(2)], as: 2)
    log.record(position(1), .refused(.init(code: "c", message: "m")))
    #expect(log.isDone(1) && !log.isDone(2))
    log.end(1, [position(1)])
    log.record(position(2), .recipients(0))
    #expect(log.isDone(2) && log.fates(of: [position(1)])[position(1)]?.refusal?.code == "c")
  }
}

import NudgeCodec
import NudgeSchema
import StreamRuntime
import Testing

@testable import Analyzer

@Suite("The analyzer's rows when tasks are split")
struct SplitTests {
  private func home(_ key: RowKey, _ bytes: [UInt8] = []) throws -> RowHome {
    try bytes.withUnsafeBytes { try AnalyzerStage.splitRules.home(key, $0) }
  }

  @Test("a person's rows go with the person; what is of a replay or names nobody is in each task")
  func homes() throws {
    for key in [
      AnalyzerRow.userKey("ann"), AnalyzerRow.preferencesKey("ann"), AnalyzerRow.learnedKey("ann"),
      AnalyzerRow.conversationKey("ann", "c"), AnalyzerRow.deviceKey("ann", "phone"), RowKey("r", "replay-1", "ann"),
      RowKey("r", "resent/20000", "/ann"), AnalyzerRow.heldKey("ann", "c", MessageKey("m")),
      AnalyzerRow.missedKey("ann", "c"), AnalyzerRow.escalationsKey("ann"),
    ] {
      #expect(try home(key) == .taskOf("ann"), "\(key)")
    }
    for key in [RowKey("r", "replay-1"), RowKey("r", "resent/20000"), RowKey("r", "resent/20000", "push-1")] {
      #expect(try home(key) == .everyTask, "\(key)")
    }
    let stamp = EventStamp(occurredAt: 1, eventId: "e")
    let key = AnalyzerRow.erasureKey("hash")
    #expect(try home(key, PersonErasureRow(stamp: stamp, pendingUserId: "ann").packed()) == .taskOf("ann"))
    #expect(try home(key, PersonErasureRow(stamp: stamp).packed()) == .everyTask)
    #expect(throws: StoreFailure.self) { try home(RowKey("z", "ann")) }
    #expect(AnalyzerStage.splitRules.homeOfTimer("replay/replay-1") == .everyTask)
    for timer in [
      PersonTimer.badge, .hold(conversationId: "c"), .catchUp, .escalation, .device(id: "phone"),
      .hold(conversationId: "a/b"),
    ] {
      let name = timer.name(of: "ann/x")
      #expect(AnalyzerStage.splitRules.homeOfTimer(name) == nil)
      #expect(PersonTimer(name, of: "ann/x") == timer && PersonTimer(name, of: "ben") == nil)
    }
  }
}

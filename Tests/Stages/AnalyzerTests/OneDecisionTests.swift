import NudgeCodec
import NudgeSchema
import StreamRuntime
import Testing
import Wording

@testable import Analyzer

@Suite("One final decision a message and person")
struct OneDecisionTests {
  private let message = DecidedMessage(conversationId: "c1", key: MessageKey("m1"))
  private let place = MessagePlace(at: noon, order: OriginOrder(offset: 1, index: 0))

  private func ruling(heldAs kind: Hold.Kind? = nil) -> Ruling {
    var ruling = Ruling(
      verdict: Verdict(reason: .notifyAll, explanation: Explanation(ReasonCode.allDirect)), trail: Trail())
    ruling.hold = kind.map { Hold(key: message.key, place: place, due: noon + second, kind: $0) }
    return ruling
  }

  private func conversation(holding hold: Hold?) -> PersonConversationRow {
    var row = PersonConversationRow()
    if let hold { row.hold(hold) }
    return row
  }

  @Test("it is held or decided finally, never both and never neither")
  func finalOrHeld() {
    for kind in [Hold.Kind.presence, .alert] {
      let deferred = ruling(heldAs: kind)
      #expect(deferred.fault(of: message, after: [], in: conversation(holding: deferred.hold)) == nil)
      #expect(deferred.fault(of: message, after: [], in: conversation(holding: nil)) != nil)
      #expect(ruling().fault(of: message, after: [], in: conversation(holding: deferred.hold)) != nil)
    }
    // Only the badge waits: the decision is final.
    let badge = ruling(heldAs: .badge)
    #expect(badge.fault(of: message, after: [], in: conversation(holding: badge.hold)) == nil)
  }

  @Test("a record gives it no second final decision; another conversation's message with the same id has its own")
  func twice() {
    let row = conversation(holding: nil)
    #expect(ruling().fault(of: message, after: [], in: row) == nil)
    #expect(ruling().fault(of: message, after: [message], in: row) != nil)
    let other = DecidedMessage(conversationId: "c2", key: message.key)
    #expect(ruling().fault(of: message, after: [other], in: row) == nil)
  }

  @Test("what is held and known no longer among the last messages is a duplicate when it comes again")
  func heldAndForgotten() throws {
    let scene = Scene()
    var row = PersonConversationRow()
    row.hold(Hold(key: message.key, place: place, due: noon + hour, kind: .alert))
    scene.driver.load([(AnalyzerRow.conversationKey("ann", "c1"), row.packed())])
    try scene.gain("phone")
    #expect(try scene.message("m1").decision?.reason == .duplicate)
    #expect(try scene.message("m2", at: noon + 1).decision?.reason == .notifyAll)
  }

  @Test("a replay spends nothing: neither an analysis nor an alert of the day")
  func replaysSpendNothing() throws {
    let scene = try Scene.smart { $0.dailyAlerts = 3 }
    try scene.message("m1", decidedAt: noon + 2 * hour)
    let before = try scene.driver.row(AnalyzerRow.userKey("ann"))
    #expect(try scene.redecide("m1", at: noon).decision?.replayId == "replay-1")
    guard case .user(let user)? = before, case .user(let after)? = try scene.driver.row(AnalyzerRow.userKey("ann"))
    else {
      Issue.record("there is no row")
      return
    }
    #expect(after.window == user.window && after.spentAlerts == user.spentAlerts)
  }
}

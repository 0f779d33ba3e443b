import Foundation
import NudgeCodec
import NudgeSchema
import Testing

@testable import Analyzer

/// The bytes that the analyzer writes for a decision. The bounds are a few bytes above what is written now: a field more is a choice, with its price in
/// docs/benchmarks.md.
@Suite("Decisions: their size")
struct DecisionSizeTests {
  private let codec = RecordCodec()

  /// A message of a group, as `stages` and `backlog` have them.
  private func written(_ scene: Scene, _ context: RecipientContext = RecipientContext()) throws -> (Decision, PushEvent)
  {
    let written = try scene.message(
      "message-10000", in: "conversation-100", context, group: "Hikers 100", members: 8,
      body: "Shall we meet at the harbour at seven? I can bring the tickets, and somebody has to bring the map.")
    return (try #require(written.decisions.first), try #require(written.pushEvents.first))
  }

  /// Without its sentence and its signals, which differ with the model's version.
  private func ownBytes(_ decision: Decision) throws -> Int {
    let signals = try decision.body.signals.reduce(0) { try $0 + RecordCoder().encode($1).count + 1 }
    return try codec.encode(decision).count - signals - decision.body.text.utf8.count
  }

  @Test("issue 60: a decision by the relevance model takes 760 bytes beside its sentence and signals, its push 880")
  func model() throws {
    let scene = try Scene.withPhone()
    let (decision, push) = try written(scene)
    #expect(decision.body.model != nil && decision.body.signals.count >= 3)
    let (own, pushed) = (try ownBytes(decision), codec.encode(push).count)
    #expect((650...760).contains(own) && (750...880).contains(pushed), "\(own), \(pushed)")
  }

  @Test("issue 60: a decision past the hourly limit takes 760 bytes beside its sentence and signals")
  func rules() throws {
    let scene = try Scene.withPhone()
    try scene.prefer(PreferencesPatch(maxAnalysesPerHour: 0))
    let (decision, _) = try written(scene)
    #expect(decision.body.reason == .simpleRules)
    let own = try ownBytes(decision)
    #expect((600...760).contains(own), "\(own)")
  }

  @Test("issue 60: a decision has no check that its order tells, and no value twice", arguments: [false, true])
  func nothingTwice(mentioned: Bool) throws {
    let scene = try Scene.withPhone()
    let (decision, _) = try written(scene, RecipientContext(mentioned: mentioned))
    #expect(decision.body.checks.allSatisfy { !$0.isNameOnly })
    #expect(decision.body.allChecks.count > decision.body.checks.count + 5)
    let ids = [
      decision.body.userId, decision.body.messageId, decision.body.conversationId, decision.body.pushId ?? "?",
    ]
    let text = String(decoding: try codec.encode(decision), as: UTF8.self)
    for id in ids { #expect(text.components(separatedBy: "\"\(id)\"").count == 2, "\(id)") }
  }
}

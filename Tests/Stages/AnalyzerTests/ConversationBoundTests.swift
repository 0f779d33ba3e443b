import NudgeSchema
import StreamRuntime
import Testing

@testable import Analyzer

@Suite("How many conversations a person has rows of")
struct ConversationBoundTests {
  private static let day: Milliseconds = 24 * hour

  private func scene(_ conversations: Int, freshness: Milliseconds = hour) -> Scene {
    var rules = AnalyzerRules(hash: standInHash)
    rules.conversationBound.conversations = conversations
    rules.policy.freshness = freshness
    return Scene(rules)
  }

  private func conversations(_ scene: Scene) throws -> (rows: Int, counted: Int?) {
    guard case .user(let user)? = try scene.driver.row(AnalyzerRow.userKey("ann")) else { return (0, nil) }
    return (try scene.driver.rows(below: AnalyzerRow.conversationsKey("ann")).count, user.conversations)
  }

  @Test("however many conversations somebody has been in, so many are kept: the last in which something happened")
  func bound() throws {
    let scene = scene(64)
    try scene.prefer(PreferencesPatch(badgeMode: .messages))
    var most = 0
    for number in 0..<500 {
      try scene.message("m\(number)", in: "c\(number)", at: noon + Int64(number) * Self.day)
      let (rows, counted) = try conversations(scene)
      #expect(rows == counted)
      most = max(most, rows)
    }
    #expect(most == 64)
    let (rows, _) = try conversations(scene)
    let oldest = 500 - rows
    #expect(try scene.driver.row(AnalyzerRow.conversationKey("ann", "c\(oldest)")) != nil)
    #expect(try scene.driver.row(AnalyzerRow.conversationKey("ann", "c\(oldest - 1)")) == nil)
    // Their unread messages left the badge.
    #expect(try scene.message("last", in: "c499", at: noon + 500 * Self.day).decision?.badge == rows + 1)
  }

  @Test("of somebody who was not known before, conversations are counted from the first row on")
  func fromTheBeginning() throws {
    let scene = scene(64)
    try scene.gain("phone")
    #expect(try conversations(scene) == (0, 0))
    try scene.message("m", in: "c", at: noon)
    #expect(try conversations(scene) == (1, 1))
  }

  @Test("a message of a conversation that was forgotten notifies nobody when it comes again, and a new one does")
  func repeats() throws {
    let scene = scene(8)
    try scene.gain("phone")
    let origin = scene.nextOrigin()
    #expect(try scene.message("m", in: "c", at: noon, origin: origin).push != nil)
    for number in 0..<8 {
      try scene.message("m\(number)", in: "c\(number)", at: noon + (30 + Int64(number)) * Self.day)
    }
    let later = noon + 40 * Self.day
    #expect(try scene.driver.row(AnalyzerRow.conversationKey("ann", "c")) == nil)
    let again = try scene.message("m", in: "c", at: noon, decidedAt: later, origin: origin)
    #expect(again.pushes.allSatisfy { $0.kind == .badge } && again.decision?.reason == .expired)
    #expect(try scene.message("n", in: "c", at: later).push != nil)
  }

  @Test("nothing is forgotten in which something has happened within four weeks, or twice the freshness")
  func idle() throws {
    for (freshness, expected) in [(hour, 28...30), (40 * Self.day, 60...60)] {
      let scene = scene(8, freshness: freshness)
      for number in 0..<60 { try scene.message("m\(number)", in: "c\(number)", at: noon + Int64(number) * Self.day) }
      let (rows, counted) = try conversations(scene)
      #expect(rows == counted && expected.contains(rows), "\(rows) rows, freshness \(freshness)")
    }
  }

  @Test("rows of before there was a count are counted when a conversation is added")
  func uncounted() throws {
    let old = scene(8)
    for number in 0..<5 { try old.message("m\(number)", in: "c\(number)") }
    let coder = RecordCoder()
    let userKey = AnalyzerRow.userKey("ann")
    guard case .user(var user)? = try old.driver.row(userKey) else {
      Issue.record("there is no row of the person")
      return
    }
    user.conversations = nil
    let scene = scene(8)
    let rows = try old.driver.rows(below: AnalyzerRow.conversationsKey("ann")) + [(userKey, .user(user))]
    scene.driver.load(try rows.map { (key: $0.0, bytes: try $0.1.encoded(coder: coder, at: .latest)) })
    try scene.message("m5", in: "c5")
    #expect(try conversations(scene) == (6, 6))
  }
}

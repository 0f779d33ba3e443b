import NudgeSchema
import StreamRuntime
import Testing

@testable import Analyzer

/// The rows of a decision, where nothing of the person is in memory: what docs/benchmarks.md tells of them.
@Suite("Decisions: the rows they read and write")
struct DecisionRowsTests {
  /// Room for some people's rows.
  private let scene = Scene(cacheBytes: 24_000)

  /// Messages for others, until nothing of `ann` is in memory.
  private func forgetAnn() throws {
    try scene.driver.commit()
    for number in 0..<60 {
      try scene.send(
        .candidate(Scene.candidate("m\(number)", in: "c-\(number)", to: ["person-\(number)"])), at: noon,
        origin: scene.nextOrigin())
      try scene.driver.commit()
    }
  }

  /// A message for `ann`, and what it reads and writes.
  private func rows(_ messageId: String, in conversationId: String) throws -> (read: Int, written: Int, notifies: Bool)
  {
    try forgetAnn()
    let before = scene.driver.reads().rows
    let written = try scene.message(messageId, in: conversationId, group: "Hikers", members: 8)
    return (
      scene.driver.reads().rows - before, try scene.driver.commit().rows, written.decision?.outcome == .notify
    )
  }

  @Test("issue 60: a decision reads four rows, of person, preferences, conversation and device, and writes two")
  func fourAndTwo() throws {
    try scene.gain("phone")
    try scene.prefer(PreferencesPatch(starredSenders: ["cleo"]))
    let first = try rows("m1", in: "c1")
    #expect(first == (read: 4, written: 2, notifies: true), "the first message of a conversation: \(first)")
    let second = try rows("m2", in: "c1")
    #expect(second == (read: 4, written: 2, notifies: true), "a later one: \(second)")
  }

  @Test("issue 60: people without preferences cost a look for them; each device is a row")
  func devices() throws {
    try scene.gain("phone")
    try scene.gain("tablet")
    let found = try rows("m1", in: "c1")
    #expect(found == (read: 5, written: 2, notifies: true), "\(found)")
  }
}

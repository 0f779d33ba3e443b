import NudgeCodec
import NudgeSchema
import StreamRuntime
import TestSupport
import Testing

@testable import Analyzer

/// Issue 62, row 10: lists of preferences that two devices change.
@Suite("Preferences: changes of lists")
struct PreferenceListTests {
  private func row(_ scene: Scene) throws -> PreferencesRow {
    if case .preferences(let row)? = try scene.driver.row(AnalyzerRow.preferencesKey("ann")) { return row }
    return PreferencesRow()
  }

  private func mute(_ add: [String] = [], remove: [String] = []) -> PreferencesPatch {
    PreferencesPatch(
      changes: ListChanges(
        muted: ListChange(add: add.map { MutedConversation(conversationId: $0) }, remove: remove)))
  }

  @Test("muting one conversation leaves what another device muted")
  func twoDevices() throws {
    let scene = try Scene.withPhone()
    try scene.prefer(mute(["c1"]), at: noon - 3)
    try scene.prefer(mute(["c2"]), at: noon - 2)
    for conversation in ["c1", "c2"] {
      #expect(try scene.message("m", in: conversation).decision?.reason == .conversationMuted)
    }
    try scene.prefer(mute(remove: ["c1"]), at: noon - 1)
    #expect(try scene.message("m2", in: "c1").decision?.outcome == .notify)
    #expect(try scene.message("m2", in: "c2").decision?.reason == .conversationMuted)
    // An app that sets the whole list still does.
    try scene.prefer(PreferencesPatch(muted: [MutedConversation(conversationId: "c1")]), at: noon)
    #expect(try row(scene).muted?.value.map(\.conversationId) == ["c1"] && row(scene).elements == nil)
  }

  @Test("each list takes changes; remove takes ids, of keywords the word in upper or lower case")
  func lists() throws {
    let scene = try Scene.withPhone()
    let add = ListChanges(
      muted: ListChange(add: [MutedConversation(conversationId: "c1", until: noon + hour, exceptMentions: true)]),
      starredSenders: ListChange(add: ["bob"]), keywords: ListChange(add: ["Pizza", "tent"]),
      conversationLevels: ListChange(add: [ConversationLevel(conversationId: "c2", level: .mentions)]),
      mutedSenders: ListChange(add: ["mallory"]))
    try scene.prefer(PreferencesPatch(changes: add), at: noon - 10)
    try scene.driver.restart()
    let row = try row(scene)
    #expect(row.muted?.value == [MutedConversation(conversationId: "c1", until: noon + hour, exceptMentions: true)])
    #expect(row.starredSenders?.value == ["bob"] && row.keywords?.value == ["Pizza", "tent"])
    #expect(row.conversationLevels?.value == [KeyedLevel(conversation: MessageKey("c2"), level: .mentions)])
    #expect(row.mutedSenders?.value == [MessageKey("mallory")])
    let remove = ListChanges(
      muted: ListChange(remove: ["c1"]), starredSenders: ListChange(remove: ["bob"]),
      keywords: ListChange(remove: ["PIZZA"]), conversationLevels: ListChange(remove: ["c2"]),
      mutedSenders: ListChange(remove: ["mallory"]))
    try scene.prefer(PreferencesPatch(changes: remove), at: noon - 9)
    let after = try self.row(scene)
    #expect(after.keywords?.value == ["tent"])
    #expect(
      [
        after.muted?.value.count, after.starredSenders?.value.count, after.conversationLevels?.value.count,
        after.mutedSenders?.value.count,
      ] == [0, 0, 0, 0])
  }

  @Test("D12: of each element the last writer wins, in whatever order the events come")
  func lastWriterWins() throws {
    var random = SeededGenerator(announcedFor: "PreferenceListTests.lastWriterWins")
    for _ in 0..<200 {
      // What happened, and what an element is after it.
      var events: [(patch: PreferencesPatch, at: Milliseconds, id: String)] = []
      var expected: Set<String> = []
      for number in 0..<(2 + random.below(10)) {
        let ids = (0..<4).map { "c\($0)" }.filter { _ in random.oneIn(2) }
        // Several events of one time are ordered by their ids.
        let (time, id) = (noon + Int64(number / 2), "event-\(number)")
        if random.oneIn(4) {
          events.append((PreferencesPatch(muted: ids.map { MutedConversation(conversationId: $0) }), time, id))
          expected = Set(ids)
        } else if random.oneIn(2) {
          events.append((mute(ids), time, id))
          expected.formUnion(ids)
        } else {
          events.append((mute(remove: ids), time, id))
          expected.subtract(ids)
        }
      }
      let scene = try Scene.withPhone()
      for event in events.shuffled(using: &random) {
        try scene.prefer(event.patch, at: event.at, eventId: event.id)
        if random.oneIn(4) { try scene.driver.restart() }
      }
      let found = Set(try row(scene).muted?.value.map(\.conversationId) ?? [])
      #expect(found == expected, "\(events)")
      guard found == expected else { return }
    }
  }

  @Test("changes are remembered for a bounded number of elements; nothing that was changed is lost with them")
  func bounded() throws {
    let scene = try Scene.withPhone()
    for number in 0..<80 {
      let time = noon - hour + 2 * Int64(number)
      try scene.prefer(mute(["c\(number)"]), at: time)
      if number % 2 == 0 { try scene.prefer(mute(remove: ["c\(number)"]), at: time + 1) }
    }
    let row = try row(scene)
    #expect(row.muted?.value.count == 40 && row.elements?.count ?? 0 <= ListedElement.maxKnown)
    #expect(row.packed().count < 4_000)
    // An old event brings nothing back.
    try scene.prefer(mute(["c0"]), at: noon - 2 * hour)
    #expect(try self.row(scene) == row)
  }

  @Test("a list that changes would make too long is refused, and mutes that are over make room")
  func tooLong() throws {
    let scene = try Scene.withPhone()
    for number in 0..<SchemaLimits.muted { try scene.prefer(mute(["c\(number)"]), at: noon + Int64(number)) }
    let refused = try scene.prefer(mute(["one-more"]), at: noon + hour)
    #expect(refused.rejection?.code == .tooLarge && refused.rejection?.message.contains("muted") == true)
    #expect(try row(scene).muted?.value.count == SchemaLimits.muted)
    let other = try Scene.withPhone()
    for number in 0..<(2 * SchemaLimits.muted) {
      let time = noon + Int64(number) * hour
      let patch = PreferencesPatch(
        changes: ListChanges(
          muted: ListChange(add: [MutedConversation(conversationId: "c\(number)", until: time + hour)])))
      #expect(try other.prefer(patch, at: time).rejection == nil)
    }
    #expect(try row(other).muted?.value.count == 1)
  }

  @Test("a pushed message of a conversation that is muted by a change is taken back")
  func takenBack() throws {
    let scene = try Scene.withPhone()
    try scene.message("m1")
    #expect(try scene.prefer(mute(["c1"]), at: noon + 1).cancelled.map(\.conversationId) == ["c1"])
  }
}

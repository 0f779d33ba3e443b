import NudgeCodec
import NudgeSchema
import StreamRuntime
import Testing

@testable import Analyzer

/// What an open app is told beside its banners.
@Suite("An open app is told what changes")
struct LiveChangesTests {
  private func open(_ scene: Scene, at time: Milliseconds = noon) throws {
    try scene.activity("phone", in: nil, at: time)
  }

  private func badge(_ number: Int, _ conversations: [(String, Int)]) -> BannerEventBody {
    .badge(
      BadgeChange(
        userId: "ann", badge: number,
        conversations: conversations.map { .init(conversationId: $0.0, unread: $0.1) }))
  }

  @Test(
    "D6, D7: each change of what is unread, with the conversation's number, and each read; nothing once the app is closed"
  )
  func unread() throws {
    let scene = try Scene.withPhone()
    #expect(try scene.message("m0", in: "c1", at: noon).changes.isEmpty, "the app is not open")
    try open(scene, at: noon + 1)
    #expect(try scene.message("m1", in: "c1", at: noon + 2).changes == [badge(1, [("c1", 2)])])
    #expect(try scene.message("m2", in: "c2", at: noon + 3).changes == [badge(2, [("c2", 1)])])
    let read = try scene.read("c1", at: noon + 4)
    #expect(
      read.changes == [
        .read(ConversationRead(userId: "ann", conversationId: "c1", messageId: nil, sentAt: noon + 4)),
        badge(1, [("c1", 0)]),
      ])
    #expect(try scene.read("c1", at: noon + 5).changes.isEmpty, "nothing changes")
    try scene.activity("phone", .background, at: noon + 6)
    #expect(try scene.message("m3", in: "c1", at: noon + 7).changes.isEmpty)
  }

  @Test(
    "D13: an edit and a deletion, also of a message that no push told of; no text where the person wants no previews")
  func editedAndDeleted() throws {
    let scene = Scene(AnalyzerRules(hash: standInHash))
    try open(scene)
    _ = try scene.message("m1", in: "c1", at: noon + 1, body: "hi")
    let long = String(repeating: "é", count: 80)
    let edited = try scene.edit("m1", in: "c1", body: long, at: noon + 2)
    #expect(
      edited.changes == [
        .updated(
          MessageUpdate(
            userId: "ann", conversationId: "c1", messageId: "m1", preview: String(repeating: "é", count: 49) + "…"))
      ])
    #expect(edited.pushes.isEmpty, "there is no device")
    try scene.prefer(PreferencesPatch(showPreviews: false))
    #expect(try scene.edit("m1", in: "c1", body: "secret", at: noon + 3).changes.isEmpty)
    let deleted = try scene.withdraw("m1", in: "c1", at: noon + 4)
    #expect(
      deleted.changes == [
        .withdrawn(MessageRemoval(userId: "ann", conversationId: "c1", messageId: "m1")), badge(0, [("c1", 0)]),
      ])
  }

  @Test("each record has an id of its own, the same when the step is made again")
  func ids() throws {
    var ids: [[String]] = []
    for _ in 0..<2 {
      let again = try Scene.withPhone()
      try open(again)
      let result = try again.driver.send(
        bytes: RecordCodec().encode(
          TimelineEvent(
            Envelope(eventId: "e", occurredAt: noon + 1), origin: again.nextOrigin(),
            source: RecordPosition(topic: "chat.events", partition: 0, offset: 1),
            .candidate(Scene.candidate("m1")))), to: .timeline, key: Array("ann".utf8), headers: [])
      ids.append(
        try result.outputs.filter { $0.topic == .banners }.map {
          try again.driver.decode(BannerEvent.self, from: $0).envelope.eventId
        })
    }
    #expect(ids[0].count == 2 && Set(ids[0]).count == 2 && ids[0] == ids[1])
  }
}

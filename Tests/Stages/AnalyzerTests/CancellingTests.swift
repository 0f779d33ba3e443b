import NudgeSchema
import StreamRuntime
import Testing

@testable import Analyzer

@Suite("What waits for another try follows what the person did")
struct CancellingTests {
  @Test("D7: reading cancels what waits up to that message, and tells what goes on waiting the badge")
  func read() throws {
    let scene = try Scene.withPhone()
    try scene.message("m1", in: "c1", at: noon)
    try scene.message("m2", in: "c1", at: noon + 1)
    try scene.message("m3", in: "c2", at: noon + 2)
    let one = try scene.read("c1", upTo: "m1", at: noon + 3, on: "phone")
    #expect(
      one.cancelled
        == [PushCancelled(userId: "ann", messageId: "m1", conversationId: "c1", sentUpTo: noon, badge: 2)])
    let all = try scene.read("c1", at: noon + 4, on: "phone")
    #expect(all.cancelled == [PushCancelled(userId: "ann", conversationId: "c1", sentUpTo: noon + 4, badge: 1)])
    #expect(try scene.read("c1", at: noon + 5).cancelled.isEmpty, "nothing was left to cancel")
  }

  @Test("D7: the cancellation comes before the push that tells the other devices")
  func order() throws {
    let scene = try Scene.withPhone()
    try scene.message("m1")
    let written = try scene.read(at: noon + 1)
    #expect(written.pushEvents.map(\.body.type) == [.pushCancelled, .push])
    #expect(written.pushEvents.map(\.origin.order.index) == [0, 1])
  }

  @Test("D1: who writes in a conversation has read it: what waits of it is cancelled")
  func wrote() throws {
    let scene = try Scene.withPhone()
    try scene.message("m1")
    let written = try scene.wrote("m2", at: noon + 1)
    #expect(
      written.cancelled
        == [PushCancelled(userId: "ann", messageId: "m2", conversationId: "c1", sentUpTo: noon + 1, badge: 0)])
  }

  @Test("D7: nothing is cancelled where no push was made, or none can wait any more")
  func nothingWaits() throws {
    let scene = try Scene.withPhone()
    try scene.prefer(PreferencesPatch(muted: [MutedConversation(conversationId: "c1")]))
    try scene.message("m1", in: "c1")
    #expect(try scene.read("c1", at: noon + 1).cancelled.isEmpty)
    try scene.message("m2", in: "c2")
    scene.driver.now = noon + hour + 1
    #expect(try scene.read("c2", at: noon + 1).cancelled.isEmpty)
  }

  @Test("D8: muting a conversation cancels what waits of it, but mentions where those are let through")
  func muted() throws {
    for exceptMentions in [nil, true] as [Bool?] {
      let scene = try Scene.withPhone()
      try scene.message("m1", in: "c1")
      try scene.message("m2", in: "c2")
      let mutes = [
        MutedConversation(conversationId: "c1", exceptMentions: exceptMentions),
        MutedConversation(conversationId: "c3"), MutedConversation(conversationId: "c2", until: noon - 1),
      ]
      let written = try scene.prefer(PreferencesPatch(muted: mutes), at: noon + 1)
      #expect(
        written.cancelled
          == [PushCancelled(userId: "ann", conversationId: "c1", kind: .message, exceptMentions: exceptMentions)])
      // Said again, nothing changes.
      #expect(try scene.prefer(PreferencesPatch(muted: mutes), at: noon + 2).cancelled.isEmpty)
    }
  }

  @Test("D8, D11, D14: previews, quiet hours, muted senders and levels reach what waits, once")
  func wishes() throws {
    func told(_ patch: PreferencesPatch, after before: PreferencesPatch? = nil) throws -> [PushCancelled] {
      let scene = try Scene.withPhone()
      if let before { try scene.prefer(before, at: noon) }
      let written = try scene.prefer(patch, at: noon + 1).cancelled
      #expect(try scene.prefer(patch, at: noon + 2).cancelled.isEmpty)
      return written
    }
    #expect(try told(PreferencesPatch(showPreviews: false)) == [PushCancelled(userId: "ann", showPreviews: false)])
    #expect(try told(PreferencesPatch(showPreviews: true)).isEmpty)
    let hours = QuietHours(start: "22:00", end: "07:00", timeZone: nil)
    #expect(try told(PreferencesPatch(quietHours: .set(hours))) == [PushCancelled(userId: "ann", quietHours: hours)])
    #expect(
      try told(PreferencesPatch(quietHours: .set(nil)), after: PreferencesPatch(quietHours: .set(hours)))
        == [PushCancelled(userId: "ann", quietHours: QuietHours(start: "00:00", end: "00:00", timeZone: nil))])
    #expect(
      try told(PreferencesPatch(mutedSenders: ["eve", "bob"]), after: PreferencesPatch(mutedSenders: ["eve"]))
        == [PushCancelled(userId: "ann", kind: .message, senderId: "bob")])
    let levels = [
      ConversationLevel(conversationId: "c1", level: .none), ConversationLevel(conversationId: "c2", level: .mentions),
      ConversationLevel(conversationId: "c3", level: .all),
    ]
    #expect(
      try told(PreferencesPatch(conversationLevels: levels)) == [
        PushCancelled(userId: "ann", conversationId: "c1", kind: .message),
        PushCancelled(userId: "ann", conversationId: "c2", kind: .message, exceptAddressed: true),
      ])
    #expect(
      try told(
        PreferencesPatch(defaultLevels: DefaultLevels(group: NotificationLevel.none)),
        after: PreferencesPatch(conversationLevels: [levels[2]]))
        == [
          PushCancelled(
            userId: "ann", kind: .message, conversationKind: .group, exceptConversations: [Digest.key("c3")])
        ])
  }

  @Test(
    "issue 62: changes of lists reach what waits as whole lists do, and a level that is taken away as the default does")
  func changesOfLists() throws {
    let scene = try Scene.withPhone()
    func told(_ changes: ListChanges, at time: Milliseconds) throws -> [PushCancelled] {
      try scene.prefer(PreferencesPatch(changes: changes), at: time).cancelled
    }
    try scene.message("m1", in: "c1")
    #expect(
      try told(ListChanges(mutedSenders: ListChange(add: ["bob"])), at: noon + 1)
        == [PushCancelled(userId: "ann", kind: .message, senderId: "bob")])
    #expect(try told(ListChanges(mutedSenders: ListChange(add: ["bob"])), at: noon + 2).isEmpty)
    #expect(try told(ListChanges(mutedSenders: ListChange(remove: ["bob"])), at: noon + 3).isEmpty)
    #expect(
      try told(ListChanges(muted: ListChange(add: [MutedConversation(conversationId: "c1")])), at: noon + 4)
        == [PushCancelled(userId: "ann", conversationId: "c1", kind: .message)])
    let level = ConversationLevel(conversationId: "c2", level: .mentions)
    #expect(
      try told(ListChanges(conversationLevels: ListChange(add: [level])), at: noon + 5)
        == [PushCancelled(userId: "ann", conversationId: "c2", kind: .message, exceptAddressed: true)])
    let loud = ConversationLevel(conversationId: "c2", level: .all)
    #expect(try told(ListChanges(conversationLevels: ListChange(add: [loud])), at: noon + 6).isEmpty)
    try scene.prefer(
      PreferencesPatch(defaultLevels: DefaultLevels(group: NotificationLevel.none)), at: noon + 7)
    #expect(
      try told(ListChanges(conversationLevels: ListChange(remove: ["c2"])), at: noon + 8)
        == [PushCancelled(userId: "ann", conversationId: "c2", kind: .message, conversationKind: .group)])
  }

  @Test("D8: turning notifications off cancels the messages that wait for each device, once")
  func disabled() throws {
    let scene = try Scene.withPhone()
    try scene.gain("tablet")
    try scene.message("m1")
    let written = try scene.prefer(PreferencesPatch(enabled: false), at: noon + 1)
    #expect(
      written.cancelled
        == ["phone", "tablet"].flatMap { device in
          // A catch-up may wait for anybody's device.
          [Push.Kind.message, .digest].map { PushCancelled(userId: "ann", deviceId: device, kind: $0) }
        })
    #expect(try scene.prefer(PreferencesPatch(enabled: false), at: noon + 2).isEmpty)
  }

  @Test("T2: a sign-out names the token and its version, so that nothing is sent with it later either")
  func signedOut() throws {
    let scene = try Scene.withPhone()
    let hash = AnalyzerRules(hash: standInHash).tokenHash("token-phone")
    let written = try scene.send(
      .deviceLost(
        DeviceLost(userId: "ann", deviceId: "phone", tokenHash: hash, version: 2, cause: .signedOut)), at: noon + 1)
    #expect(
      written.cancelled == [PushCancelled(userId: "ann", deviceId: "phone", tokenHash: hash, version: 2)])
  }

  @Test("D11: a push carries the quiet hours it must not be sent in, an urgent one does not")
  func quietHours() throws {
    let scene = try Scene.withPhone()
    let hours = QuietHours(start: "22:00", end: "07:00", timeZone: "Europe/Berlin")
    try scene.prefer(PreferencesPatch(quietHours: .set(hours)))
    #expect(try scene.message("m1").push?.quietHours == hours)
    let mention = try scene.message("m2", in: "c2", RecipientContext(mentioned: true)).push
    #expect(mention?.priority == .high && mention?.quietHours == hours && mention?.mentioned == true)
    #expect(mention?.urgent == nil)
    let urgent = try scene.message("m3", in: "c3", body: "this is urgent").push
    #expect(urgent?.priority == .high && urgent?.quietHours == nil && urgent?.urgent == true)
  }

  @Test("P2: the picture is the message's, the sender's is apart; neither shows where no text may")
  func pictures() throws {
    let scene = try Scene.withPhone()
    func push(_ id: String, _ attachment: NudgeSchema.Attachment?) throws -> Push? {
      var candidate = Scene.candidate(id, in: id)
      candidate.attachment = attachment
      return try scene.send(.candidate(candidate), at: noon, origin: scene.nextOrigin()).push
    }
    let image = try push("m1", Attachment(kind: .image, url: "https://example.com/cat.png"))
    #expect(image?.imageUrl == "https://example.com/cat.png" && image?.avatarUrl == "https://example.com/bob.png")
    #expect(try push("m2", Attachment(kind: .video, url: "https://example.com/cat.mp4"))?.imageUrl == nil)
    #expect(try push("m3", nil)?.imageUrl == nil)
    try scene.prefer(PreferencesPatch(showPreviews: false))
    let hidden = try push("m4", Attachment(kind: .image, url: "https://example.com/cat.png"))
    #expect(hidden?.imageUrl == nil && hidden?.avatarUrl == "https://example.com/bob.png")
  }
}

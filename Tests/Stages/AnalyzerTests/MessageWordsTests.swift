import Foundation
import NudgeSchema
import StreamRuntime
import Testing

@testable import Analyzer

@Suite("The words of a push in the person's language")
struct MessageWordsTests {
  private func push(_ change: (inout MessageCandidate) -> Void, locale: String = "de", to userId: String = "ann") throws
    -> Push?
  {
    let scene = try Scene.withPhone()
    try scene.prefer(PreferencesPatch(locale: locale))
    var candidate = Scene.candidate("m1", group: nil)
    change(&candidate)
    return try scene.send(.candidate(candidate), at: noon, origin: scene.nextOrigin()).push
  }

  @Test("M3: the title of a group without a name says who else is in it, but the person")
  func unnamedGroup() throws {
    func group(_ candidate: inout MessageCandidate) {
      candidate.conversation = CandidateConversation(
        kind: .group,
        others: ["ann", "cem", "dora", "eve"].map { Member(userId: $0, displayName: $0.capitalized) },
        memberCount: 6, activeSpeakers: 2)
      candidate.title = "Bob with Ann, Cem, Dora +2"
      candidate.recipients[0].context.mentioned = true
    }
    #expect(try push(group)?.title == "Bob mit Cem, Dora, Eve +1")
    #expect(try push(group, locale: "en")?.title == "Bob with Cem, Dora, Eve +1")
    // By an ingest of the release before, the title is a name; one that was held has it without the list.
    #expect(
      try push {
        group(&$0); $0.conversation.others = nil
      }?.title == "Bob mit Ann, Cem, Dora +2")
  }

  @Test("M3: several attachments, and a message with nothing to see, are told of in the person's language")
  func fixedBodies() throws {
    let image = Attachment(kind: .image, url: "https://cdn.example.com/1.jpg")
    #expect(
      try push {
        $0.attachment = image
        $0.body = "📷 Image +2"
      }?.body == "📷 Bild +2")
    #expect(try push { $0.body = "New message from Bob" }?.body == "Neue Nachricht von Bob")
    #expect(try push { $0.body = "📷 Image +2" }?.body == "📷 Image +2")
  }

  @Test("pictures without an absolute https address are on no push and no banner")
  func pictures() throws {
    for address in ["/i.png", "data:image/png;base64,AA", "http://cdn.example.com/i.png", "javascript:alert(1)"] {
      let push = try push {
        ($0.sender.avatarUrl, $0.attachment) = (address, Attachment(kind: .image, url: address))
      }
      #expect(push != nil && push?.imageUrl == nil && push?.avatarUrl == nil)
    }
  }

  @Test("a silent push says how many messages of its conversation are unread, an alert does not")
  func unread() throws {
    let scene = try Scene.smart()
    try scene.prefer(
      PreferencesPatch(conversationLevels: [ConversationLevel(conversationId: "c1", level: .smart)]))
    var counts: [Int] = []
    for number in 1...3 {
      let push = try scene.message("m\(number)", at: noon + Int64(number) * minute, body: "shall we meet?").push
      if push?.presentation == .silent { counts.append(push?.unread ?? 0) } else { #expect(push?.unread == nil) }
    }
    #expect(counts == counts.sorted())
  }

  @Test("P11: an edit has the names of sender and group, and says something where nothing of its text can be seen")
  func edit() throws {
    for (title, name) in [("Bob in Team", "Team"), ("Bob", nil)] as [(String, String?)] {
      let scene = try Scene.withPhone()
      try scene.message("m1", group: name, members: 3)
      func edit(_ body: String) throws -> Push? {
        try scene.send(
          .withdrawn(
            MessageWithdrawn(
              userIds: ["ann"], conversationId: "c1", messageId: "m1", cause: .edited, body: body, title: title,
              sender: Member(userId: "bob", displayName: "Bob"))), at: noon + 1, origin: scene.nextOrigin()
        ).push
      }
      let push = try #require(try edit("see you at nine"))
      #expect(
        push.conversation == PushConversation(senderName: "Bob", kind: name == nil ? .direct : .group, name: name))
      #expect(push.body == "see you at nine")
      #expect(try edit("\u{200B} ")?.body == "New message from Bob")
    }
  }
}

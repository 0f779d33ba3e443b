import NudgeSchema
import StreamRuntime
import Testing

@Suite struct RecipientContextTests {
  private static let names: [(String, String, Bool)] = [
    ("Ben, are you there?", "Ben", true), ("BEN!", "Ben", true), ("ask ben", "Ben", true), ("@ben hi", "Ben", true),
    ("ben's bike", "Ben", true), ("benny", "Ben", false), ("reuben", "Ben", false), ("ben_2", "Ben", false),
    ("ben_2: hi", "ben_2", true), ("benz, then Ben", "Ben", true), ("hello Anna Maria.", "Anna Maria", true),
    ("hello Anna", "Anna Maria", false), ("\u{e9}lan", "lan", false), ("JOSE\u{301} hat", "Jos\u{e9}", true),
    ("jose hat", "Jos\u{e9}", false), ("田中さん、おはよう", "田中", true), ("[away] hm", "[away]", true),
    ("hi 🦊!", "🦊", true), ("", "Ben", false),
  ]

  @Test("M4: mentions mark those they name by id, and nobody else")
  func mentioned() throws {
    let pipeline = IngestPipeline()
    try pipeline.group(["ann", "ben", "cleo"])
    let result = try pipeline.message(from: "ann", "you?", mentions: ["ben", "ann", "nobody"])
    #expect(try pipeline.context(of: "ben", in: result)?.mentioned == true)
    #expect(try pipeline.context(of: "cleo", in: result)?.mentioned == false)
  }

  @Test(
    "M4: a display name in the text as a whole word names the person, whatever the case",
    arguments: names)
  func named(text: String, name: String, isNamed: Bool) throws {
    let pipeline = IngestPipeline()
    try pipeline.chat(
      .conversationUpdated(
        ConversationUpdated(
          conversationId: "c", kind: .group,
          members: [IngestPipeline.member("ann"), Member(userId: "u", displayName: name)])))
    let result = try pipeline.chat(
      .messageCreated(
        MessageCreated(
          conversationId: "c", messageId: "m", senderId: "ann", text: text, attachments: [ChatAttachment(kind: .file)]))
    )
    #expect(try pipeline.context(of: "u", in: result)?.named == isNamed)
  }

  @Test("M4: a reply to one of somebody's last messages answers them")
  func answered() throws {
    let pipeline = IngestPipeline()
    try pipeline.group(["ann", "ben", "cleo"])
    try pipeline.message("c", "m1", from: "ben", "who comes?")
    try pipeline.message("c", "m2", from: "cleo", "not me")
    let result = try pipeline.message("c", "m3", from: "ann", "I do", replyTo: "m1")
    #expect(try pipeline.context(of: "ben", in: result)?.answered == true)
    #expect(try pipeline.context(of: "cleo", in: result)?.answered == false)
    let unknown = try pipeline.message("c", "m4", from: "ann", "I do", replyTo: "long-ago")
    #expect(try pipeline.context(of: "ben", in: unknown)?.answered == false)
  }

  @Test("M4: when somebody last spoke, and how much was said by others since")
  func lastSpoke() throws {
    let pipeline = IngestPipeline()
    try pipeline.group(["ann", "ben", "cleo"])
    try pipeline.message("c", "m1", from: "ben", envelope: pipeline.envelope(after: 10))
    try pipeline.message("c", "m2", from: "cleo", envelope: pipeline.envelope(after: 20))
    try pipeline.message("c", "m3", from: "cleo", envelope: pipeline.envelope(after: 30))
    let result = try pipeline.message("c", "m4", from: "ann", envelope: pipeline.envelope(after: 40))
    let ben = try #require(try pipeline.context(of: "ben", in: result))
    #expect(ben.lastSpokeAt == IngestPipeline.start + 10)
    #expect(ben.messagesSince == 2)
    let cleo = try #require(try pipeline.context(of: "cleo", in: result))
    #expect(cleo.lastSpokeAt == IngestPipeline.start + 30)
    #expect(cleo.messagesSince == 0)
    let answer = try pipeline.message("c", "m5", from: "ben", envelope: pipeline.envelope(after: 50))
    #expect(try pipeline.context(of: "ann", in: answer)?.messagesSince == 0)
    #expect(try pipeline.candidates(answer).first?.conversation.activeSpeakers == 3)
  }

  @Test("M4: somebody who is not among the last 64 messages has no last word, and no features")
  func forgottenSpeaker() throws {
    let pipeline = IngestPipeline()
    try pipeline.group(["ann", "ben", "cleo"])
    try pipeline.message("c", "first", from: "ben")
    for number in 1...63 { try pipeline.message("c", "m\(number)", from: "cleo") }
    let last = try pipeline.context(of: "ben", in: pipeline.message("c", "m64", from: "cleo"))
    #expect(last?.messagesSince == 63 && last?.features != nil)
    let forgotten = try pipeline.context(of: "ben", in: pipeline.message("c", "m65", from: "cleo"))
    #expect(forgotten?.lastSpokeAt == nil && forgotten?.features == nil)
  }

  @Test("M4: an exchange counts the turns two people took one after the other, or addressed to each other")
  func exchange() throws {
    let pipeline = IngestPipeline()
    try pipeline.group(["ann", "ben", "cleo", "dan"])
    try pipeline.message("c", "m1", from: "ann")
    try pipeline.message("c", "m2", from: "ben")  // ann, ben
    try pipeline.message("c", "m3", from: "ann")  // ben, ann
    try pipeline.message("c", "m4", from: "cleo", "dan: look")  // addressed: cleo to dan
    let fromBen = try pipeline.message("c", "m5", from: "ben", "fine", replyTo: "m3")  // answers ann
    #expect(try pipeline.context(of: "ann", in: fromBen)?.exchange == 3)
    #expect(try pipeline.context(of: "cleo", in: fromBen)?.exchange == 1)
    #expect(try pipeline.context(of: "dan", in: fromBen)?.exchange == 0)
    let fromDan = try pipeline.message("c", "m6", from: "dan", "nice")
    #expect(try pipeline.context(of: "cleo", in: fromDan)?.exchange == 1)
    #expect(try pipeline.context(of: "ann", in: fromDan)?.exchange == 0)
  }
}

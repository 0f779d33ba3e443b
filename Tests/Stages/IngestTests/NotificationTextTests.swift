import Ingest
import NudgeSchema
import StreamRuntime
import Testing

@Suite struct NotificationTextTests {
  private func candidate(
    _ text: String?, attachments: [ChatAttachment]? = nil, kind: ConversationKind = .group, name: String? = "Hikers",
    rules: IngestRules? = nil
  ) throws -> MessageCandidate {
    let pipeline = IngestPipeline(rules: rules)
    try pipeline.group(["ann", "ben"], name: name, kind: kind)
    let result = try pipeline.chat(
      .messageCreated(
        MessageCreated(
          conversationId: "c", messageId: "m", senderId: "ann", text: text, attachments: attachments)))
    return try #require(try pipeline.candidates(result).first)
  }

  @Test("control characters and overrides of direction do not pass into titles and bodies")
  func displayed() throws {
    let candidate = try candidate("a\u{202E}b\u{0007}\r\nc", name: "Hik\u{2066}ers\n!")
    #expect(candidate.title == "Ann in Hikers !")
    #expect(candidate.conversation.name == "Hikers !")
    #expect(candidate.body == "ab\nc")
  }

  @Test("M3: a direct chat's title is the sender's name, its body the text")
  func direct() throws {
    let candidate = try candidate("hi Ben", kind: .direct, name: nil)
    #expect(candidate.title == "Ann")
    #expect(candidate.body == "hi Ben")
  }

  @Test(
    "D3: a candidate says whether its text cannot wait, so that the analyzer need not ask for each recipient",
    arguments: [
      ("he is not breathing", true), ("il ne respire plus", true), ("this is not urgent", false),
      ("see you at six", false),
      (String(repeating: "so today we went to the lake. ", count: 300) + "he is not breathing", true),
    ])
  func urgent(text: String, cannotWait: Bool) throws { #expect(try candidate(text).urgent == cannotWait) }

  @Test("M3: a group's title is the sender in the group's name")
  func group() throws {
    let candidate = try candidate("hi all")
    #expect(candidate.title == "Ann in Hikers")
    #expect(candidate.body == "hi all")
  }

  @Test("M3: the title of a group without a name says who else is in it", arguments: [nil, " \u{200B}", "\u{3164}"])
  func namelessGroup(name: String?) throws {
    let two = try candidate("hi all", name: name)
    #expect(two.title == "Ann with Ben" && two.conversation.name == nil)
    let pipeline = IngestPipeline()
    try pipeline.group(["ann", "ben", "cem", "dora", "eve", "fay"], name: name)
    let candidate = try #require(
      try pipeline.candidates(
        pipeline.chat(
          .messageCreated(MessageCreated(conversationId: "c", messageId: "m", senderId: "ann", text: "hi")))
      ).first)
    #expect(candidate.title == "Ann with Ben, Cem, Dora +2")
    #expect(candidate.conversation.others?.map(\.userId) == ["ben", "cem", "dora", "eve"])
  }

  @Test(
    "M3: a text without anything that can be seen is no text",
    arguments: [
      " ", "\u{200B}", "\u{3164}\u{3164}", "\u{200D}", "\u{202E}\u{200F}", "\u{2800}", "\u{FEFF}\n\t", "\u{AD}",
    ])
  func invisible(text: String) throws {
    let image = ChatAttachment(kind: .image)
    #expect(try candidate(text, attachments: [image]).body == "📷 Image")
    #expect(try candidate(text).body == "New message from Ann")
    #expect(try candidate("\(text)x", attachments: [image]).body.contains("x"))
  }

  @Test("M3: a name without anything that can be seen is no name")
  func invisibleNames() throws {
    let pipeline = IngestPipeline()
    try pipeline.group(["ann", "ben"])
    let result = try pipeline.chat(
      .messageCreated(
        MessageCreated(
          conversationId: "c", messageId: "m", senderId: "ann", text: "hi",
          sender: SenderProfile(displayName: "\u{2063} "))))
    #expect(try pipeline.candidates(result).first?.title == "Ann in Hikers")
  }

  @Test("M3: several attachments are counted; words of one's own stand alone")
  func severalAttachments() throws {
    #expect(
      try candidate(nil, attachments: [.init(kind: .image), .init(kind: .image), .init(kind: .file)]).body
        == "📷 Image +2")
    #expect(try candidate("look", attachments: [.init(kind: .image), .init(kind: .image)]).body == "look")
  }

  @Test(
    "P2: only pictures with an absolute https address go on, whoever sent them",
    arguments: [
      ("https://cdn.example/a.png", true), ("http://cdn.example/a.png", false), ("/a.png", false), ("a.png", false),
      ("data:image/png;base64,AAAA", false), ("javascript:alert(1)", false), ("//cdn.example/a.png", false),
      ("https://", false), ("https:/cdn.example/a.png", false), ("ftp://cdn.example/a.png", false),
      ("HTTPS://CDN.example:8443/a.png?x=1#y", true), ("https://user@cdn.example/a.png", false),
    ])
  func addresses(_ url: String, _ goesOn: Bool) throws {
    let attachment = try candidate("look", attachments: [.init(kind: .image, url: url)]).attachment
    #expect(attachment?.kind == .image && attachment?.url == (goesOn ? url : nil))
  }

  @Test(
    "M3: an attachment without text has a word for a body",
    arguments: zip(
      [ChatAttachment.Kind.image, .video, .audio, .file, .location],
      ["📷 Image", "🎥 Video", "🎤 Audio", "📎 File", "📍 Location"]))
  func attachmentWord(kind: ChatAttachment.Kind, word: String) throws {
    #expect(try candidate(nil, attachments: [ChatAttachment(kind: kind)]).body == word)
    #expect(try candidate(" \n", attachments: [ChatAttachment(kind: kind)]).body == word)
    #expect(try candidate("see", attachments: [ChatAttachment(kind: kind)]).body == "see")
  }

  @Test("M3: text at the limit stays; longer text is cut with … and has as many characters as the limit")
  func cutByCharacters() throws {
    let rules = IngestPipeline.rules { $0.bodyCharacters = 10 }
    #expect(try candidate("0123456789", rules: rules).body == "0123456789")
    #expect(try candidate("0123456789a", rules: rules).body == "012345678…")
  }

  @Test("M3: a grapheme of many code points is never cut in two")
  func cutOnGraphemes() throws {
    let rules = IngestPipeline.rules { $0.bodyCharacters = 4 }
    let family = "👨‍👩‍👧‍👦"
    #expect(try candidate(family + family + family + family, rules: rules).body == family + family + family + family)
    #expect(
      try candidate(family + family + family + family + family, rules: rules).body == family + family + family + "…")
    #expect(try candidate("e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}", rules: rules).body == "e\u{301}e\u{301}e\u{301}…")
  }

  @Test("M3: few characters of very many bytes are cut as well")
  func cutByBytes() throws {
    let rules = IngestPipeline.rules { $0.bodyBytes = 100 }
    let zalgo = "a" + String(repeating: "\u{301}", count: 200)
    #expect(try candidate(zalgo, rules: rules).body == "…")
    let cut = try candidate(String(repeating: "日", count: 50), rules: rules).body
    #expect(cut == String(repeating: "日", count: 32) + "…")
    #expect(cut.utf8.count <= 100)
  }

  @Test("M3: names of any length leave the title short")
  func longNames() throws {
    let candidate = try candidate("hi", name: String(repeating: "n", count: 256))
    #expect(candidate.title == "Ann in " + String(repeating: "n", count: 79) + "…")
  }

  @Test("M3: the event's own profile of the sender comes before the member's name")
  func senderProfile() throws {
    let pipeline = IngestPipeline()
    try pipeline.group(["ann", "ben"])
    let result = try pipeline.chat(
      .messageCreated(
        MessageCreated(
          conversationId: "c", messageId: "m", senderId: "ann", text: "hi",
          sender: SenderProfile(displayName: "Annie"))))
    #expect(try pipeline.candidates(result).first?.title == "Annie in Hikers")
  }

  @Test("M3: a member without a name is shown by their id")
  func namelessSender() throws {
    let pipeline = IngestPipeline()
    try pipeline.group(["ben"])
    try pipeline.chat(.memberAdded(MembershipChange(conversationId: "c", userId: "u-1")), pipeline.envelope(after: 1))
    #expect(try pipeline.candidates(pipeline.message(from: "u-1")).first?.title == "u-1 in Hikers")
  }
}

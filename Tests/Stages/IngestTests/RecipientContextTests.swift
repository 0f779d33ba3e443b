import NudgeSchema
import StreamRuntime
import Testing

@Suite struct RecipientContextTests {
  private static let names: [(String, String, Bool)] = [
    ("Ben, are you there?", "Ben", true), ("BEN!", "Ben", true), ("ask ben", "Ben", true), ("@ben hi", "Ben", true),
    ("ben's bike", "Ben", true), ("benny", "Ben", false), ("reuben", "Ben", false), ("ben_2", "Ben", false),
    ("ben_2: hi", "ben_2", true), ("benz, then Ben", "Ben", true), ("hello Anna Maria.", "Anna Maria", true),
    ("hello Anna", "Anna Maria", true), ("\u{e9}lan", "lan", false), ("JOSE\u{301} hat", "Jos\u{e9}", true),
    ("jose hat", "Jos\u{e9}", true), ("田中さん、おはよう", "田中", true), ("[away] hm", "[away]", true),
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

  @Test(
    "issue 62: the first name calls somebody too; one that is a word does where it is used as a name",
    arguments: [
      ("Anna, who brings the tent?", "Anna Maria Rossi", true),
      ("who brings the tent, anna?", "Anna Maria Rossi", true),
      ("ask Anna Maria Rossi", "Anna Maria Rossi", true), ("Maria, who?", "Anna Maria Rossi", false),
      ("Annabel?", "Anna Rossi", false),
      ("thanks Zoe", "Zoë Kravitz", true), ("Zoë!", "Zoe Smith", true), ("Anna: hi", "Rossi, Anna", true),
      ("frau rossi", "Rossi, Anna", false),
      ("Anna?", "Dr. Anna Rossi", true), ("dr who", "Dr. Anna Rossi", false), ("hi Anna", "Anna 🌸", true),
      ("hi Jean-Luc", "Jean-Luc Picard", true),
      ("the boss, he said no", "The Boss", true), ("the end", "The Boss", false), ("A.", "A. Rossi", false),
      ("민수야, 어디야", "김민수", true), ("김민수님께", "김민수", true), ("소민수라", "김민수", false), ("小明，你来吗", "王小明", true),
      ("太郎、来る？", "田中 太郎", true), ("田中さんに聞いて", "田中 太郎", true),
      ("Tom, can you look?", "Tom", true), ("tom can you look", "Tom", true), ("I saw tom yesterday", "Tom", true),
      ("We should mark the date, it may rain", "Mark", false), ("We should mark the date, it may rain", "May", false),
      ("Mark, can you look?", "Mark", true), ("mark: can you look?", "Mark", true),
      ("can you look, mark?", "Mark", true), ("@mark look", "Mark", true),
      ("Mark can you look?", "Mark", true), ("Mark the date", "Mark", false), ("please mark the date", "Mark", false),
      ("Mark?", "Mark", true),
      ("I asked Mark about it", "Mark", true), ("i asked mark about it", "Mark", false),
      ("hey mark where are you", "Mark", true),
      ("MARK THE DATE", "Mark", false), ("Mark's bike", "Mark Twain", true), ("a mark on the wall", "Mark", false),
      ("Will you come?", "Will", false), ("Will, you come?", "Will", true), ("I will", "Will", false),
      ("with Will at noon", "Will", true),
      ("Will can you drive", "Will", true), ("hey will you come", "Will", false), ("thanks Will", "Will", true),
      ("see you in May", "May", false), ("on 5 May", "May", false), ("April, May and June", "May", false),
      ("May I ask?", "May", false),
      ("ask May if she can", "May", true), ("May, are you in?", "May", true), ("that is May", "May", true),
      ("i hope so", "Hope", false), ("Hope, are you there?", "Hope", true), ("I hope Hope comes", "Hope", true),
      ("roses and a rose", "Rose", false),
      ("Rose is late", "Rose", true), ("die Rose blüht", "Rose", false), ("der Wolf kommt", "Wolf", false),
      ("frag Wolf", "Wolf", true),
      ("bugün deniz çok güzel", "Deniz", false), ("Deniz, gelir misin?", "Deniz", true), ("Deniz'e sor", "Deniz", true),
      ("la luz se fue", "Luz", false), ("Luz, ¿vienes?", "Luz", true), ("вера в лучшее", "Вера", false),
      ("Вера, ты где?", "Вера", true),
      ("그건 우리 나라", "나라", false), ("나라야, 어디야", "나라", true), ("愛さん、来る？", "愛", true), ("愛してる", "愛", false),
      ("let's go to the mo", "Mo", false),
      ("Support is closed", "Support Bot", true), ("we need support", "Support Bot", false),
    ])
  func calledByName(text: String, name: String, isNamed: Bool) throws {
    let pipeline = IngestPipeline()
    try pipeline.chat(
      .conversationUpdated(
        ConversationUpdated(
          conversationId: "c", kind: .group,
          members: [IngestPipeline.member("ann"), Member(userId: "u", displayName: name)])))
    let result = try pipeline.message(from: "ann", text)
    #expect(try pipeline.context(of: "u", in: result)?.named == isNamed, "\(name) in \(text)")
  }

  @Test("issue 62: of two people of one first name, the whole name means one, the first name both")
  func sameFirstName() throws {
    let pipeline = IngestPipeline()
    try pipeline.chat(
      .conversationUpdated(
        ConversationUpdated(
          conversationId: "c", kind: .group,
          members: [
            IngestPipeline.member("ann"), Member(userId: "rossi", displayName: "Anna Rossi"),
            Member(userId: "berg", displayName: "Anna Berg"),
          ])))
    for (text, rossi, berg) in [
      ("Anna, who comes?", true, true), ("Anna Berg, who comes?", false, true),
      ("Anna Rossi and Anna Berg?", true, true),
      ("Anna Rossi? no, the other Anna", true, true),
    ] {
      let result = try pipeline.message(from: "ann", text)
      #expect(try pipeline.context(of: "rossi", in: result)?.named == rossi, "\(text)")
      #expect(try pipeline.context(of: "berg", in: result)?.named == berg, "\(text)")
    }
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

  @Test(
    "M4: a reply to a message hundreds of messages back answers its writer", arguments: [3, 150])
  func answeredLongAgo(count: Int) throws {
    let pipeline = IngestPipeline()
    let people = ["ann", "ben", "cleo"] + (3..<max(count, 3)).map { "person-\($0)" }
    try pipeline.group(people)
    try pipeline.message("c", "question", from: "ben", "who comes?")
    for number in 0..<400 {
      try pipeline.message("c", "m\(number)", from: "cleo", envelope: pipeline.envelope(after: Int64(number)))
    }
    let result = try pipeline.message(
      "c", "answer", from: "ann", "I do", replyTo: "question", envelope: pipeline.envelope(after: 1_000))
    #expect(try pipeline.context(of: "ben", in: result)?.answered == true)
    #expect(try pipeline.context(of: "cleo", in: result)?.answered == false)
  }

  @Test(
    "issue 62: an answer to a message a thousand messages back is known, with how far back that is, and so is an edit of it"
  )
  func answeredThousandsBack() throws {
    let pipeline = IngestPipeline()
    try pipeline.group(["ann", "ben", "cleo"])
    try pipeline.message("c", "first", from: "ben", "who comes?")
    let start = pipeline.driver.now
    for number in 0..<5_200 {
      pipeline.driver.now = start + Int64(number) * 60_000
      try pipeline.message("c", "m\(number)", from: number % 7 == 0 ? "ben" : "cleo")
    }
    for (number, writer) in [(5_199, "cleo"), (4_802, "ben"), (4_300, "cleo"), (3_010, "ben"), (1_400, "ben")] {
      let result = try pipeline.message("c", "answer-\(number)", from: "ann", "I do", replyTo: "m\(number)")
      #expect(try pipeline.context(of: writer, in: result)?.answered == true, "\(number)")
      guard case .candidate(let candidate)? = try pipeline.timeline(result).first?.body else {
        throw CancellationError()
      }
      guard number < 5_100 else {
        #expect(candidate.answers == nil)
        continue
      }
      let answers = try #require(candidate.answers)
      #expect(abs(answers.messagesBack - (5_200 - number)) < 200, "\(number)")
      let writtenAt = start + Int64(number) * 60_000
      #expect(answers.sentAt >= writtenAt - 2_000 && answers.sentAt < writtenAt + 513 * 60_000, "\(number)")
    }
    // Bounded: the first of so many is known no longer.
    let unknown = try pipeline.message("c", "answer", from: "ann", "I do", replyTo: "first")
    #expect(try pipeline.context(of: "ben", in: unknown)?.answered == false)
    #expect(try pipeline.driver.rows(below: RowKey("w", "c")).count == 8)
    let edited = try pipeline.chat(
      .messageEdited(MessageRevision(conversationId: "c", messageId: "m3010", text: "me too")))
    guard case .withdrawn(let withdrawn)? = try pipeline.timeline(edited).first?.body else { throw CancellationError() }
    #expect(withdrawn.sender?.displayName == "Ben" && withdrawn.title == "Ben in Hikers")
    try pipeline.chat(.conversationDeleted(ConversationDeleted(conversationId: "c")))
    #expect(try pipeline.driver.rows(below: RowKey("w", "c")).isEmpty)
  }

  @Test(
    "issue 62: the name that a message gives its sender is theirs from then on, in edits and calls, until a later change"
  )
  func renamedByMessage() throws {
    let pipeline = IngestPipeline()
    try pipeline.group(["ann", "ben", "cleo"])
    try pipeline.message("c", "m1", from: "ben", "who comes?")
    func speak(_ id: String, as name: String, after: Milliseconds = 0) throws {
      try pipeline.chat(
        .messageCreated(
          MessageCreated(
            conversationId: "c", messageId: id, senderId: "ben", text: "hello",
            sender: SenderProfile(displayName: name))), pipeline.envelope(after: after))
    }
    func edited() throws -> MessageWithdrawn? {
      pipeline.driver.now += 1_000
      let result = try pipeline.chat(
        .messageEdited(MessageRevision(conversationId: "c", messageId: "m1", text: "who is coming?")))
      guard case .withdrawn(let withdrawn)? = try pipeline.timeline(result).first?.body else { return nil }
      return withdrawn
    }
    pipeline.driver.now += 10_000
    try speak("m2", as: "Benjamin")
    let withdrawn = try #require(try edited())
    #expect(withdrawn.sender?.displayName == "Benjamin" && withdrawn.title == "Benjamin in Hikers")
    let called = try pipeline.message("c", "m3", from: "ann", "Benjamin, are you there?")
    #expect(try pipeline.context(of: "ben", in: called)?.named == true)
    // A message from before brings no older name back.
    try speak("late", as: "Benny", after: -60_000)
    #expect(try edited()?.sender?.displayName == "Benjamin")
    pipeline.driver.now += 10_000
    try pipeline.group(["ann", "ben", "cleo"])
    #expect(try edited()?.sender?.displayName == "Ben")
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

import TestSupport
import Testing

@testable import Relevance

@Suite("Recent talk")
struct RecentTalkTests {
  @Test("D5: what is remembered of a conversation has a bound, and reads back as it was packed")
  func bounded() throws {
    var random = SeededGenerator(announcedFor: "Relevance")
    let seed = random.seed
    var talk = RecentTalk()
    for number in 0..<2_000 {
      let sender = String(repeating: "x", count: Int.random(in: 1...256, using: &random)) + "\(number % 90)"
      var text = TextTraits()
      text.words = (0..<Int.random(in: 0...20, using: &random)).map { _ in .random(in: 1...999, using: &random) }
      text.length = .random(in: 0...500, using: &random)
      text.isQuestion = .random(using: &random)
      let addressed = (0..<Int.random(in: 0...6, using: &random)).map { "p\($0)-\(number % 17)" }
      talk.append(
        text, from: sender, at: Int64(number), messageId: "m\(number)", addressed: addressed,
        partner: addressed.first)
      #expect(talk.messages.count <= RecentTalk.capacity, "seed \(seed)")
      #expect(talk.people.reduce(0) { $0 + $1.utf8.count } <= RecentTalk.peopleBytes, "seed \(seed)")
      #expect(talk.sender(of: "m\(number)") == sender, "seed \(seed)")
      if number % 97 == 0 {
        let packed = talk.packedMessages
        #expect(packed.count <= RecentTalk.capacity * 44)
        #expect(
          RecentTalk(people: talk.people, packedMessages: packed, packedFormer: talk.packedFormer) == talk,
          "seed \(seed)")
        let text = Base64Text.encode(packed)
        #expect(Base64Text.decode(text) == packed)
      }
    }
  }

  @Test("D13: the senders of 64 more messages are remembered, and given up first where people take too much room")
  func former() {
    var talk = RecentTalk()
    func append(_ number: Int, from sender: String) {
      talk.append(
        TextTraits(), from: sender, at: Int64(number), messageId: "m\(number)", addressed: [], partner: nil)
    }
    for number in 0..<200 { append(number, from: "p\(number % 7)") }
    #expect(talk.messages.count == 64 && talk.former.count == 64)
    #expect(talk.sender(of: "m199") == "p3" && talk.sender(of: "m72") == "p2" && talk.sender(of: "m71") == nil)
    #expect(talk.packedFormer.count == 320)
    // Each of the next messages has a sender with a long id of their own.
    for number in 200..<230 { append(number, from: String(repeating: "x", count: 200) + "\(number)") }
    #expect(talk.people.reduce(0) { $0 + $1.utf8.count } <= RecentTalk.peopleBytes)
    #expect(talk.former.count < 64 && talk.sender(of: "m229")?.hasSuffix("229") == true)
  }

  @Test("Damaged bytes are no talk, and never a trap")
  func damaged() {
    var talk = RecentTalk()
    for number in 0..<10 {
      talk.append(
        TextTraits(), from: "p\(number % 3)", at: 1, messageId: "m\(number)", addressed: ["p1"], partner: "p2")
    }
    let bytes = talk.packedMessages
    for length in 0..<bytes.count where length % 24 != 0 {
      _ = RecentTalk(people: talk.people, packedMessages: Array(bytes.prefix(length)))
    }
    #expect(RecentTalk(people: [], packedMessages: bytes) == nil)
    #expect(RecentTalk(people: talk.people, packedMessages: bytes + [1]) == nil)
    for former: [UInt8] in [[1], [1, 2, 3, 4, 9], [1, 2, 3, 4, 0, 1]] {
      #expect(RecentTalk(people: talk.people, packedMessages: bytes, packedFormer: former) == nil)
    }
    #expect(Base64Text.decode("AB*=") == nil && Base64Text.decode("A") == nil && Base64Text.decode("=A==") == nil)
    #expect(Base64Text.decode("") == [])
  }

  @Test("D5: words are told apart in any script; numbers and short words tell nothing")
  func words() {
    func traits(_ text: String) -> TextTraits {
      TextTraits(folded: Array(text.lowercased().unicodeScalars))
    }
    #expect(traits("Größe Größe 12345 ab").words == [TextTraits.hash(ofWord: "größe".unicodeScalars)])
    #expect(traits("東京駅").words.count == 2)
    #expect(Set(traits("東京駅").words).intersection(traits("東京").words).count == 1)
    #expect(traits("¿qué?").isQuestion && traits("本当？").isQuestion && traits("؟").isQuestion)
    #expect(!traits("well.").isQuestion)
  }
}

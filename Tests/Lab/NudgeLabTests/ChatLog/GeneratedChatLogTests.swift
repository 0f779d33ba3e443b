import NudgeSchema
import Testing

@testable import NudgeLab

@Suite("The built-in chat log")
struct GeneratedChatLogTests {
  private static let sample = 5_000

  private func messages(seed: UInt64) throws -> [ChatMessage] {
    try all(GeneratedChatLog(seed: seed), limit: Self.sample)
  }

  @Test("is the same for equal seeds, and different for others")
  func determinism() throws {
    let first = try messages(seed: 7)
    #expect(try messages(seed: 7) == first)
    #expect(try messages(seed: 8) != first)
    // Held to its bytes, so that it is the same on other machines and with other standard libraries, too.
    let beginning = try all(GeneratedChatLog(seed: 1), limit: 3).map { "\($0.nick) in \($0.log)" }
    #expect(beginning == ["Chiara in Flat 4b", "K8 in Flat 4b", "Tove in Parents of 3c"])
  }

  @Test("has several conversations, groups and pairs, whose messages are in order")
  func order() throws {
    let logs = Dictionary(grouping: try messages(seed: 1), by: \.log)
    #expect(logs.count > 8)
    #expect(Set(logs.values.compactMap { $0.first?.kind }) == [.group, .direct])
    for messages in logs.values {
      #expect(messages.map(\.number) == Array(1...messages.count))
      #expect(zip(messages, messages.dropFirst()).allSatisfy { $0.at <= $1.at })
      if messages[0].kind == .direct { #expect(Set(messages.map(\.nick)).count == 2) }
    }
  }

  @Test("looks like people: questions, names, answers, pictures, emoji, long texts, bursts")
  func plausibility() throws {
    let messages = try messages(seed: 3)
    func count(_ isMeant: (ChatMessage) -> Bool) -> Int { messages.count(where: isMeant) }
    #expect(count { $0.text.hasSuffix("?") } > Self.sample / 20)
    #expect(count { message in ChatPhrases.people.contains { message.text.hasPrefix($0 + ": ") } } > Self.sample / 20)
    #expect(count { $0.replyTo?.isEmpty == false } > Self.sample / 20)
    #expect(count { $0.replyTo?.isEmpty == true } > 0)
    #expect(count { $0.text.isEmpty } > 0)
    #expect(count { $0.text.contains("👍") } > 0)
    #expect(count { $0.text.count > 240 } > 0)
    let bursts = zip(messages, messages.dropFirst()).count { $0.log == $1.log && $1.at - $0.at <= 4_000 }
    #expect(bursts > Self.sample / 4)
    // An answered person has written before, in the same log.
    for log in Dictionary(grouping: messages, by: \.log).values {
      for message in log {
        for number in message.replyTo ?? [] { #expect(number < message.number && number > 0) }
      }
    }
  }
}

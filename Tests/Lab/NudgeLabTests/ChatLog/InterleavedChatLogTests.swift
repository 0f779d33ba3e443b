import NudgeSchema
import Testing

@testable import NudgeLab

@Suite("Logs played at once")
struct InterleavedChatLogTests {
  /// Messages in an array.
  struct Given: ChatMessages {
    var messages: ArraySlice<ChatMessage>

    mutating func next() -> ChatMessage? { messages.popFirst() }
  }

  private func log(_ name: String, _ times: [Milliseconds]) -> [ChatMessage] {
    times.enumerated().map { ChatMessage(log: name, number: $0, at: $1, nick: "n", text: "t") }
  }

  private func play(_ messages: [ChatMessage], width: Int) throws -> [String] {
    try all(InterleavedChatLog(Given(messages: messages[...]), width: width)).map { "\($0.log)\($0.number)" }
  }

  @Test("begin together and go by their own times")
  func together() throws {
    let messages = log("a", [1_000, 1_010, 1_020]) + log("b", [5, 9, 30])
    #expect(try play(messages, width: 2) == ["a0", "b0", "b1", "a1", "a2", "b2"])
  }

  @Test("are replaced by the next log when one ends")
  func succession() throws {
    let messages = log("a", [0, 1]) + log("b", [0, 100]) + log("c", [7, 8])
    #expect(try play(messages, width: 2) == ["a0", "b0", "a1", "c0", "c1", "b1"])
    #expect(try play(messages, width: 1) == ["a0", "a1", "b0", "b1", "c0", "c1"])
  }

  @Test("lose no message and keep each log's order, with any times", arguments: 1...5)
  func complete(width: Int) throws {
    var random = SeededRandom(seed: UInt64(width))
    let messages = (0..<9).flatMap { number in
      log("log\(number)-", (0..<random.number(1...60)).map { _ in Milliseconds(random.number(0...10_000)) })
    }
    let played = try all(InterleavedChatLog(Given(messages: messages[...]), width: width))
    #expect(played.count == messages.count)
    for name in Set(messages.map(\.log)) {
      #expect(played.filter { $0.log == name } == messages.filter { $0.log == name })
    }
  }

  @Test("accept times at the limits of their type")
  func extremes() throws {
    let messages = log("a", [.min, .max]) + log("b", [.max, .min])
    #expect(try play(messages, width: 2).count == 4)
  }
}

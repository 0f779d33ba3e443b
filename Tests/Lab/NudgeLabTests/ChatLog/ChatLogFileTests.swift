import Foundation
import NudgeSchema
import Testing

@testable import NudgeLab

@Suite("A chat log in a file")
struct ChatLogFileTests {
  private static let lines = """
    {"log":"a","n":0,"at":1000,"nick":"ann","text":"hi"}
    {"log":"a","n":1,"at":2000,"nick":"bob","text":"ann: höi","replyTo":[0]}

    {"log":"b","n":0,"at":5,"nick":"cem","text":"","extra":{"x":1}}
    """
  private static let messages = [
    ChatMessage(log: "a", number: 0, at: 1000, nick: "ann", text: "hi"),
    ChatMessage(log: "a", number: 1, at: 2000, nick: "bob", text: "ann: höi", replyTo: [0]),
    ChatMessage(log: "b", number: 0, at: 5, nick: "cem", text: ""),
  ]
  /// The same lines as two gzip members, written by Python's gzip module.
  private static let gzip =
    Data(
      base64Encoded:
        "H4sIAAAAAAACA6tWyslPV7JSSlTSUcpTsjLQUUosUbIyNDAAsvIyk7NBUnl5QMmS1AqghFJGplItVzWqJkOIJiNkTUn5SQhNQBOs"
        + "FDIOb8sEChWlFuRUhuQrWUUbxNZyAQDhBPNYfwAAAB+LCAAAAAAAAgPjqlbKyU9XslJKUtJRylOyMtBRSixRsjIFcjKTs4Hiyam5"
        + "QJmS1AqgqBKQBWQUJSpZVStVKFkZ1tYCAFJD16ZAAAAA") ?? Data()

  /// Where the second member begins.
  private static let member = 106

  private func read(_ content: Data) throws -> [ChatMessage] {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("chat-\(UUID().uuidString)")
    try content.write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    return try all(ChatLogFile(path: url.path))
  }

  /// The error of reading it.
  private func failure(_ content: Data) -> String {
    do {
      _ = try read(content)
      return "(none)"
    } catch {
      return "\(error)"
    }
  }

  @Test("is read line by line; blank lines and unknown fields are skipped, the last line needs no line break")
  func plain() throws {
    #expect(try read(Data(Self.lines.utf8)) == Self.messages)
    #expect(try read(Data((Self.lines + "\r\n").utf8)) == Self.messages)
    #expect(try read(Data()) == [])
  }

  @Test("may be gzip, of several members")
  func compressed() throws {
    #expect(try read(Self.gzip) == Self.messages)
  }

  @Test("that is truncated or damaged at any place fails, and never gives other messages")
  func damage() throws {
    for length in 3..<Self.gzip.count where length != Self.member {
      #expect(failure(Self.gzip.prefix(length)).contains("truncated after line"), "cut after \(length) bytes")
    }
    // Behind the header, where a name or a time may stand that is not checked.
    for index in 10..<Self.gzip.count where !(Self.member..<(Self.member + 10)).contains(index) {
      var damaged = Self.gzip
      damaged[index] ^= 0x41
      let text = failure(damaged)
      #expect(text.contains("damaged after line") || text.contains("truncated"), "byte \(index): \(text)")
    }
    #expect(failure(Data([0x1f, 0x8b])).contains("truncated"))
  }

  @Test("names the invalid line and field")
  func wrongLines() {
    func reason(_ line: String) -> String { failure(Data((Self.lines + "\n\n" + line).utf8)) }
    #expect(reason("{\"log\":\"a\"").contains("line 6: not a JSON object"))
    #expect(reason("[1]").contains("line 6: not a JSON object"))
    #expect(reason(#"{"log":"a","n":2,"at":3,"text":"x"}"#).contains(#"line 6: "nick" is missing"#))
    #expect(reason(#"{"log":"a","n":"2","at":3,"nick":"z","text":"x"}"#).contains(#"line 6: "n" is not"#))
    #expect(reason(#"{"log":"a","n":2,"at":3,"nick":null,"text":"x"}"#).contains(#"line 6: "nick""#))
  }

  @Test("that is missing, or has an endless line, fails with its path")
  func unreadable() {
    #expect(throws: ChatLogError.self) { try ChatLogFile(path: "/nowhere/at all") }
    let endless = Data(repeating: UInt8(ascii: "x"), count: ChatLogFile.maxLineBytes + 200_000)
    #expect(failure(endless).contains("line 1: longer than"))
  }

  @Test("longer than any buffer is read completely")
  func long() throws {
    let texts = (0..<5_000).map { "message \($0) " + String(repeating: "ö", count: $0 % 200) }
    let content = texts.enumerated().map { #"{"log":"a","n":\#($0),"at":\#($0),"nick":"n","text":"\#($1)"}"# + "\n" }
    #expect(try read(Data(content.joined().utf8)).map(\.text) == texts)
  }
}

/// All messages of a log, or the first `limit`.
func all(_ log: some ChatMessages, limit: Int = .max) throws -> [ChatMessage] {
  var log = log
  var messages: [ChatMessage] = []
  while messages.count < limit, let message = try log.next() { messages.append(message) }
  return messages
}

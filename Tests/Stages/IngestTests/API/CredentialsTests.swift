import Foundation
import ServiceKit
import TestSupport
import Testing

@testable import Ingest

@Suite("HTTP API: keys and rates")
struct CredentialsTests {
  private static let key = "0123456789abcdef0123456789abcdef"

  @Test("a file has a name and a key a line, comments and blank lines")
  func keys() throws {
    let keys = try APIKeys(contents: Array("# of us\n\nchat\t\(Self.key)\r\n  mail   \(Self.key)2\n".utf8))
    #expect(keys.count == 2)
    #expect(keys.name(of: Substring(Self.key)) == "chat")
    #expect(keys.name(of: Substring(Self.key + "2")) == "mail")
    #expect(keys.name(of: "chat") == nil)
    #expect(keys.name(of: "") == nil)
  }

  @Test(
    "what is wrong with a file names the line, and never the key",
    arguments: [
      ("a \(key.dropLast())", "line 1"), ("\n\na \(key) b", "line 3"), ("a", "line 1"),
      ("a \(key)\na \(key)x", "line 2: line 1 has the same name"),
      ("a \(key)ü", "line 1"), ("a\u{0} \(key)", "line 1: the name has control characters"),
      // Name and key in the wrong order.
      ("\(key) chat", "line 1: the key is too short; use NAME KEY"), ("\(key) \(key)ü", "line 1"),
      ("\(key) \(key)\n\(key) \(key)x", "line 2"),
    ])
  func wrongKeys(contents: String, place: String) throws {
    let error = #expect(throws: SettingsError.self) { try APIKeys(contents: Array(contents.utf8)) }
    let text = try #require(error.map { "\($0)" })
    #expect(text.contains(place))
    #expect(!text.contains(Self.key.prefix(20)))
  }

  @Test(
    "a key file that is written in place shuts nobody out: the former keys stay in force until it is whole, logged once"
  )
  func writtenInPlace() throws {
    let directory = try TemporaryDirectory()
    let file = URL(fileURLWithPath: directory.path + "/keys")
    try Data("chat \(Self.key)\nmail \(Self.key)2\n".utf8).write(to: file)
    let log = LogCapture()
    let credentials = try Credentials(
      apiKeysFile: file.path, tokenKeysFile: nil, issuer: nil, audience: nil,
      logger: Logger(label: "test", sink: log.sink))
    func caller(_ key: String) -> String? {
      guard case .backend(let name)? = try? credentials.caller(authorization: "Bearer \(key)", now: 0) else {
        return nil
      }
      return name
    }
    let new = "chat \(Self.key)\nmail \(Self.key)2\nnews \(Self.key)3\n"
    // The writer empties the file, pauses for several looks, and writes the rest in pieces, with a look between any two.
    let writer = try FileHandle(forWritingTo: file)
    try writer.truncate(atOffset: 0)
    for _ in 0..<5 {
      credentials.reload(force: false)
      #expect(caller(Self.key) == "chat" && caller(Self.key + "2") == "mail")
    }
    #expect(log.entries.filter { $0.level == .error }.count == 1)
    for byte in new.utf8 {
      try writer.write(contentsOf: [byte])
      credentials.reload(force: false)
      #expect(caller(Self.key) == "chat" && caller(Self.key + "2") == "mail")
    }
    try writer.close()
    credentials.reload(force: false)
    #expect(caller(Self.key + "3") == "news")
    #expect(log.entries.filter { $0.level == .error }.count == 1)
  }

  @Test("a caller may send a second's worth at once, then its rate; a large batch leaves a debt")
  func rate() {
    let rate = RateLimit(eventsPerSecond: 10)
    #expect(rate.secondsToWait("a", now: 0) == nil)
    rate.count(10, of: "a", now: 0)
    #expect(rate.secondsToWait("a", now: 0) == 1)
    #expect(rate.secondsToWait("a", now: 100) == nil)
    #expect(rate.secondsToWait("b", now: 0) == nil)
    rate.count(1_000, of: "a", now: 1_000)
    #expect(rate.secondsToWait("a", now: 1_000) == 100)
    #expect(rate.secondsToWait("a", now: 100_000) == 1)
    #expect(rate.secondsToWait("a", now: 101_000) == nil)
  }

  @Test("callers that could send again are forgotten, those that must wait are not")
  func forgotten() {
    let rate = RateLimit(eventsPerSecond: 1)
    rate.count(1_000_000, of: "busy", now: 0)
    for number in 0...RateLimit.rememberedCallers { rate.count(1, of: "c\(number)", now: Int64(number)) }
    #expect(rate.secondsToWait("busy", now: 20_000) != nil)
  }
}

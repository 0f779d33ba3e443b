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
      ("a \(key)\na \(key)x\na \(key)y", "line 3: line 1 and others have the same name"),
      ("a \(key)\nb \(key)", "line 2: line 1 has the same key"),
      ("a \(key)ü", "line 1"), ("a\u{0} \(key)", "line 1: the name has control characters"),
      // Name and key in the wrong order.
      ("\(key) chat", "line 1: the key is too short; use NAME KEY"), ("\(key) \(key)ü", "line 1"),
      ("\(key) \(key)\n\(key) \(key)x\n\(key) \(key)y", "line 3"),
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
      guard case .backend(let name)? = try? credentials.session(authorization: "Bearer \(key)", now: 0).caller else {
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

  @Test("a caller may send a second's worth at once, then its rate; what it owes is bounded")
  func rate() {
    let rate = RateLimit(perSecond: 10)
    #expect(rate.secondsToWait("a", now: 0) == nil)
    rate.take(10, of: "a", now: 0)
    #expect(rate.secondsToWait("a", now: 0) == 1)
    #expect(rate.secondsToWait("a", now: 100) == nil)
    #expect(rate.secondsToWait(for: 10, "a", now: 100) == 1)
    #expect(rate.secondsToWait("b", now: 0) == nil)
    rate.take(1_000_000, of: "a", now: 1_000)
    #expect(rate.secondsToWait("a", now: 1_000) == 2)
    #expect(rate.secondsToWait("a", now: 2_000) == 1)
    #expect(rate.secondsToWait("a", now: 2_101) == nil)
    #expect(!rate.takeIfThere(5, of: "a", now: 2_101) && rate.takeIfThere(1, of: "a", now: 2_101))
  }

  @Test("callers that could send again are forgotten, those that must wait are not")
  func forgotten() {
    let rate = RateLimit(perSecond: 1, burst: 100)
    rate.take(1_000_000, of: "busy", now: 0)
    for number in 0...RateLimit.rememberedCallers { rate.take(1, of: "c\(number)", now: Int64(number)) }
    #expect(rate.secondsToWait("busy", now: 20_000) != nil)
  }

  @Test("a batch counts against the burst, bytes have a rate of their own, and a refusal says how much is allowed")
  func batches() {
    let rates = CallerRates(backendEvents: 2, backendBytes: 1, userEvents: 5, userBytes: 8)
    let (ann, chat) = (Caller.user(id: "ann"), Caller.backend(name: "chat"))
    #expect(rates.take(1_000, of: ann, now: 0) == .never(most: 50, setting: "--http-user-rate"))
    #expect(rates.take(40, of: ann, now: 1_000) == nil)
    #expect(rates.take(20, of: ann, now: 1_000) == .wait(seconds: 2, setting: "--http-user-rate"))
    #expect(rates.take(50, of: .user(id: "ben"), now: 1_000) == nil)
    #expect(rates.take(1_000, of: chat, now: 0) == nil, "a backend may send as much as a body holds")
    // 256 KiB at once, 8 KiB a second.
    #expect(
      rates.refusal(of: .user(id: "cid"), bytes: 300 << 10, now: 0)
        == .never(most: 256 << 10, setting: "--http-user-bytes"))
    rates.count(bytes: 256 << 10, of: .user(id: "cid"), now: 0)
    #expect(rates.refusal(of: .user(id: "cid"), now: 0) == .wait(seconds: 1, setting: "--http-user-bytes"))
    #expect(
      rates.refusal(of: .user(id: "cid"), bytes: 16 << 10, now: 1_000)
        == .wait(seconds: 1, setting: "--http-user-bytes"))
    #expect(rates.refusal(of: .user(id: "cid"), bytes: 16 << 10, now: 2_000) == nil)
    // What is too large was read all the same.
    rates.count(bytes: 1 << 20, of: .user(id: "dan"), now: 0)
    #expect(rates.refusal(of: .user(id: "dan"), now: 31_000) == .wait(seconds: 2, setting: "--http-user-bytes"))
    #expect(rates.refusal(of: chat, bytes: 1 << 20, now: 600_000) == nil)
  }

  @Test("traces that users' tokens ask for are few, each user's and all together; a backend's are its own affair")
  func traces() {
    let rates = CallerRates(backendEvents: 100, backendBytes: 1, userEvents: 5, userBytes: 8)
    func recorded(_ caller: Caller, _ count: Int, at now: Int64) -> Int {
      (0..<count).count { _ in rates.recordsTrace(of: caller, now: now) }
    }
    #expect(recorded(.user(id: "ann"), 100, at: 0) == 5 && recorded(.user(id: "ann"), 100, at: 2_000) == 2)
    #expect((0..<100).reduce(0) { $0 + recorded(.user(id: "u\($1)"), 5, at: 10_000) } == 50)
    #expect(recorded(.backend(name: "chat"), 100, at: 10_000) == 100)
  }

  @Test(
    "a key that is changed has its name for two lines, the old and the new one; three, or one key twice, are a mistake")
  func rotation() throws {
    let keys = try APIKeys(contents: Array("chat \(Self.key)\nchat \(Self.key)2\n".utf8))
    #expect(keys.count == 2 && keys.name(of: Substring(Self.key)) == "chat" && keys.name(of: "\(Self.key)2") == "chat")
  }

  @Test("a network that sends tokens with wrong signatures is soon refused unread, and known tokens are not")
  func forgedTokens() throws {
    let directory = try TemporaryDirectory()
    let file = directory.path + "/jwks"
    try Data(TokenVectors.keySet.utf8).write(to: URL(fileURLWithPath: file))
    let credentials = try Credentials(
      apiKeysFile: nil, tokenKeysFile: file, issuer: APIUnderTest.issuer, audience: APIUnderTest.audience,
      logger: Logger(label: "test", sink: LogCapture().sink))
    let now = Int64(Date().timeIntervalSince1970)
    func call(_ token: String, from network: String, at time: Int64 = 0) -> Result<Caller, Unauthorized> {
      Result { () throws(Unauthorized) in
        try credentials.session(authorization: "Bearer \(token)", from: network, now: now, steadily: time).caller
      }
    }
    let known = try APIUnderTest.token()
    let fresh = try APIUnderTest.token(user: "ben")
    #expect(call(known, from: "evil") == .success(.user(id: "ann")))
    // An app that has been asleep: its token was signed by the right key.
    let old = try APIUnderTest.token(user: "old", expiresIn: -600)
    for _ in 0..<1_000 {
      #expect(call(old, from: "evil") == .failure(Unauthorized(message: JSONWebTokenError.expired.description)))
    }
    #expect(call("a.b.c", from: "evil") == .failure(Unauthorized(message: JSONWebTokenError.malformed.description)))
    // A signature that is another's.
    let forged = known.prefix(through: known.lastIndex(of: ".") ?? known.startIndex) + fresh.split(separator: ".")[2]
    let answers = (0..<300).map { _ in call(String(forged), from: "evil") }
    let wrong = Result<Caller, Unauthorized>.failure(
      Unauthorized(message: JSONWebTokenError.invalidSignature.description))
    #expect(answers.prefix(200).allSatisfy { $0 == wrong })
    guard case .failure(let refusal) = answers[299] else { throw Unauthorized(message: "it was let in") }
    #expect(refusal.comeBackAfter == 1)
    #expect(refusal.message.contains("from your network"))
    #expect(call(known, from: "evil") == .success(.user(id: "ann")), "its signature was verified before")
    guard case .failure(let alsoRefused) = call(fresh, from: "evil") else {
      throw Unauthorized(message: "it was let in")
    }
    #expect(alsoRefused.comeBackAfter != nil)
    #expect(call(fresh, from: "elsewhere") == .success(.user(id: "ben")))
    #expect(call(try APIUnderTest.token(user: "cid"), from: "evil", at: 5_000) == .success(.user(id: "cid")))
    // The limit of all networks together is nobody's own.
    for network in 0..<3 { for _ in 0..<200 { _ = call(String(forged), from: "evil-\(network)", at: 10_000) } }
    guard case .failure(let shared) = call(try APIUnderTest.token(user: "dan"), from: "quiet", at: 10_000) else {
      throw Unauthorized(message: "it was let in")
    }
    #expect(shared.comeBackAfter == 1 && !shared.message.contains("network"))
  }
}

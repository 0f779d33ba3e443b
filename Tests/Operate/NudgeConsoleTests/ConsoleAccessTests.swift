import HTTPServer
import TestSupport
import Testing

@testable import NudgeConsole

@Suite("Who may ask the console")
struct ConsoleAccessTests {
  private static let open = ConsoleAccess(token: nil, hosts: ["nudge.example"], key: "the-key")
  private static let guarded = ConsoleAccess(token: "a-token-of-16-or-more", hosts: [], key: "the-key")

  private func refusal(
    _ access: ConsoleAccess, _ kind: ConsoleAccess.Kind, _ headers: [String: String]
  ) -> String? {
    access.refusal(of: kind) { headers[$0] }?.reason
  }

  @Test(
    "addresses, localhost and the names it was given are its own",
    arguments: [
      "127.0.0.1:8095", "localhost", "localhost:8095", "LOCALHOST:1", "[::1]:8095", "10.1.2.3:80", "nudge.example",
      "Nudge.Example:443",
    ])
  func ownHosts(_ host: String) {
    #expect(refusal(Self.open, .read, ["Host": host]) == nil)
  }

  @Test(
    "a name that DNS may point here is refused, even for a static file",
    arguments: [
      "evil.example", "evil.example:8095", "127.0.0.1.evil.example", "localhost.evil.example", "nudge.example.evil", "",
      "::1", "[::1", "[::1]evil", "127.0.0.1:8095:1", "0x7f000001", "2130706433", "localhost@evil.example",
    ])
  func foreignHosts(_ host: String) {
    for kind in [ConsoleAccess.Kind.page, .read, .write] {
      #expect(refusal(Self.open, kind, ["Host": host, "X-Nudge-Console": "the-key"]) == "foreign_host")
    }
    #expect(refusal(Self.open, .page, [:]) == "foreign_host")
  }

  @Test("data needs the token, static files do not; a wrong, shorter or longer one is none")
  func token() {
    #expect(refusal(Self.guarded, .page, ["Host": "10.1.2.3"]) == nil)
    #expect(refusal(Self.guarded, .read, ["Host": "10.1.2.3"]) == "token")
    for wrong in ["", "a", "a-token-of-16-or-morf", "a-token-of-16-or-more ", "A-TOKEN-OF-16-OR-MORE"] {
      #expect(refusal(Self.guarded, .read, ["Host": "10.1.2.3", "X-Nudge-Token": wrong]) == "token")
    }
    #expect(refusal(Self.guarded, .read, ["Host": "10.1.2.3", "X-Nudge-Token": "a-token-of-16-or-more"]) == nil)
  }

  @Test("what asks or writes comes from the console's own page, and names its key")
  func origin() {
    var headers = ["Host": "127.0.0.1:8095", "Origin": "http://127.0.0.1:8095", "X-Nudge-Console": "the-key"]
    #expect(refusal(Self.open, .write, headers) == nil)
    headers["X-Nudge-Console"] = "another"
    #expect(refusal(Self.open, .write, headers) == "key")
    headers["X-Nudge-Console"] = nil
    #expect(refusal(Self.open, .write, headers) == "key")
    headers["X-Nudge-Console"] = "the-key"
    for origin in [
      "http://evil.example", "http://127.0.0.1", "http://127.0.0.1:8096", "null", "127.0.0.1:8095",
      "http://127.0.0.1:8095.evil.example",
    ] {
      headers["Origin"] = origin
      #expect(refusal(Self.open, .write, headers) == "foreign_origin", "\(origin)")
    }
    headers["Origin"] = nil
    #expect(refusal(Self.open, .write, headers) == "foreign_origin")
  }

  @Test("a browser's word that another site asks is enough to refuse data", arguments: ["cross-site", "same-site"])
  func site(_ site: String) {
    #expect(refusal(Self.open, .read, ["Host": "localhost", "Sec-Fetch-Site": site]) == "foreign_origin")
    // A link from elsewhere opens the page.
    #expect(refusal(Self.open, .page, ["Host": "localhost", "Sec-Fetch-Site": site]) == nil)
  }

  @Test("a token of one's own has 16 characters that a URL takes as they are")
  func ownTokens() {
    #expect(ConsoleSecret.isToken("abcdefghijklmnop") && ConsoleSecret.isToken(ConsoleSecret.make()))
    for text in ["", "short", "abcdefghijklmno p", "abcdefghijklmnop&x", "äbcdefghijklmnopq"] {
      #expect(!ConsoleSecret.isToken(text), "\(text)")
    }
    #expect(ConsoleSecret.make() != ConsoleSecret.make())
    #expect(ConsoleSecret.make().utf8.count == 32)
  }

  @Test("only this machine reaches 127.x, ::1 and localhost")
  func loopback() {
    #expect(["127.0.0.1", "127.1.2.3", "localhost", "::1", "[::1]"].allSatisfy { ConsoleAddress.isLoopback($0) })
    #expect(!["0.0.0.0", "::", "10.0.0.1", "example.com", ""].contains { ConsoleAddress.isLoopback($0) })
  }
}

import HTTPServer
import TestSupport
import Testing
import WebPages

@testable import NudgeConsole

@Suite("Who may ask the console")
struct ConsoleAccessTests {
  private static let guarded = ConsoleAccess(
    token: "a-token-of-16-or-more", session: "the-session-of-the-page",
    names: OwnNames(of: "the console", ["nudge.example"]), key: "the-key")
  /// What the page sends with each request, whatever it asks.
  private static let cookies = [
    "nudge-console", "nudge-console-1", "nudge-console-80", "nudge-console-443", "nudge-console-8095",
  ].map { "\($0)=the-session-of-the-page" }.joined(separator: "; ")

  private func refusal(
    _ access: ConsoleAccess, _ kind: ConsoleAccess.Kind, _ headers: [String: String]
  ) -> String? {
    access.refusal(of: kind) { headers[$0] }?.reason
  }

  /// Of one who has the cookie.
  private func refusal(_ kind: ConsoleAccess.Kind, _ headers: [String: String]) -> String? {
    refusal(Self.guarded, kind, headers.merging(["Cookie": Self.cookies]) { own, _ in own })
  }

  @Test(
    "addresses, localhost and the names it was given are its own",
    arguments: [
      "127.0.0.1:8095", "localhost", "localhost:8095", "LOCALHOST:1", "[::1]:8095", "10.1.2.3:80", "nudge.example",
      "Nudge.Example:443",
    ])
  func ownHosts(_ host: String) {
    #expect(refusal(.read, ["Host": host]) == nil)
  }

  @Test(
    "a name that DNS may point here is refused, even for a static file",
    arguments: [
      "evil.example", "evil.example:8095", "127.0.0.1.evil.example", "localhost.evil.example", "nudge.example.evil", "",
      "::1", "[::1", "[::1]evil", "127.0.0.1:8095:1", "0x7f000001", "2130706433", "localhost@evil.example",
    ])
  func foreignHosts(_ host: String) {
    for kind in [ConsoleAccess.Kind.page, .read, .write] {
      #expect(refusal(kind, ["Host": host, "X-Nudge-Console": "the-key"]) == "foreign_host")
    }
    #expect(refusal(.page, [:]) == "foreign_host")
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

  @Test("the cookie is of one port and one process; an empty, another or a longer one is none")
  func cookie() {
    for cookie in [
      "", "nudge-console-8095=", "nudge-console-8095=the-session-of-the-pagf", "nudge-console=the-session-of-the-page",
      "nudge-console-8096=the-session-of-the-page", "x=y; nudge-console-8095=the-session-of-the-page2",
      "xnudge-console-8095=the-session-of-the-page",
    ] {
      #expect(refusal(Self.guarded, .read, ["Host": "127.0.0.1:8095", "Cookie": cookie]) == "token", "\(cookie)")
    }
    for cookie in ["nudge-console-8095=the-session-of-the-page", "a=b;nudge-console-8095=the-session-of-the-page; c=d"]
    {
      #expect(refusal(Self.guarded, .read, ["Host": "127.0.0.1:8095", "Cookie": cookie]) == nil, "\(cookie)")
    }
  }

  @Test("what asks or writes comes from the console's own page, and names its key")
  func origin() {
    var headers = ["Host": "127.0.0.1:8095", "Origin": "http://127.0.0.1:8095", "X-Nudge-Console": "the-key"]
    #expect(refusal(.write, headers) == nil)
    headers["X-Nudge-Console"] = "another"
    #expect(refusal(.write, headers) == "key")
    headers["X-Nudge-Console"] = nil
    #expect(refusal(.write, headers) == "key")
    headers["X-Nudge-Console"] = "the-key"
    for origin in [
      "http://evil.example", "http://127.0.0.1", "http://127.0.0.1:8096", "null", "127.0.0.1:8095",
      "http://127.0.0.1:8095.evil.example",
    ] {
      headers["Origin"] = origin
      #expect(refusal(.write, headers) == "foreign_origin", "\(origin)")
    }
    headers["Origin"] = nil
    #expect(refusal(.write, headers) == "foreign_origin")
  }

  @Test("a browser's word that another site asks is enough to refuse data", arguments: ["cross-site", "same-site"])
  func site(_ site: String) {
    #expect(refusal(.read, ["Host": "localhost", "Sec-Fetch-Site": site]) == "foreign_origin")
    // A link from elsewhere opens the page.
    #expect(refusal(.page, ["Host": "localhost", "Sec-Fetch-Site": site]) == nil)
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
}

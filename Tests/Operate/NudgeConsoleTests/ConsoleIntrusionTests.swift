import Foundation
import HTTPServer
import Synchronization
import TestSupport
import Testing

@testable import NudgeConsole

/// Notes every question that reaches it.
private final class Noting: ConsoleAnswers {
  let facts = ConsoleFacts(
    version: "1", bootstrapServers: "kafka-of-the-console:9092", topicPrefix: "", allowsActions: true,
    showsTexts: true, phones: nil)
  let asked = Mutex<[String]>([])

  func isAction(_ question: ConsoleQuestion) -> Bool { question.ask.hasSuffix("-write") }
  func answer(_ question: ConsoleQuestion, to job: ConsoleJob) throws { asked.withLock { $0.append(question.ask) } }
}

/// A page of somebody else, on another port of the same host, that tries all that a page can.
private enum ForeignPage {
  static func html(_ console: String) -> String {
    #"<!doctype html><title>Foreign</title><iframe id="frame" src="\#(console)/"></iframe>"#
      + #"<form id="form" target="sink" method="post" enctype="text/plain" action="\#(console)/api/jobs">"#
      + #"<input name='{"ask":"dead-letter-discard-write","with":{"x":"' value='"}}'></form><iframe name="sink"></iframe>"#
      + #"<script src="attack.js"></script>"#
  }

  static func script(_ console: String) -> String {
    """
    const got = {};
    window.got = got;
    const question = JSON.stringify({ ask: "dead-letter-discard-write", with: {} });
    const attempt = async (name, path, options) => {
      try { const answer = await fetch("\(console)" + path, options); got[name] = answer.type + " " + answer.status + " " + await answer.text(); }
      catch (error) { got[name] = "refused"; }
    };
    const post = (headers, mode) => ({ method: "POST", mode, credentials: "include", headers, body: question });
    (async () => {
      await attempt("read", "/api/console", {});
      await attempt("blind read", "/api/console", { mode: "no-cors" });
      await attempt("json", "/api/jobs", post({ "Content-Type": "application/json" }, "cors"));
      await attempt("with a key", "/api/jobs", post({ "Content-Type": "application/json", "X-Nudge-Console": "guessed" }, "cors"));
      await attempt("simple", "/api/jobs", post({ "Content-Type": "text/plain" }, "no-cors"));
      try { await import("\(console)/base.js"); got.script = "loaded"; } catch (error) { got.script = "refused"; }
      document.getElementById("form").submit();
      // Until it is loaded, the frame is an empty page of one's own.
      for (let turn = 0; turn < 200 && got.frame !== "refused"; turn++) {
        try { got.frame = "shows " + document.getElementById("frame").contentWindow.document.title; } catch (error) { got.frame = "refused"; }
        await new Promise(done => setTimeout(done, 25));
      }
      got.done = true;
    })();
    """
  }
}

@Suite(
  "The console, against other pages and wrong tokens", .serialized, .timeLimit(.minutes(3)),
  .enabled(if: HeadlessBrowser.missing == nil, "\(HeadlessBrowser.missing ?? "")"))
struct ConsoleIntrusionTests {
  @Test("a page of another origin reads nothing, starts nothing and cannot show the console in a frame")
  func foreignOrigin() throws {
    let answers = Noting()
    let console = try ConsoleServer(ConsoleAddress(host: "127.0.0.1", port: 0), answers: answers)
    try console.start()
    defer { console.stop() }
    let address = "http://127.0.0.1:\(console.port)"
    let foreign = try HTTPServer(
      address: "127.0.0.1:0",
      routes: [
        HTTPRoute(.get, "/") { _ in
          HTTPServerResponse(
            headers: [("Content-Type", "text/html; charset=utf-8")], body: Array(ForeignPage.html(address).utf8))
        },
        HTTPRoute(.get, "/attack.js") { _ in
          HTTPServerResponse(
            headers: [("Content-Type", "text/javascript; charset=utf-8")], body: Array(ForeignPage.script(address).utf8)
          )
        },
      ])
    try foreign.start()
    defer { foreign.stop() }
    let browser = try HeadlessBrowser(width: 800, height: 600)
    // The browser has the console's cookie.
    try browser.open(console.url)
    try browser.wait(until: "document.querySelectorAll('nav a').length > 5")
    // By name and by number: another site, and the same one.
    for host in ["localhost", "127.0.0.1"] {
      try browser.open("http://\(host):\(foreign.port)/")
      try browser.wait(until: "location.host === '\(host):\(foreign.port)' && window.got && window.got.done")
      let got = try #require(try browser.evaluate("window.got") as? [String: Any])
      for name in ["read", "json", "with a key", "script", "frame"] {
        #expect(got[name] as? String == "refused", "\(host): \(name)")
      }
      for name in ["blind read", "simple"] { #expect((got[name] as? String ?? "refused").contains("kafka") == false) }
      // The form has been sent once its frame is no longer empty, or its error page cannot be looked at.
      try browser.wait(
        until:
          "(() => { try { return document.querySelector('[name=sink]').contentDocument.URL !== 'about:blank'; } catch { return true; } })()"
      )
    }
    // The console itself is well, and its own page may ask.
    try browser.open(address + "/#person?user=ann")
    wait(for: "the console's own question") { answers.asked.withLock { $0.contains("person") } }
    // Its overview asks again and again until it is left.
    let asked = answers.asked.withLock { $0 }
    #expect(asked.allSatisfy { ["person", "overview"].contains($0) }, "\(asked)")
  }

  @Test(
    "requests that a browser would not send are refused the same: foreign Host, Origin, Referer alone, a form's type")
  func foreignRequests() throws {
    let answers = Noting()
    let console = try ConsoleServer(ConsoleAddress(host: "127.0.0.1", port: 0), answers: answers)
    try console.start()
    defer { console.stop() }
    let question = #"{"ask":"dead-letter-discard-write","with":{}}"#
    let token = "X-Nudge-Token: \(console.url.suffix(32))"
    let key =
      try SocketClient(port: console.port).request("GET", "/api/console", headers: [token]).body
      .firstMatch(of: /"key":"([0-9a-f]+)"/).map { String($0.1) } ?? ""
    #expect(key.count == 32)
    let own = "http://127.0.0.1:\(console.port)"
    let json = "Content-Type: application/json"
    let refused: [([String], Int)] = [
      (["Host: evil.example", "Origin: http://evil.example", json, "X-Nudge-Console: \(key)"], 421),
      (["Host: evil.example", "Origin: \(own)", json, "X-Nudge-Console: \(key)"], 421),
      (["Host: 127.0.0.1:\(console.port)", "Origin: http://evil.example", json, "X-Nudge-Console: \(key)"], 403),
      (["Host: 127.0.0.1:\(console.port)", "Origin: null", json, "X-Nudge-Console: \(key)"], 403),
      (["Host: 127.0.0.1:\(console.port)", "Referer: \(own)/", json, "X-Nudge-Console: \(key)"], 403),
      (["Host: 127.0.0.1:\(console.port)", "Origin: \(own)", json], 403),
      (
        ["Host: 127.0.0.1:\(console.port)", "Origin: \(own)", "Content-Type: text/plain", "X-Nudge-Console: \(key)"],
        415
      ),
    ]
    for (headers, status) in refused {
      let head = "POST /api/jobs HTTP/1.1\r\n" + (headers + [token]).map { $0 + "\r\n" }.joined()
      let client = try SocketClient(port: console.port)
      try client.send(head + "Content-Length: \(question.utf8.count)\r\n\r\n" + question)
      #expect(try client.answer().status == status, "\(headers)")
    }
    #expect(answers.asked.withLock { $0.isEmpty })
  }

  @Test(
    "with a wrong token the page shows nothing but the question for one; with the right one all, and the address loses it"
  )
  func tokens() throws {
    let answers = Noting()
    let token = ConsoleSecret.make()
    let console = try ConsoleServer(ConsoleAddress(host: "127.0.0.1", port: 0, token: token), answers: answers)
    try console.start()
    defer { console.stop() }
    let browser = try HeadlessBrowser(width: 800, height: 600)
    for wrong in ["", "#token=", "#token=\(String(token.reversed()))", "#token=\(token)%00", "?token=\(token)"] {
      try browser.openAnew(
        "http://127.0.0.1:\(console.port)/\(wrong)\(wrong.hasPrefix("#") ? "&" : "#")person?user=ann")
      try browser.wait(until: "document.querySelector('main input[name=token]')")
      let text = try browser.evaluate("document.body.innerText") as? String ?? "kafka"
      #expect(!text.contains("kafka") && !text.contains("ann"), "\(wrong): \(text)")
      #expect(try browser.evaluate("document.querySelectorAll('nav a').length") as? Int == 0)
    }
    #expect(answers.asked.withLock { $0.isEmpty })
    // Typed into the page.
    _ = try browser.evaluate(
      "(() => { const input = document.querySelector('main input[name=token]'); input.value = '\(token)'; input.form.requestSubmit(); })()"
    )
    try browser.wait(until: "document.querySelectorAll('nav a').length > 5")
    wait(for: "the question of the link") { answers.asked.withLock { $0.contains("person") } }
    // In the link.
    try browser.openAnew(console.url + "&overview")
    try browser.wait(until: "document.querySelectorAll('nav a').length > 5")
    #expect(try browser.evaluate("location.href.includes('\(token)')") as? Bool == false)
    #expect(
      try browser.evaluate("document.cookie + JSON.stringify(sessionStorage) + JSON.stringify(localStorage)") as? String
        == "{}{}")
    #expect(try browser.evaluate("document.getElementById('cluster').textContent.includes('kafka')") as? Bool == true)
  }
}

extension HeadlessBrowser {
  /// Opens a page as in a tab of its own: nothing is left of the former one.
  fileprivate func openAnew(_ url: String) throws {
    try open("about:blank")
    try wait(until: "location.href === 'about:blank'")
    try open(url)
    try wait(until: "location.href !== 'about:blank'")
  }
}

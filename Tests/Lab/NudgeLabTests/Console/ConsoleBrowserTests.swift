import Foundation
import NudgeSchema
import TestSupport
import Testing

@testable import NudgeLab

@Suite(
  "The console of a demo, in a browser", .serialized, .timeLimit(.minutes(10)),
  .enabled(if: HeadlessBrowser.missing == nil, "\(HeadlessBrowser.missing ?? "")"),
  .enabled(
    if: DemoEndToEndTests.programs != nil,
    "nudge and the services are not built beside the tests: swift build --build-tests")
)
struct ConsoleBrowserTests {
  /// Names and texts that would run, break or hide something if a page took them for more than text.
  private static let hostile = "<img src=x onerror=\"window.ran=1\">\u{202E}\"><script>window.ran=1</script>"

  /// A browser on a console, with what its pages have in common.
  private struct Page {
    let browser: HeadlessBrowser
    let url: String

    func open(_ view: String, until condition: String) throws {
      try browser.open("about:blank")
      try browser.wait(until: "location.href === 'about:blank'")
      try browser.open(url + "#" + view)
      try browser.wait(
        until: "document.querySelector('main h1') && !document.querySelector('.spin') && (\(condition))", atMost: 60)
    }

    func texts(_ selector: String) throws -> [String] {
      try browser.evaluate("[...document.querySelectorAll(`\(selector)`)].map(e => e.textContent)") as? [String] ?? []
    }

    /// Looks for what keeps people from using it: on a wide and on a narrow window, light and dark.
    func inspect(_ name: String) throws {
      for (width, isDark) in [(1_280, false), (390, true)] {
        try browser.resize(width: width, height: 900, isDark: isDark)
        let complaints = try browser.evaluate(PageInspection.complaints) as? [String] ?? ["nothing was looked at"]
        #expect(complaints.isEmpty, "\(name), \(width) pixels wide: \(complaints.joined(separator: "\n"))")
      }
      try browser.resize(width: 1_280, height: 900, isDark: false)
      #expect(try browser.evaluate("window.ran") == nil, "\(name): a text ran")
    }
  }

  private static func escaped(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
  }

  @Test("each page says what the commands say, runs nothing that a record holds, and can be used by everybody")
  func pages() throws {
    let demo = try DemoWithConsole(programs: try #require(DemoEndToEndTests.programs))
    let hostile = Self.hostile
    _ = try demo.nudge("publish", "device", "--user", hostile, "--token", "token-of-hostile", "--wait")
    _ = try demo.nudge("publish", "message", "--from", hostile + "2", "--to", hostile, "--text", hostile, "--wait")
    let now = Int64(Date().timeIntervalSince1970 * 1_000)
    try demo.produce(
      #"{"type":"preferences.updated","schemaVersion":1,"eventId":"e-bad","occurredAt":\#(now),"userId":"ann","preferences":{"enabled":"perhaps"}}"#,
      key: "ann", to: .userEvents)
    let page = Page(browser: try HeadlessBrowser(width: 1_280, height: 900), url: demo.url)
    let decisions = try demo.nudge("tail", "decisions", "--since", "1h", "--json").split(separator: "\n")
    #expect(decisions.count > 20)

    try person(demo, page, named: hostile)
    let first = try #require(try demo.object(String(decisions[0]))["record"] as? [String: Any])
    try person(demo, page, named: try #require(first["userId"] as? String))
    try message(
      demo, page, try #require(first["messageId"] as? String), in: try #require(first["conversationId"] as? String))
    try overview(page, decisions: decisions.count)
    try deadLetters(demo, page)
    try replays(demo, page)
    try policy(demo, page)
    try page.open("phones", until: "document.querySelector('iframe.phones')")
    try page.inspect("Phones")
    #expect(page.browser.complaints.isEmpty, "\(page.browser.complaints)")
  }

  private func person(_ demo: DemoWithConsole, _ page: Page, named user: String) throws {
    try page.open(
      "person?user=\(Self.escaped(user))&since=1h",
      until: "document.querySelector('.moments') && document.querySelector('.phone')")
    let answer = try demo.object(
      try demo.nudge("explain", "--user", user, "--since", "1h", "--limit", "100", "--texts", "--json"))
    let stories = try #require(answer["stories"] as? [[String: Any]])
    let messages = stories.compactMap { $0["messageId"] as? String }
    let shown =
      try page.browser.evaluate("[...document.querySelectorAll('article.story')].map(e => e.dataset.message)")
      as? [String]
    #expect(shown == Array(messages.reversed()))
    let last = try #require((stories.last?["decisions"] as? [[String: Any]])?.last?["record"] as? [String: Any])
    let sentence = try #require(last["text"] as? String)
    let plain = sentence.replacing("\u{202E}", with: "\\u202e")
    #expect(try page.texts("article.story .sentence").first == plain)
    // Every check of every decision.
    let checks = stories.flatMap { $0["decisions"] as? [[String: Any]] ?? [] }
      .flatMap { ($0["record"] as? [String: Any])?["checks"] as? [Any] ?? [] }
    #expect(try page.texts("ul.checks > li").count == checks.count)
    let devices = try #require(answer["devices"] as? [[String: Any]])
    #expect(try page.texts("section[aria-label='Devices and preferences'] table tbody tr").count >= devices.count)
    let about = try page.texts("section[aria-label='Devices and preferences']").joined()
    #expect(!about.contains("token-of"))
    // The phone follows the moments, with the keyboard.
    _ = try page.browser.evaluate("document.querySelector('#main').focus()")
    try page.browser.press("j", text: "j")
    try page.browser.wait(until: "document.querySelector('.moment[aria-pressed=\"true\"]')")
    #expect(try page.texts(".phone .clock span").first?.hasPrefix("now") == false)
    let command =
      try page.browser.evaluate(
        """
        (() => { let copied; navigator.clipboard.writeText = async text => { copied = text; };
          document.querySelector('[data-command]').click(); return copied; })()
        """) as? String
    #expect(command?.hasPrefix("nudge explain --user ") == true)
    try page.inspect("Person")
  }

  private func message(_ demo: DemoWithConsole, _ page: Page, _ message: String, in conversation: String) throws {
    try page.open(
      "message?message=\(Self.escaped(message))&conversation=\(Self.escaped(conversation))",
      until: "document.querySelector('.groups article, .groups section')")
    let answer = try demo.object(
      try demo.nudge(
        "explain", "--message", message, "--conversation", conversation, "--limit", "200", "--texts", "--json"))
    let groups = try #require(answer["groups"] as? [[String: Any]])
    #expect(try page.texts(".group-head .count").map { Int($0) } == groups.map { ($0["people"] as? [Any])?.count })
    #expect(
      try page.texts(".people a bdi") == groups.flatMap { $0["people"] as? [String] ?? [] })
    try page.inspect("Message")
  }

  private func overview(_ page: Page, decisions: Int) throws {
    try page.open("overview", until: "document.querySelectorAll('figure').length > 4")
    let total =
      try page.browser.evaluate(
        """
        [...document.querySelectorAll('figure')].find(f => f.querySelector('b').textContent === 'Decisions by reason')
          .querySelectorAll('tbody td.num').values().map(td => Number(td.textContent.replaceAll(',', '')) || 0)
          .reduce((a, b) => a + b, 0)
        """) as? Int
    #expect(total == decisions)
    #expect(try page.texts(".tile .label").contains("Services"))
    try page.inspect("Overview")
  }

  private func deadLetters(_ demo: DemoWithConsole, _ page: Page) throws {
    try page.open("dead-letters", until: "document.querySelector('main table')")
    let listed = try demo.object(try demo.nudge("dead-letters", "list", "--json"))
    let groups = try #require(listed["groups"] as? [[String: Any]])
    #expect(try page.texts("main table tbody tr").count == groups.count)
    try page.inspect("Dead letters")
    let letter = try #require(
      (groups.first { $0["code"] as? String == "schema_violation" })?["example"] as? [String: Any])
    let position = try #require(letter["position"] as? [String: Any])
    let partition = try #require(position["partition"] as? Int)
    let offset = try #require(position["offset"] as? Int)
    let place = "\(partition)@\(offset)"
    try page.open(
      "dead-letters?reason=schema_violation&place=\(Self.escaped(place))", until: "document.querySelector('pre mark')")
    #expect(try page.texts("pre mark").first?.contains("enabled") == true)
    try page.inspect("A dead letter")
    // Corrected, checked, and published with a reason.
    _ = try page.browser.evaluate(
      """
      (() => { const text = document.querySelector('textarea'); text.closest('details').open = true;
        text.value = text.value.replace('"perhaps"', 'false'); text.dispatchEvent(new Event('input'));
        [...document.querySelectorAll('button')].find(b => b.textContent === 'Check').click(); })()
      """)
    try page.browser.wait(until: "document.querySelector('.notice.good')")
    _ = try page.browser.evaluate(
      "[...document.querySelectorAll('button')].find(b => b.textContent === 'Publish…').click()")
    try page.browser.wait(until: "document.querySelector('dialog[open] input[name=why]')")
    _ = try page.browser.evaluate(
      """
      (() => { document.querySelector('dialog[open] input[name=why]').value = 'a test';
        document.querySelector('dialog[open] button.primary').click(); })()
      """)
    try page.browser.wait(until: "document.getElementById('said').textContent.startsWith('Published, audited as ')")
    #expect(try demo.nudge("dead-letters", "list", "--reason", "schema_violation").hasPrefix("No dead letters"))
  }

  private func replays(_ demo: DemoWithConsole, _ page: Page) throws {
    try page.open("replays?plan=yes&since=1h", until: "document.querySelectorAll('main section.card').length >= 2")
    let report = try demo.object(try demo.nudge("replay", "resend-missing", "--since", "1h", "--json"))
    #expect(
      try page.texts("main section.card tbody tr:first-child td").first == (report["wouldSend"] as? Int).map { "\($0)" }
    )
    try page.inspect("Replays")
  }

  private func policy(_ demo: DemoWithConsole, _ page: Page) throws {
    try page.open("policy", until: "document.querySelector('textarea')")
    try page.inspect("Policy")
    _ = try page.browser.evaluate(
      """
      (() => { const text = document.querySelector('textarea'); const policy = JSON.parse(text.value);
        policy.thresholds.high = 1; text.value = JSON.stringify(policy, null, 2); text.dispatchEvent(new Event('change'));
        document.querySelector('form.ask button').click(); })()
      """)
    try page.browser.wait(until: "document.querySelector('section.stack h2')", atMost: 60)
    let compared = try #require(try page.texts("section.stack h2").first)
    let same = try demo.object(try demo.nudge("simulate", "--since", "1h", "--json"))
    let count = try #require(same["compared"] as? Int)
    #expect(compared.hasPrefix("\(count) decision"))
    try page.inspect("A simulation")
  }
}

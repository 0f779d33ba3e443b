import Foundation
import NudgeSchema
import TestSupport
import Testing

/// The console's pages beside the commands: what is on a page equals what its command prints.
struct ConsoleTour {
  let demo: DemoWithConsole
  let page: ConsolePage

  private func object(_ arguments: String...) throws -> [String: Any] {
    try demo.object(try demo.run(arguments + ["--json"]))
  }

  private static func numbers(_ object: Any?) -> [String: Int] {
    (object as? [String: Any] ?? [:]).mapValues { $0 as? Int ?? -1 }
  }

  // MARK: Person and Message

  func person(_ user: String, isThorough: Bool = true) throws {
    try page.open(
      ConsolePage.view("person", ["user": user, "since": "1h"]),
      until: "document.querySelector('.moments') && document.querySelector('.phone')")
    let answer = try object("explain", "--user", user, "--since", "1h", "--limit", "100", "--texts")
    let stories = try #require(answer["stories"] as? [[String: Any]])
    let messages = stories.compactMap { $0["messageId"] as? String }
    let shown =
      try page.browser.evaluate("[...document.querySelectorAll('article.story')].map(e => e.dataset.message)")
      as? [String]
    #expect(shown == Array(messages.reversed()))
    let last = try #require((stories.last?["decisions"] as? [[String: Any]])?.last?["record"] as? [String: Any])
    let sentence = try #require(last["text"] as? String)
    #expect(try page.texts("article.story .sentence").first == ConsolePage.plain(sentence))
    // Every check of every decision, also those that its record leaves out.
    let decisions = try stories.flatMap { $0["decisions"] as? [[String: Any]] ?? [] }
      .map { try JSONSerialization.data(withJSONObject: $0["record"] ?? [:]) }
      .map { try RecordCoder().decode(Decision.self, from: Array($0)).body }
    let checks = decisions.reduce(0) { $0 + $1.allChecks.count }
    #expect(checks > decisions.reduce(0) { $0 + $1.checks.count })
    #expect(try page.texts("ul.checks > li").count == checks)
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
    try page.inspect("Person", isThorough: isThorough)
  }

  func message(_ message: String, in conversation: String, isThorough: Bool = true) throws {
    try page.open(
      ConsolePage.view("message", ["message": message, "conversation": conversation]),
      until: "document.querySelector('.groups section')")
    let answer = try object(
      "explain", "--message", message, "--conversation", conversation, "--limit", "200", "--texts")
    let groups = try #require(answer["groups"] as? [[String: Any]])
    #expect(try page.texts(".group-head .count").map { Int($0) } == groups.map { ($0["people"] as? [Any])?.count })
    #expect(
      try page.texts(".people a bdi")
        == groups.flatMap { $0["people"] as? [String] ?? [] }.map { ConsolePage.plain($0, cutAt: 60) })
    let ends = groups.flatMap { $0["ends"] as? [[String: Any]] ?? [] }
      .map { "\($0["count"] as? Int ?? -1) \($0["state"] as? String ?? "?")" }
    #expect(try page.texts(".ends .chip") == ends)
    try page.inspect("Message", isThorough: isThorough)
  }

  // MARK: Receipts

  /// Devices report a dozen pushes of messages, every third as opened. Waits until the receipts are recorded, and returns a story that
  /// ends opened.
  func report() throws -> (user: String, message: String, conversation: String, device: String) {
    let pushes = Dictionary(
      try demo.records("decisions").compactMap { record -> (String, [String: Any])? in
        guard let push = record["pushId"] as? String, record["presentation"] as? String != "badge" else { return nil }
        return (push, record)
      }
    ) { $1 }
    let sent = try demo.records("outcomes").filter {
      $0["result"] as? String == "sent" && pushes[$0["pushId"] as? String ?? ""] != nil
    }.prefix(12)
    #expect(sent.count == 12)
    var opened: (user: String, message: String, conversation: String, device: String)?
    for (number, outcome) in sent.enumerated() {
      let push = try #require(outcome["pushId"] as? String)
      let decision = try #require(pushes[push])
      let user = try #require(decision["userId"] as? String)
      let story = (
        user: user, message: try #require(decision["messageId"] as? String),
        conversation: try #require(decision["conversationId"] as? String),
        device: try #require(outcome["deviceId"] as? String)
      )
      for type in number % 3 == 0 ? ["received", "opened"] : ["received"] {
        try demo.produce(
          [
            "type": "notification.\(type)", "userId": user, "deviceId": story.device, "pushId": push,
            "conversationId": story.conversation, "messageId": story.message,
          ], key: user, to: .userEvents)
      }
      if number % 3 == 0 { opened = story }
    }
    try wait(for: "12 receipts of arrivals, 4 of openings") {
      let all = try object("funnel", "--since", "1h")["all"] as? [String: Any]
      return all?["arrived"] as? Int == 12 && all?["opened"] as? Int == 4
    }
    return try #require(opened)
  }

  func receipts(of story: (user: String, message: String, conversation: String, device: String)) throws {
    try page.open(
      ConsolePage.view(
        "person", ["user": story.user, "message": story.message, "conversation": story.conversation]),
      until: "document.querySelector('.moments') && document.querySelector('.phone')")
    let answer = try object(
      "explain", "--user", story.user, "--message", story.message, "--conversation", story.conversation)
    let ends = (answer["stories"] as? [[String: Any]])?.first?["ends"] as? [[String: Any]] ?? []
    #expect(ends.contains { $0["deviceId"] as? String == story.device && $0["state"] as? String == "opened" })
    let table = "div[aria-label^='Devices of the push'] tbody td:nth-child(3)"
    #expect(
      try page.texts(table).map { $0.prefix { $0 != ":" } }
        == ends.map { ($0["state"] as? String).map { $0 == "taken" ? "left" : $0 } ?? "?" }.map { $0[...] })
    let moments = try page.texts(".moment .what").joined(separator: "\n")
    #expect(moments.contains("the device has it") && moments.contains("opened there"), "\(moments)")
    #expect(!moments.contains("notification.opened"), "said once: \(moments)")
    try page.inspect("Receipts")
  }

  func funnel() throws {
    let until = RFC3339.text(Int64(Date().timeIntervalSince1970 * 1_000))
    let since = RFC3339.text(Int64(Date().timeIntervalSince1970 * 1_000) - 3_600_000)
    try page.open(
      ConsolePage.view("funnel", ["since": since, "until": until]),
      until: "document.querySelector('section[data-by=hour]')")
    let answer = try object("funnel", "--since", since, "--until", until)
    func numbers(_ counts: [String: Any], _ names: [String]) -> [Int] {
      let ends = counts["ends"] as? [String: Any] ?? [:]
      return names.map { counts[$0] as? Int ?? -1 }
        + ["dismissed", "withdrawn", "failed", "waiting"].map { ends[$0] as? Int ?? 0 }
    }
    let steps = ["decided", "notify", "pushed", "taken", "arrived", "opened"]
    for (part, field) in [
      ("reason", "byReason"), ("priority", "byPriority"), ("platform", "byPlatform"), ("hour", "byHour"),
    ] {
      let all = try #require(answer[field] as? [String: [String: Any]])
      let names = part == "platform" ? Array(steps.dropFirst(2)) : steps
      #expect(try page.numbers(by: part) == all.mapValues { numbers($0, names) }, "by \(part)")
    }
    let all = try #require(answer["all"] as? [String: Any])
    #expect(try page.texts(".step b").map { Int($0.replacing(",", with: "")) } == steps.map { all[$0] as? Int })
    let ends = Self.numbers(all["ends"])
    let chips = try page.texts("[data-ends] .chip").map { $0.split(separator: " ") }
    #expect(
      Dictionary(uniqueKeysWithValues: chips.map { (String($0[1]), Int($0[0].replacing(",", with: "")) ?? -1) })
        == ends)
    try page.inspect("Funnel")
  }

  // MARK: Overview

  /// After `report`.
  func overview() throws {
    try page.open("overview", until: "document.querySelectorAll('figure').length > 5")
    // It is live: what the commands say now is on it within seconds.
    try wait(for: "the overview to say what the commands say") {
      // A message that was held counts once.
      let decisions = try demo.records("decisions").count { $0["outcome"] as? String != "deferred" }
      let ends = Self.numbers((try object("funnel", "--since", "1h")["all"] as? [String: Any])?["ends"])
      let named = Dictionary(uniqueKeysWithValues: ends.map { ($0 == "taken" ? "taken by FCM" : $0, $1) })
      return try page.sums(ofChart: "Decisions by reason").values.reduce(0, +) == decisions
        && page.sums(ofChart: "Pushes by end state") == named
    }
    #expect(try page.texts(".tile .label").contains("Services"))
    let reports = try page.sums(ofChart: "Event to arrival")
    #expect(reports.keys.sorted() == ["p50", "p99"], "\(reports)")
    try page.inspect("Overview")
  }

  // MARK: Live

  /// Decisions appear while the page is open: of everybody, and of one person.
  func live(_ way: String) throws {
    for (user, message) in [(nil, "live-all"), ("ann", "live-ann")] as [(String?, String)] {
      try page.open(ConsolePage.view("live", user.map { ["user": $0] } ?? [:]))
      #expect(try page.texts(".status") == ["live, \(way)"])
      try demo.produce(
        [
          "type": "conversation.updated", "conversationId": "c-live", "kind": "direct",
          "members": ["ann", "bob"].map { ["userId": $0, "displayName": $0] },
        ], key: "c-live", to: .chatEvents)
      try demo.produce(
        [
          "type": "message.created", "conversationId": "c-live", "messageId": message, "senderId": "bob",
          "text": "Lunch?",
        ], key: "c-live", to: .chatEvents)
      try page.browser.wait(until: "document.querySelector('article[data-message=\"\(message)\"] a')", atMost: 60)
    }
    try page.inspect("Live")
  }

  // MARK: Dead letters

  /// `preferences.updated` of ann with a value that is no boolean.
  func refuseOne() throws {
    try demo.produce(
      ["type": "preferences.updated", "userId": "ann", "preferences": ["enabled": "perhaps"]], key: "ann",
      to: .userEvents)
    try wait(for: "the dead letter") {
      (try object("dead-letters", "list", "--reason", "schema_violation")["groups"] as? [Any])?.isEmpty == false
    }
  }

  /// Corrects the dead letter, and publishes it.
  func deadLetters() throws {
    try page.open("dead-letters", until: "document.querySelector('main table')")
    let groups = try #require(try object("dead-letters", "list")["groups"] as? [[String: Any]])
    #expect(try page.texts("main table tbody tr").count == groups.count)
    try page.inspect("Dead letters")
    let letter = try place(ofLetter: "schema_violation", key: "ann")
    try page.open(
      ConsolePage.view("dead-letters", ["reason": "schema_violation", "place": letter]),
      until: "document.querySelector('pre mark')")
    #expect(try page.texts("pre mark").first?.contains("enabled") == true)
    try page.inspect("A dead letter")
    // Corrected, checked, and published with a reason.
    _ = try page.browser.evaluate(
      """
      (() => { const text = document.querySelector('textarea'); text.closest('details').open = true;
        text.value = text.value.replace('"perhaps"', 'false'); text.dispatchEvent(new Event('input')); })()
      """)
    try page.press("Check")
    try page.browser.wait(until: "document.querySelector('.notice.good')")
    #expect(try enabled(of: "ann") == nil, "the check writes nothing")
    try page.press("Publish…")
    try page.giveReason("a test")
    try page.browser.wait(until: "document.getElementById('said').textContent.startsWith('Published, audited as ')")
    try wait(for: "the corrected preferences") { try enabled(of: "ann") == false }
    let left = try object("dead-letters", "list", "--reason", "schema_violation")["groups"] as? [[String: Any]] ?? []
    #expect(!left.contains { (($0["example"] as? [String: Any])?["key"] as? String) == "ann" })
    let audit = try demo.records("audit")
    #expect(audit.contains { $0["type"] as? String == "dead_letters.handled" && $0["why"] as? String == "a test" })
  }

  private func enabled(of user: String) throws -> Bool? {
    let preferences = try object("explain", "--user", user, "--since", "1s")["preferences"] as? [String: [String: Any]]
    return preferences?["enabled"]?["value"] as? Bool
  }

  /// `PARTITION@OFFSET` of the last dead letter with this code and key.
  func place(ofLetter code: String, key: String) throws -> String {
    let lines = try demo.run(["tail", "dead-letters", "--since", "1h", "--limit", "100000", "--json"])
      .split(separator: "\n").map { try demo.object(String($0)) }
    let letter = try #require(
      lines.last { $0["key"] as? String == key && ($0["deadLetter"] as? [String: Any])?["code"] as? String == code },
      "\(code) of \(key)")
    let position = try #require(letter["position"] as? [String: Any])
    return "\(try #require(position["partition"] as? Int))@\(try #require(position["offset"] as? Int))"
  }

  // MARK: Replays

  func replays() throws {
    try page.open("replays?plan=yes&since=1h", until: "document.querySelectorAll('main section.card').length >= 2")
    let report = try object("replay", "resend-missing", "--since", "1h")
    #expect(
      try page.texts("main section.card tbody tr:first-child td").first == (report["wouldSend"] as? Int).map { "\($0)" }
    )
    try page.inspect("Replays")
  }

  /// A replay that is run from the page, and stopped from it.
  func replayStopped() throws {
    let count = 15
    try demo.produce(
      [
        "type": "device.registered", "userId": "zoe", "deviceId": "zoe-phone", "token": "token-of-zoe",
        "platform": "ios",
      ],
      key: "zoe", to: .userEvents)
    func prefer(_ isEnabled: Bool) throws {
      try demo.produce(
        ["type": "preferences.updated", "userId": "zoe", "preferences": ["enabled": isEnabled]], key: "zoe",
        to: .userEvents)
      try wait(for: "zoe's preferences") { try enabled(of: "zoe") == isEnabled }
    }
    try prefer(false)
    let members = ["yan", "zoe"].map { ["userId": $0, "displayName": $0.capitalized] }
    try demo.produce(
      ["type": "conversation.updated", "conversationId": "of-zoe", "kind": "direct", "members": members], key: "of-zoe",
      to: .chatEvents)
    for number in 0..<count {
      try demo.produce(
        [
          "type": "message.created", "conversationId": "of-zoe", "messageId": "missed-\(number)", "senderId": "yan",
          "text": "hello \(number)",
        ], key: "of-zoe", to: .chatEvents)
    }
    try wait(for: "\(count) decisions") { try demo.records("decisions", "--user", "zoe").count == count }
    try prefer(true)
    let view = ConsolePage.view("replays", ["mode": "resend-missing", "user": "zoe", "since": "1h", "plan": "yes"])
    try page.open(view, until: "[...document.querySelectorAll('button')].some(b => b.textContent === 'Run it…')")
    let report = try object("replay", "resend-missing", "--since", "1h", "--user", "zoe")
    #expect(report["wouldSend"] as? Int == count)
    #expect(try page.texts("main section.card tbody tr:first-child td").first == "\(count)")
    // One a second, so that it can be stopped on the way.
    try page.press("Run it…")
    try page.giveReason("they were missed", ["rate": "1"])
    try page.browser.wait(until: "[...document.querySelectorAll('button')].some(b => b.textContent === 'Stop it…')")
    try page.press("Stop it…")
    try page.giveReason("enough")
    try page.browser.wait(
      until: "[...document.querySelectorAll('table tbody .chip')].some(chip => chip.textContent === 'stopped')")
    let replay = try #require(
      (try object("replay", "list")["replays"] as? [[String: Any]])?.first { $0["condition"] as? String == "stopped" })
    let id = try #require(replay["replayId"] as? String)
    #expect(try page.texts("table tbody a").contains(id))
    try page.open(
      ConsolePage.view("replays", ["replay": id]), until: "document.querySelectorAll('dl.facts').length > 1")
    #expect(try page.texts("dl.facts").joined().contains("they were missed"))
    try page.inspect("A stopped replay")
    let again = try demo.records("decisions", "--user", "zoe").count { $0["replayId"] as? String == id }
    #expect(again < count, "it was stopped on the way")
  }

  // MARK: Policy and Phones

  func policy() throws {
    try page.open("policy", until: "document.querySelector('textarea')")
    try page.inspect("Policy")
    _ = try page.browser.evaluate(
      """
      (() => { const text = document.querySelector('textarea'); const policy = JSON.parse(text.value);
        policy.thresholds.high = 1; text.value = JSON.stringify(policy, null, 2); text.dispatchEvent(new Event('change'));
        document.querySelector('form.ask button').click(); })()
      """)
    try page.browser.wait(until: "document.querySelector('section.stack h2')", atMost: 60)
    // A message that was held, or a catch-up, may be decided between the two.
    try wait(for: "the page to compare as many decisions as the command") {
      let count = try #require(try object("simulate", "--since", "1h")["compared"] as? Int)
      _ = try page.browser.evaluate(
        "void (document.querySelector('section.stack').remove(), document.querySelector('form.ask button').click())")
      try page.browser.wait(until: "document.querySelector('section.stack h2')", atMost: 60)
      return try #require(try page.texts("section.stack h2").first).hasPrefix("\(count) decision")
    }
    try page.inspect("A simulation")
  }

  func phones() throws {
    try page.open("phones", until: "document.querySelector('iframe.phones')")
    try page.inspect("Phones")
  }
}

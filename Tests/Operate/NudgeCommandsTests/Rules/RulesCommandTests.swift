import Foundation
import NudgeSchema
import ServiceKit
import TestSupport
import Testing

@testable import NudgeCommands

@Suite("nudge rules")
struct RulesCommandTests {
  private func run(_ content: String) throws -> (code: Int32, errors: String) {
    let folder = try TemporaryDirectory()
    let path = folder.path + "/rules.json"
    try Data(content.utf8).write(to: URL(fileURLWithPath: path))
    var errors = ""
    let code = NudgeCLI().run(
      ["rules", "check", path], environment: [:], output: { _ in }, errors: { errors += $0 + "\n" })
    return (code, errors)
  }

  @Test("check accepts a valid file, and names the error and its place in an invalid one")
  func check() throws {
    let good = #"{"version": "7", "rules": [{"name": "a", "when": ["named"], "priority": "high"}], "otherwise": "low"}"#
    #expect(try run(good).code == ExitCode.success)
    let wrong = try run(good.replacing("named", with: "nomad"))
    #expect(wrong.code == ExitCode.failure)
    #expect(wrong.errors.contains("rules.json: rules[0].when[0]: it must be one of direct, mentioned"))
  }

  @Test("try counts decisions whose priority would change, by reason and rules, largest count first")
  func report() throws {
    var report = RulesReport(version: "7", since: 1_795_275_600_000, decisions: 7)
    func add(
      _ reason: String, _ from: Priority, _ rule: String?, to: Priority, _ newRule: String?, level: String? = nil
    ) {
      report.add(RulesReport.Decided(reason: reason, level: level, priority: from, rule: rule), now: (to, newRule))
    }
    add("simple_rules", .low, nil, to: .medium, "idle-talk")
    add("quiet_hours", .medium, "direct", to: .high, "ask-me")
    add("simple_rules", .low, nil, to: .medium, "idle-talk")
    add("simple_rules", .medium, "direct", to: .medium, "ask-me")
    add("notify_all", .medium, "direct", to: .high, "ask-me", level: "all")
    add("simple_rules", .low, nil, to: .medium, "idle-talk", level: "smart")
    report.notFound = 1
    #expect(report.changed == 5)
    #expect(
      report.text == """
        7 decisions by simple rules since 2026-11-21T15:40:00.000Z; by version 7, 5 would have had another priority
          2  simple_rules: low → medium  (no rule → idle-talk)
          1  notify_all, level all: medium → high  (direct → ask-me)
          1  quiet_hours: medium → high  (direct → ask-me)
          1  simple_rules, level smart: low → medium  (no rule → idle-talk)
          1 could not be judged: their candidates are no longer kept
        """)
    let json = String(decoding: try CommandOutput.encoder.encode(report), as: UTF8.self)
    #expect(json.contains(#""changed":5"#) && json.contains(#""count":2"#) && json.contains(#""toRule":"ask-me""#))
  }
}

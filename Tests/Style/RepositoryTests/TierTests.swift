import Foundation
import TestSupport
import Testing

@Suite("Tiers of tests")
struct TierTests {
  /// A rule of Tests/Tiers/tiers: the first whose pattern matches a test's id decides.
  private struct Rule {
    var tier: String
    var group: String
    var pattern: String
  }

  private func rules() throws -> [Rule] {
    let text = try String(contentsOf: Repository.file("Tests/Tiers/tiers"), encoding: .utf8)
    return text.split(separator: "\n").filter { !$0.hasPrefix("#") && !$0.hasPrefix("group") }.flatMap { line in
      let words = line.split(separator: " ").map(String.init)
      return words.dropFirst(2).map { Rule(tier: words[0], group: words[1], pattern: $0) }
    }
  }

  /// Files of tests by target.
  private func testFiles() throws -> [(target: String, text: String, name: String)] {
    try Repository.swiftFiles(in: Repository.file("Tests")).compactMap { file in
      let text = try String(contentsOf: file, encoding: .utf8)
      guard text.contains("@Test"), let target = file.pathComponents.last(where: { $0.hasSuffix("Tests") }) else {
        return nil
      }
      return (target, text, file.lastPathComponent)
    }
  }

  @Test("every test target has a tier, and every tier a make target")
  func targets() throws {
    let rules = try rules()
    for target in Set(try testFiles().map(\.target)) {
      let anySuite = "\(target).AnySuite/anyTest()"
      #expect(
        try rules.contains { try anySuite.prefixMatch(of: Regex($0.pattern)) != nil },
        "\(target): add its suites to Tests/Tiers/tiers")
    }
    #expect(Set(rules.map(\.tier)) == ["unit", "core", "all"])
    let makefile = try String(contentsOf: Repository.file("Makefile"), encoding: .utf8)
    for target in ["unit", "test", "test-all"] { #expect(makefile.contains("\n\(target): ")) }
  }

  @Test("make has at most 14 targets; the trials that its help, the docs and Tests/trial name are there")
  func trials() throws {
    let makefile = try String(contentsOf: Repository.file("Makefile"), encoding: .utf8)
    let targets = makefile.matches(of: /(?m)^([\w$(][^:=\n]*):(?!=)/).map { String($0.1) }
    #expect((8...14).contains(targets.count), "\(targets)")
    let script = try String(contentsOf: Repository.file("Tests/trial"), encoding: .utf8)
    let listed = script.matches(of: /(?m)^  ([a-z-]+) {2,}(?:K  )?\S/).map { String($0.1) }
    #expect(listed.count > 10)
    var named = Set(listed)
    for file in ["Makefile", "README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/operations.md"] {
      let text = try String(contentsOf: Repository.file(file), encoding: .utf8)
      named.formUnion(text.matches(of: /Tests\/trial ([a-z][a-z-]*)/).map { String($0.1) })
    }
    named.remove("lists")
    for name in named { #expect(script.contains("\n\(name)() {"), "Tests/trial \(name)") }
  }

  @Test("a suite with a broker, or with programs as processes, is not a unit test")
  func unitIsPure() throws {
    let rules = try rules()
    for (target, text, name) in try testFiles() where target != "RepositoryTests" {
      guard let mark = text.firstMatch(of: /EmbeddedBroker\(|LocalBroker\(|SecuredBroker\(|RealKafka\.|DemoProcess\(/)
      else { continue }
      for suite in text.matches(of: /(?m)^ *(?:struct|extension|enum) (\w*Tests)\b/) {
        let extended = text.firstMatch(of: /(?m)^extension (\w*Tests)\b/)?.1
        let parent = extended.map { $0 == suite.1 ? "" : "\($0)/" } ?? ""
        let id = "\(target).\(parent)\(suite.1)/"
        // Tests of a suite that has both kinds are listed one by one.
        guard !rules.contains(where: { $0.pattern.contains("\(suite.1)/") }) else { continue }
        let rule = try rules.first { try id.prefixMatch(of: Regex($0.pattern)) != nil }
        #expect(rule?.tier != "unit", "\(name): \(suite.1) has \(mark.0)")
      }
    }
  }
}

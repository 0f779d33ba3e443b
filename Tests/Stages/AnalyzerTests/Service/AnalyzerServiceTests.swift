import Kafka
import NudgeSchema
import ServiceKit
import StreamRuntime
import TestSupport
import Testing

@testable import Analyzer

@Suite("The analyzer process")
struct AnalyzerServiceTests {
  private func values(_ arguments: [String]) throws -> SettingsValues {
    let request = try AnalyzerService.assembly.schema.parse(
      ["--bootstrap-servers", "127.0.0.1:1"] + arguments, environment: [:])
    guard case .run(let values) = request else { throw SettingsError("not a run") }
    return values
  }

  @Test("settings become the rules of the stage")
  func rules() throws {
    let rules = try AnalyzerSettings.rules(
      from: try values(
        ["--freshness", "5m", "--push-ttl", "2d", "--token-lifetime", "30d", "--analyses-per-hour", "3"]))
    #expect(rules.policy.freshness == 300_000)
    #expect(rules.ttlSeconds == 172_800)
    #expect(rules.tokenLifetime == 30 * 86_400_000)
    #expect(rules.policy.analysesPerHour == 3)
  }

  @Test("without settings the rules are the stage's defaults, and the hash is SHA-256")
  func defaults() throws {
    let rules = try AnalyzerSettings.rules(from: try values([]))
    let standard = AnalyzerRules(hash: { $0 })
    #expect(rules.policy.freshness == standard.policy.freshness)
    #expect(rules.ttlSeconds == standard.ttlSeconds)
    #expect(rules.tokenLifetime == standard.tokenLifetime)
    #expect(rules.policy.analysesPerHour == standard.policy.analysesPerHour)
    // SHA-256 of "abc", FIPS 180-2.
    #expect(rules.hash(Array("abc".utf8)).prefix(4) == [0xBA, 0x78, 0x16, 0xBF])
    #expect(rules.tokenHash("token") == TokenHash.of("token"))
  }

  @Test("--check ends with 0 where all topics are there")
  func check() throws {
    let broker = try EmbeddedBroker()
    let definition = AnalyzerStage.definition
    for topic in Set(definition.inputs + definition.outputs + [definition.changelog, .deadLetters]) {
      try broker.createTopic("x.\(topic.rawValue)", partitions: 3)
    }
    let log = LogCapture()
    var lines: [String] = []
    let exitCode = AnalyzerService.assembly.program(sink: log.sink, signals: false).main(
      ["--bootstrap-servers", broker.bootstrapServers, "--topic-prefix", "x.", "--check"], environment: [:],
      output: { lines.append($0) }, errors: { lines.append($0) })
    #expect(exitCode == ExitCode.success)
    #expect(lines == ["nudge-analyzer: the settings are good"])
    let found = log.entries.compactMap { $0.metadata["found"].map { "\($0)" } }.joined(separator: "\n")
    let topics = "7 of analyzer's, 3 partitions; transactions are librdkafka's; release \(NudgeVersion.current) "
    #expect(found.contains(topics), "\(found)")
  }
}

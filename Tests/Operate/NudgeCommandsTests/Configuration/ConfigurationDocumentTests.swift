import Foundation
import ServiceKit
import TestSupport
import Testing

@testable import Analyzer
@testable import Dispatcher
@testable import Ingest

@Suite("docs/configuration.md")
struct ConfigurationDocumentTests {
  private static let file = Repository.file("docs/configuration.md")

  @Test("it matches the declarations of the settings")
  func matches() throws {
    let text = Self.document
    if ProcessInfo.processInfo.environment["NUDGE_WRITE_DOCS"] != nil {
      try Data(text.utf8).write(to: Self.file)
    }
    #expect(
      try String(contentsOf: Self.file, encoding: .utf8) == text,
      "write it anew with: NUDGE_WRITE_DOCS=1 swift test --filter ConfigurationDocumentTests")
  }

  /// Settings with a heading.
  private static func section(_ title: String, _ about: String, _ settings: [any AnySetting]) -> String {
    let schema = SettingsSchema(program: title, abstract: about, version: "", settings: settings)
    return "## \(title)\n\(about)\n\n\(schema.markdownTable)"
  }

  private static var document: String {
    [
      """
      # Configuration

      Every setting is a flag, an environment variable and a key of the configuration file. A flag wins over the
      environment, the environment over the file of `--config`: a JSON object whose keys are the flags' names,
      `{"state-dir": "/var/lib/nudge", "kafka-property": {"security.protocol": "ssl"}}`. A variable that is set but empty
      counts as not set. Durations are whole numbers with units, the largest first: `250ms`, `30s`, `1h30m`, `7d`.

      `--print-config` prints each value and its source, with secrets masked. `--check` checks settings, topics and
      credentials, and exits. `--help` prints the tables below.

      `NUDGE_WRITE_DOCS=1 swift test --filter ConfigurationDocumentTests` writes this file from the declarations of the
      settings. Without the variable that test fails if the two differ.

      """,
      section(
        "Every service", "`nudge-ingest`, `nudge-analyzer` and `nudge-dispatcher` have these settings.",
        ServiceSettings.all),
      """
      ### Kafka with TLS and SASL
      Any property of librdkafka can be set: `--kafka-property security.protocol=sasl_ssl`, or
      `NUDGE_KAFKA_SECURITY_PROTOCOL=sasl_ssl` in the environment (capitals, `.` as `_`), which keeps passwords out of the
      list of processes: `NUDGE_KAFKA_SASL_USERNAME`, `NUDGE_KAFKA_SASL_PASSWORD`. librdkafka before 2.6.1 (Debian 12 has
      2.0.2) cannot log in with SCRAM to brokers of Kafka 4: use `sasl.mechanism=PLAIN` over TLS, or mutual TLS. Transactions have a
      client of their own, which takes the same properties. A property that it does not support is refused at start
      ([operations](operations.md#kafka)). So are properties that exactly-once depends on, among them `isolation.level`,
      `group.id`, `enable.auto.commit`, `auto.offset.reset`, `transactional.id` and `partition.assignment.strategy`.

      """,
      section(
        "nudge-ingest",
        "Without keys the HTTP API is off. [producers.md](producers.md) describes its answers.",
        IngestSettings.all),
      section("nudge-analyzer", "All instances must have the same settings.", AnalyzerSettings.all),
      section("nudge-dispatcher", "Where pushes go, and how many at a time.", DispatcherSettings.all),
    ].joined(separator: "\n")
  }
}

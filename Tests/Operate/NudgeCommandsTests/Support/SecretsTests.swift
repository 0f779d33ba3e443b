import Foundation
import Kafka
import NudgeSchema
import ServiceKit
import TestSupport
import Testing

@testable import Analyzer
@testable import Dispatcher
@testable import Ingest
@testable import NudgeCommands

/// Puts a word of its own into every place that can hold a secret, and looks for it in everything that is shown.
private enum Canary {
  static let word = "c4naryB1rd"
  /// A URL with the word as login, path, query and fragment.
  static let url = "https://\(word)1:\(word)2@collector.example:4318/\(word)3?token=\(word)4#\(word)5"

  /// Librdkafka's properties that can hold a secret, and those of logins by tokens.
  static let properties = [
    "sasl.username", "sasl.password", "ssl.key.password", "ssl.key.pem", "ssl.keystore.password", "ssl.certificate.pem",
    "ssl.ca.pem", "sasl.oauthbearer.client.id", "sasl.oauthbearer.client.secret", "sasl.oauthbearer.config",
    "sasl.oauthbearer.extensions", "sasl.oauthbearer.scope", "sasl.oauthbearer.assertion.private.key.pem",
    "sasl.oauthbearer.assertion.private.key.passphrase", "sasl.kerberos.kinit.cmd", "sasl.kerberos.principal",
    "a.property.of.next.year",
  ]

  static var kafkaProperties: [String: String] {
    var all = Dictionary(uniqueKeysWithValues: properties.map { ($0, "\(word)-\($0.utf8.count)") })
    all["sasl.oauthbearer.token.endpoint.url"] = url
    all["security.protocol"] = "sasl_ssl"
    return all
  }

  /// Settings by flag.
  static let settings: [(service: ServiceAssembly, values: [String: String])] = [
    (
      IngestService.assembly,
      ["otlp-endpoint": url, "bootstrap-servers": "SASL_SSL://\(word):\(word)@kafka.example:9092"]
    ),
    (AnalyzerService.assembly, ["otlp-endpoint": url, "bootstrap-servers": "kafka.example:9092"]),
    (
      DispatcherService.assembly,
      [
        "otlp-endpoint": url, "fcm-url": url, "escalation-url": "https://hooks.example/services/\(word)",
        "bootstrap-servers": "kafka.example:9092", "fcm-credentials": "/run/secrets/fcm.json",
      ]
    ),
  ]

  static func variable(_ setting: String) -> String {
    setting == "bootstrap-servers"
      ? "NUDGE_KAFKA_BOOTSTRAP_SERVERS" : "NUDGE_" + setting.uppercased().replacing("-", with: "_")
  }

  /// What services may be told by their environment, and what others there is beside it.
  static var environment: [String: String] {
    var all = ["OTEL_EXPORTER_OTLP_HEADERS": "api-key=\(word)", "OTEL_EXPORTER_OTLP_ENDPOINT": url]
    all["NUDGE_CONSOLE_TOKEN"] = word
    all["NUDGE_A_SETTING_OF_NEXT_YEAR"] = word
    all["NUDGE_FRESHNESS"] = "1h"
    for (name, value) in kafkaProperties { all["NUDGE_KAFKA_" + name.uppercased().replacing(".", with: "_")] = value }
    for (_, values) in settings {
      for (name, value) in values { all[variable(name)] = value }
    }
    return all
  }
}

@Suite("T4: secrets of the operator are shown nowhere")
struct SecretsTests {
  @Test("--print-config and the log at start, for settings by flag, environment and file")
  func settings() throws {
    for (service, values) in Canary.settings {
      let flags = values.flatMap { ["--\($0.key)", $0.value] }
      let properties = Canary.kafkaProperties.flatMap { ["--kafka-property", "\($0.key)=\($0.value)"] }
      var file: [String: Any] = values
      file["kafka-property"] = Canary.kafkaProperties
      let json = try JSONSerialization.data(withJSONObject: file)
      for (arguments, environment) in [
        (flags + properties, [:]), ([], Canary.environment), (["--config", "c.json"], [:]),
      ] {
        let read: (String) throws -> [UInt8] = { _ in Array(json) }
        guard
          case .print(let report) = try service.schema.parse(
            arguments + ["--print-config"], environment: environment, readFile: read),
          case .run(let parsed) = try service.schema.parse(arguments, environment: environment, readFile: read)
        else {
          Issue.record("no values")
          return
        }
        #expect(!report.contains(Canary.word), "\(service.name): \(report)")
        #expect(report.contains("security.protocol=sasl_ssl") && report.contains("sasl.username=********"))
        #expect(report.contains("sasl.oauthbearer.token.endpoint.url=https://collector.example:4318"))
        let capture = LogCapture()
        parsed.log(to: Logger(label: service.name, sink: capture.sink))
        #expect(capture.entries.count == 1 && !"\(capture.entries)".contains(Canary.word))
      }
    }
  }

  @Test("errors: a value that is refused is shown without what may be secret in it")
  func errors() {
    for (name, value) in [
      ("otlp-endpoint", "\(Canary.word):\(Canary.word)@collector"), ("fcm-url", "ftp://\(Canary.word)@fcm.example"),
      ("escalation-url", "http://hooks.example/\(Canary.word)"), ("kafka-property", "group.id=\(Canary.word)"),
      ("threads", "http://u:\(Canary.word)@x"),
    ] {
      var errors: [String] = []
      let code = DispatcherService.assembly.program(sink: LogCapture().sink, signals: false).main(
        ["--bootstrap-servers", "127.0.0.1:1", "--fcm-credentials", "/nowhere.json", "--\(name)", value],
        environment: [:], output: { _ in }, errors: { errors.append($0) })
      // The webhook's address is looked at with what it needs, after the settings alone.
      #expect(code == (name == "escalation-url" ? ExitCode.software : ExitCode.usage), "\(name)")
      #expect(!errors.joined().contains(Canary.word), "\(name): \(errors)")
    }
  }

  @Test("support-bundle: settings, environment, logs, services' pages, and errors of what could not be collected")
  func bundle() throws {
    let log = FileManager.default.temporaryDirectory.appendingPathComponent("log-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: log) }
    try """
    {"time":"2026-11-28T05:00:00.000Z","level":"warning","label":"spans","message":"no answer","url":"\(Canary.url)"}
    {"time":"2026-11-28T05:00:00.000Z","level":"error","label":"kafka","message":"login of \(Canary.kafkaProperties["sasl.username"] ?? "")"}
    2026-11-28T05:00:00.000Z INFO    ingest: settings sasl.password=\(Canary.word)
    2026-11-28T05:00:00.000Z WARNING ingest: \(Canary.url.replacing("/", with: #"\/"#)) answers, Bearer \(Canary.word)
    + export NUDGE_SECRET=\(Canary.word)
    *** Program crashed: Bad pointer dereference
    """.write(to: log, atomically: true, encoding: .utf8)
    #expect(PublicText.value("SASL_SSL://u:\(Canary.word)@127.0.0.1:1") == "SASL_SSL://127.0.0.1:1")
    let broker = try EmbeddedBroker()
    var properties = Canary.kafkaProperties
    properties["security.protocol"] = "plaintext"
    for name in properties.keys where name.hasPrefix("ssl.") || name.contains("next.year") { properties[name] = nil }
    for cluster in [
      ClusterSettings(bootstrapServers: broker.bootstrapServers, properties: Canary.kafkaProperties),
      ClusterSettings(bootstrapServers: broker.bootstrapServers, properties: properties),
    ] {
      let bundle = SupportBundleCommand.collect(
        cluster, admin: ["127.0.0.1:1"], logs: [log.path], environment: Canary.environment, now: 1_795_275_600_000)
      let content = String(decoding: bundle.archive, as: UTF8.self)
      for (name, text) in bundle.files { #expect(!text.contains(Canary.word), "\(name): \(text)") }
      #expect(!content.contains(Canary.word) && !bundle.failures.joined().contains(Canary.word))
      #expect(content.contains("Program crashed") && content.contains("no answer"))
      #expect(content.contains("\"NUDGE_FRESHNESS\" : \"1h\""))
      #expect(content.contains("\"NUDGE_A_SETTING_OF_NEXT_YEAR\" : \"(set, not shown)\""))
    }
  }

  @Test("the archive is for its owner alone, whatever the umask, and no link leads it elsewhere")
  func file() throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("private-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let path = directory.appendingPathComponent("bundle.tar").path
    #expect(FileManager.default.createFile(atPath: path, contents: Data("older and longer".utf8)))
    try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: path)
    try PrivateFile.write(Array("new".utf8), to: path)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("new".utf8))
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    let link = directory.appendingPathComponent("link").path
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    #expect(throws: CommandError.self) { try PrivateFile.write([1], to: link) }
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("new".utf8))
  }
}

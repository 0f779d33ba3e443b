import Foundation
import TestSupport
import Testing

@testable import ServiceKit

private enum Example {
  static let name = Setting<String?>("name", default: nil, help: "A name.")
  static let count = Setting<Int>("count", default: 3, in: 1...9, help: "How many.")
  static let wait = Setting<Duration>("wait", default: .seconds(90), help: "How long.")
  static let ratio = Setting<Double>("ratio", default: 0.5, help: "A part.")
  static let verbose = Setting<Bool>("verbose", default: false, help: "Says more.")
  static let url = Setting<URL?>("url", environment: .named(["NUDGE_URL", "OTHER_URL"]), default: nil, help: "Where.")
  static let names = Setting<[String]>("names", default: ["a"], help: "Several.")
  static let password = Setting<String>(
    "password", default: "", help: "To get in.", secret: true, check: { $0 == "bad" ? "a longer one" : nil })
  static let mode = Setting<LogFormat>("mode", environment: .none, default: .json, help: "One of two.")
  static let config = ServiceSettings.configurationFile
  static let all: [any AnySetting] = [
    name, count, wait, ratio, verbose, url, names, password, mode, config, ServiceSettings.kafkaProperties,
    ServiceSettings.bootstrapServers,
  ]

  static let schema = SettingsSchema(
    program: "nudge-test", abstract: "A program for tests.", version: "1.2.3", settings: all,
    examples: ["nudge-test --bootstrap-servers localhost:9092"])
}

@Suite("Settings")
struct SettingsTests {
  private func request(
    _ arguments: [String], environment: [String: String] = [:], file: String? = nil
  ) throws(SettingsError) -> SettingsSchema.Request {
    var environment = environment
    if environment["NUDGE_KAFKA_BOOTSTRAP_SERVERS"] == nil { environment["NUDGE_KAFKA_BOOTSTRAP_SERVERS"] = "b:1" }
    return try Example.schema.parse(arguments, environment: environment) { path in
      guard let file, path == "n.json" else { throw CocoaError(.fileReadNoSuchFile) }
      return Array(file.utf8)
    }
  }

  private func values(
    _ arguments: [String], environment: [String: String] = [:], file: String? = nil
  ) throws -> SettingsValues {
    guard case .run(let values) = try request(arguments, environment: environment, file: file) else {
      throw SettingsError("no values")
    }
    return values
  }

  private func problem(_ arguments: [String], environment: [String: String] = [:], file: String? = nil) -> String {
    do {
      _ = try request(arguments, environment: environment, file: file)
      return "nothing wrong"
    } catch {
      return error.description
    }
  }

  @Test("a flag wins over the environment, the environment over the file, the file over the default")
  func precedence() throws {
    let file = #"{"count": 5}"#
    let config = ["--config", "n.json"]
    #expect(try values([])[Example.count] == 3)
    #expect(try values(config, file: file)[Example.count] == 5)
    #expect(try values(config, environment: ["NUDGE_COUNT": "6"], file: file)[Example.count] == 6)
    let flag = try values(config + ["--count", "7"], environment: ["NUDGE_COUNT": "6"], file: file)
    #expect(flag[Example.count] == 7)
    #expect(flag.source(of: Example.count) == .flag)
    #expect(try values(["--count=7", "--count=8"])[Example.count] == 8)
    #expect(
      try values([], environment: ["NUDGE_CONFIG": "n.json"], file: file).source(of: Example.count) == .file("n.json"))
  }

  @Test("every type is read from flags in both forms")
  func types() throws {
    let values = try self.values([
      "--name=a=b", "--count", "9", "--wait", "1h30m", "--ratio=-0.25", "--verbose", "--url", "https://x.example/y",
      "--names", "a, b,c", "--mode", "text",
    ])
    #expect(values[Example.name] == "a=b")
    #expect(values[Example.count] == 9)
    #expect(values[Example.wait] == .seconds(5_400))
    #expect(values[Example.ratio] == -0.25)
    #expect(values[Example.verbose])
    #expect(values[Example.url]?.absoluteString == "https://x.example/y")
    #expect(values[Example.names] == ["a", "b", "c"])
    #expect(values[Example.mode] == .text)
    #expect(try self.values(["--ratio", "-1"])[Example.ratio] == -1)
  }

  @Test("--no-flag and =false override the environment")
  func booleans() throws {
    let environment = ["NUDGE_VERBOSE": "yes"]
    #expect(try values([], environment: environment)[Example.verbose])
    #expect(try !values(["--no-verbose"], environment: environment)[Example.verbose])
    #expect(try !values(["--verbose=false"], environment: environment)[Example.verbose])
  }

  @Test("a file holds texts, numbers, booleans, lists and objects")
  func file() throws {
    let file = """
      {"name": "n", "count": 4, "ratio": 2.5, "verbose": true, "names": ["x", "y"], "wait": "250ms",
       "kafka-property": {"linger.ms": 5, "acks": "all"}}
      """
    let values = try self.values(["--config=n.json"], file: file)
    #expect(values[Example.name] == "n")
    #expect(values[Example.count] == 4)
    #expect(values[Example.ratio] == 2.5)
    #expect(values[Example.verbose])
    #expect(values[Example.names] == ["x", "y"])
    #expect(values[Example.wait] == .milliseconds(250))
    #expect(values[ServiceSettings.kafkaProperties] == ["linger.ms": "5", "acks": "all"])
  }

  @Test("the first of several variables that is set counts; an empty one is not set")
  func environmentNames() throws {
    let both = ["NUDGE_URL": "http://a", "OTHER_URL": "http://b"]
    #expect(try values([], environment: both)[Example.url]?.host == "a")
    let second = try values([], environment: ["NUDGE_URL": "", "OTHER_URL": "http://b"])
    #expect(second[Example.url]?.host == "b")
    #expect(second.source(of: Example.url) == .environment("OTHER_URL"))
    #expect(try values([], environment: ["NUDGE_MODE": "text"])[Example.mode] == .json)
  }

  @Test("every NUDGE_KAFKA_ variable is a property of librdkafka, merged with file and flags, except the brokers")
  func kafkaProperties() throws {
    let values = try self.values(
      ["--kafka-property", "linger.ms=7", "--config", "n.json", "--kafka-property=sasl.password=p=q"],
      environment: [
        "NUDGE_KAFKA_BOOTSTRAP_SERVERS": "k:9092", "NUDGE_KAFKA_SECURITY_PROTOCOL": "sasl_ssl",
        "NUDGE_KAFKA_LINGER_MS": "6", "NUDGE_KAFKA_": "x", "NUDGE_KAFKA_ACKS": "", "OTHER_KAFKA_X": "y",
      ], file: #"{"kafka-property": {"linger.ms": "5", "client.id": "c"}}"#)
    #expect(
      values[ServiceSettings.kafkaProperties] == [
        "security.protocol": "sasl_ssl", "linger.ms": "7", "sasl.password": "p=q", "client.id": "c",
      ])
    #expect(values[ServiceSettings.bootstrapServers] == "k:9092")
  }

  @Test("an unknown flag or key names the nearest one and where to look")
  func unknown() {
    #expect(problem(["--cuont", "1"]) == "unknown flag --cuont: did you mean --count? See nudge-test --help")
    #expect(problem(["--print-confg"]).contains("did you mean --print-config?"))
    #expect(problem(["--zzzzzzzzzzzz"]) == "unknown flag --zzzzzzzzzzzz; see nudge-test --help")
    #expect(problem(["-c", "1"]).hasPrefix("unknown flag -c: flags begin with two dashes"))
    #expect(problem(["--no-count"]).hasPrefix("unknown flag --no-count"))
    #expect(
      problem(["--config=n.json"], file: #"{"coutn": 1}"#)
        == "n.json: unknown setting 'coutn': did you mean count? See nudge-test --help")
    #expect(problem(["extra"]) == "unexpected argument 'extra'; see nudge-test --help")
  }

  @Test("a refused value is named with its setting, its source and the allowed values")
  func badValues() {
    #expect(problem(["--count", "x"]) == "--count: 'x' is not allowed: use a whole number")
    #expect(problem(["--count", "10"]) == "--count: '10' is not allowed: use a value from 1 to 9")
    #expect(
      problem([], environment: ["NUDGE_WAIT": "5"])
        == "NUDGE_WAIT: '5' is not allowed: use a duration such as 250ms, 30s, 5m, 1h30m or 7d")
    #expect(
      problem(["--config=n.json"], file: #"{"mode": "xml"}"#)
        == "n.json: 'mode': 'xml' is not allowed: use json or text")
    #expect(problem(["--verbose=maybe"]) == "--verbose: 'maybe' is not allowed: use true or false")
    #expect(problem(["--url", "ftp://x"]).contains("use a URL such as"))
    #expect(problem(["--count"]) == "--count needs a value: --count N")
    #expect(problem(["--count", "--verbose"]) == "--count needs a value: --count N")
    #expect(problem(["--help=1"]) == "--help takes no value")
    #expect(
      problem(["--kafka-property", "bootstrap.servers=x"])
        .hasSuffix("use it without bootstrap.servers: --bootstrap-servers names the brokers"))
  }

  @Test(
    "properties that exactly-once depends on are refused by name, with the reason",
    arguments: [
      "isolation.level=read_uncommitted", "group.id=mine", "enable.auto.commit=true", "enable.auto.offset.store=true",
      "transactional.id=t", "auto.offset.reset=latest", "group.instance.id=i",
      "partition.assignment.strategy=cooperative-sticky", "partitioner=random",
    ])
  func reservedProperties(_ property: String) {
    let name = String(property.prefix { $0 != "=" })
    let text = problem(["--kafka-property", "linger.ms=5", "--kafka-property", property])
    #expect(text.contains("use it without \(name): "), "\(text)")
    let variable = "NUDGE_KAFKA_" + name.uppercased().replacing(".", with: "_")
    #expect(problem([], environment: [variable: "x"]).contains("without \(name): "))
  }

  @Test("a setting that must be given says how")
  func required() {
    let text = problem([], environment: ["NUDGE_KAFKA_BOOTSTRAP_SERVERS": ""])
    #expect(
      text == "--bootstrap-servers must be given: Kafka brokers to start from. "
        + "Set --bootstrap-servers or NUDGE_KAFKA_BOOTSTRAP_SERVERS; see nudge-test --help")
  }

  @Test("a file that cannot be read, is no object, or has a value of the wrong kind is named")
  func badFiles() {
    #expect(problem(["--config", "gone.json"]).hasPrefix("cannot read the configuration file gone.json"))
    #expect(problem(["--config", "n.json"], file: "[1]").contains("n.json is not a JSON object"))
    #expect(
      problem(["--config", "n.json"], file: #"{"count": {"a": 1}}"#).contains("'count' has a value of the wrong kind"))
    #expect(problem(["--config", "n.json"], file: #"{"kafka-property": {"a": [1]}}"#).contains("wrong kind"))
    #expect(
      problem(["--config", "n.json"], file: #"{"config": "m.json"}"#).contains("cannot stand in a configuration file"))
  }

  @Test("secrets are masked wherever values are shown: print-config, log, errors")
  func secrets() throws {
    let arguments = [
      "--password", "hunter2", "--kafka-property", "sasl.password=hunter3", "--kafka-property", "ssl.key.pem=hunter4",
      "--kafka-property", "linger.ms=5",
    ]
    guard case .print(let report) = try request(arguments + ["--print-config"]) else {
      Issue.record("no report")
      return
    }
    #expect(!report.contains("hunter"))
    #expect(report.contains("password          = ********  (flag)"))
    #expect(
      report.contains("kafka-property    = linger.ms=5,sasl.password=********,ssl.key.pem=********  (flag)"))
    let capture = LogCapture()
    try values(arguments).log(to: Logger(label: "main", sink: capture.sink))
    #expect(capture.entries.count == 1)
    #expect(!"\(capture.entries)".contains("hunter"))
    #expect(capture.entries.first?.metadata["password"] == "********")
    #expect(problem(["--password", "bad"]) == "--password: this value is not allowed: use a longer one")
    #expect(!problem([], environment: ["NUDGE_KAFKA_BOOTSTRAP.SERVERS": "hunter5"]).contains("hunter"))
  }

  @Test("--print-config shows each value with where it came from")
  func printConfig() throws {
    guard
      case .print(let report) = try request(
        ["--print-config", "--config", "n.json", "--count=8"],
        environment: ["NUDGE_WAIT": "2h", "NUDGE_KAFKA_ACKS": "all"],
        file: #"{"ratio": 2, "kafka-property": ["linger.ms=5"]}"#)
    else {
      Issue.record("no report")
      return
    }
    #expect(
      report == """
        name              = -  (default)
        count             = 8  (flag)
        wait              = 2h  (NUDGE_WAIT)
        ratio             = 2  (file n.json)
        verbose           = false  (default)
        url               = -  (default)
        names             = a  (default)
        password          = -  (default)
        mode              = json  (default)
        config            = n.json  (flag)
        kafka-property    = acks=all,linger.ms=5  (file n.json, NUDGE_KAFKA_ACKS)
        bootstrap-servers = b:1  (NUDGE_KAFKA_BOOTSTRAP_SERVERS)
        """)
  }

  @Test("--help comes before any error and shows flags, defaults, variables and examples")
  func help() throws {
    guard case .print(let text) = try request(["--cuont", "--help"]) else {
      Issue.record("no help")
      return
    }
    #expect(text.hasPrefix("A program for tests.\n\nUsage: nudge-test [flags]\n\nRequired:\n  --bootstrap-servers"))
    #expect(text.contains("--count N"))
    #expect(text.contains("(default: 3; env: NUDGE_COUNT)"))
    #expect(text.contains("--[no-]verbose"))
    #expect(text.contains("--mode json|text"))
    #expect(text.contains("env: NUDGE_URL, OTHER_URL"))
    #expect(text.contains("may be repeated; env: NUDGE_KAFKA_…"))
    #expect(text.hasSuffix("Examples:\n  nudge-test --bootstrap-servers localhost:9092"))
    for name in Example.all.map(\.name) + ["print-config", "check", "version", "help"] {
      #expect(text.contains("\(name)"), "\(name)")
    }
  }

  @Test("--version and --check are told apart from a run")
  func requests() throws {
    guard case .print("nudge-test 1.2.3") = try request(["--version"]) else {
      Issue.record("no version")
      return
    }
    guard case .check(let values) = try request(["--check", "--count=2"]) else {
      Issue.record("no check")
      return
    }
    #expect(values[Example.count] == 2)
  }

  @Test("the table for the documentation has a row for each setting")
  func table() {
    let lines = Example.schema.markdownTable.split(separator: "\n")
    #expect(lines.count == Example.all.count + 2)
    #expect(lines[0] == "| flag | environment | default | meaning |")
    #expect(lines[3] == "| `--count N` | `NUDGE_COUNT` | `3` | How many. |")
    #expect(lines.contains(#"| `--mode json\|text` |  | `json` | One of two. |"#))
    #expect(lines.contains("| `--password TEXT` | `NUDGE_PASSWORD` |  | To get in. Secret. |"))
    #expect(lines.last?.contains("| required |") == true)
  }

  @Test("durations are read and written in their units")
  func durations() throws {
    for (text, milliseconds) in [
      ("0", 0), ("250ms", 250), ("30s", 30_000), ("5m", 300_000), ("1h", 3_600_000), ("7d", 604_800_000),
      ("1h30m", 5_400_000), ("1d2h3m4s5ms", 93_784_005),
    ] as [(String, Int64)] {
      let duration = try Duration.parse(text)
      #expect(duration == .milliseconds(milliseconds))
      #expect(duration.settingText == text)
    }
    #expect(try Duration.parse("90m").settingText == "1h30m")
    for text in [
      "", "5", "h", "-1s", "1.5h", "1m1h", "1s1s", "1 s", "1y", "99999999999999999999s", "9223372036854775807d", "1h ",
    ] {
      #expect(throws: SettingValueError.self, "\(text)") { try Duration.parse(text) }
    }
  }

  @Test(
    "an address that no server can listen on is a wrong setting, before anything starts",
    arguments: ["127.0.0.1", ":8080", "host:99999", "host:http", "::1:8080"])
  func adminAddress(text: String) throws {
    let schema = SettingsSchema(program: "p", abstract: "", version: "1", settings: ServiceSettings.all)
    let arguments = ["--bootstrap-servers", "k:1", "--admin-address", text, "--check"]
    let error = #expect(throws: SettingsError.self) { try schema.parse(arguments, environment: [:]) }
    #expect(error?.description.contains("HOST:PORT") == true)
  }

  @Test("the settings every service takes have the catalogue's names, and their defaults pass their own checks")
  func serviceSettings() throws {
    let names = ServiceSettings.all.map { ($0.name, $0.declaration.environmentText) }
    let expected = [
      ("bootstrap-servers", "NUDGE_KAFKA_BOOTSTRAP_SERVERS"), ("kafka-property", "NUDGE_KAFKA_…"),
      ("state-dir", "NUDGE_STATE_DIR"), ("instance", "NUDGE_INSTANCE"), ("threads", "NUDGE_THREADS"),
      ("admin-address", "NUDGE_ADMIN_ADDRESS"), ("freshness", "NUDGE_FRESHNESS"),
      ("topic-prefix", "NUDGE_TOPIC_PREFIX"), ("transactions", "NUDGE_TRANSACTIONS"),
      ("log-level", "NUDGE_LOG_LEVEL"), ("log-format", "NUDGE_LOG_FORMAT"),
      ("otlp-endpoint", "NUDGE_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_ENDPOINT"),
      ("otlp-traces-endpoint", "NUDGE_OTLP_TRACES_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"),
      ("otlp-metrics", "NUDGE_OTLP_METRICS, OTEL_METRICS_EXPORTER"),
      ("otlp-metrics-endpoint", "NUDGE_OTLP_METRICS_ENDPOINT, OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"),
      ("otlp-logs", "NUDGE_OTLP_LOGS, OTEL_LOGS_EXPORTER"),
      ("otlp-logs-endpoint", "NUDGE_OTLP_LOGS_ENDPOINT, OTEL_EXPORTER_OTLP_LOGS_ENDPOINT"),
      ("otlp-headers", "NUDGE_OTLP_HEADERS, OTEL_EXPORTER_OTLP_TRACES_HEADERS, OTEL_EXPORTER_OTLP_HEADERS"),
      ("otlp-headers-file", "NUDGE_OTLP_HEADERS_FILE"),
      ("otlp-service-name", "NUDGE_OTLP_SERVICE_NAME, OTEL_SERVICE_NAME"),
      ("otlp-resource-attributes", "NUDGE_OTLP_RESOURCE_ATTRIBUTES, OTEL_RESOURCE_ATTRIBUTES"),
      ("config", "NUDGE_CONFIG"),
    ]
    #expect(names.map(\.0) == expected.map(\.0))
    #expect(names.map(\.1) == expected.map(\.1))
    for setting in ServiceSettings.all.map(\.declaration) {
      guard let value = setting.defaultValue, !setting.isRepeated else { continue }
      #expect(throws: Never.self, "\(setting.name)") { try setting.parse(value.settingText) }
    }
    let schema = SettingsSchema(program: "p", abstract: "", version: "1", settings: ServiceSettings.all)
    let arguments = ["--bootstrap-servers", "k:1", "--instance", "i-1", "--threads=2", "--log-level", "debug"]
    guard case .run(let values) = try schema.parse(arguments, environment: [:]) else {
      Issue.record("no values")
      return
    }
    let settings = ServiceSettings(values)
    #expect(settings.bootstrapServers == "k:1")
    #expect(settings.instance == "i-1")
    #expect(settings.isInstanceExplicit)
    #expect(settings.threads == 2)
    #expect(settings.freshness == .seconds(3_600))
    let sink = LogCapture().sink
    settings.configureLogging(sink)
    #expect(sink.level == .debug)
    #expect(throws: SettingsError.self) {
      try schema.parse(["--bootstrap-servers=k:1", "--instance=a b"], environment: [:])
    }
  }

  @Test("the configuration file is read from disk by default")
  func realFile() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "nudge-\(UUID().uuidString).json").path
    try Data(#"{"bootstrap-servers": "disk:1"}"#.utf8).write(to: URL(fileURLWithPath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    guard case .run(let values) = try Example.schema.parse(["--config", path], environment: [:]) else {
      Issue.record("no values")
      return
    }
    #expect(values[ServiceSettings.bootstrapServers] == "disk:1")
  }
}

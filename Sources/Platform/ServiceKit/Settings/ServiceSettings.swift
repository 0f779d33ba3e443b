import Foundation
import HTTPServer

/// The settings that all services have. A service adds its own: `SettingsSchema(…, settings: ServiceSettings.all + IngestSettings.all)`.
public struct ServiceSettings: Sendable {
  public static let bootstrapServers = Setting<String>(
    required: "bootstrap-servers", environment: "NUDGE_KAFKA_BOOTSTRAP_SERVERS", placeholder: "HOST:PORT,…",
    help: "Kafka brokers to start from.", check: BrokerAddresses.advice(for:))

  /// Properties of librdkafka.
  public static let kafkaProperties = Setting<[String: String]>(
    "kafka-property", environment: .prefix("NUDGE_KAFKA_"), default: [:],
    help: "Any property of librdkafka, such as security.protocol=sasl_ssl.",
    isSecretName: PublicKafkaProperties.isSecret,
    check: ReservedKafkaProperties.advice)

  /// The directory of the task stores.
  public static let stateDirectory = Setting<String>(
    "state-dir", default: "./state", placeholder: "DIR", help: "Directory of the task stores; made if missing.",
    check: { $0.isEmpty ? "the path of a directory" : nil })

  /// The name of this process in its consumer group.
  public static let instance = Setting<String?>(
    "instance", default: nil, placeholder: "NAME",
    help: "Name of this instance: unique in its group, the same after a restart. Default: the host's name.",
    check: { name in
      guard let name else { return nil }
      let allowed = name.utf8.count <= 128 && name.utf8.allSatisfy(isNameByte)
      return allowed ? nil : "at most 128 letters, digits, '.', '_' and '-'"
    })

  /// The number of stream threads.
  public static let threads = Setting<Int>(
    "threads", default: 1, in: 1...64, help: "Stream threads; threads beyond the number of partitions stay idle.")

  /// The address of `/livez`, `/readyz` and `/metrics`.
  public static let adminAddress = Setting<String>(
    "admin-address", default: "127.0.0.1:0", placeholder: "HOST:PORT",
    help: "Address of /livez, /readyz and /metrics; port 0 chooses a free one and logs it.",
    check: { HTTPServer.isAddress($0) ? nil : HTTPServer.addressForm })

  /// The greatest age of a message that still notifies.
  public static let freshness = Setting<Duration>(
    "freshness", default: .seconds(3_600), in: .seconds(1)...(.seconds(28 * 86_400)),
    help: "A message older than this notifies nobody.")

  /// Separates several installations on one Kafka cluster.
  public static let topicPrefix = Setting<String>(
    "topic-prefix", default: "", placeholder: "PREFIX", help: "Prefix of every topic's name.",
    check: { prefix in
      let allowed = prefix.utf8.count <= 100 && prefix.utf8.allSatisfy(isNameByte)
      return allowed ? nil : "at most 100 letters, digits, '.', '_' and '-'"
    })

  /// The protocol of transactions.
  public static let transactions = Setting<TransactionChoice>(
    "transactions", default: .auto,
    help:
      "Version of Kafka's transactions: the highest that the cluster has (auto), only 2, or only 1.")

  /// The lowest level that is logged.
  public static let logLevel = Setting<LogLevel>(
    "log-level", default: .info, help: "Lowest level that is logged.")

  /// The format of log lines.
  public static let logFormat = Setting<LogFormat>(
    "log-format", default: .json, help: "JSON lines or readable text, on standard error.")

  public static let configurationFile = Setting<String?>(
    "config", default: nil, placeholder: "FILE", help: "JSON object of settings, by the names of the flags.")

  /// The collector of spans.
  public static let otlpEndpoint = Setting<String?>(
    "otlp-endpoint", environment: .named(["NUDGE_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"]), default: nil,
    placeholder: "URL",
    help:
      "OpenTelemetry collector (OTLP over HTTP, JSON), such as http://localhost:4318; /v1/traces is "
      + "appended. Default: no spans.",
    // It may contain a login or a token.
    secret: true,
    check: { isURL($0) ? nil : "a URL that begins with http:// or https://" })

  /// The headers of requests to the collector, which often contain a token.
  public static let otlpHeadersFile = Setting<String?>(
    "otlp-headers-file", default: nil, placeholder: "FILE",
    help:
      "Headers of requests to the collector, such as its token: NAME: VALUE, one a line. Read again when it changes.")

  /// The URL for spans, as OpenTelemetry's SDKs read it: used unchanged.
  public static let otlpTracesEndpoint = Setting<String?>(
    "otlp-traces-endpoint", environment: .named(["NUDGE_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"]),
    default: nil, placeholder: "URL",
    help: "The whole URL for spans, in place of --otlp-endpoint; nothing is appended.", secret: true,
    check: { isURL($0) ? nil : "a URL that begins with http:// or https://" })

  /// Whether metrics are sent to the collector.
  public static let otlpMetrics = Setting<MetricsDestination>(
    "otlp-metrics", environment: .named(["NUDGE_OTLP_METRICS", "OTEL_METRICS_EXPORTER"]), default: .none,
    help:
      "otlp: send metrics to the OpenTelemetry collector too, every minute. prometheus, none: serve them "
      + "only at /metrics."
  )

  /// The URL for metrics, as OpenTelemetry's SDKs read it: used unchanged.
  public static let otlpMetricsEndpoint = Setting<String?>(
    "otlp-metrics-endpoint",
    environment: .named(["NUDGE_OTLP_METRICS_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"]), default: nil,
    placeholder: "URL", help: "The whole URL for metrics, in place of --otlp-endpoint; nothing is appended.",
    secret: true,
    check: { isURL($0) ? nil : "a URL that begins with http:// or https://" })

  /// Whether log lines are sent to the collector.
  public static let otlpLogs = Setting<LogsDestination?>(
    "otlp-logs", environment: .named(["NUDGE_OTLP_LOGS", "OTEL_LOGS_EXPORTER"]), default: nil,
    help:
      "otlp: send log lines to the OpenTelemetry collector too. console, none: write them only to standard "
      + "error. Default: otlp with --otlp-logs-endpoint."
  )

  /// The URL for log lines, as OpenTelemetry's SDKs read it: used unchanged.
  public static let otlpLogsEndpoint = Setting<String?>(
    "otlp-logs-endpoint",
    environment: .named(["NUDGE_OTLP_LOGS_ENDPOINT", "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT"]), default: nil,
    placeholder: "URL", help: "The whole URL for log lines, in place of --otlp-endpoint; nothing is appended.",
    secret: true, check: { isURL($0) ? nil : "a URL that begins with http:// or https://" })

  /// Headers as OpenTelemetry's SDKs read them.
  public static let otlpHeaders = Setting<String?>(
    "otlp-headers",
    environment: .named(["NUDGE_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"]),
    default: nil, placeholder: "NAME=VALUE,…",
    help:
      "Headers of requests to the collector, with %20 for a blank, before those of --otlp-headers-file. "
      + "Pass a token in the environment, not as a flag.",
    secret: true)

  /// The service's name in spans.
  public static let otlpServiceName = Setting<String?>(
    "otlp-service-name", environment: .named(["NUDGE_OTLP_SERVICE_NAME", "OTEL_SERVICE_NAME"]), default: nil,
    placeholder: "NAME", help: "The name of the service in spans. Default: the program's, such as nudge-ingest.")

  /// Attributes of the process in spans.
  public static let otlpResourceAttributes = Setting<String?>(
    "otlp-resource-attributes", environment: .named(["NUDGE_OTLP_RESOURCE_ATTRIBUTES", "OTEL_RESOURCE_ATTRIBUTES"]),
    default: nil, placeholder: "NAME=VALUE,…",
    help: "Attributes of the process in spans, such as deployment.environment.name=test, with %20 for a blank.")

  @Sendable private static func isURL(_ text: String?) -> Bool {
    text.map { $0.hasPrefix("http://") || $0.hasPrefix("https://") } ?? true
  }

  /// All settings, in the order of the help.
  public static let all: [any AnySetting] = [
    bootstrapServers, kafkaProperties, stateDirectory, instance, threads, adminAddress, freshness, topicPrefix,
    transactions, logLevel, logFormat, otlpEndpoint, otlpTracesEndpoint, otlpMetrics, otlpMetricsEndpoint, otlpLogs,
    otlpLogsEndpoint, otlpHeaders, otlpHeadersFile, otlpServiceName, otlpResourceAttributes,
    configurationFile,
  ]

  /// The brokers, separated by commas.
  public let bootstrapServers: String
  /// librdkafka's properties by name, without the brokers. They may contain secrets, so do not log them.
  public let kafkaProperties: [String: String]
  /// A path.
  public let stateDirectory: String
  /// The given name, or the host's.
  public let instance: String
  /// Whether the operator set the name. Only then is it used for static membership, because host names often change
  /// with a restart.
  public let isInstanceExplicit: Bool
  /// The number of threads, 1 to 64.
  public let threads: Int
  /// Host and port.
  public let adminAddress: String
  /// A message older than this notifies nobody.
  public let freshness: Duration
  /// The prefix of every topic; may be empty.
  public let topicPrefix: String
  /// Which transactions to use.
  public let transactions: TransactionChoice
  /// The lowest level that is logged.
  public let logLevel: LogLevel
  /// The format of log lines.
  public let logFormat: LogFormat
  /// `http://host:4318`; nil for no spans. It may contain secrets, so do not log it.
  public let otlpEndpoint: String?
  /// A URL that is used unchanged; nil to derive it from `otlpEndpoint`.
  public let otlpTracesEndpoint: String?
  /// Whether metrics are sent to the collector.
  public let otlpMetrics: MetricsDestination
  /// A URL that is used unchanged; nil to derive it from `otlpEndpoint`.
  public let otlpMetricsEndpoint: String?
  /// Where log lines are sent; nil for the collector if `otlpLogsEndpoint` names one.
  public let otlpLogs: LogsDestination?
  /// A URL that is used unchanged; nil to derive it from `otlpEndpoint`.
  public let otlpLogsEndpoint: String?
  /// `NAME=VALUE,…`. A secret.
  public let otlpHeaders: String?
  /// The service's name; nil for the program's name.
  public let otlpServiceName: String?
  /// `NAME=VALUE,…`.
  public let otlpResourceAttributes: String?
  /// The path of the file; nil for no further headers.
  public let otlpHeadersFile: String?

  /// Reads the values of a schema that has `all`.
  public init(_ values: SettingsValues) {
    bootstrapServers = values[Self.bootstrapServers]
    kafkaProperties = values[Self.kafkaProperties]
    stateDirectory = values[Self.stateDirectory]
    let instance = values[Self.instance]
    self.instance = instance ?? ProcessInfo.processInfo.hostName
    isInstanceExplicit = instance != nil
    threads = values[Self.threads]
    adminAddress = values[Self.adminAddress]
    freshness = values[Self.freshness]
    topicPrefix = values[Self.topicPrefix]
    transactions = values[Self.transactions]
    logLevel = values[Self.logLevel]
    logFormat = values[Self.logFormat]
    otlpEndpoint = values[Self.otlpEndpoint]
    otlpTracesEndpoint = values[Self.otlpTracesEndpoint]
    otlpMetrics = values[Self.otlpMetrics]
    otlpMetricsEndpoint = values[Self.otlpMetricsEndpoint]
    otlpLogs = values[Self.otlpLogs]
    otlpLogsEndpoint = values[Self.otlpLogsEndpoint]
    otlpHeaders = values[Self.otlpHeaders]
    otlpServiceName = values[Self.otlpServiceName]
    otlpResourceAttributes = values[Self.otlpResourceAttributes]
    otlpHeadersFile = values[Self.otlpHeadersFile]
  }

  /// Sets the level and format of a sink.
  public func configureLogging(_ sink: LogSink = .standard) {
    sink.level = logLevel
    sink.format = logFormat
  }

  /// Whether Kafka and file systems allow the byte in a name.
  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 48...57, 65...90, 97...122, 45, 46, 95: true
    default: false
    }
  }
}

/// Where log lines go in addition to standard error, by the names of OpenTelemetry's `OTEL_LOGS_EXPORTER`.
public enum LogsDestination: String, Sendable, CaseIterable, SettingValue {
  /// To a collector.
  case otlp
  /// Nowhere else: standard error is the console.
  case console
  /// Nowhere else.
  case none
}

/// Where metrics go in addition to `/metrics`, by the names of OpenTelemetry's `OTEL_METRICS_EXPORTER`.
public enum MetricsDestination: String, Sendable, CaseIterable, SettingValue {
  /// To a collector.
  case otlp
  /// Nowhere else: `/metrics` is for Prometheus.
  case prometheus
  /// Nowhere else.
  case none
}

/// Which of Kafka's transaction protocols a service uses.
public enum TransactionChoice: String, Sendable, CaseIterable, SettingValue {
  /// The version that the cluster supports.
  case auto
  /// Version 2 (`transaction.version` 2); a cluster without it is refused.
  case version2 = "2"
  /// Version 1, which every cluster supports.
  case version1 = "1"
}

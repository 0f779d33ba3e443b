import Foundation
public import ServiceKit

/// Spans that wait for a collector.
typealias SpanQueue = ExportQueue<Span>

/// Sends a process's spans to an OpenTelemetry collector. Recording a span never blocks.
public final class SpanExporter: SpanRecorder, Service {
  /// The name in logs.
  public let name = "spans"
  private let exporter: BatchExporter<Span>

  /// The exporter for `--otlp-traces-endpoint` or `--otlp-endpoint`; nil if both are absent.
  static func make(_ context: ServiceContext) throws -> SpanExporter? {
    let settings = context.settings
    guard let url = settings.otlpTracesEndpoint ?? settings.otlpEndpoint.map({ OTLPClient.url(of: $0, "traces") })
    else { return nil }
    let log = context.logger.with(label: "spans")
    return SpanExporter(
      client: try OTLPClient(settings, url: url, log: log), resource: try SpanResource(context), log: log,
      metrics: context.metrics)
  }

  /// An exporter that has not started.
  init(client: OTLPClient, resource: SpanResource, log: Logger, metrics: MetricsRegistry) {
    exporter = BatchExporter(
      ExportSignal(name: name) { OTLPDocument($0, of: resource).bytes() }, client: client, log: log,
      counts: ExportCounts(
        exported: "nudge_spans_exported_total", dropped: "nudge_spans_dropped_total", "Spans", metrics: metrics))
  }

  /// The wall clock in nanoseconds since the epoch.
  public func now() -> UInt64 { SystemClock.nanoseconds() }

  /// Queues a span, or drops it if the queue is full.
  public func record(_ span: Span) { exporter.record(span) }

  /// Starts the thread that sends.
  public func start(_ onEnd: @escaping @Sendable (ServiceEnd) -> Void) throws { exporter.start() }

  /// Sends the remaining spans, for two seconds at most, and ends.
  public func stop() { exporter.stop() }
}

/// The file of `--otlp-headers-file`: one header per line, `NAME: VALUE`. Empty lines and lines that begin with `#` are
/// ignored.
enum SpanHeaders {
  /// Headers that the HTTP client sets.
  private static let reserved: Set<String> = [
    "content-type", "content-length", "transfer-encoding", "host", "connection",
  ]

  /// - Throws: `SettingsError`, which names the file and line, not the line's text.
  static func parse(_ bytes: [UInt8], of path: String) throws(SettingsError) -> [(name: String, value: String)] {
    var headers: [(name: String, value: String)] = []
    let lines = String(decoding: bytes, as: UTF8.self).split(
      omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    for (number, line) in lines.enumerated() {
      let line = line.trimmed
      if line.isEmpty || line.hasPrefix("#") { continue }
      guard let colon = line.firstIndex(of: ":"), case let name = line[..<colon].lowercased(), isToken(name),
        !reserved.contains(name)
      else {
        throw SettingsError("\(path), line \(number + 1): a header is NAME: VALUE, such as Authorization: Bearer …")
      }
      let value = line[line.index(after: colon)...].trimmed
      guard isValue(value) else {
        throw SettingsError("\(path), line \(number + 1): the value of \(name) is empty, or not printable ASCII")
      }
      headers.append((name, String(value)))
    }
    return headers
  }

  /// The headers of `--otlp-headers`.
  /// - Throws: `SettingsError`, which names the entry by its number.
  static func parse(list text: String) throws(SettingsError) -> [(name: String, value: String)] {
    var headers: [(name: String, value: String)] = []
    for (number, entry) in try OTLPList.parse(text, of: ServiceSettings.otlpHeaders.name).enumerated() {
      let name = entry.name.lowercased()
      guard isToken(name), !reserved.contains(name), isValue(entry.value[...]) else {
        throw SettingsError(
          "--\(ServiceSettings.otlpHeaders.name), entry \(number + 1): a header is NAME=VALUE, such as authorization=Bearer%20…"
        )
      }
      headers.append((name, entry.value))
    }
    return headers
  }

  /// A header value of RFC 9110, section 5.5, in ASCII.
  private static func isValue(_ text: Substring) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0 == 9 || (0x20...0x7e).contains($0) }
  }

  /// A token of RFC 9110, section 5.6.2.
  private static func isToken(_ name: String) -> Bool {
    !name.isEmpty
      && name.utf8.allSatisfy { byte in
        (48...57).contains(byte) || (97...122).contains(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
      }
  }
}

/// The attributes of a process in its spans. Precedence as in OpenTelemetry: the service name's own setting, then the
/// attributes, then Nudge's defaults.
struct SpanResource: Sendable {
  private(set) var attributes: [(name: String, value: Span.Value)]

  /// - Parameters:
  ///   - service: The service's name: `ingest`.
  ///   - instance: The process's `--instance`.
  ///   - name: `OTEL_SERVICE_NAME`; nil if it is not set.
  ///   - more: `OTEL_RESOURCE_ATTRIBUTES`.
  init(service: String, instance: String, name: String? = nil, more: [(name: String, value: String)] = []) {
    attributes = [
      ("service.name", .string("nudge-\(service)")), ("service.instance.id", .string(instance)),
      ("service.version", .string(NudgeVersion.current)),
    ]
    for attribute in more { set(attribute.name, attribute.value) }
    if let name { set("service.name", name) }
  }

  /// The attributes of a service, from its settings.
  init(_ context: ServiceContext) throws(SettingsError) {
    let settings = context.settings
    var more: [(name: String, value: String)] = []
    if let list = settings.otlpResourceAttributes {
      more = try OTLPList.parse(list, of: ServiceSettings.otlpResourceAttributes.name)
    }
    self.init(service: context.name, instance: settings.instance, name: settings.otlpServiceName, more: more)
  }

  private mutating func set(_ name: String, _ value: String) {
    if let index = attributes.firstIndex(where: { $0.name == name }) {
      attributes[index].value = .string(value)
    } else {
      attributes.append((name, .string(value)))
    }
  }
}

/// The lists in OpenTelemetry's environment variables: `NAME=VALUE,NAME=VALUE` with percent-encoded values, as in W3C
/// Baggage.
enum OTLPList {
  /// - Throws: `SettingsError`, which names the entry by its number, because a value may be a secret.
  static func parse(_ text: String, of setting: String) throws(SettingsError) -> [(name: String, value: String)] {
    var entries: [(name: String, value: String)] = []
    for (number, entry) in text.split(separator: ",", omittingEmptySubsequences: false).enumerated() {
      let entry = entry.trimmed
      // A trailing comma adds no entry.
      if entry.isEmpty { continue }
      guard let equals = entry.firstIndex(of: "="), case let name = entry[..<equals].trimmed, !name.isEmpty,
        let value = String(entry[entry.index(after: equals)...].trimmed).removingPercentEncoding
      else {
        throw SettingsError(
          "--\(setting), entry \(number + 1): use NAME=VALUE, with %2C for a comma and %25 for a percent sign")
      }
      entries.append((String(name), value))
    }
    return entries
  }
}

extension Substring {
  /// The text without blanks and tabs at both ends.
  var trimmed: Substring {
    let start = drop { $0 == " " || $0 == "\t" }
    let blanks = start.reversed().prefix { $0 == " " || $0 == "\t" }.count
    return start.dropLast(blanks)
  }
}

/// The exporters of a process to an OpenTelemetry collector: spans, metrics and log lines, each if the settings ask for
/// it.
public struct Telemetry: Sendable {
  /// The exporter of spans; nil if none are sent.
  public let spans: SpanExporter?
  /// The exporters. They must start before all other services, so that they stop last and send what the others record
  /// at their end.
  public let services: [(any Service)?]

  /// - Throws: `SettingsError`.
  public init(_ context: ServiceContext) throws {
    // The log exporter comes first, so that it receives everything logged from here on.
    let logs = try LogExporter.make(context)
    spans = try SpanExporter.make(context)
    services = [logs, spans, try MetricsExporter.make(context)]
  }
}

import Foundation
import ServiceKit

/// The attributes of a process in its spans. By OpenTelemetry's precedence: the service's name by itself, then the attributes, then Nudge's own.
struct SpanResource: Sendable {
  private(set) var attributes: [(name: String, value: Span.Value)]

  /// - Parameters:
  ///   - service: `ingest`.
  ///   - instance: the process's `--instance`.
  ///   - name: `OTEL_SERVICE_NAME`; nil: not set.
  ///   - more: `OTEL_RESOURCE_ATTRIBUTES`.
  init(service: String, instance: String, name: String? = nil, more: [(name: String, value: String)] = []) {
    attributes = [
      ("service.name", .string("nudge-\(service)")), ("service.instance.id", .string(instance)),
      ("service.version", .string(NudgeVersion.current)),
    ]
    for attribute in more { set(attribute.name, attribute.value) }
    if let name { set("service.name", name) }
  }

  /// That of a service's settings.
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

/// The lists in OpenTelemetry's environment variables: `NAME=VALUE,NAME=VALUE`, values in percent encoding, as W3C's Baggage has them.
enum OTLPList {
  /// - Throws: `SettingsError` that names the entry by its number: a value may be a secret.
  static func parse(_ text: String, of setting: String) throws(SettingsError) -> [(name: String, value: String)] {
    var entries: [(name: String, value: String)] = []
    for (number, entry) in text.split(separator: ",", omittingEmptySubsequences: false).enumerated() {
      let entry = entry.trimmed
      // A comma at the end is no entry.
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
  /// Without blanks at both ends.
  var trimmed: Substring {
    let start = drop { $0 == " " || $0 == "\t" }
    let blanks = start.reversed().prefix { $0 == " " || $0 == "\t" }.count
    return start.dropLast(blanks)
  }
}

@testable import ServiceKit

extension ServiceContext {
  /// The context of an analyzer that exports, with these variables beside those that every service needs.
  static func exporting(
    _ environment: [String: String], _ logger: Logger, _ metrics: MetricsRegistry
  ) throws -> ServiceContext {
    let schema = SettingsSchema(program: "t", abstract: "t", version: "1", settings: ServiceSettings.all)
    let all = environment.merging(["NUDGE_KAFKA_BOOTSTRAP_SERVERS": "k:9092", "NUDGE_STATE_DIR": "/tmp"]) { own, _ in
      own
    }
    guard case .run(let values) = try schema.parse([], environment: all) else { throw SettingsError("not run") }
    return ServiceContext(
      name: "analyzer", settings: ServiceSettings(values), values: values, logger: logger, health: HealthState(),
      metrics: metrics)
  }
}

extension MetricsRegistry {
  /// A whole number of a series, with its labels as they are exposed; nil: there is no such series.
  func value(of name: String, _ labels: String = "") -> Int? {
    exposition().split(separator: "\n").first { $0.hasPrefix("\(name)\(labels) ") }.flatMap {
      $0.split(separator: " ").last.flatMap { Int($0) }
    }
  }
}

import Foundation

/// A service put together from its parts, as its executable runs it.
///
/// `/healthz`, `/readyz` and `/metrics` are served before anything else starts, so that a service can say why it is not ready yet.
public struct ServiceAssembly: Sendable {
  /// The service's name in logs: `ingest`.
  public let name: String
  /// The settings of all services, then its own.
  public let schema: SettingsSchema
  private let build: @Sendable (ServiceContext) throws -> ServiceParts

  /// An assembly.
  /// - Parameters:
  ///   - name: In logs; the program is called `nudge-NAME`.
  ///   - settings: The service's own, in addition to `ServiceSettings.all`.
  ///   - examples: Whole command lines.
  ///   - build: Makes the parts. They do nothing before they are started, but report in the context's health what they wait for. A thrown `SettingsError` ends the program with `ExitCode.usage`, any other error with `ExitCode.software`.
  public init(
    name: String, abstract: String, settings: [any AnySetting] = [], examples: [String] = [],
    build: @escaping @Sendable (ServiceContext) throws -> ServiceParts
  ) {
    self.name = name
    self.build = build
    schema = SettingsSchema(
      program: "nudge-\(name)", abstract: abstract, version: NudgeVersion.current,
      settings: ServiceSettings.all + settings, examples: examples)
  }

  /// The program that runs the service until SIGTERM, or until one of its parts ends. With `--check` it runs the parts' checks,
  /// logs each result, and ends with an error at the first that fails.
  /// - Parameters:
  ///   - sink: Where logs go.
  ///   - signals: Whether SIGTERM and SIGINT end it.
  ///   - started: Receives the group before it runs, so that the caller can stop it.
  public func program(
    sink: LogSink = .standard, signals: Bool = true, started: @escaping @Sendable (ServiceGroup) -> Void = { _ in }
  ) -> ServiceProgram {
    ServiceProgram(
      schema,
      check: { values in
        let context = context(values, sink)
        for check in try build(context).checks {
          do {
            let found = try check.look()
            context.logger.info("checked", ["what": .string(check.name), "found": .string(found)])
          } catch {
            throw ServiceCheck.Failure(description: "\(check.name): \(error)")
          }
        }
      },
      run: { values in
        let context = context(values, sink)
        values.log(to: context.logger)
        context.metrics.gauge("nudge_ready", help: "1: as /readyz says; 0: something keeps it from its work.") {
          context.health.readiness.isReady ? 1 : 0
        }
        ProcessMetrics.register(in: context.metrics, environment: ProcessInfo.processInfo.environment)
        let admin = try AdminServer(
          address: context.settings.adminAddress, health: context.health, metrics: context.metrics,
          logger: context.logger)
        let group = ServiceGroup([admin] + (try build(context)).services, logger: context.logger)
        started(group)
        return group.run(signals: signals)
      })
  }

  private func context(_ values: SettingsValues, _ sink: LogSink) -> ServiceContext {
    let settings = ServiceSettings(values)
    settings.configureLogging(sink)
    let logger = Logger(
      label: name, metadata: ["service": .string(name), "instance": .string(settings.instance)], sink: sink)
    return ServiceContext(
      name: name, settings: settings, values: values, logger: logger, health: HealthState(), metrics: MetricsRegistry())
  }
}

/// The inputs from which a service's parts are made.
public struct ServiceContext: Sendable {
  /// The service's name: `ingest`.
  public let name: String
  /// The settings that all services have.
  public let settings: ServiceSettings
  /// The values of all settings, the service's own among them.
  public let values: SettingsValues
  /// Adds service and instance to each line.
  public let logger: Logger
  /// Where parts report their state.
  public let health: HealthState
  public let metrics: MetricsRegistry
}

public struct ServiceParts: Sendable {
  /// In the order of starting.
  public var services: [any Service]
  /// The checks of `--check`, in order.
  public var checks: [ServiceCheck]

  /// Those that settings turn off are nil.
  public init(services: [(any Service)?], checks: [ServiceCheck?]) {
    self.services = services.compactMap { $0 }
    self.checks = checks.compactMap { $0 }
  }
}

/// One check of `--check`.
public struct ServiceCheck: Sendable {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  let name: String
  let look: @Sendable () throws -> String

  /// - Parameter look: Returns its finding in a few words, or throws an error that names the fix.
  public init(_ name: String, look: @escaping @Sendable () throws -> String) {
    self.name = name
    self.look = look
  }
}

/// A service put together from its parts, as its executable runs it.
///
/// `/healthz`, `/readyz` and `/metrics` are there before anything else, so that a service says why it is not ready yet.
public struct ServiceAssembly: Sendable {
  /// The service's name in logs: `ingest`.
  public let name: String
  /// Its settings: those every service takes and its own.
  public let schema: SettingsSchema
  private let build: @Sendable (ServiceContext) throws -> ServiceParts

  /// An assembly.
  /// - Parameters:
  ///   - name: In logs; the program itself is `nudge-` and this.
  ///   - settings: Its own, beside `ServiceSettings.all`.
  ///   - examples: Whole command lines.
  ///   - build: Makes the parts, which do nothing before they are started but say in the context's health what they wait for. What it throws ends the program: with `ExitCode.usage` for a `SettingsError`, else with `ExitCode.software`.
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

  /// The program that runs it until SIGTERM, or until one of its parts ends. With `--check` each of the parts' checks is
  /// logged, or ends the program with what is wrong.
  /// - Parameters:
  ///   - sink: Where logs go.
  ///   - signals: Whether SIGTERM and SIGINT end it.
  ///   - started: Is given the group before it runs; whoever keeps it can stop it.
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

/// What the parts of a service are made from.
public struct ServiceContext: Sendable {
  /// The service's name: `ingest`.
  public let name: String
  /// What every service is told.
  public let settings: ServiceSettings
  /// The values of all settings, the service's own among them.
  public let values: SettingsValues
  /// Carries service and instance.
  public let logger: Logger
  /// Where parts say how they are.
  public let health: HealthState
  /// The process's metrics.
  public let metrics: MetricsRegistry
}

/// The parts of a service.
public struct ServiceParts: Sendable {
  /// In the order of starting.
  public var services: [any Service]
  /// What `--check` looks at, in this order.
  public var checks: [ServiceCheck]

  /// Parts.
  public init(services: [any Service], checks: [ServiceCheck]) {
    self.services = services
    self.checks = checks
  }
}

/// One thing that `--check` looks at.
public struct ServiceCheck: Sendable {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  let name: String
  let look: @Sendable () throws -> String

  /// A check; `look` says in a few words what it found, and throws what is wrong, with the fix.
  public init(_ name: String, look: @escaping @Sendable () throws -> String) {
    self.name = name
    self.look = look
  }
}

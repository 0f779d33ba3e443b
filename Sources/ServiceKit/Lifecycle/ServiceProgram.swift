/// A program that runs one service: reads its settings, starts its parts, and stops them on SIGTERM.
///
/// `/healthz`, `/readyz` and `/metrics` are there before anything else, so that a service says why it is not ready yet.
public struct ServiceProgram: Sendable {
  /// The service's name in logs: `ingest`.
  public let name: String
  /// Its settings: those every service takes and its own.
  public let schema: SettingsSchema
  private let build: @Sendable (ServiceContext) throws -> ServiceParts

  /// A program.
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

  /// Does what the command line asks for, and returns what the process exits with. `--check` prints a line for each thing
  /// it looked at and ends with `ExitCode.failure` if one of them is not well.
  /// - Parameters:
  ///   - arguments: Without the program's name.
  ///   - sink: Where logs go.
  ///   - output: Takes what goes to standard output, without its last newline.
  ///   - errors: The same for standard error.
  ///   - started: Is given the group before it runs; whoever keeps it can stop it.
  public func run(
    _ arguments: [String], environment: [String: String], sink: LogSink = .standard,
    output: (String) -> Void = { print($0) }, errors: (String) -> Void = StandardError.write,
    signals: Bool = true, started: (ServiceGroup) -> Void = { _ in }
  ) -> Int32 {
    do {
      switch try schema.parse(arguments, environment: environment) {
      case .print(let text):
        output(text)
        return ExitCode.success
      case .check(let values):
        return check(context(values, sink), output)
      case .run(let values):
        let context = context(values, sink)
        values.log(to: context.logger)
        return try run(context, signals: signals, started)
      }
    } catch let error as SettingsError {
      errors("\(schema.program): \(error)")
      return ExitCode.usage
    } catch {
      errors("\(schema.program): \(error)")
      return ExitCode.software
    }
  }

  private func context(_ values: SettingsValues, _ sink: LogSink) -> ServiceContext {
    let settings = ServiceSettings(values)
    settings.configureLogging(sink)
    let logger = Logger(
      label: name, metadata: ["service": .string(name), "instance": .string(settings.instance)], sink: sink)
    return ServiceContext(
      settings: settings, values: values, logger: logger, health: HealthState(),
      metrics: MetricsRegistry())
  }

  private func run(_ context: ServiceContext, signals: Bool, _ started: (ServiceGroup) -> Void) throws -> Int32 {
    let admin = try AdminServer(
      address: context.settings.adminAddress, health: context.health, metrics: context.metrics,
      logger: context.logger)
    let parts = try build(context)
    let group = ServiceGroup([admin] + parts.services, logger: context.logger)
    started(group)
    return group.run(signals: signals)
  }

  private func check(_ context: ServiceContext, _ output: (String) -> Void) -> Int32 {
    let checks: [ServiceCheck]
    do {
      checks = try build(context).checks
    } catch {
      output("FAILED  settings: \(error)")
      return ExitCode.failure
    }
    var failed = false
    for check in checks {
      do {
        output("ok      \(check.name): \(try check.look())")
      } catch {
        failed = true
        output("FAILED  \(check.name): \(error)")
      }
    }
    return failed ? ExitCode.failure : ExitCode.success
  }
}

/// What the parts of a service are made from.
public struct ServiceContext: Sendable {
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
  let name: String
  let look: @Sendable () throws -> String

  /// A check; `look` says in a few words what it found, and throws what is wrong, with the fix.
  public init(_ name: String, look: @escaping @Sendable () throws -> String) {
    self.name = name
    self.look = look
  }
}

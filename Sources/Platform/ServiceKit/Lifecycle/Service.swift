import Dispatch
import Foundation
import Glibc
import Synchronization

/// A part of a process that is started and stopped: a server, a group of stream threads.
public protocol Service: Sendable {
  /// The name in logs.
  var name: String { get }

  /// Starts the service and returns once it runs. A service that ends by itself calls `onEnd` once, from any thread;
  /// then the whole group ends.
  func start(_ onEnd: @escaping @Sendable (ServiceEnd) -> Void) throws

  /// Completes pending work and ends the service. It is also called if a later service failed to start, but not if this
  /// one did.
  func stop()

  /// Like `stop`, for an instance that will not be started again under its name. It also gives up what it would keep
  /// for a restart, such as its group membership.
  func retire()
}

extension Service {
  /// The default, for services that keep nothing for a restart.
  public func retire() { stop() }
}

/// A service that reads files again on SIGHUP.
public protocol ReloadingService: Service {
  /// Reads the files again. It must return soon, because other signals wait for it.
  func reload()
}

/// Why a service ended by itself.
public struct ServiceEnd: Sendable, Equatable {
  /// The exit code of the process.
  public let exitCode: Int32
  /// For the log: what happened and how to fix it.
  public let reason: String

  /// An end with the process's exit code and a reason for a person.
  public init(exitCode: Int32, reason: String) {
    self.exitCode = exitCode
    self.reason = reason
  }
}

/// A service with its parts, as its executable runs it.
///
/// `/healthz`, `/readyz` and `/metrics` are served before any part starts, so that a service can report why it is not
/// ready yet.
public struct ServiceAssembly: Sendable {
  /// The service's name in logs: `ingest`.
  public let name: String
  /// The settings of all services, then its own.
  public let schema: SettingsSchema
  private let build: @Sendable (ServiceContext) throws -> ServiceParts

  /// An assembly.
  /// - Parameters:
  ///   - name: The name in logs. The program is called `nudge-NAME`.
  ///   - settings: The service's own settings, in addition to `ServiceSettings.all`.
  ///   - examples: Complete command lines.
  ///   - build: Creates the parts. They do nothing until they are started, but already report in the context's health
  ///     what they wait for. A thrown `SettingsError` ends the program with `ExitCode.usage`, any other error with
  ///     `ExitCode.software`.
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

  /// The program that runs the service until SIGTERM, or until one of its parts ends. With `--check` it runs the parts'
  /// checks, logs each result, and ends with an error at the first failure.
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
            let found = try check.run()
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

/// What a service's parts are created from.
public struct ServiceContext: Sendable {
  /// The service's name: `ingest`.
  public let name: String
  /// The settings that all services have.
  public let settings: ServiceSettings
  /// The values of all settings, including the service's own.
  public let values: SettingsValues
  /// Adds service and instance to each line.
  public let logger: Logger
  /// Where parts report their state.
  public let health: HealthState
  public let metrics: MetricsRegistry
}

public struct ServiceParts: Sendable {
  /// The services in the order of starting.
  public var services: [any Service]
  /// The checks of `--check`, in order.
  public var checks: [ServiceCheck]

  /// Services and checks that are turned off are nil.
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
  let run: @Sendable () throws -> String

  /// - Parameter run: Returns its result in a few words, or throws an error that names the fix.
  public init(_ name: String, run: @escaping @Sendable () throws -> String) {
    self.name = name
    self.run = run
  }
}

/// Runs the services of a process. It starts them in order, and stops them in reverse order after a signal, after one
/// of them has ended by itself, or on `stop` or `retire`.
public final class ServiceGroup: Sendable {
  private enum Cause {
    case asked(String)
    case retired(String)
    case ended(service: String, ServiceEnd)
  }

  private struct State {
    var cause: Cause?
    var interrupted = false
    /// The service whose `stop` is running.
    var stopping: String?
  }

  private let services: [any Service]
  private let logger: Logger
  private let drain: Duration
  private let exitProcess: @Sendable (Int32) -> Void
  private let state = Mutex(State())
  private let ending = DispatchSemaphore(value: 0)

  /// - Parameters:
  ///   - services: In starting order: each service comes after those that it needs.
  ///   - drain: How long all services together may take to stop. After that the process exits with `ExitCode.hung`. By
  ///     default a container is killed after 30 s.
  ///   - exitProcess: Ends the process at once, by default with `_exit`; tests replace it.
  public init(
    _ services: [any Service], logger: Logger, drain: Duration = .seconds(10),
    exitProcess: (@Sendable (Int32) -> Void)? = nil
  ) {
    self.services = services
    self.logger = logger
    self.drain = drain
    self.exitProcess = exitProcess ?? { _exit($0) }
  }

  /// Starts the services, waits for the end, stops them, and returns the exit code. Call it once.
  /// - Parameter signals: Whether signals are handled. SIGTERM and SIGINT end the group, SIGUSR1 retires it, and a
  ///   second SIGINT exits at once. SIGHUP makes services read their files again; without such a service it ends the
  ///   process, as by default.
  public func run(signals: Bool = true) -> Int32 {
    let reloads = services.contains { $0 is any ReloadingService }
    let stopSignals = signals ? StopSignals(withHangup: reloads) { [self] number in receive(signal: number) } : nil
    defer { withExtendedLifetime(stopSignals) {} }
    var started: [any Service] = []
    for service in services {
      guard state.withLock({ $0.cause == nil }) else { break }
      do {
        try service.start { [self] end in self.end(.ended(service: service.name, end)) }
        started.append(service)
      } catch {
        end(.ended(service: service.name, ServiceEnd(exitCode: ExitCode.software, reason: "cannot start: \(error)")))
      }
    }
    ending.wait()
    let exitCode = logCause()
    guard stopInTime(started) else {
      exitProcess(ExitCode.hung)
      return ExitCode.hung
    }
    logger.info("stopped", ["exitCode": .int(Int(exitCode))])
    return exitCode
  }

  /// Ends the group as SIGTERM does, and returns at once. `reason` is for the log.
  public func stop(reason: String) { end(.asked(reason)) }

  private func receive(signal number: Int32) {
    if number == SIGHUP {
      logger.info("SIGHUP: files are read again")
      for case let service as any ReloadingService in services { service.reload() }
      return
    }
    let second = state.withLock { state in
      defer { state.interrupted = state.interrupted || number == SIGINT }
      return state.interrupted && number == SIGINT
    }
    if second {
      logger.warning("second SIGINT: exits at once, without finishing what is under way")
      exitProcess(ExitCode.interrupted)
    } else if number == SIGUSR1 {
      end(.retired("SIGUSR1"))
    } else {
      end(.asked(number == SIGINT ? "SIGINT" : "SIGTERM"))
    }
  }

  /// Only the first cause counts. Later ones are consequences of the stop.
  private func end(_ cause: Cause) {
    let first = state.withLock { state in
      guard state.cause == nil else { return false }
      state.cause = cause
      return true
    }
    if first { ending.signal() }
  }

  private func logCause() -> Int32 {
    switch state.withLock({ $0.cause }) {
    case .ended(let service, let end)?:
      logger.error(
        "a service ended, so the process ends: \(end.reason)",
        ["service": .string(service), "exitCode": .int(Int(end.exitCode))])
      return end.exitCode
    case .asked(let reason)?:
      logger.info("stopping", ["reason": .string(reason)])
      return ExitCode.success
    case .retired(let reason)?:
      logger.info("stopping for good", ["reason": .string(reason)])
      return ExitCode.success
    case nil:
      return ExitCode.success
    }
  }

  /// Stops the services in reverse order on another thread, so that a hanging service does not block this one.
  private func stopInTime(_ started: [any Service]) -> Bool {
    let stopped = DispatchSemaphore(value: 0)
    let queue = DispatchQueue(label: "nudge.stop")
    let isForGood = if case .retired? = state.withLock({ $0.cause }) { true } else { false }
    queue.async { [self] in
      for service in started.reversed() {
        state.withLock { $0.stopping = service.name }
        if isForGood { service.retire() } else { service.stop() }
      }
      stopped.signal()
    }
    let deadline = DispatchTime.now() + .milliseconds(Int(drain.milliseconds))
    if stopped.wait(timeout: deadline) == .success { return true }
    let hung = state.withLock { $0.stopping } ?? "unknown"
    logger.error(
      "a service did not stop in time; the process exits without it",
      ["service": .string(hung), "seconds": .double(drain.seconds), "exitCode": .int(Int(ExitCode.hung))])
    return false
  }
}

import Dispatch
import Glibc
import Synchronization

/// Runs the services of a process: starts them in order, and stops them in reverse order after a signal, after one of them has ended by itself, or on `stop` or `retire`.
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
  ///   - services: In starting order: a service comes after those that it needs.
  ///   - drain: How long all of them together may take to stop; then the process exits with `ExitCode.hung`. A container is killed after 30 s unless configured otherwise.
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
  /// - Parameter signals: Whether SIGTERM and SIGINT end the group, and SIGUSR1 retires it; a second SIGINT exits at once. SIGHUP has files read again where a service has some; else it ends the process, as it does without a handler.
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

  /// Ends the group as SIGTERM does; returns at once. `reason` is for the log.
  public func stop(reason: String) { end(.asked(reason)) }

  /// Ends the group as SIGUSR1 does: the services give up what they would keep for a restart. Returns at once. `reason` is for the log.
  public func retire(reason: String) { end(.retired(reason)) }

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

  /// Only the first cause counts; later ones are consequences of the stop.
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

  /// Stops the services in reverse order on another thread, so that a service that hangs does not block this one.
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

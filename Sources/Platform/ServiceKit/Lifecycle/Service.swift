/// A part of a process that is started and stopped: a server, a group of stream threads.
public protocol Service: Sendable {
  /// The name in logs.
  var name: String { get }

  /// Starts the service and returns once it runs. A service that ends by itself calls `onEnd` once, from any thread; the whole group ends then.
  func start(_ onEnd: @escaping @Sendable (ServiceEnd) -> Void) throws

  /// Completes pending work and ends the service. Also called if `start` of a later service failed, but not if its own did.
  func stop()

  /// Like `stop`, for an instance that will not be started again under its name: also gives up what it would keep for a restart, such as its group membership.
  func retire()
}

extension Service {
  /// For services that keep nothing for a restart.
  public func retire() { stop() }
}

/// A service that reads files again on SIGHUP.
public protocol ReloadingService: Service {
  /// Reads the files again. Must return soon: other signals wait meanwhile.
  func reload()
}

/// Why a service ended by itself.
public struct ServiceEnd: Sendable, Equatable {
  /// The exit code of the process.
  public let exitCode: Int32
  /// For the log: what happened and what to do.
  public let reason: String

  /// An end with the process's exit code and a reason for a person.
  public init(exitCode: Int32, reason: String) {
    self.exitCode = exitCode
    self.reason = reason
  }
}

/// The exit codes of all Nudge programs.
public enum ExitCode {
  /// Success, or a clean stop after a signal.
  public static let success: Int32 = 0
  /// A command failed.
  public static let failure: Int32 = 1
  /// The command line, environment or configuration file is wrong (`EX_USAGE`).
  public static let usage: Int32 = 64
  /// A service could not start or broke (`EX_SOFTWARE`).
  public static let software: Int32 = 70
  /// Fenced by another instance with the same name: start again (`EX_TEMPFAIL`).
  public static let fenced: Int32 = 75
  /// A service did not stop in time, and the process exited without it.
  public static let hung: Int32 = 79
  /// A second SIGINT: 128 + 2, as a shell reports it.
  public static let interrupted: Int32 = 130
}

/// A part of a process that is started and stopped: a server, a group of stream threads.
public protocol Service: Sendable {
  /// What it is called in logs.
  var name: String { get }

  /// Starts it and returns when it runs. A service that ends without being asked to calls `onEnd`, once, from any thread; that ends the whole group.
  func start(_ onEnd: @escaping @Sendable (ServiceEnd) -> Void) throws

  /// Asks it to end, and returns when it has; what is under way is finished. Also called when `start` of a later service failed, never when its own did.
  func stop()

  /// As `stop`, and for good: it will not be started again under its name, so what would be kept for a restart is given up.
  func retire()
}

extension Service {
  /// Keeps nothing for a restart: stops.
  public func retire() { stop() }
}

/// A service that reads files again when SIGHUP comes.
public protocol ReloadingService: Service {
  /// Reads its files again. Returns soon: signals wait for it.
  func reload()
}

/// Why a service ended without being asked to.
public struct ServiceEnd: Sendable, Equatable {
  /// What the process exits with.
  public let exitCode: Int32
  /// For the log: what happened and what to do.
  public let reason: String

  /// An end with the process's exit code and a reason for a person.
  public init(exitCode: Int32, reason: String) {
    self.exitCode = exitCode
    self.reason = reason
  }
}

/// What the processes of Nudge exit with.
public enum ExitCode {
  /// All went well, or a signal asked it to stop and it did.
  public static let success: Int32 = 0
  /// A command did not do what it was asked to.
  public static let failure: Int32 = 1
  /// The command line, environment or configuration file is wrong (`EX_USAGE`).
  public static let usage: Int32 = 64
  /// A service could not start or broke (`EX_SOFTWARE`).
  public static let software: Int32 = 70
  /// Fenced by another of the same name: start again (`EX_TEMPFAIL`).
  public static let fenced: Int32 = 75
  /// Something did not stop in time and was left behind.
  public static let hung: Int32 = 79
  /// A second SIGINT: 128 + 2, as a shell reports it.
  public static let interrupted: Int32 = 130
}

/// The exit codes of all Nudge programs.
public enum ExitCode {
  /// Success, or a clean stop after a signal.
  public static let success: Int32 = 0
  /// A command failed.
  public static let failure: Int32 = 1
  /// A command found no broker that answers.
  public static let noBroker: Int32 = 2
  /// The command line, environment or configuration file is wrong (`EX_USAGE`).
  public static let usage: Int32 = 64
  /// A service could not start or failed (`EX_SOFTWARE`).
  public static let software: Int32 = 70
  /// Fenced by another instance with the same name: start again (`EX_TEMPFAIL`).
  public static let fenced: Int32 = 75
  /// A service did not stop in time, so the process exited without it.
  public static let hung: Int32 = 79
  /// A second SIGINT: 128 + 2, as a shell reports it.
  public static let interrupted: Int32 = 130
}

/// An error with its own exit code.
public protocol ExitCodeError: Error {
  var exitCode: Int32 { get }
}

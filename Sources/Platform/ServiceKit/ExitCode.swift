@preconcurrency import Glibc

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

/// A command's standard output, which stdio buffers.
public enum StandardOutput {
  /// Writes the buffered output.
  /// - Returns: Nil if all output so far was written; otherwise why some of it was not, such as a full disk.
  public static func flush() -> String? {
    let failed = fflush(stdout) != 0
    let code = errno
    guard failed || ferror(stdout) != 0 else { return nil }
    // stdio remembers that an earlier write failed, but not why.
    return failed ? String(cString: strerror(code)) : "an earlier write failed"
  }
}

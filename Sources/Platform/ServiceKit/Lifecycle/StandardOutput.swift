@preconcurrency import Glibc

/// The output of a command.
public enum StandardOutput {
  /// Writes what is buffered.
  /// - Returns: Why not all that was printed so far could be written, such as a full disk; nil: all was.
  public static func flush() -> String? {
    let failed = fflush(stdout) != 0
    let code = errno
    guard failed || ferror(stdout) != 0 else { return nil }
    // A later reason is not known: stdio keeps only that there was one.
    return failed ? String(cString: strerror(code)) : "an earlier write failed"
  }
}

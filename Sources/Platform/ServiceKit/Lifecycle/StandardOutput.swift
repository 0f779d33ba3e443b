@preconcurrency import Glibc

/// The output of a command.
public enum StandardOutput {
  /// Writes the buffered output.
  /// - Returns: Why some of the output so far could not be written, such as a full disk; nil if all was written.
  public static func flush() -> String? {
    let failed = fflush(stdout) != 0
    let code = errno
    guard failed || ferror(stdout) != 0 else { return nil }
    // The reason is not known, because stdio only keeps that there was an error.
    return failed ? String(cString: strerror(code)) : "an earlier write failed"
  }
}

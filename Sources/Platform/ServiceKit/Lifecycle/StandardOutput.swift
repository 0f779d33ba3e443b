@preconcurrency import Glibc

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

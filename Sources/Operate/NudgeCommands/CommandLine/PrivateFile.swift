import Foundation
import Glibc

/// Files that only their owner may read.
enum PrivateFile {
  /// Replaces a file's content, whatever its mode and the umask were. A symbolic link is refused: somebody else may have laid it.
  static func write(_ content: [UInt8], to path: String) throws {
    let file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { throw failure(path) }
    defer { close(file) }
    var status = stat()
    // A pipe or a terminal has no mode to change, and cannot be cut.
    if fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
      guard fchmod(file, 0o600) == 0, ftruncate(file, 0) == 0 else { throw failure(path) }
    }
    var rest = content[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      guard count > 0 || errno == EINTR else { throw failure(path) }
      rest = rest.dropFirst(max(0, count))
    }
    guard fsync(file) == 0 || errno == EINVAL else { throw failure(path) }
  }

  private static func failure(_ path: String) -> CommandError {
    CommandError(
      "\(path) cannot be written: \(errno == ELOOP ? "it is a symbolic link" : String(cString: strerror(errno)))")
  }
}

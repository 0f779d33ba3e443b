import Glibc
import ServiceKit

/// A file that is read again when it changes.
struct WatchedFile: Equatable {
  /// What tells one state of a file from another.
  private struct Stamp: Equatable {
    let inode: UInt
    let size: Int
    let seconds: Int
    let nanoseconds: Int
  }

  let path: String
  private var stamp: Stamp?

  init(path: String) { self.path = path }

  /// The content, if the file is not as it was at the last reading; always where `force` is set.
  mutating func changed(force: Bool) throws -> [UInt8]? {
    // Before reading: a change in between is seen next time.
    let now = Self.stamp(of: path)
    guard force || now != stamp else { return nil }
    stamp = now
    return try FileContent.read(path)
  }

  private static func stamp(of path: String) -> Stamp? {
    var found = stat()
    guard stat(path, &found) == 0 else { return nil }
    return Stamp(
      inode: UInt(found.st_ino), size: Int(found.st_size), seconds: found.st_mtim.tv_sec,
      nanoseconds: found.st_mtim.tv_nsec)
  }
}

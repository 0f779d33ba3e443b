import Glibc

/// A file that is read again when it changes.
public struct WatchedFile: Sendable, Equatable {
  /// What tells one state of a file from another.
  private struct Stamp: Sendable, Equatable {
    let inode: UInt
    let size: Int
    let seconds: Int
    let nanoseconds: Int
  }

  /// Where it is.
  public let path: String
  private var stamp: Stamp?

  /// A file that was not read yet.
  public init(path: String) { self.path = path }

  /// The content, if the file is not as it was at the last reading; always where `force` is set; nil: it is.
  /// - Throws: ``FileFailure``, whose text names the file.
  public mutating func changed(force: Bool) throws -> [UInt8]? {
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

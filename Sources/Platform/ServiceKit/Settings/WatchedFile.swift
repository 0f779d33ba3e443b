import Glibc

/// A file that is read again when it has changed.
///
/// A file that is written in place is empty first, and then half of itself. So a change is taken only once the file has looked the
/// same in two successive calls, is not empty, and did not change while it was read. Call ``changed(force:)`` at an interval longer
/// than a pause of whatever writes the file.
public struct WatchedFile: Sendable, Equatable {
  /// Distinguishes the states of a file. No inode: there is no such file.
  private struct Stamp: Sendable, Equatable {
    var inode: UInt?
    var size = 0
    var seconds = 0
    var nanoseconds = 0
  }

  public let path: String
  /// As of the last reading, successful or not.
  private var taken: Stamp?
  /// As of the last call, if that found a change.
  private var pending: Stamp?

  /// A file that has not been read yet.
  public init(path: String) { self.path = path }

  /// The content, if the file has changed since the last reading and is complete; nil otherwise.
  /// - Parameter force: Read the file now, changed or not.
  /// - Throws: ``FileFailure``, whose text names the file, once for each change: the file cannot be read, or is empty.
  public mutating func changed(force: Bool) throws -> [UInt8]? {
    let now = Self.stamp(of: path)
    if !force {
      guard now != taken else {
        pending = nil
        return nil
      }
      guard now == pending else {
        pending = now
        return nil
      }
    }
    pending = nil
    taken = now
    let content = try FileContent.read(path)
    if content.isEmpty { throw FileFailure(description: "\(path) is empty") }
    let after = Self.stamp(of: path)
    guard force || after == now else {
      taken = nil
      pending = after
      return nil
    }
    return content
  }

  private static func stamp(of path: String) -> Stamp {
    var found = stat()
    guard stat(path, &found) == 0 else { return Stamp() }
    return Stamp(
      inode: UInt(found.st_ino), size: Int(found.st_size), seconds: found.st_mtim.tv_sec,
      nanoseconds: found.st_mtim.tv_nsec)
  }
}

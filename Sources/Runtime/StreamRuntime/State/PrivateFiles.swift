import Foundation
import Glibc

/// Files that nobody but their owner may read: they hold tokens and texts of messages.
enum PrivateFiles {
  /// Rights of a group and of others.
  private static let others: mode_t = 0o077

  /// Takes all rights from others: of a directory and of the files right in it.
  static func restrictPermissions(ofDirectory directory: String) throws(StateDirectoryLock.Failure) {
    try restrict(directory, to: 0o700)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    for name in names { try restrict("\(directory)/\(name)", to: 0o600) }
  }

  private static func restrict(_ path: String, to mode: mode_t) throws(StateDirectoryLock.Failure) {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & others != 0, status.st_mode & S_IFMT != S_IFLNK else { return }
    // A directory in a directory keeps its owner's right to enter it.
    let wanted = status.st_mode & S_IFMT == S_IFDIR ? 0o700 : mode
    guard chmod(path, wanted) == 0 else {
      throw StateDirectoryLock.Failure(
        description:
          "\(path) can be read by others (mode \(String(status.st_mode & 0o777, radix: 8))), and holds tokens and messages; "
          + "its rights cannot be changed (\(String(cString: strerror(errno)))). Take them away with: "
          + "chmod \(String(wanted, radix: 8)) \(path), or choose another --state-dir")
    }
  }

  /// Makes a file for its owner alone, if it is not there: what SQLite makes, everybody may read, and it gives its log
  /// the rights of the file.
  static func make(_ path: String) {
    let file = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
    // Who cannot make it cannot open it either, and says so.
    if file >= 0 { close(file) }
  }
}

import Foundation
import Glibc

/// Files that only their owner may read, because they hold tokens and message texts.
enum PrivateFiles {
  /// The permissions of group and others.
  private static let others: mode_t = 0o077

  /// Removes the permissions of group and others from a directory and the files directly in it.
  /// - Throws: A failure that names the file and the remedy. The process must not start.
  static func restrictPermissions(ofDirectory directory: String) throws(StateDirectoryLock.Failure) {
    try restrict(directory, to: 0o700)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    for name in names {
      try refuseLink("\(directory)/\(name)")
      try restrict("\(directory)/\(name)", to: 0o600)
    }
  }

  /// Throws if the path is a link. Others may have been able to write to the directory, and their link must not redirect this process's
  /// writes.
  private static func refuseLink(_ path: String) throws(StateDirectoryLock.Failure) {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return }
    throw StateDirectoryLock.Failure(
      description:
        "\(path) is a symbolic link, which this service never makes: somebody else laid it there. Remove it: rm \(path)"
    )
  }

  private static func restrict(_ path: String, to mode: mode_t) throws(StateDirectoryLock.Failure) {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & others != 0, status.st_mode & S_IFMT != S_IFLNK else { return }
    // A subdirectory must stay executable for its owner.
    let wanted = status.st_mode & S_IFMT == S_IFDIR ? 0o700 : mode
    guard chmod(path, wanted) == 0 else {
      throw StateDirectoryLock.Failure(
        description:
          "\(path) can be read by others (mode \(String(status.st_mode & 0o777, radix: 8))), and holds tokens and messages; "
          + "its rights cannot be changed (\(String(cString: strerror(errno)))). Take them away with: "
          + "chmod \(String(wanted, radix: 8)) \(path), or choose another --state-dir")
    }
  }

  /// Replaces a file with one of this text. A full disk leaves the old file whole. From the start, only the owner may read the new one.
  /// - Throws: The system's error.
  static func replace(_ path: String, with text: String) throws {
    let next = path + ".next"
    // Removes a file that a former process left or that somebody else placed there.
    unlink(next)
    let file = open(next, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { throw failure(errno, next) }
    defer { close(file) }
    let bytes = Array(text.utf8)
    let written = write(file, bytes, bytes.count)
    guard written == bytes.count else { throw failure(written < 0 ? errno : ENOSPC, next) }
    guard rename(next, path) == 0 else { throw failure(errno, path) }
  }

  private static func failure(_ code: Int32, _ path: String) -> StateDirectoryLock.Failure {
    StateDirectoryLock.Failure(description: "\(path): \(String(cString: strerror(code)))")
  }

  /// Creates an empty file that only its owner may read, if it does not exist. SQLite would create a file that others may read, and gives
  /// its log the file's permissions.
  static func make(_ path: String) {
    let file = open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
    // If this fails, opening the file fails too, and reports it.
    if file >= 0 { close(file) }
  }
}

/// Locks a stage's state directory for this process. Two processes with one directory would corrupt a store.
final class StateDirectoryLock: Sendable {
  /// Another process holds the lock, or the directory cannot be created.
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  private let descriptor: Int32

  /// Locks a directory until the process ends. Creates it if needed, and restricts it and its files to this user, because they hold tokens and
  /// texts.
  init(_ directory: String) throws(Failure) {
    do {
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw Failure(description: "cannot make the state directory \(directory): \(error.localizedDescription)")
    }
    try PrivateFiles.restrictPermissions(ofDirectory: directory)
    let path = directory + "/lock"
    descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else {
      throw Failure(description: "cannot open \(path): \(String(cString: strerror(errno)))")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      // The deinit closes the descriptor. Closing it here too could close another file that has reused its number.
      throw Failure(
        description: "\(directory) is in use by another process. Give each its own with --state-dir, and its own name "
          + "with --instance")
    }
  }

  deinit { if descriptor >= 0 { Glibc.close(descriptor) } }
}

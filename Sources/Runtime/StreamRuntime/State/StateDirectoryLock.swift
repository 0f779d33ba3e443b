import Foundation
import Glibc

/// Locks a stage's state directory for this process. Two processes would corrupt a store.
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
      // The deinit closes the descriptor. Closing it here too could close a reused one.
      throw Failure(
        description: "\(directory) is in use by another process. Give each its own with --state-dir, and its own name "
          + "with --instance")
    }
  }

  deinit { if descriptor >= 0 { Glibc.close(descriptor) } }
}

import Foundation
import Glibc

/// Holds a stage's state directory for this process: two processes on one store would ruin it.
final class StateDirectoryLock: Sendable {
  /// Somebody else holds it, or it cannot be made.
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  private let descriptor: Int32

  /// Locks `directory`, which is made if missing, and is this user's alone from then on, with all that is in it: tokens and
  /// texts are there. The lock ends with the process, however it ends.
  init(_ directory: String) throws(Failure) {
    do {
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw Failure(description: "cannot make the state directory \(directory): \(error.localizedDescription)")
    }
    try PrivateFiles.restrictPermissions(ofDirectory: directory)
    let path = directory + "/lock"
    descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw Failure(description: "cannot open \(path): \(String(cString: strerror(errno)))")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      // The object is whole by now: its deinit closes the descriptor. Closing it here too would close somebody else's.
      throw Failure(
        description: "\(directory) is in use by another process. Give each its own with --state-dir, and its own name "
          + "with --instance")
    }
  }

  deinit { if descriptor >= 0 { Glibc.close(descriptor) } }
}

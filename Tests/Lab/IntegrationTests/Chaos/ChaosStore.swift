import Foundation
import Glibc

/// A folder for an instance's state: a disk of its own, small enough to be filled, or a plain folder. One thread uses it.
final class ChaosStore {
  /// A file system could not be made to do something.
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  private static let size = "size=48m"
  let directory: URL
  private var isMounted = false

  private var filler: URL { directory.appendingPathComponent("filler") }

  /// Makes a folder; with a disk of its own under it where `ownDisk` is true, for which the process must be root.
  init(_ directory: URL, ownDisk: Bool) throws {
    self.directory = directory
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    guard ownDisk else { return }
    try mount(flags: 0, "mount a disk at")
    isMounted = true
  }

  deinit { close() }

  /// Why no disk can be mounted here; nil where one can.
  static let unmountable: String? = {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("nudge-mount-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    do {
      try ChaosStore(directory, ownDisk: true).close()
      return nil
    } catch {
      return "\(error)"
    }
  }()

  private func mount(flags: Int, _ what: String) throws {
    guard Glibc.mount("tmpfs", directory.path, "tmpfs", UInt(flags), Self.size) == 0 else {
      throw Failure(
        description: "cannot \(what) \(directory.path) (it takes root): \(String(cString: strerror(errno)))")
    }
  }

  /// Writes until there is no room.
  func fill() throws {
    let descriptor = open(filler.path, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw Failure(description: "cannot open \(filler.path): \(String(cString: strerror(errno)))")
    }
    defer { Glibc.close(descriptor) }
    let bytes = [UInt8](repeating: 0, count: 1 << 16)
    while write(descriptor, bytes, bytes.count) > 0 {}
    guard errno == ENOSPC else {
      throw Failure(description: "cannot fill \(directory.path): \(String(cString: strerror(errno)))")
    }
  }

  /// Makes room again.
  func empty() throws {
    guard FileManager.default.fileExists(atPath: filler.path) else { return }
    try FileManager.default.removeItem(at: filler)
  }

  /// Takes the right to write away, which the system refuses while somebody has a file open for writing, or gives it back.
  func setWritable(_ isWritable: Bool) throws {
    try mount(flags: MS_REMOUNT | (isWritable ? 0 : MS_RDONLY), isWritable ? "write again to" : "protect")
  }

  /// Removes all that is there; nobody may be using it.
  func erase() throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
      try FileManager.default.removeItem(at: directory.appendingPathComponent(name))
    }
  }

  /// Unmounts the disk; what is on it is gone.
  func close() {
    guard isMounted else { return }
    isMounted = false
    // Detached at once, and gone with the last who uses it.
    umount2(directory.path, Int32(MNT_DETACH))
  }
}

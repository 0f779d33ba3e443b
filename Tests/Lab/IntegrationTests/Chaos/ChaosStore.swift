import Foundation
import Glibc

/// A folder for an instance's state: its own small disk, or a plain folder. One thread uses it.
final class ChaosStore {
  /// A file system operation failed.
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  private static let size = "size=48m"
  let directory: URL
  private var isMounted = false

  private var filler: URL { directory.appendingPathComponent("filler") }

  /// Creates the folder and, if `ownDisk` is true, mounts a disk there, which takes root.
  init(_ directory: URL, ownDisk: Bool) throws {
    self.directory = directory
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    guard ownDisk else { return }
    try mount(flags: 0, "mount a disk at")
    isMounted = true
  }

  deinit { close() }

  /// Why no disk can be mounted here; nil: one can.
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

  /// Fills the disk.
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

  /// Removes what `fill` wrote.
  func empty() throws {
    guard FileManager.default.fileExists(atPath: filler.path) else { return }
    try FileManager.default.removeItem(at: filler)
  }

  /// Remounts the disk read-only, which the system refuses while a file is open for writing, or writable.
  func setWritable(_ isWritable: Bool) throws {
    try mount(flags: MS_REMOUNT | (isWritable ? 0 : MS_RDONLY), isWritable ? "write again to" : "protect")
  }

  private static let magic = Array("SQLite format 3".utf8)
  private static let pageSize = 4_096

  /// Overwrites pages in the middle of each SQLite file, as a disk that loses writes would. No process may be using them. Returns the
  /// number of damaged files: a file of one page stays as it is.
  func damage() throws -> Int {
    var damaged = 0
    let files = FileManager.default.enumerator(at: directory, includingPropertiesForKeys: nil)
    while let file = files?.nextObject() as? URL {
      let descriptor = open(file.path, O_RDWR | O_CLOEXEC)
      guard descriptor >= 0 else { continue }
      defer { Glibc.close(descriptor) }
      var head = [UInt8](repeating: 0, count: Self.magic.count)
      let pages = Int(lseek(descriptor, 0, SEEK_END)) / Self.pageSize
      guard pread(descriptor, &head, head.count, 0) == head.count, head == Self.magic, pages > 1 else { continue }
      let rubbish = [UInt8](repeating: 0xa5, count: Self.pageSize)
      // Not the first page: without it the file is no database, which is noticed when it is opened.
      for page in Set([pages / 3, pages / 2, pages - 1]) where page > 0 {
        guard pwrite(descriptor, rubbish, rubbish.count, page * Self.pageSize) == rubbish.count else {
          throw Failure(description: "cannot damage \(file.path): \(String(cString: strerror(errno)))")
        }
      }
      damaged += 1
    }
    return damaged
  }

  /// Removes all files. No process may be using them.
  func erase() throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
      try FileManager.default.removeItem(at: directory.appendingPathComponent(name))
    }
  }

  /// Unmounts the disk, whose files are lost.
  func close() {
    guard isMounted else { return }
    isMounted = false
    // Detached at once; freed when the last process closes its files.
    umount2(directory.path, Int32(MNT_DETACH))
  }
}

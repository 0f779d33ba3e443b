import Foundation

/// A clock of its own for a process: libfaketime, which reads how far it is ahead from a file.
struct ChaosClock {
  /// Debian's libfaketime; nil where it is not installed.
  static let library: String? = {
    let folders = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")) ?? []
    return folders.map { "/usr/lib/\($0)/faketime/libfaketimeMT.so.1" }.first(where: FileManager.default.fileExists)
  }()

  private let file: URL
  /// The environment for the process. Its steady clock stays right; it sees a change of the wall clock within a second.
  let environment: [String: String]

  /// A clock that is right; nil without libfaketime.
  init?(_ file: URL) throws {
    guard let library = Self.library else { return nil }
    self.file = file
    environment = [
      "LD_PRELOAD": library, "FAKETIME_TIMESTAMP_FILE": file.path, "FAKETIME_CACHE_DURATION": "1",
      "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    ]
    try set(ahead: 0)
  }

  /// Sets it ahead of the machine's clock, or back.
  func set(ahead seconds: Int) throws {
    try Data("\(seconds < 0 ? "" : "+")\(seconds)\n".utf8).write(to: file, options: .atomic)
  }
}

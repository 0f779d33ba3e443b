import Foundation

/// Counts the starts of a service whose previous process did not end in order: it crashed, was killed, or its host went down.
///
/// The count lives in a file of the state directory, `last-run`, which says whether a process is running or has stopped. A process
/// that finds "running" there, while it holds the directory's lock, follows one that never came to its end.
struct UncleanStarts {
  private let path: String
  /// Unclean starts on this state directory so far, this one included.
  private(set) var count = 0
  /// Whether the previous process ended without stopping.
  private(set) var isUnclean = false

  /// Reads the file of a state directory whose lock is held. Without a readable file the count starts at 0.
  init(directory: String) {
    path = directory + "/last-run"
    guard let bytes = FileManager.default.contents(atPath: path) else { return }
    let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    guard words.count == 2, let before = Int(words[1]), before >= 0 else { return }
    isUnclean = words[0] == "running"
    count = before + (isUnclean ? 1 : 0)
  }

  /// Notes that a process runs.
  func begin() throws { try write("running") }

  /// Notes that it stopped in order.
  func end() throws { try write("stopped") }

  private func write(_ word: String) throws { try PrivateFiles.replace(path, with: "\(word) \(count)\n") }
}

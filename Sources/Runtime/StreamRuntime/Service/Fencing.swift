import Foundation
import NudgeSchema
import Synchronization

/// The reaction of a process to being fenced. It exits and is restarted; if it was fenced shortly before, it waits first. Two processes
/// with one name fence each other whenever one of them starts. Without the wait neither would make progress.
enum FencedAction: Equatable {
  /// Exit at once. Most fenced processes were suspended or cut off for too long, which a restart resolves.
  case exit
  /// Wait this many milliseconds for an operator, then exit.
  case wait(Milliseconds)

  /// Decides by the wall clock.
  /// - Parameters:
  ///   - last: When a process with this name and state directory was last fenced, or ended its wait. Absent if unknown.
  ///   - window: How long a fencing counts, and how long the wait takes, in milliseconds.
  static func after(last: Milliseconds?, now: Milliseconds, window: Milliseconds) -> FencedAction {
    guard let last else { return .exit }
    // If the clock was set back, `last` may be in the future. It counts only within the window.
    return abs(now - last) < window ? .wait(window) : .exit
  }
}

/// The last fencing, kept in the state directory. The first fenced thread of a process decides for all its threads.
final class LastFencing: Sendable {
  private let path: String
  private let window: Milliseconds
  private let decided = Mutex<FencedAction?>(nil)

  /// - Parameters:
  ///   - directory: The stage's state directory.
  ///   - window: See `FencedAction.after`.
  init(directory: String, window: Milliseconds) {
    path = directory + "/fenced"
    self.window = window
  }

  /// Records that a thread was fenced. Returns the reaction.
  /// - Throws: An error if the note cannot be written. The next process will then not know of this fencing.
  func fenced(now: Milliseconds) throws -> FencedAction {
    let (action, isFirst) = decided.withLock { decided in
      if let decided { return (decided, false) }
      let action = FencedAction.after(last: last, now: now, window: window)
      decided = action
      return (action, true)
    }
    if isFirst { try write(now) }
    return action
  }

  /// Records the end of the wait. A process that is fenced again soon waits again.
  func waited(now: Milliseconds) throws { try write(now) }

  /// When a process was last fenced or ended its wait. Absent if there is no readable note.
  private var last: Milliseconds? {
    guard let bytes = FileManager.default.contents(atPath: path) else { return nil }
    return Milliseconds(String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
  }

  private func write(_ time: Milliseconds) throws { try PrivateFiles.replace(path, with: "\(time)\n") }
}

/// Counts the starts of a service whose previous process did not stop in order: it crashed, was killed, or its host went down.
///
/// The file `last-run` of the state directory has the count, and whether the last process is running or has stopped. A process that holds
/// the directory's lock and finds "running" follows one that did not stop in order.
struct UncleanStarts {
  private let path: String
  /// The number of unclean starts on this state directory, including this one.
  private(set) var count = 0
  /// Whether the previous process did not stop in order.
  private(set) var isUnclean = false

  /// Reads the file of a state directory whose lock is held. The count starts at 0 if the file cannot be read.
  init(directory: String) {
    path = directory + "/last-run"
    guard let bytes = FileManager.default.contents(atPath: path) else { return }
    let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    guard words.count == 2, let before = Int(words[1]), before >= 0 else { return }
    isUnclean = words[0] == "running"
    count = before + (isUnclean ? 1 : 0)
  }

  /// Records that a process runs.
  func begin() throws { try write("running") }

  /// Records that the process stopped in order.
  func end() throws { try write("stopped") }

  private func write(_ word: String) throws { try PrivateFiles.replace(path, with: "\(word) \(count)\n") }
}

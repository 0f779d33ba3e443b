import Foundation
import NudgeSchema
import Synchronization

/// The reaction of a process to being fenced: it exits and is restarted, or, if it was fenced shortly before, waits first. Two processes
/// with one name fence each other whenever one starts, and would make no progress.
enum FencedAction: Equatable {
  /// Exit at once. Most fenced processes were away too long, and a restart helps.
  case exit
  /// Wait this many milliseconds for an operator, then exit.
  case wait(Milliseconds)

  /// The decision, by the wall clock.
  /// - Parameter last: when a process with this name and state directory was last fenced or ended its wait; nil: unknown.
  static func after(last: Milliseconds?, now: Milliseconds, window: Milliseconds) -> FencedAction {
    guard let last else { return .exit }
    // After the clock was set back `last` is in the future. Ignore it beyond the window.
    return abs(now - last) < window ? .wait(window) : .exit
  }
}

/// The last fencing, kept in the state directory. The first fenced thread of a process decides for all.
final class FencingNote: Sendable {
  private let path: String
  private let window: Milliseconds
  private let decided = Mutex<FencedAction?>(nil)

  /// - Parameters:
  ///   - directory: the stage's state directory.
  ///   - window: how long a fencing counts, and how long the second one waits, in milliseconds.
  init(directory: String, window: Milliseconds) {
    path = directory + "/fenced"
    self.window = window
  }

  /// A thread was fenced. Returns the reaction.
  /// - Throws: if the note cannot be written. The next process will not know of this fencing.
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

  /// The wait has ended. A process that is fenced again soon waits again.
  func waited(now: Milliseconds) throws { try write(now) }

  /// nil: there is no readable note.
  private var last: Milliseconds? {
    guard let bytes = FileManager.default.contents(atPath: path) else { return nil }
    return Milliseconds(String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
  }

  private func write(_ time: Milliseconds) throws { try PrivateFiles.replace(path, with: "\(time)\n") }
}

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

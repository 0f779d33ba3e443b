import Foundation
import NudgeSchema
import Synchronization

/// What a fenced process does: it exits, so that it is started again; or, where that happened just before, it waits first.
/// Two processes under one name fence each other each time one of them starts, and nothing gets done between.
enum FencedAction: Equatable {
  /// Exits at once: most fencings are a process that was away too long, which a restart mends.
  case exit
  /// Waits so many milliseconds for somebody to look, then exits.
  case wait(Milliseconds)

  /// The decision, by the wall clock: `last` is when a process of this name and state directory was fenced before, or
  /// ended its wait; nil: never, as far as is known.
  static func after(last: Milliseconds?, now: Milliseconds, window: Milliseconds) -> FencedAction {
    guard let last else { return .exit }
    // A clock that was set back makes `last` lie ahead; by more than the window, it says nothing.
    return abs(now - last) < window ? .wait(window) : .exit
  }
}

/// The last fencing, kept in the state directory over restarts. Several threads of a process are fenced by the same other
/// process: the first of them decides for all.
final class FencingNote: Sendable {
  private let path: String
  private let window: Milliseconds
  private let decided = Mutex<FencedAction?>(nil)

  /// `directory` is the stage's state directory; `window`: how long a fencing is remembered, and a second one waited out.
  init(directory: String, window: Milliseconds) {
    path = directory + "/fenced"
    self.window = window
  }

  /// A thread was fenced: what to do. Throws where the note cannot be written; then the next process will not know.
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

  /// The wait is over: whoever is fenced again soon waits again.
  func waited(now: Milliseconds) throws { try write(now) }

  /// A note that cannot be read is none.
  private var last: Milliseconds? {
    guard let bytes = FileManager.default.contents(atPath: path) else { return nil }
    return Milliseconds(String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
  }

  private func write(_ time: Milliseconds) throws {
    try Data("\(time)\n".utf8).write(to: URL(fileURLWithPath: path))
  }
}

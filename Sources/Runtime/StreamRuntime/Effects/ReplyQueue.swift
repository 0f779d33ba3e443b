import Synchronization

/// Replies to effects, posted by any thread for the stream thread that waits for them.
final class ReplyQueue<Reply: Sendable>: Sendable {
  /// A reply and the number of the request it answers.
  struct Entry: Sendable {
    var request: Int
    var reply: Reply
  }

  private let entries = Mutex<[Entry]>([])
  private let wake: @Sendable () -> Void

  /// - Parameter wake: ends the stream thread's wait in a poll.
  init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

  func post(_ entry: Entry) {
    let wasEmpty = entries.withLock { entries in
      defer { entries.append(entry) }
      return entries.isEmpty
    }
    if wasEmpty { wake() }
  }

  func takeAll() -> [Entry] {
    entries.withLock { entries in
      defer { entries.removeAll(keepingCapacity: true) }
      return entries
    }
  }
}

import Synchronization

/// Where replies to effects wait for their stream thread. Posted from any thread.
final class ReplyBox<Reply: Sendable>: Sendable {
  /// A reply and the life of the task that asked.
  struct Letter: Sendable {
    var task: Int32
    var life: Int
    var reply: Reply
  }

  private let letters = Mutex<[Letter]>([])
  private let wake: @Sendable () -> Void

  /// `wake` ends the thread's wait in a poll.
  init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

  func post(_ letter: Letter) {
    let wasEmpty = letters.withLock { letters in
      defer { letters.append(letter) }
      return letters.isEmpty
    }
    if wasEmpty { wake() }
  }

  func takeAll() -> [Letter] {
    letters.withLock { letters in
      defer { letters.removeAll(keepingCapacity: true) }
      return letters
    }
  }
}

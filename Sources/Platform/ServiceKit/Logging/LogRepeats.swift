import Synchronization

/// Remembers when each rate-limited line was last written.
final class LogRepeats: Sendable {
  /// Keys are constants in code, so there are few. The bound is for a key that holds data by mistake.
  private static let mostKeys = 1_024

  private struct Key {
    var admitted: Int64
    var heldBack: Int
  }

  private let keys = Mutex<[String: Key]>([:])
  private let clock: @Sendable () -> Int64

  init(clock: @escaping @Sendable () -> Int64) { self.clock = clock }

  /// The number of lines suppressed since the last one written; nil if this one must be suppressed too.
  func admit(_ key: String, every interval: Duration) -> Int? {
    let now = clock()
    let pause = interval.milliseconds
    return keys.withLock { keys in
      guard let last = keys[key] else {
        if keys.count >= Self.mostKeys { keys.removeAll() }
        keys[key] = Key(admitted: now, heldBack: 0)
        return 0
      }
      // A clock set back must not silence a line for longer than its interval.
      guard now - last.admitted >= pause || now < last.admitted else {
        keys[key]?.heldBack += 1
        return nil
      }
      keys[key] = Key(admitted: now, heldBack: 0)
      return last.heldBack
    }
  }
}

import Synchronization

/// Bounds the bytes of all bodies that the server holds at a time.
///
/// Bytes are charged as they arrive, not as Content-Length announces them: a client that announces much and sends little would
/// otherwise use up everybody's budget.
final class BodyBudget: Sendable {
  private let limit: Int
  private let used = Atomic<Int>(0)

  init(limit: Int) { self.limit = limit }

  /// Whether a body of this size fits now.
  func hasRoom(for bytes: Int) -> Bool { bytes <= limit - used.load(ordering: .relaxed) }

  /// Charges bytes; false, with nothing charged, if they do not fit.
  func charge(_ bytes: Int) -> Bool {
    let total = used.add(bytes, ordering: .relaxed).newValue
    if total <= limit { return true }
    used.subtract(bytes, ordering: .relaxed)
    return false
  }

  func release(_ bytes: Int) { used.subtract(bytes, ordering: .relaxed) }
}

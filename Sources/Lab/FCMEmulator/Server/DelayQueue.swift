/// Exchanges with delayed answers, as a binary heap with the earliest first.
struct DelayQueue {
  private var heap: [(due: UInt64, order: UInt64, exchange: StreamExchange)] = []
  private var inserted: UInt64 = 0

  /// When the next exchange is due, on the loop's clock in nanoseconds. Absent if the queue is empty.
  var nextDue: UInt64? { heap.first?.due }

  mutating func insert(_ exchange: StreamExchange, due: UInt64) {
    inserted += 1
    heap.append((due, inserted, exchange))
    var child = heap.count - 1
    while child > 0, isBefore(child, (child - 1) / 2) {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  /// Removes and returns the next exchange that is due.
  mutating func popDue(_ now: UInt64) -> StreamExchange? {
    guard let first = heap.first, first.due <= now else { return nil }
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var parent = 0
    while true {
      let left = 2 * parent + 1
      guard left < heap.count else { break }
      let child = left + 1 < heap.count && isBefore(left + 1, left) ? left + 1 : left
      guard isBefore(child, parent) else { break }
      heap.swapAt(child, parent)
      parent = child
    }
    return first.exchange
  }

  /// Whether the exchange at `a` comes first. Exchanges with equal times keep their order of insertion.
  private func isBefore(_ a: Int, _ b: Int) -> Bool {
    (heap[a].due, heap[a].order) < (heap[b].due, heap[b].order)
  }
}

/// Requests in the order they came, taken from the front in constant time.
struct RequestQueue {
  private var items: [Submission?] = []
  private var head = 0

  var count: Int { items.count - head }

  mutating func append(_ more: [Submission]) {
    if head == items.count {
      items.removeAll(keepingCapacity: true)
      head = 0
    } else if head > 4_096, head > items.count / 2 {
      items.removeFirst(head)
      head = 0
    }
    items.append(contentsOf: more)
  }

  mutating func popFirst() -> Submission? {
    guard head < items.count else { return nil }
    defer {
      // Lets go of the request's body now, not when the array is next tidied.
      items[head] = nil
      head += 1
    }
    return items[head]
  }
}

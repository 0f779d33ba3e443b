/// Requests in the order they came, taken from the front in constant time.
struct RequestQueue {
  private var items: [Submission?] = []
  private var head = 0
  /// No request's time ends before this, on ``MonotonicClock``; it may be earlier than the first that does.
  private(set) var earliestDeadline = UInt64.max

  var count: Int { items.count - head }

  mutating func append(_ more: [Submission]) {
    if head == items.count {
      items.removeAll(keepingCapacity: true)
      head = 0
      earliestDeadline = .max
    } else if head > 4_096, head > items.count / 2 {
      items.removeFirst(head)
      head = 0
    }
    for submission in more {
      earliestDeadline = min(earliestDeadline, submission.deadline)
      items.append(submission)
    }
  }

  /// The request that has waited longest.
  var first: Submission? { head < items.count ? items[head] : nil }

  mutating func removeFirst() {
    // Lets go of the request's body now, not when the array is next tidied.
    items[head] = nil
    head += 1
  }

  /// Takes out, from the front, those that may no longer start, up to the first that may: they wait in the order they came.
  mutating func popWithheld() -> [Submission] {
    var withheld: [Submission] = []
    while head < items.count, let first = items[head], let mayStart = first.request.mayStart, !mayStart() {
      withheld.append(first)
      items[head] = nil
      head += 1
    }
    return withheld
  }

  /// Takes out all whose time has passed. Looks at the queue only when there may be one.
  mutating func popExpired(_ now: UInt64) -> [Submission] {
    guard earliestDeadline <= now else { return [] }
    let all = items[head...].compactMap { $0 }
    items = all.filter { $0.deadline > now }
    head = 0
    earliestDeadline = items.reduce(.max) { min($0, $1?.deadline ?? .max) }
    return all.filter { $0.deadline <= now }
  }
}

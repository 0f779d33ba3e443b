/// A client's transfers, busy and free. Each uses about 90 KB in libcurl, so the pool regularly frees those that were
/// not needed since the last trim.
///
/// Owned by the client's thread.
struct TransferPool {
  /// All transfers, busy or free.
  private(set) var all: [Transfer] = []
  private var free: [Transfer] = []
  /// The fewest transfers that were free at the same time since `trimmedAt`.
  private var leastFree = 0
  private var trimmedAt: UInt64
  /// The time between two trims in nanoseconds.
  private let interval: UInt64

  /// - Parameters:
  ///   - interval: The time between two trims. An unneeded transfer is kept for up to twice this time.
  ///   - now: The time on ``MonotonicClock``.
  init(keeping interval: Duration, now: UInt64) {
    self.interval = interval.wholeNanoseconds
    trimmedAt = now
  }

  /// The free transfer that was used last, so that surplus ones stay unused. If none is free, a new one.
  mutating func take(_ make: () throws(HTTPTransportError) -> Transfer) throws(HTTPTransportError) -> Transfer {
    if let transfer = free.popLast() {
      leastFree = min(leastFree, free.count)
      return transfer
    }
    leastFree = 0
    let transfer = try make()
    all.append(transfer)
    return transfer
  }

  /// Returns a transfer, which belongs to no connection set any more.
  mutating func giveBack(_ transfer: Transfer) { free.append(transfer) }

  /// When to trim next; nil if no transfer is free.
  var trimDue: UInt64? { free.isEmpty ? nil : trimmedAt &+ interval }

  /// Frees the transfers that were not needed, if a trim is due.
  mutating func trim(now: UInt64) {
    guard let due = trimDue, due <= now else { return }
    if leastFree > 0 {
      let unneeded = Set(free.prefix(leastFree).map(ObjectIdentifier.init))
      free.removeFirst(leastFree)
      all.removeAll { unneeded.contains(ObjectIdentifier($0)) }
    }
    leastFree = free.count
    trimmedAt = now
  }

  /// Frees all transfers.
  mutating func removeAll() {
    free = []
    all = []
  }
}

/// Requests in order of arrival, removed from the front in constant time.
struct RequestQueue {
  private var items: [Submission?] = []
  private var head = 0
  /// A time on ``MonotonicClock`` before which no request expires. It may be earlier than the first expiry.
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
    // Frees the request's body now instead of at the next clean-up of the array.
    items[head] = nil
    head += 1
  }

  /// Removes from the front the requests that may no longer start, up to the first that may.
  mutating func popWithheld() -> [Submission] {
    var withheld: [Submission] = []
    while head < items.count, let first = items[head], let mayStart = first.request.mayStart, !mayStart() {
      withheld.append(first)
      items[head] = nil
      head += 1
    }
    return withheld
  }

  /// Removes the requests whose time has passed. It searches the queue only if there may be one.
  mutating func popExpired(_ now: UInt64) -> [Submission] {
    guard earliestDeadline <= now else { return [] }
    let all = items[head...].compactMap { $0 }
    items = all.filter { $0.deadline > now }
    head = 0
    earliestDeadline = items.reduce(.max) { min($0, $1?.deadline ?? .max) }
    return all.filter { $0.deadline <= now }
  }
}

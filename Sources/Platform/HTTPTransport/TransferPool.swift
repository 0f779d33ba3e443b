/// A client's transfers: those under way and those that are free. Each keeps about 90 KB in libcurl, so what a burst needed
/// is given back: every so often, those that were never needed since the last time.
///
/// Owned by the client's thread.
struct TransferPool {
  /// Each once, busy or free.
  private(set) var all: [Transfer] = []
  private var free: [Transfer] = []
  /// The fewest that were free at once since `trimmedAt`.
  private var leastFree = 0
  private var trimmedAt: UInt64
  /// Between two trims, in nanoseconds.
  private let interval: UInt64

  /// - Parameters:
  ///   - interval: how long a transfer is kept that is not needed; up to twice as long.
  ///   - now: on ``MonotonicClock``.
  init(keeping interval: Duration, now: UInt64) {
    self.interval = interval.wholeNanoseconds
    trimmedAt = now
  }

  /// A free transfer, or a new one: the one that was used last, so that those that are not needed stay untouched.
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

  /// A transfer is free again; it belongs to no connection set.
  mutating func giveBack(_ transfer: Transfer) { free.append(transfer) }

  /// When to trim next; nil: nothing is free.
  var trimDue: UInt64? { free.isEmpty ? nil : trimmedAt &+ interval }

  /// Lets go of what was not needed, if it is time.
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

  /// Lets go of all.
  mutating func removeAll() {
    free = []
    all = []
  }
}

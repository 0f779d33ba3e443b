/// A client's transfers, busy and free. Each uses about 90 KB in libcurl, so the pool regularly frees the transfers that were not
/// needed since the last time.
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
  ///   - interval: The time between two trims; an unneeded transfer is kept up to twice as long.
  ///   - now: on ``MonotonicClock``.
  init(keeping interval: Duration, now: UInt64) {
    self.interval = interval.wholeNanoseconds
    trimmedAt = now
  }

  /// The free transfer that was used last, so that surplus ones stay unused; a new one if none is free.
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

  /// Returns a transfer; it belongs to no connection set.
  mutating func giveBack(_ transfer: Transfer) { free.append(transfer) }

  /// When to trim next; nil: nothing is free.
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

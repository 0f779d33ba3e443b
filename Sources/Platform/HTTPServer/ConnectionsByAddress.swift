import Glibc
import Synchronization

/// Counts open connections by the peer's address, and marks those beyond the limit.
final class ConnectionsByAddress: Sendable {
  /// An IPv4 address, or the first 64 bits of an IPv6 address: one host usually has all of a /64.
  struct Address: Hashable {
    let family: Int32
    let bits: UInt64

    var text: String { "\(family)/\(String(bits, radix: 16))" }

    /// Nil for other families.
    init?(_ address: UnsafePointer<sockaddr>) {
      family = Int32(address.pointee.sa_family)
      switch family {
      case AF_INET:
        bits = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { UInt64($0.pointee.sin_addr.s_addr) }
      case AF_INET6:
        bits = address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
          withUnsafeBytes(of: pointer.pointee.sin6_addr) { $0.loadUnaligned(as: UInt64.self) }
        }
      default: return nil
      }
    }
  }

  private struct State {
    var counts: [Address: Int] = [:]
    /// By the connection's address in memory.
    var connections: [UInt: (address: Address, isExcess: Bool)] = [:]
  }

  private let limit: Int
  private let state = Mutex(State())

  init(limit: Int) { self.limit = limit }

  /// A connection was opened. Returns whether it is one too many.
  func opened(_ connection: UInt, from address: Address) -> Bool {
    state.withLock { state in
      let count = state.counts[address, default: 0] + 1
      state.counts[address] = count
      state.connections[connection] = (address, count > limit)
      return count > limit
    }
  }

  /// The connections of the address that has the most, once the total exceeds a limit; empty below it.
  func mostCrowded(beyond limit: Int) -> [UInt] {
    state.withLock { state in
      guard state.connections.count > limit, let address = state.counts.max(by: { $0.value < $1.value })?.key else {
        return []
      }
      return state.connections.filter { $0.value.address == address }.map(\.key)
    }
  }

  func closed(_ connection: UInt) {
    state.withLock { state in
      guard let (address, _) = state.connections.removeValue(forKey: connection),
        let count = state.counts[address]
      else { return }
      state.counts[address] = count > 1 ? count - 1 : nil
    }
  }

  func isExcess(_ connection: UInt) -> Bool {
    state.withLock { $0.connections[connection]?.isExcess ?? false }
  }
}

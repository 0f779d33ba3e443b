internal import Foundation
internal import PeerSockets

/// Tells public addresses of the internet from those that reach this host, a private network or nobody: IANA's registries of
/// special-purpose addresses (RFC 6890), as of 2024.
enum PublicAddress {
  /// Whether a `sockaddr` is public; one of a family other than the internet's is not.
  static func isPublic(family: Int32, _ address: UnsafeRawBufferPointer) -> Bool {
    // Behind family and port; in version 6 behind the flow label, too.
    let (start, count) = family == AF_INET6 ? (8, 16) : (4, 4)
    guard family == AF_INET || family == AF_INET6, address.count >= start + count else { return false }
    return isPublic(Array(address[start..<start + count]))
  }

  /// Whether an address of 4 or 16 bytes is public. No connection goes to one of 6to4: a relay, not its own host, would take it.
  static func isPublic(_ address: [UInt8]) -> Bool {
    address.count == 4
      ? IPAddress.v4(address).isPublic : IPAddress.v6(address).isPublic && !address.starts(with: [0x20, 0x02])
  }
}

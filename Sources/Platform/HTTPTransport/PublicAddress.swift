internal import Foundation

/// Tells public addresses of the internet from those that reach this host, a private network or nobody: IANA's registries of
/// special-purpose addresses (RFC 6890), as of 2024.
enum PublicAddress {
  /// A prefix of addresses.
  private struct Range {
    let bytes: [UInt8]
    let bits: Int

    init(_ bytes: [UInt8], _ bits: Int) {
      self.bytes = bytes
      self.bits = bits
    }

    func contains(_ address: [UInt8]) -> Bool {
      for bit in 0..<bits {
        let mask: UInt8 = 0x80 >> UInt8(bit % 8)
        let wanted = bit / 8 < bytes.count ? bytes[bit / 8] : 0
        if (wanted ^ address[bit / 8]) & mask != 0 { return false }
      }
      return true
    }
  }

  private static let notPublic4: [Range] = [
    Range([0], 8), Range([10], 8), Range([100, 64], 10), Range([127], 8), Range([169, 254], 16), Range([172, 16], 12),
    Range([192, 0, 0], 24), Range([192, 0, 2], 24), Range([192, 88, 99], 24), Range([192, 168], 16),
    Range([198, 18], 15), Range([198, 51, 100], 24), Range([203, 0, 113], 24),
    // Multicast, reserved and broadcast.
    Range([224], 3),
  ]
  /// Global unicast addresses; all others are reserved, local or multicast.
  private static let global6 = Range([0x20], 3)
  private static let notPublic6: [Range] = [
    // Protocol assignments, Teredo among them; documentation; 6to4, which has an address of version 4 in it.
    Range([0x20, 0x01, 0x00], 23), Range([0x20, 0x01, 0x0D, 0xB8], 32), Range([0x20, 0x02], 16),
    Range([0x3F, 0xFF, 0x00], 20),
  ]
  /// Addresses of version 4 as those of version 6: mapped ones, and those of a translator (NAT64).
  private static let embedding6: [Range] = [
    Range([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], 96), Range([0x00, 0x64, 0xFF, 0x9B], 96),
  ]

  /// Whether a `sockaddr` is public; one of a family other than the internet's is not.
  static func isPublic(family: Int32, _ address: UnsafeRawBufferPointer) -> Bool {
    // Behind family and port; in version 6 behind the flow label, too.
    let (start, count) = family == AF_INET6 ? (8, 16) : (4, 4)
    guard family == AF_INET || family == AF_INET6, address.count >= start + count else { return false }
    return isPublic(Array(address[start..<start + count]))
  }

  /// Whether an address of 4 or 16 bytes is public.
  static func isPublic(_ address: [UInt8]) -> Bool {
    if address.count == 4 { return !notPublic4.contains { $0.contains(address) } }
    guard address.count == 16 else { return false }
    if embedding6.contains(where: { $0.contains(address) }) { return isPublic(Array(address.suffix(4))) }
    return global6.contains(address) && !notPublic6.contains { $0.contains(address) }
  }
}

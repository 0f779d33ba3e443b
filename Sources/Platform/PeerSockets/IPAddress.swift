import Glibc

/// An IPv4 or IPv6 address.
public enum IPAddress: Sendable, Hashable {
  /// Four bytes.
  case v4([UInt8])
  /// Sixteen bytes.
  case v6([UInt8])

  /// Reads the usual form of an address: four decimal numbers, or hexadecimal groups. Nil for other texts, and for an
  /// address with a zone.
  public init?(_ text: String) {
    var four = [UInt8](repeating: 0, count: 4)
    var sixteen = [UInt8](repeating: 0, count: 16)
    if inet_pton(AF_INET, text, &four) == 1 {
      self = .v4(four)
    } else if inet_pton(AF_INET6, text, &sixteen) == 1 {
      self = .v6(sixteen)
    } else {
      return nil
    }
  }

  /// Whether the address is on the public internet, by IANA's registries of special addresses. An address that contains
  /// an IPv4 address (mapped, NAT64, 6to4) is public if that one is.
  public var isPublic: Bool {
    switch self {
    case .v4(let bytes): bytes.count == 4 && !Self.specialV4.contains { $0.contains(bytes) }
    case .v6(let bytes):
      if bytes.count != 16 {
        false
      } else if let start = Self.carriersOfV4.first(where: { $0.prefix.contains(bytes) })?.start {
        IPAddress.v4(Array(bytes[start..<start + 4])).isPublic
      } else {
        Self.globalUnicast.contains(bytes) && !Self.specialV6.contains { $0.contains(bytes) }
      }
    }
  }

  private struct Prefix: Sendable {
    let bytes: [UInt8]
    let bits: Int

    init(_ text: String) {
      let parts = text.split(separator: "/")
      switch IPAddress(String(parts[0])) {
      case .v4(let bytes)?, .v6(let bytes)?: self.bytes = bytes
      case nil: preconditionFailure("\(text) is no prefix")
      }
      bits = Int(parts[1]) ?? 0
    }

    func contains(_ address: [UInt8]) -> Bool {
      guard address.count == bytes.count else { return false }
      return (0..<bits).allSatisfy { bit in
        let mask = UInt8(0x80) >> UInt8(bit & 7)
        return address[bit >> 3] & mask == bytes[bit >> 3] & mask
      }
    }
  }

  private static let specialV4 = [
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4",
    "240.0.0.0/4",
  ].map { Prefix($0) }

  private static let globalUnicast = Prefix("2000::/3")

  /// Teredo and other protocols (2001::/23), documentation, 6to4's relays excepted.
  private static let specialV6 = ["2001::/23", "2001:db8::/32", "3fff::/20"].map { Prefix($0) }

  /// Prefixes whose addresses contain an IPv4 address, and its offset.
  private static let carriersOfV4: [(prefix: Prefix, start: Int)] = [
    (Prefix("::ffff:0:0/96"), 12), (Prefix("64:ff9b::/96"), 12), (Prefix("2002::/16"), 2),
  ]
}

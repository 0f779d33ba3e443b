/// An absolute https address, parsed so strictly that no other parser can find a different host in it.
public struct HTTPSAddress: Sendable, Equatable {
  /// The host in lower case, without its port.
  public let host: String

  /// nil if the text is not an absolute https address, or if its host is ambiguous.
  public init?(_ text: String) {
    let scheme = "https://"
    let bytes = Array(text.utf8)
    // No spaces, control characters or backslashes.
    guard bytes.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") }),
      String(decoding: bytes.prefix(scheme.utf8.count), as: UTF8.self).lowercased() == scheme
    else { return nil }
    let authority = bytes.dropFirst(scheme.utf8.count).prefix { !"/?#".utf8.contains($0) }
    var host = authority
    if let colon = authority.lastIndex(of: 0x3A), authority.last != 0x5D {
      let port = authority[(colon + 1)...]
      guard port.count <= 5, port.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      host = authority[..<colon]
    }
    guard Self.isHost(host) else { return nil }
    self.host = String(decoding: host, as: UTF8.self).lowercased()
  }

  /// Letters, digits, dots and hyphens, or an IPv6 address in brackets. A name in another script must be in its ASCII
  /// form.
  private static func isHost(_ host: ArraySlice<UInt8>) -> Bool {
    guard let first = host.first, let last = host.last else { return false }
    func isAlphanumeric(_ byte: UInt8) -> Bool {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
      default: false
      }
    }
    if first == 0x5B {
      return last == 0x5D && host.count > 3
        && host.dropFirst().dropLast().allSatisfy { isAlphanumeric($0) || $0 == 0x3A || $0 == 0x2E }
    }
    return isAlphanumeric(first) && isAlphanumeric(last)
      && host.allSatisfy { isAlphanumeric($0) || $0 == 0x2D || $0 == 0x2E || $0 == 0x5F } && !isOddNumber(host)
  }

  /// Parsers treat a name whose last label is a number as an IPv4 address (WHATWG URL, "ends in a number"): `344` is
  /// 0.0.1.88. Only four decimal numbers without leading zeros are unambiguous.
  private static func isOddNumber(_ host: ArraySlice<UInt8>) -> Bool {
    let labels = host.split(separator: 0x2E, omittingEmptySubsequences: false)
    func isDecimal(_ label: ArraySlice<UInt8>) -> Bool { label.allSatisfy { (0x30...0x39).contains($0) } }
    guard let last = labels.last, isDecimal(last) || last.starts(with: "0x".utf8) || last.starts(with: "0X".utf8) else {
      return false
    }
    return labels.count != 4
      || !labels.allSatisfy { label in
        (1...3).contains(label.count) && isDecimal(label) && (label.count == 1 || label.first != 0x30)
          && UInt8(String(decoding: label, as: UTF8.self)) != nil
      }
  }

  /// Whether the host equals the pattern or, for `*.example.com`, is a name below it.
  public func isOf(_ pattern: String) -> Bool {
    let pattern = pattern.lowercased()
    guard pattern.hasPrefix("*.") else { return host == pattern }
    return host.hasSuffix(pattern.dropFirst()) && host.utf8.count > pattern.utf8.count - 1
  }
}

/// The address of a picture, as a producer gives it.
public enum PictureAddress {
  /// Whether a device may load the address: an absolute https address in ASCII. A path, `data:`, `javascript:` or plain
  /// http is not allowed.
  public static func isUsable(_ address: String) -> Bool {
    HTTPSAddress(address) != nil && address.utf8.allSatisfy(isOfAddress)
  }

  /// The address if a device may load it, nil otherwise.
  public static func usable(_ address: String?) -> String? { address.flatMap { isUsable($0) ? $0 : nil } }

  /// Whether a URL may contain the character (RFC 3986): every printable ASCII character except these.
  private static func isOfAddress(_ byte: UInt8) -> Bool {
    guard byte > 0x20, byte < 0x7F else { return false }
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
      UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
      return false
    default: return true
    }
  }
}

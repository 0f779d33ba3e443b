/// An address of a picture, as a producer gives it.
public enum PictureAddress {
  /// Whether a device may be sent there: an absolute https address in ASCII. Anything else (a path, `data:`, `javascript:`, plain http) is
  /// nothing that a phone may load.
  public static func isUsable(_ address: String) -> Bool {
    HTTPSAddress(address) != nil && address.utf8.allSatisfy(isOfAddress)
  }

  /// The address where a device may be sent there, else nil.
  public static func usable(_ address: String?) -> String? { address.flatMap { isUsable($0) ? $0 : nil } }

  /// Characters that a URL may have (RFC 3986): all printable ones of ASCII but these.
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

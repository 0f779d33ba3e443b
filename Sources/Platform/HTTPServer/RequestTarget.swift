/// The path and query of a request line.
struct RequestTarget: Sendable {
  /// As sent, with percent escapes.
  let path: String
  /// Split at slashes, then decoded: an escaped slash stays within its segment.
  let segments: [String]
  let query: [String: String]

  /// Nil if the target is not a path, or if an escape is malformed or not UTF-8.
  ///
  /// It is read by scalars: as characters, a slash and the combining mark behind it would be one, and no slash.
  init?(_ target: String) {
    let target = Self.withoutAuthority(Substring(target).unicodeScalars)
    guard target.first == "/" else { return nil }
    let question = target.firstIndex(of: "?")
    path = String(target[..<(question ?? target.endIndex)])
    var segments: [String] = []
    for segment in Self.segments(of: path) {
      guard let decoded = Self.decoded(segment, plusIsBlank: false) else { return nil }
      segments.append(decoded)
    }
    self.segments = segments
    var query: [String: String] = [:]
    if let question {
      for pair in target[target.index(after: question)...].split(separator: "&") {
        let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = Self.decoded(String(parts[0]), plusIsBlank: true),
          let value = Self.decoded(parts.count > 1 ? String(parts[1]) : "", plusIsBlank: true)
        else { return nil }
        query[name] = value
      }
    }
    self.query = query
  }

  static func segments(of path: String) -> [String] {
    path.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map { String($0) }
  }

  /// A proxy may send the absolute form, `http://host/path`.
  private static func withoutAuthority(_ target: Substring.UnicodeScalarView) -> Substring.UnicodeScalarView {
    guard target.first != "/", let scheme = target.firstRange(of: "://".unicodeScalars) else { return target }
    let rest = target[scheme.upperBound...]
    return rest.firstIndex(of: "/").map { rest[$0...] } ?? Substring("/").unicodeScalars
  }

  private static func decoded(_ text: String, plusIsBlank: Bool) -> String? {
    let bytes = Array(text.utf8)
    guard bytes.contains(where: { $0 == 0x25 || $0 == 0x2b }) else { return text }
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      switch bytes[index] {
      case 0x25:
        guard index + 2 < bytes.count, let high = digit(bytes[index + 1]), let low = digit(bytes[index + 2]) else {
          return nil
        }
        decoded.append(high << 4 | low)
        index += 3
      case 0x2b where plusIsBlank:
        decoded.append(0x20)
        index += 1
      default:
        decoded.append(bytes[index])
        index += 1
      }
    }
    return String(validating: decoded, as: UTF8.self)
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 48...57: byte - 48
    case 65...70: byte - 55
    case 97...102: byte - 87
    default: nil
    }
  }
}

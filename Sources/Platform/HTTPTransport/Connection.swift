/// An open connection of a ``ConnectionSet``.
struct Connection {
  let socket: Int32
  /// When its last byte arrived, or it was opened; on ``MonotonicClock``.
  var lastHeard: UInt64
  /// An answer came over it by HTTP/2: it carries a probe beside its requests.
  var speaksHTTP2 = false
}

/// A connection that has given no byte for some time while a request on it waits.
struct Doubt {
  let socket: Int32
  let origin: String
  /// On ``MonotonicClock``.
  let since: UInt64
  /// A request that any server answers at once; absent where the connection is not known to carry a second one.
  let probe: Transfer?
}

/// The part of a URL that decides which connection is used.
enum Origin {
  /// Scheme, host and port as the URL spells them; without user, path and query, which may be secret.
  static func of(_ url: String) -> String {
    let bytes = Array(url.utf8)
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
      return ""
    }
    let authority = bytes[(colon + 3)...].prefix {
      $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#")
    }
    let host = authority.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false).last ?? []
    return (String(decoding: bytes[..<colon], as: UTF8.self) + "://" + String(decoding: host, as: UTF8.self))
      .lowercased()
  }
}

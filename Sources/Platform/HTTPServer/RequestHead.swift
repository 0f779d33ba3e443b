import CMicroHTTPD
import Glibc

/// A request's head: its headers, and how its body is framed.
struct RequestHead {
  /// The request line as libmicrohttpd keeps it.
  struct RequestLine {
    let method: UnsafePointer<CChar>
    let version: UnsafePointer<CChar>
  }

  let headers: HTTPHeaders
  let framing: Result<RequestFraming, RequestFraming.Fault>

  /// Reads the head of the connection's request, during the first call of the access handler.
  init(of connection: Exchange.Connection, _ line: RequestLine) {
    let fields = Self.fields(of: connection)
    headers = HTTPHeaders(fields.map { (String(cString: $0.name), String(cString: $0.value)) })
    let end = line.method + nudge_mhd_head_size(connection.pointer)
    guard !Self.keepsHeadInPlace || HeadText.isVerbatim(fields, version: line.version, end: end) else {
      framing = .failure(
        RequestFraming.Fault(description: "a header line is folded, does not end in CR LF, or has a NUL"))
      return
    }
    do throws(RequestFraming.Fault) {
      framing = .success(
        try RequestFraming(
          version: String(cString: line.version),
          fields: fields.map { (String(cString: $0.name), Self.valueWithBlanks($0)) }))
    } catch {
      framing = .failure(error)
    }
  }

  /// libmicrohttpd before 1.0 accepts folded lines and lines that end in LF alone, even in strict mode. It parses the
  /// head within its buffer, so ``HeadText`` can detect them. Version 1.0 and later refuse them.
  private static let keepsHeadInPlace = String(cString: MHD_get_version()).hasPrefix("0.")

  /// A header's value with the spaces and tabs between it and the colon. Call it only for a verbatim head (``HeadText``).
  private static func valueWithBlanks(_ field: HeadText.Field) -> String {
    let start = keepsHeadInPlace ? field.name + strlen(field.name) + 1 : field.value
    return String(cString: start)
  }

  private static func fields(of connection: Exchange.Connection) -> [HeadText.Field] {
    var fields: [HeadText.Field] = []
    withUnsafeMutablePointer(to: &fields) { fields in
      _ = MHD_get_connection_values(
        connection.pointer, .HEADER_KIND,
        { context, _, name, value in
          // Every header has both. If one lacked a value, skipping it here would make `isVerbatim` refuse the head.
          guard let name, let value else { return .YES }
          context?.assumingMemoryBound(to: [HeadText.Field].self).pointee
            .append(HeadText.Field(name: name, value: value))
          return .YES
        }, fields)
    }
    return fields
  }

  static func peer(of connection: Exchange.Connection) -> String {
    nudge_mhd_peer(connection.pointer).map { SocketAddressText.of($0) } ?? "unknown"
  }
}

/// A head in libmicrohttpd's buffer, where NULs have replaced the colon after each name and the CR LF of each line.
///
/// The text shows what the parsed fields do not: a folded line (its name was moved, or more than its value follows), a
/// line that ends in LF alone (one NUL instead of two), or a NUL that cut a value short.
struct HeadText {
  struct Field {
    let name: UnsafePointer<CChar>
    let value: UnsafePointer<CChar>
  }

  private var place: UnsafePointer<CChar>
  private let end: UnsafePointer<CChar>

  /// Whether the text from the request line's version to the end consists of exactly these fields, one per line.
  static func isVerbatim(
    _ fields: [Field], version: UnsafePointer<CChar>, end: UnsafePointer<CChar>
  ) -> Bool {
    var text = HeadText(place: version, end: end)
    guard text.skip(version), text.skipLineEnd() else { return false }
    for field in fields {
      guard text.skip(field.name), text.skipNUL() else { return false }
      text.skipBlanks()
      guard text.skip(field.value), text.skipLineEnd() else { return false }
    }
    return text.skipLineEnd() && text.place == end
  }

  private mutating func skip(_ string: UnsafePointer<CChar>) -> Bool {
    guard string == place, place < end else { return false }
    place += strlen(string)
    return place < end
  }

  private mutating func skipNUL() -> Bool {
    guard place < end, place.pointee == 0 else { return false }
    place += 1
    return true
  }

  private mutating func skipLineEnd() -> Bool { skipNUL() && skipNUL() }

  private mutating func skipBlanks() {
    while place < end, place.pointee == 0x20 || place.pointee == 0x09 { place += 1 }
  }
}

/// How a request delimits its body (RFC 9112, section 6).
///
/// If a proxy and a server disagree about where a request ends, an attacker can hide a second request in its body:
/// request smuggling. RFC 9112 (6.1, 6.3) leaves some cases to the recipient. This server accepts only requests that
/// every recipient delimits alike.
enum RequestFraming: Equatable {
  /// No body.
  case none
  /// Content-Length, in bytes.
  case length(Int)
  /// Transfer-Encoding: chunked.
  case chunked

  /// The value of Content-Length; nil without one.
  var length: Int? {
    if case .length(let length) = self { length } else { nil }
  }

  /// Why a request is refused, in words for the client.
  struct Fault: Error, Equatable, CustomStringConvertible {
    let description: String
  }

  /// Reads the framing of a request.
  /// - Parameters:
  ///   - version: The version in the request line: `HTTP/1.1`.
  ///   - fields: All header lines in order, with values as sent, including leading spaces and tabs.
  init(version: String, fields: [(name: String, value: String)]) throws(Fault) {
    var lengths: [Substring] = []
    var codings: [Substring] = []
    var hosts = 0
    for (name, value) in fields {
      guard Self.isToken(name) else {
        throw Fault(description: "a header name has a character that is not allowed, such as a space before its colon")
      }
      guard value.utf8.allSatisfy({ ($0 >= 0x20 && $0 != 0x7f) || $0 == 0x09 }) else {
        throw Fault(description: "the value of \(name) has a control character")
      }
      switch name.lowercased() {
      case "content-length": lengths.append(Self.withoutBlanks(value))
      case "transfer-encoding": codings.append(Self.withoutBlanks(value))
      case "host": hosts += 1
      default: break
      }
    }
    if hosts > 1 { throw Fault(description: "there is more than one Host header") }
    if let coding = codings.first {
      guard lengths.isEmpty else { throw Fault(description: "send Content-Length or Transfer-Encoding, not both") }
      guard codings.count == 1, coding.lowercased() == "chunked" else {
        throw Fault(description: "this server accepts one Transfer-Encoding header, and only with the value chunked")
      }
      guard version == "HTTP/1.1" else { throw Fault(description: "Transfer-Encoding needs HTTP/1.1") }
      self = .chunked
    } else if let text = lengths.first {
      guard lengths.count == 1 else { throw Fault(description: "there is more than one Content-Length header") }
      guard text.utf8.allSatisfy({ (48...57).contains($0) }), text.utf8.count <= 18, let length = Int(text) else {
        throw Fault(description: "Content-Length must be one decimal number of at most 18 digits, without a sign")
      }
      self = .length(length)
    } else {
      self = .none
    }
  }

  /// Removes spaces, not tabs. RFC 9112 allows both around a value, but some recipients read `Transfer-Encoding:\tchunked`
  /// as an unknown coding, so this server refuses it. libmicrohttpd 1.0 removes the tab itself and the request passes.
  /// ``HTTPServer`` closes the connection after a chunked body, so it serves nothing that others read as a next request.
  private static func withoutBlanks(_ value: String) -> Substring {
    var text = value[...]
    while text.utf8.first == 0x20 { text.removeFirst() }
    while text.utf8.last == 0x20 { text.removeLast() }
    return text
  }

  /// Whether a header name is a token (RFC 9110, section 5.6.2).
  private static func isToken(_ name: String) -> Bool {
    !name.isEmpty
      && name.utf8.allSatisfy { byte in
        switch byte {
        case 48...57, 65...90, 97...122: true
        case 0x21, 0x23...0x27, 0x2a, 0x2b, 0x2d, 0x2e, 0x5e...0x60, 0x7c, 0x7e: true
        default: false
        }
      }
  }
}

/// How the length of a request's body is given.
///
/// A proxy and a server that disagree about where a request ends take different bytes for the next one: request smuggling. RFC 9112
/// (6.1, 6.3) leaves some of the deciding to the recipient; this server accepts only requests that every recipient reads alike.
enum RequestFraming: Equatable {
  /// No body.
  case none
  /// Content-Length, in bytes.
  case length(Int)
  /// Transfer-Encoding: chunked.
  case chunked

  /// The length of the body, if it is given.
  var length: Int? {
    if case .length(let length) = self { length } else { nil }
  }

  /// Why a request is refused, for the client.
  struct Fault: Error, Equatable, CustomStringConvertible {
    let description: String
  }

  /// Reads the framing of a request.
  /// - Parameters:
  ///   - version: From the request line: `HTTP/1.1`.
  ///   - fields: All header lines in order; the values as sent, leading blanks and tabs included.
  init(version: String, fields: [(name: String, value: String)]) throws(Fault) {
    var lengths: [Substring] = []
    var codings: [Substring] = []
    var hosts = 0
    for (name, value) in fields {
      guard Self.isToken(name) else {
        throw Fault(description: "a header name has a character that is not allowed, such as a blank before its colon")
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
        throw Fault(description: "the only Transfer-Encoding this server reads is one header with the value chunked")
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

  /// Only blanks: RFC 9112 allows tabs too, but other recipients take `Transfer-Encoding:\tchunked` for an unknown coding. libmicrohttpd
  /// 1.0 takes tabs away itself; the connection ends with a chunked body, so what others take for the next request is not served.
  private static func withoutBlanks(_ value: String) -> Substring {
    var text = value[...]
    while text.utf8.first == 0x20 { text.removeFirst() }
    while text.utf8.last == 0x20 { text.removeLast() }
    return text
  }

  /// RFC 9110, 5.6.2.
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

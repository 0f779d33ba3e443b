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

  /// libmicrohttpd before 1.0 accepts folded lines and lines that end in LF alone, even when told to be strict. It parses the head
  /// within its buffer, so ``HeadText`` can tell. From 1.0 on it refuses them itself.
  private static let keepsHeadInPlace = String(cString: MHD_get_version()).hasPrefix("0.")

  /// A header's value with the blanks and tabs between it and the colon. Only of use in a head that is verbatim.
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
          // Both are there for headers; a field without either would make the head differ from its text.
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

/// A head in libmicrohttpd's buffer, where NULs have replaced the colon behind each name and the CR LF of each line.
///
/// Reading it again shows what the parsed fields do not: a folded line (whose name is moved elsewhere, or is followed by more than
/// its value), a line that ends in LF alone (one NUL instead of two), a NUL that cut a value short.
struct HeadText {
  struct Field {
    let name: UnsafePointer<CChar>
    let value: UnsafePointer<CChar>
  }

  private var place: UnsafePointer<CChar>
  private let end: UnsafePointer<CChar>

  /// Whether the text from the request line's version to the end consists of these fields, one a line.
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

import CMicroHTTPD

/// What libmicrohttpd knows of a request before its body.
enum RequestHead {
  static func headers(of connection: Exchange.Connection) -> HTTPHeaders {
    var all: [(name: String, value: String)] = []
    withUnsafeMutablePointer(to: &all) { all in
      _ = MHD_get_connection_values(
        connection.pointer, .HEADER_KIND,
        { context, _, name, value in
          guard let name else { return .YES }
          context?.assumingMemoryBound(to: [(name: String, value: String)].self).pointee
            .append((String(cString: name), value.map { String(cString: $0) } ?? ""))
          return .YES
        }, all)
    }
    return HTTPHeaders(all)
  }

  static func peer(of connection: Exchange.Connection) -> String {
    nudge_mhd_peer(connection.pointer).map { SocketAddressText.of($0) } ?? "unknown"
  }
}

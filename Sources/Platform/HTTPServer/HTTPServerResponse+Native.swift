import CMicroHTTPD

extension HTTPServerResponse {
  /// libmicrohttpd's answer, to be destroyed by the caller. Nil if a header cannot be sent.
  func native() -> OpaquePointer? {
    // A line end in a header would start another header; libmicrohttpd silently replaces it.
    for (name, value) in headers where (name + value).utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) {
      return nil
    }
    var body = body
    guard
      let response = stream.map({ $0.response() })
        ?? MHD_create_response_from_buffer(body.count, &body, .RESPMEM_MUST_COPY)
    else { return nil }
    for (name, value) in headers where MHD_add_response_header(response, name, value) != .YES {
      MHD_destroy_response(response)
      return nil
    }
    return response
  }
}

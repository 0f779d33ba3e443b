internal import CLibcurl
internal import Foundation

/// A queued request with its completion.
struct Submission {
  let request: HTTPRequest
  let completion: HTTPClient.Completion
  /// The request's deadline on ``MonotonicClock``; its time runs from `send`.
  var deadline: UInt64 = 0
}

/// A pooled libcurl easy handle and the bytes of the request it carries.
///
/// Owned by the client's thread. Options that stay the same between requests (URL, headers, method) are set only when
/// they change, because libcurl parses a URL when it is set, and a header list costs two allocations per field.
final class Transfer {
  let easy: UnsafeMutableRawPointer
  private(set) var submission: Submission?
  /// The ``ConnectionSet/id`` of the set that last used it. Its socket callbacks point to that set.
  var connectionSet: Int?
  /// When its request was given to libcurl, on ``MonotonicClock``.
  var startedAt: UInt64 = 0
  /// Whether it is a probe for a connection instead of a caller's request.
  var isProbe = false

  private let maxResponseBytes: Int
  private(set) var url: String?
  private var headers: [(String, String)] = []
  private var headerList: UnsafeMutablePointer<curl_slist>?
  private var method: HTTPRequest.Method?
  private var timeoutMilliseconds = -1
  /// The request's body. libcurl reads it until the handle is removed, so it cannot be in an array, whose storage may
  /// move.
  private var outgoing = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 1024)
  private var responseBody: [UInt8] = []
  private var responseTooLarge = false
  /// An address of the host was refused.
  private var addressRefused = false
  /// Whether libcurl has begun to write the request. It repeats one whose connection had ended before it was used again.
  private var wasWritten = false
  /// ``HTTPRequest/mayStart`` returned false when libcurl was about to write the request.
  private var isWithheld = false

  /// Creates a handle with the options that all requests share.
  init(_ configuration: HTTPClientConfiguration, share: UnsafeMutableRawPointer) throws(HTTPTransportError) {
    guard let easy = curl_easy_init() else {
      throw HTTPTransportError(kind: .other, message: "libcurl cannot make an easy handle: out of memory")
    }
    self.easy = easy
    maxResponseBytes = configuration.maxResponseBytes
    let context = Unmanaged.passUnretained(self).toOpaque()
    var codes = [
      nudge_easy_set_pointer(easy, CURLOPT_PRIVATE, context),
      nudge_easy_set_pointer(easy, CURLOPT_SHARE, share),
      // libcurl must not use signals, which could reach other threads. The client's thread blocks SIGPIPE instead.
      nudge_easy_set_long(easy, CURLOPT_NOSIGNAL, 1),
      nudge_easy_set_long(easy, CURLOPT_FOLLOWLOCATION, 0),
      nudge_easy_set_string(easy, CURLOPT_PROTOCOLS_STR, "http,https"),
      nudge_easy_set_long(easy, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
      nudge_easy_set_long(easy, CURLOPT_SSL_VERIFYPEER, 1),
      nudge_easy_set_long(easy, CURLOPT_SSL_VERIFYHOST, 2),
      nudge_easy_set_long(easy, CURLOPT_PIPEWAIT, 1),
      nudge_easy_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, configuration.connectTimeout.wholeMilliseconds),
      nudge_easy_on_body(easy, Transfer.receive, context),
      nudge_easy_on_request(easy, Transfer.mayWrite, context),
      nudge_easy_on_sockets(easy, ConnectionSet.socketOpened, ConnectionSet.closeSocket),
    ]
    if let file = configuration.caFile {
      codes.append(nudge_easy_set_string(easy, CURLOPT_CAINFO, file))
    }
    if configuration.addresses == .publicOnly {
      codes.append(nudge_easy_on_open(easy, Transfer.openSocket, context))
      // An empty text makes libcurl ignore a proxy in the environment, which would connect instead of this process.
      codes.append(nudge_easy_set_string(easy, CURLOPT_PROXY, ""))
    }
    if let failed = codes.first(where: { $0 != CURLE_OK }) {
      throw HTTPTransportError(
        kind: .other, curlCode: Int(failed.rawValue),
        message: "libcurl \(CurlLibrary.version.text) refuses an option: \(CurlLibrary.text(of: failed))")
    }
  }

  deinit {
    curl_easy_cleanup(easy)
    curl_slist_free_all(headerList)
    outgoing.deallocate()
  }

  /// Loads the next request. After an error the transfer is empty again.
  func load(
    _ next: Submission, plain: HTTPClientConfiguration.PlainProtocol, remaining: Int
  ) throws(HTTPTransportError) {
    let request = next.request
    if url != request.url {
      // The URL is cleared first, so that after a failure the old one does not look as if it were set.
      url = nil
      try require(nudge_easy_set_string(easy, CURLOPT_URL, request.url), "URL")
      let isPlain = request.url.utf8.prefix(7).elementsEqual("http://".utf8) { $0 == $1 || $0 | 0x20 == $1 }
      let version =
        isPlain
        ? (plain == .http1 ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE) : CURL_HTTP_VERSION_2TLS
      try require(nudge_easy_set_long(easy, CURLOPT_HTTP_VERSION, Int(version)), "HTTP version")
      url = request.url
    }
    if headerList == nil || !headers.elementsEqual(request.headers, by: ==) {
      try replaceHeaders(request.headers)
    }
    if method != request.method {
      method = nil
      try require(nudge_easy_set_long(easy, request.method == .get ? CURLOPT_HTTPGET : CURLOPT_POST, 1), "method")
      method = request.method
    }
    if request.method == .post {
      try hold(request.body)
    }
    if timeoutMilliseconds != remaining {
      try require(nudge_easy_set_long(easy, CURLOPT_TIMEOUT_MS, remaining), "time-out")
      timeoutMilliseconds = remaining
    }
    responseBody = []
    responseTooLarge = false
    addressRefused = false
    wasWritten = false
    isWithheld = false
    submission = next
  }

  /// Empties the transfer and returns the result of its request.
  func finish(
    _ code: CURLcode, keptHeaders: [String]
  ) -> (HTTPClient.Completion, Result<HTTPResponse, HTTPTransportError>)? {
    guard let submission else { return nil }
    self.submission = nil
    isProbe = false
    var status = 0
    nudge_easy_get_long(easy, CURLINFO_RESPONSE_CODE, &status)
    let error = code == CURLE_OK ? nil : self.error(code, status: status)
    // Only statuses from 200 are final; a 1xx precedes the final answer.
    guard status >= 200 else {
      let missing = HTTPTransportError(
        kind: .reset, message: "the server ended the exchange without an answer", mayHaveBeenDelivered: true)
      return (submission.completion, .failure(error ?? missing))
    }
    var version = 0
    nudge_easy_get_long(easy, CURLINFO_HTTP_VERSION, &version)
    let response = HTTPResponse(
      status: status, headers: HTTPResponse.Headers(keptHeaders.compactMap(header)), body: responseBody,
      httpVersion: version >= Int(CURL_HTTP_VERSION_3)
        ? .other : version >= Int(CURL_HTTP_VERSION_2_0) ? .http2 : .http1, transferError: error)
    responseBody = []
    return (submission.completion, .success(response))
  }

  /// Empties the transfer of a request that the client itself ends.
  func abandon() -> HTTPClient.Completion? {
    defer {
      submission = nil
      isProbe = false
    }
    return submission?.completion
  }

  /// Whether bytes of the request may have been sent. True once the connection was established.
  var mayHaveSent: Bool {
    var beforeTransfer: curl_off_t = 0
    nudge_easy_get_size(easy, CURLINFO_PRETRANSFER_TIME_T, &beforeTransfer)
    return beforeTransfer > 0
  }

  /// The local port of the request's connection; nil until it has one.
  var localPort: Int? {
    var port = 0
    nudge_easy_get_long(easy, CURLINFO_LOCAL_PORT, &port)
    return port > 0 ? port : nil
  }

  private func error(_ code: CURLcode, status: Int) -> HTTPTransportError {
    if responseTooLarge {
      return HTTPTransportError(
        kind: .responseTooLarge, curlCode: Int(code.rawValue),
        message: "the answer's body exceeds \(maxResponseBytes) bytes", responseStarted: true,
        mayHaveBeenDelivered: true)
    }
    if isWithheld {
      guard wasWritten else { return .withheld }
      return HTTPTransportError(
        kind: .reset, message: "its connection ended without an answer, and the request may no longer be repeated",
        mayHaveBeenDelivered: true)
    }
    let kind = HTTPTransportError.Kind(code)
    if addressRefused, kind == .connectionFailed {
      return HTTPTransportError(
        kind: .addressRefused, curlCode: Int(code.rawValue),
        message: "no address of the host is public; private networks, this host and reserved addresses are refused")
    }
    return HTTPTransportError(
      kind: kind, curlCode: Int(code.rawValue), message: CurlLibrary.text(of: code),
      responseStarted: status > 0, mayHaveBeenDelivered: status > 0 || mayHaveSent)
  }

  private func header(_ name: String) -> (name: String, value: String)? {
    var found: UnsafeMutablePointer<curl_header>?
    guard curl_easy_header(easy, name, 0, UInt32(CURLH_HEADER), -1, &found) == CURLHE_OK,
      let value = found?.pointee.value
    else { return nil }
    return (name, String(cString: value))
  }

  private func replaceHeaders(_ fields: [(String, String)]) throws(HTTPTransportError) {
    var list: UnsafeMutablePointer<curl_slist>?
    // "name:" keeps libcurl from adding its own field: a 100-continue round trip, */* or a form content type.
    var lines = ["expect:"]
    for unwanted in ["accept", "content-type"] where !fields.contains(where: { $0.0.lowercased() == unwanted }) {
      lines.append(unwanted + ":")
    }
    for (name, value) in fields {
      guard !name.isEmpty, name.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x3A && $0 < 0x7F }),
        value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 })
      else {
        curl_slist_free_all(list)
        throw HTTPTransportError(
          kind: .invalidRequest, message: "a header has a character that cannot be sent, such as a line break")
      }
      // "name;" makes libcurl send a field with an empty value.
      lines.append(value.isEmpty ? name + ";" : name + ": " + value)
    }
    for line in lines {
      guard let longer = curl_slist_append(list, line) else {
        curl_slist_free_all(list)
        throw HTTPTransportError(kind: .other, message: "out of memory for headers")
      }
      list = longer
    }
    let code = nudge_easy_set_pointer(easy, CURLOPT_HTTPHEADER, list)
    curl_slist_free_all(headerList)
    headerList = list
    headers = fields
    try require(code, "headers")
  }

  private func hold(_ body: [UInt8]) throws(HTTPTransportError) {
    if outgoing.count < body.count {
      outgoing.deallocate()
      outgoing = .allocate(capacity: max(body.count, 2 * outgoing.count))
    }
    _ = outgoing.update(fromContentsOf: body)
    try require(nudge_easy_set_pointer(easy, CURLOPT_POSTFIELDS, outgoing.baseAddress), "body")
    try require(nudge_easy_set_size(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count)), "body")
  }

  private func require(_ code: CURLcode, _ what: String) throws(HTTPTransportError) {
    guard code != CURLE_OK else { return }
    throw HTTPTransportError(
      kind: .invalidRequest, curlCode: Int(code.rawValue),
      message: "libcurl refuses the request's \(what): \(CurlLibrary.text(of: code))")
  }

  /// libcurl's callback before a connection: creates the socket unless the address is not public.
  private static let openSocket:
    @convention(c) (UnsafeMutableRawPointer?, curlsocktype, UnsafeMutablePointer<curl_sockaddr>?) -> curl_socket_t = {
      context, _, address in
      guard let context, let address, let bytes = nudge_sockaddr_bytes(address) else { return CURL_SOCKET_BAD }
      let isPublic = PublicAddress.isPublic(
        family: address.pointee.family, UnsafeRawBufferPointer(start: bytes, count: Int(address.pointee.addrlen)))
      guard isPublic else {
        Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue().addressRefused = true
        return CURL_SOCKET_BAD
      }
      // Child processes do not inherit the socket.
      let type = address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
      return socket(address.pointee.family, type, address.pointee.protocol)
    }

  /// libcurl's callback before it writes a request, when its connection is established. The request's condition may have
  /// changed since it was given to libcurl: a handshake takes time, and a process can be stopped in between.
  private static let mayWrite:
    @convention(c) (
      UnsafeMutableRawPointer?, UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<CChar>?, Int32, Int32
    ) -> Int32 = { context, _, _, _, _ in
      guard let context else { return Int32(CURL_PREREQFUNC_OK) }
      let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
      if let mayStart = transfer.submission?.request.mayStart, !mayStart() {
        transfer.isWithheld = true
        return Int32(CURL_PREREQFUNC_ABORT)
      }
      transfer.wasWritten = true
      return Int32(CURL_PREREQFUNC_OK)
    }

  /// libcurl's write callback: appends to the body. It ends the transfer by accepting fewer bytes than offered.
  private static let receive: @convention(c) (UnsafeMutablePointer<CChar>?, Int, Int, UnsafeMutableRawPointer?) -> Int =
    {
      bytes, size, count, context in
      guard let bytes, let context else { return 0 }
      let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
      let length = size * count
      let room = transfer.maxResponseBytes - transfer.responseBody.count
      transfer.responseBody.append(
        contentsOf: UnsafeRawBufferPointer(start: bytes, count: min(length, max(room, 0))))
      transfer.responseTooLarge = length > room
      return length > room ? 0 : length
    }
}

import Foundation
import Glibc

/// A blocking HTTP client on a plain socket, so that tests control every byte. Fails after ten seconds without a byte.
public final class SocketClient {
  /// A failure of the connection or of the answer.
  public struct Failure: Error, CustomStringConvertible {
    /// In words.
    public let description: String
  }

  /// An answer.
  public struct Answer {
    /// Its status.
    public let status: Int
    /// Its headers, names in lower case.
    public let headers: [String: String]
    /// Its body.
    public let body: String
  }

  private let descriptor: Int32
  private var received: [UInt8] = []

  /// Connects, from `127.0.0.host`.
  public init(port: Int, from host: UInt8 = 1) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    // Less than the 30 s after which a server closes a slow connection: one that it should close at once must not pass by that.
    var timeout = timeval(tv_sec: 25, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(UInt16(port).bigEndian)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    if host != 1 {
      var own = sockaddr_in()
      own.sin_family = sa_family_t(AF_INET)
      own.sin_addr.s_addr = (UInt32(0x7f00_0000) | UInt32(host)).bigEndian
      let bound = withUnsafePointer(to: &own) { own in
        own.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      guard bound == 0 else { throw Failure(description: "bind: \(String(cString: strerror(errno)))") }
    }
    let connected = withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0 else {
      let reason = String(cString: strerror(errno))
      close(descriptor)
      throw Failure(description: "connect: \(reason)")
    }
  }

  deinit { close(descriptor) }

  /// Sends a text.
  public func send(_ text: String) throws { try send(bytes: Array(text.utf8)) }

  /// Sends bytes.
  public func send(bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw Failure(description: "send: \(String(cString: strerror(errno)))") }
      sent += count
    }
  }

  /// Sends a request; `headers` are whole lines.
  public func request(_ method: String, _ target: String, headers: [String] = [], body: String? = nil) throws -> Answer
  {
    try request(method, target, headers: headers, bytes: body.map { Array($0.utf8) })
  }

  /// Sends a request whose body is no text.
  public func request(_ method: String, _ target: String, headers: [String] = [], bytes: [UInt8]?) throws -> Answer {
    var lines = ["\(method) \(target) HTTP/1.1", "Host: localhost"] + headers
    if let bytes { lines.append("Content-Length: \(bytes.count)") }
    try send(bytes: Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + (bytes ?? []))
    return try answer(hasBody: method != "HEAD")
  }

  /// Requests a page with HTTP/1.0, whose end is that of the connection, and returns its body with any status.
  public func page(_ target: String) throws -> String {
    try send("GET \(target) HTTP/1.0\r\nHost: localhost\r\n\r\n")
    while try receive() {}
    guard let end = headEnd() else { throw Failure(description: "closed before an answer") }
    return String(decoding: received[(end + 4)...], as: UTF8.self)
  }

  /// Reads one answer.
  public func answer(hasBody: Bool = true) throws -> Answer {
    var end = headEnd()
    while end == nil {
      guard try receive() else { throw Failure(description: "closed before an answer") }
      end = headEnd()
    }
    let head = String(decoding: received[..<(end ?? 0)], as: UTF8.self)
    received.removeFirst((end ?? 0) + 4)
    var lines = head.components(separatedBy: "\r\n")[...]
    let statusLine = lines.removeFirst().split(separator: " ")
    guard statusLine.count > 1, let status = Int(statusLine[1]) else {
      throw Failure(description: "no status: \(head)")
    }
    var headers: [String: String] = [:]
    for line in lines {
      let parts = line.split(separator: ":", maxSplits: 1)
      headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
    }
    let length = hasBody && status != 100 ? Int(headers["content-length"] ?? "0") ?? 0 : 0
    while received.count < length {
      guard try receive() else { throw Failure(description: "closed within the body") }
    }
    let body = String(decoding: received[..<length], as: UTF8.self)
    received.removeFirst(length)
    return Answer(status: status, headers: headers, body: body)
  }

  /// Whether the peer closes the connection without a further byte.
  public func isClosedByPeer() throws -> Bool { try !receive() && received.isEmpty }

  /// The remaining bytes until the peer closes the connection, as text.
  /// - Throws: ``Failure`` if the peer leaves it open.
  public func rest() throws -> String {
    while try receive() {}
    return String(decoding: received, as: UTF8.self)
  }

  /// The next bytes, as they come; nil: the peer has closed the connection.
  public func next() throws -> [UInt8]? {
    if received.isEmpty { guard try receive() else { return nil } }
    defer { received = [] }
    return received
  }

  /// Ends the sending half.
  public func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

  private func headEnd() -> Int? {
    let mark = Array("\r\n\r\n".utf8)
    guard received.count >= mark.count else { return nil }
    return (0...(received.count - mark.count)).first { Array(received[$0..<($0 + mark.count)]) == mark }
  }

  /// False at the end of the stream, or when the peer has reset it.
  private func receive() throws -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    if count < 0, errno == ECONNRESET { return false }
    guard count >= 0 else { throw Failure(description: "receive: \(String(cString: strerror(errno)))") }
    received += buffer[..<count]
    return count > 0
  }
}

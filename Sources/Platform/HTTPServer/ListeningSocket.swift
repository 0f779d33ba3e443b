import CMicroHTTPD
import Glibc

/// A listening TCP socket, closed on deinit.
struct ListeningSocket: ~Copyable {
  let descriptor: Int32
  /// The bound host and port.
  let address: String
  let port: Int

  /// Resolves `HOST:PORT`, binds, listens.
  init(_ address: String) throws(HTTPServerError) {
    let (host, service) = try Self.split(address)
    var hints = addrinfo()
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var results: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host, service, &hints, &results)
    guard code == 0, let first = results else {
      throw .cannotListen(address: address, reason: String(cString: gai_strerror(code)))
    }
    defer { freeaddrinfo(results) }
    let options = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let descriptor = socket(first.pointee.ai_family, options, 0)
    guard descriptor >= 0 else { throw .cannotListen(address: address, reason: String(cString: strerror(errno))) }
    var one: Int32 = 1
    // A restart need not wait for the connections of the previous process.
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
    guard bind(descriptor, first.pointee.ai_addr, first.pointee.ai_addrlen) == 0, listen(descriptor, SOMAXCONN) == 0
    else {
      let reason = String(cString: strerror(errno))
      close(descriptor)
      throw .cannotListen(address: address, reason: reason)
    }
    self.descriptor = descriptor
    (self.address, port) = Self.boundAddress(of: descriptor)
  }

  deinit { close(descriptor) }

  /// Refuses further clients, which would otherwise wait in the queue.
  borrowing func refuse() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Checks the form without resolving the name.
  static func split(_ address: String) throws(HTTPServerError) -> (host: String, port: String) {
    guard let colon = address.lastIndex(of: ":") else { throw .invalidAddress(address) }
    let port = address[address.index(after: colon)...]
    var host = address[..<colon]
    guard port.utf8.allSatisfy({ (48...57).contains($0) }), UInt16(port) != nil, !host.isEmpty else {
      throw .invalidAddress(address)
    }
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
    } else if host.contains(":") {
      throw .invalidAddress(address)
    }
    return (String(host), String(port))
  }

  private static func boundAddress(of descriptor: Int32) -> (address: String, port: Int) {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutablePointer(to: &storage) { storage in
      storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        getsockname(descriptor, address, &length)
        let text = SocketAddressText.of(address)
        return (text, text.lastIndex(of: ":").flatMap { Int(text[text.index(after: $0)...]) } ?? 0)
      }
    }
  }
}

/// A socket address as `127.0.0.1:80` or `[::1]:80`.
enum SocketAddressText {
  static func of(_ address: UnsafePointer<sockaddr>) -> String {
    let isIPv6 = Int32(address.pointee.sa_family) == AF_INET6
    let length = isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
    var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    var port = [CChar](repeating: 0, count: Int(NI_MAXSERV))
    let code = getnameinfo(
      address, socklen_t(length), &host, socklen_t(host.count), &port, socklen_t(port.count),
      NI_NUMERICHOST | NI_NUMERICSERV)
    guard code == 0 else { return "unknown" }
    let hostText = text(host)
    return "\(isIPv6 ? "[\(hostText)]" : hostText):\(text(port))"
  }

  private static func text(_ characters: [CChar]) -> String {
    String(decoding: characters.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

extension HTTPServer {
  /// The form of an address to listen on, with examples.
  public static let addressForm = "HOST:PORT, such as 127.0.0.1:8080, [::1]:8080 or 0.0.0.0:8080"

  /// Whether a text has the form of an address to listen on. The name in it is not resolved.
  public static func isAddress(_ text: String) -> Bool { (try? ListeningSocket.split(text)) != nil }
}

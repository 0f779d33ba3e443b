import Glibc

/// Turns Nagle's algorithm off on the embedded broker's sockets.
///
/// librdkafka's mock cluster leaves it on: an answer that follows another waits until the client's kernel has acknowledged the first, which
/// takes 40 ms. A transaction of a few requests then takes 90 ms, and 3 ms without the algorithm. Accepted connections inherit the options
/// of their listening socket (tcp(7)).
enum PromptAnswers {
  private static let highestDescriptor: Int32 = 4_096

  /// Changes this process's sockets that listen on these addresses, `127.0.0.1:PORT` separated by commas. Returns the number of sockets
  /// found.
  static func turnOn(for bootstrapServers: String) -> Int {
    let ports = Set(
      bootstrapServers.split(separator: ",").compactMap { $0.split(separator: ":").last.flatMap { UInt16($0) } })
    var found = 0
    for descriptor in 3..<highestDescriptor {
      var isListening: Int32 = 0
      var size = socklen_t(MemoryLayout<Int32>.size)
      // The call fails for descriptors that are not sockets.
      guard getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size) == 0, isListening != 0,
        let port = port(of: descriptor), ports.contains(port)
      else { continue }
      var on: Int32 = 1
      setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, size)
      found += 1
    }
    return found
  }

  private static func port(of descriptor: Int32) -> UInt16? {
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
    }
    return code == 0 && address.sin_family == sa_family_t(AF_INET) ? UInt16(bigEndian: address.sin_port) : nil
  }
}

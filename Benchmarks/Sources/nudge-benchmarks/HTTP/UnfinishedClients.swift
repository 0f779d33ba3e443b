import Foundation

/// Clients that begin a request and never finish it: nothing, half a head or half a body. A client that is cut off connects again.
///
/// `@unchecked`: the lock is held for each use of what changes.
final class UnfinishedClients: @unchecked Sendable {
  private let lock = NSLock()
  private var sockets: [Int32] = []
  private var isClosed = false

  init(_ count: Int, port: Int, key: String) throws {
    let head =
      "POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer \(key)\r\n"
    let beginnings = ["", "POST /v1/ev", head, head + "Content-Length: 1000\r\n\r\n{\"schemaVersion\":1,"]
    for number in 0..<count { sockets.append(try Self.connect(port, beginnings[number % beginnings.count])) }
    let thread = Thread { [self] in
      while true {
        Thread.sleep(forTimeInterval: 0.5)
        lock.lock()
        defer { lock.unlock() }
        if isClosed { return }
        for (number, socket) in sockets.enumerated() {
          var byte: UInt8 = 0
          guard recv(socket, &byte, 1, Int32(MSG_DONTWAIT)) == 0 else { continue }
          _ = Glibc.close(socket)
          if let new = try? Self.connect(port, beginnings[number % beginnings.count]) { sockets[number] = new }
        }
      }
    }
    thread.start()
  }

  func close() {
    lock.lock()
    defer { lock.unlock() }
    isClosed = true
    for socket in sockets { _ = Glibc.close(socket) }
    sockets = []
  }

  private static func connect(_ port: Int, _ beginning: String) throws -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard descriptor >= 0, status == 0 else { throw BenchmarkFailure("no connection to port \(port): errno \(errno)") }
    let bytes = Array(beginning.utf8)
    _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    return descriptor
  }
}

internal import Glibc

/// An owned listening socket.
final class Listener: Sendable {
  let socket: Int32
  let isTLS: Bool
  /// The port, also if the system chose it.
  let port: UInt16

  init(_ address: FCMEmulatorAddress, isTLS: Bool) throws(FCMEmulatorError) {
    self.isTLS = isTLS
    let place = "\(address.host):\(address.port)"
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_port = address.port.bigEndian
    guard inet_pton(AF_INET, address.host, &name.sin_addr) == 1 else {
      throw FCMEmulatorError("cannot listen on \(place): give an IPv4 address and a port, such as 127.0.0.1:0")
    }
    socket = Glibc.socket(
      AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var on: Int32 = 1
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let handle = socket
    let isListening = withUnsafeMutablePointer(to: &name) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { general in
        bind(handle, general, size) == 0 && listen(handle, 4_096) == 0 && getsockname(handle, general, &size) == 0
      }
    }
    port = UInt16(bigEndian: name.sin_port)
    guard isListening else {
      let reason = String(cString: strerror(errno))
      close(socket)
      throw FCMEmulatorError("cannot listen on \(place): \(reason); port 0 lets the system choose a free one")
    }
  }

  deinit {
    close(socket)
  }
}

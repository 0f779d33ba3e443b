import Foundation
import Glibc

/// A socket that listens on a free port of 127.0.0.1. Its owner accepts connections, and closes it.
public struct LoopbackListener {
  /// The system gave no port.
  public struct Failure: Error {}

  /// The socket; programs that the test starts do not inherit it.
  public let descriptor: Int32
  /// Its port.
  public let port: UInt16

  /// Listens. Throws `Failure` where the system has no socket or port left.
  public init() throws(Failure) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && listen(descriptor, 8) == 0 && getsockname(descriptor, $0, &length) == 0
      }
    }
    guard isListening else {
      if descriptor >= 0 { Glibc.close(descriptor) }
      throw Failure()
    }
    self.descriptor = descriptor
    port = UInt16(bigEndian: address.sin_port)
  }
}

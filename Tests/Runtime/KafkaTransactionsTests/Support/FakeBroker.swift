import Foundation
import Synchronization

/// A listener on this machine that takes requests and answers them with whatever bytes a test says.
final class FakeBroker: Sendable {
  /// A request's key and correlation number; returns the bytes to send, length and all. nil: closes the connection. An
  /// empty array: says nothing.
  typealias Answer = @Sendable (_ key: Int16, _ correlation: Int32) -> [UInt8]?

  let port: Int32
  private let listener: Int32
  private let answer: Answer

  init(_ answer: @escaping Answer) {
    self.answer = answer
    #if os(Linux)
      listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      listener = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = listener
    withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = bind(listener, $0, size)
        _ = getsockname(listener, $0, &size)
      }
    }
    listen(listener, 16)
    port = Int32(UInt16(bigEndian: address.sin_port))
    Thread.detachNewThread { [self] in
      while case let connection = accept(listener, nil, nil), connection >= 0 {
        Thread.detachNewThread { [self] in serve(connection) }
      }
    }
  }

  /// Takes no more connections.
  func close() { shutdown(listener, Int32(SHUT_RDWR)) }

  private func serve(_ connection: Int32) {
    defer { Foundation.close(connection) }
    while let length = read(4, from: connection), let body = read(Int(number(length)), from: connection) {
      let key = Int16(truncatingIfNeeded: number(Array(body[..<2])))
      guard let bytes = answer(key, number(Array(body[4..<8]))) else { return }
      var sent = 0
      while sent < bytes.count {
        let count = bytes.withUnsafeBytes {
          send(connection, $0.baseAddress! + sent, $0.count - sent, Int32(MSG_NOSIGNAL))
        }
        if count <= 0 { return }
        sent += count
      }
    }
  }

  private func number(_ bytes: [UInt8]) -> Int32 { bytes.reduce(0) { $0 << 8 | Int32($1) } }

  private func read(_ count: Int, from connection: Int32) -> [UInt8]? {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while bytes.count < count {
      let got = recv(connection, &buffer, min(buffer.count, count - bytes.count), 0)
      if got <= 0 { return nil }
      bytes += buffer[..<got]
    }
    return bytes
  }
}

import Foundation
import Glibc
import TestSupport
import Testing

/// Echoes every byte.
private final class EchoServer: Sendable {
  let port: UInt16
  private let listener: Int32

  init() throws {
    let listening = try LoopbackListener()
    let listener = listening.descriptor
    self.listener = listener
    port = listening.port
    Thread.detachNewThread {
      while case let connection = accept(listener, nil, nil), connection >= 0 {
        Thread.detachNewThread {
          var byte: UInt8 = 0
          while recv(connection, &byte, 1, 0) == 1, send(connection, &byte, 1, Int32(MSG_NOSIGNAL)) == 1 {}
          Glibc.close(connection)
        }
      }
      // Closed here and not at the shutdown: another socket may get its descriptor, and this thread would accept that one's
      // connections.
      Glibc.close(listener)
    }
  }

  deinit { shutdown(listener, Int32(SHUT_RDWR)) }
}

/// A port without a listener, reserved while this object lives.
private final class DeafPort {
  let port: UInt16
  private let socket: Int32

  init() throws {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    self.socket = socket
    var address = ChaosProxy.loopback(0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, length) == 0 && getsockname(socket, $0, &length) == 0
      }
    }
    port = UInt16(bigEndian: address.sin_port)
    try #require(isBound)
  }

  deinit { close(socket) }
}

@Suite("A proxy for chaos")
struct ChaosProxyTests {
  private func connection(to port: UInt16) throws -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let isConnected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    try #require(isConnected)
    return descriptor
  }

  /// The bytes that arrive within a time; nil if the connection has ended.
  private func receive(_ descriptor: Int32, within milliseconds: Int32) -> [UInt8]? {
    var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard Glibc.poll(&poll, 1, milliseconds) == 1 else { return [] }
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = recv(descriptor, &bytes, bytes.count, 0)
    return count > 0 ? Array(bytes.prefix(count)) : nil
  }

  @Test("bytes pass; late while it delays; not at all while it is cut, and after all when it is mended")
  func conditions() throws {
    let server = try EchoServer()
    let proxy = try ChaosProxy(to: server.port)
    let descriptor = try connection(to: proxy.port)
    defer { close(descriptor) }
    var byte: UInt8 = 1
    #expect(send(descriptor, &byte, 1, 0) == 1)
    #expect(receive(descriptor, within: 10_000) == [1])

    proxy.set(.delayed(150))
    byte = 2
    let start = ContinuousClock.now
    #expect(send(descriptor, &byte, 1, 0) == 1)
    #expect(receive(descriptor, within: 10_000) == [2])
    #expect(start.duration(to: .now) >= .milliseconds(298), "there and back")

    proxy.set(.cut)
    byte = 3
    #expect(send(descriptor, &byte, 1, 0) == 1)
    #expect(receive(descriptor, within: 300) == [])
    proxy.set(.open)
    #expect(receive(descriptor, within: 10_000) == [3])

    proxy.drop()
    #expect(receive(descriptor, within: 10_000) == nil)
    let next = try connection(to: proxy.port)
    defer { close(next) }
    byte = 4
    #expect(send(next, &byte, 1, 0) == 1)
    #expect(receive(next, within: 10_000) == [4])
  }

  @Test(
    "one way: what is written does not come back, and after all when it is mended", arguments: ChaosProxy.Way.allCases)
  func oneWay(_ way: ChaosProxy.Way) throws {
    let server = try EchoServer()
    let proxy = try ChaosProxy(to: server.port)
    let descriptor = try connection(to: proxy.port)
    defer { close(descriptor) }
    var byte: UInt8 = 1
    #expect(send(descriptor, &byte, 1, 0) == 1)
    #expect(receive(descriptor, within: 10_000) == [1])
    proxy.set(.oneWay(without: way))
    byte = 2
    #expect(send(descriptor, &byte, 1, 0) == 1)
    #expect(receive(descriptor, within: 300) == [])
    proxy.set(.open)
    #expect(receive(descriptor, within: 10_000) == [2])
  }

  @Test("silenced connections stay open and carry nothing; new ones work")
  func silence() throws {
    let server = try EchoServer()
    let proxy = try ChaosProxy(to: server.port)
    let descriptor = try connection(to: proxy.port)
    defer { close(descriptor) }
    var byte: UInt8 = 1
    #expect(send(descriptor, &byte, 1, 0) == 1)
    #expect(receive(descriptor, within: 10_000) == [1])
    proxy.silence()
    byte = 2
    #expect(send(descriptor, &byte, 1, 0) == 1)
    #expect(receive(descriptor, within: 300) == [], "open, and nothing comes")
    let next = try connection(to: proxy.port)
    defer { close(next) }
    byte = 3
    #expect(send(next, &byte, 1, 0) == 1)
    #expect(receive(next, within: 10_000) == [3])
    proxy.drop()
    #expect(
      receive(next, within: 10_000) == nil && receive(descriptor, within: 300) == [], "it is not told of that either")
  }

  @Test("whoever connects while nobody listens behind it is sent away")
  func nobody() throws {
    let target = try DeafPort()
    defer { withExtendedLifetime(target) {} }
    let proxy = try ChaosProxy(to: target.port)
    let descriptor = try connection(to: proxy.port)
    defer { close(descriptor) }
    #expect(receive(descriptor, within: 10_000) == nil)
  }
}

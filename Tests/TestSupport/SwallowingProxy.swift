import Foundation
import Glibc
import Synchronization

/// A proxy on loopback in front of a TCP server. After `swallow()` the connections that are open go silent: their bytes are taken and
/// passed on to nobody, and none of them is closed, as when a router on the way has forgotten them. Later connections work.
///
/// `@unchecked Sendable` is safe: the mutex guards what both threads use; the rest is the proxy's thread's own.
public final class SwallowingProxy: @unchecked Sendable {
  /// A system call failed.
  public struct Failure: Error { let call: String }

  private struct Shared {
    var swallowsOlderThan = 0
    var accepted = 0
    var swallowed = 0
    var stops = false
  }

  private struct Pair {
    let number: Int
    let client: Int32
    let server: Int32
  }

  /// The port that it listens on.
  public let port: Int
  private let serverPort: UInt16
  private let listener: Int32
  private let shared = Mutex(Shared())
  private let ended = DispatchSemaphore(value: 0)
  private var pairs: [Pair] = []

  /// Starts a proxy in front of a port of this host.
  public init(to serverPort: Int) throws {
    self.serverPort = UInt16(serverPort)
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    self.listener = listener
    var address = Self.loopback(0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listens = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &length) == 0
      }
    }
    guard listens else {
      close(listener)
      throw Failure(call: "listen")
    }
    port = Int(UInt16(bigEndian: address.sin_port))
    let thread = Thread { [self] in run() }
    thread.start()
  }

  /// Lets the connections that are open now go silent.
  public func swallow() { shared.withLock { $0.swallowsOlderThan = $0.accepted } }

  /// Connections accepted so far.
  public var accepted: Int { shared.withLock { $0.accepted } }

  /// Bytes from clients that reached nobody.
  public var swallowed: Int { shared.withLock { $0.swallowed } }

  /// Closes everything.
  public func stop() {
    shared.withLock { $0.stops = true }
    ended.wait()
  }

  private func run() {
    while !shared.withLock({ $0.stops }) {
      var waits = [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)]
      for pair in pairs {
        waits.append(pollfd(fd: pair.client, events: Int16(POLLIN), revents: 0))
        waits.append(pollfd(fd: pair.server, events: Int16(POLLIN), revents: 0))
      }
      guard poll(&waits, nfds_t(waits.count), 10) > 0 else { continue }
      let limit = shared.withLock { $0.swallowsOlderThan }
      var over: Set<Int> = []
      for (index, pair) in pairs.enumerated() {
        let isSilent = pair.number <= limit
        if waits[1 + 2 * index].revents != 0, !pass(pair.client, to: isSilent ? nil : pair.server) {
          over.insert(pair.number)
        }
        if waits[2 + 2 * index].revents != 0, !isSilent || !over.contains(pair.number),
          !pass(pair.server, to: isSilent ? nil : pair.client)
        {
          over.insert(pair.number)
        }
      }
      pairs.removeAll { pair in
        guard over.contains(pair.number) else { return false }
        close(pair.client)
        close(pair.server)
        return true
      }
      if waits[0].revents != 0 { accept() }
    }
    for pair in pairs {
      close(pair.client)
      close(pair.server)
    }
    close(listener)
    ended.signal()
  }

  private func accept() {
    let client = Glibc.accept(listener, nil, nil)
    guard client >= 0 else { return }
    let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = Self.loopback(serverPort)
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0 else {
      close(client)
      close(server)
      return
    }
    let number = shared.withLock {
      $0.accepted += 1
      return $0.accepted
    }
    pairs.append(Pair(number: number, client: client, server: server))
  }

  /// Passes on what has arrived; false: the connection is over.
  private func pass(_ source: Int32, to target: Int32?) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(source, &buffer, buffer.count, 0)
    guard count > 0 else { return false }
    guard let target else {
      shared.withLock { $0.swallowed += count }
      return true
    }
    var sent = 0
    while sent < count {
      let part = buffer.withUnsafeBytes {
        send(target, $0.baseAddress?.advanced(by: sent), count - sent, Int32(MSG_NOSIGNAL))
      }
      guard part > 0 else { return false }
      sent += part
    }
    return true
  }

  private static func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port.bigEndian)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return address
  }
}

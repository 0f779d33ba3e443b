internal import Foundation
internal import PeerSockets

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// How the system recognises a connection whose packets no longer arrive anywhere: a router forgot it, a host is gone. Nothing resets
/// such a connection, and by default Linux gives it up after a quarter of an hour.
enum SocketOptions {
  /// A connection on which nothing is sent is probed after this many seconds, and then every second.
  private static let probeAfterSeconds: Int32 = 3
  /// A connection of which the other side confirms nothing is given up after this many milliseconds.
  static let unconfirmedMilliseconds: Int32 = 6_000

  /// Sets keepalive probes and the limit for bytes that are not confirmed.
  static func watchPeer(_ socket: Int32) {
    set(socket, SOL_SOCKET, SO_KEEPALIVE, 1)
    #if os(Linux)
      set(socket, Int32(IPPROTO_TCP), TCP_KEEPIDLE, probeAfterSeconds)
      set(socket, Int32(IPPROTO_TCP), TCP_KEEPINTVL, 1)
      set(socket, Int32(IPPROTO_TCP), TCP_KEEPCNT, unconfirmedMilliseconds / 1_000 - probeAfterSeconds)
      set(socket, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, unconfirmedMilliseconds)
    #else
      set(socket, Int32(IPPROTO_TCP), TCP_KEEPALIVE, probeAfterSeconds)
    #endif
  }

  /// The time since the last confirmation by the other side, in milliseconds, of a connection that the system has given up; nil: it has
  /// not.
  static func silence(ofDead socket: Int32) -> Int? {
    #if os(Linux)
      var info = tcp_info()
      var length = socklen_t(MemoryLayout<tcp_info>.size)
      guard getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, &info, &length) == 0, info.tcpi_state == closedState,
        // Without a round trip there was no connection: it was refused, and the time is that since the system's start.
        info.tcpi_rtt > 0,
        // A reset comes from a living host.
        info.tcpi_last_ack_recv >= UInt32(unconfirmedMilliseconds) / 2
      else { return nil }
      return Int(info.tcpi_last_ack_recv)
    #else
      return nil
    #endif
  }

  /// TCP_CLOSE of netinet/tcp.h, which Swift does not import.
  private static let closedState: UInt8 = 7

  /// The local port of a socket; nil before it is connected.
  static func localPort(of socket: Int32) -> Int? {
    var address = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let port = withUnsafeMutableBytes(of: &address) { raw -> UInt16 in
      guard let start = raw.baseAddress,
        getsockname(socket, start.assumingMemoryBound(to: sockaddr.self), &length) == 0
      else { return 0 }
      // sockaddr_in and sockaddr_in6 have it at the same place, in network order.
      return UInt16(raw[2]) << 8 | UInt16(raw[3])
    }
    return port == 0 ? nil : Int(port)
  }

  private static func set(_ socket: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
    var value = value
    setsockopt(socket, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
  }
}

/// Tells public addresses of the internet from those that reach this host, a private network or nobody: IANA's registries of
/// special-purpose addresses (RFC 6890), as of 2024.
enum PublicAddress {
  /// Whether a `sockaddr` is public; one of a family other than the internet's is not.
  static func isPublic(family: Int32, _ address: UnsafeRawBufferPointer) -> Bool {
    // Behind family and port; in version 6 behind the flow label, too.
    let (start, count) = family == AF_INET6 ? (8, 16) : (4, 4)
    guard family == AF_INET || family == AF_INET6, address.count >= start + count else { return false }
    return isPublic(Array(address[start..<start + count]))
  }

  /// Whether an address of 4 or 16 bytes is public. No connection goes to one of 6to4: a relay, not its own host, would take it.
  static func isPublic(_ address: [UInt8]) -> Bool {
    address.count == 4
      ? IPAddress.v4(address).isPublic : IPAddress.v6(address).isPublic && !address.starts(with: [0x20, 0x02])
  }
}

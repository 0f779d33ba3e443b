internal import Foundation
internal import PeerSockets

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// How the system recognises a connection whose packets are lost, because a router forgot it or a host is gone. Nothing
/// resets such a connection, and by default Linux gives it up after a quarter of an hour.
enum SocketOptions {
  /// An idle connection is probed after this many seconds, and then every second.
  private static let probeAfterSeconds: Int32 = 3
  /// If the other side confirms nothing for this many milliseconds, the connection is given up.
  static let unconfirmedMilliseconds: Int32 = 6_000

  /// Turns on keepalive probes and limits the time for unconfirmed bytes.
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

  /// For a connection that the system has given up: the milliseconds since the other side's last confirmation. Nil for
  /// any other connection.
  static func silence(ofDead socket: Int32) -> Int? {
    #if os(Linux)
      var info = tcp_info()
      var length = socklen_t(MemoryLayout<tcp_info>.size)
      guard getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, &info, &length) == 0, info.tcpi_state == closedState,
        // Without a round trip the connection was refused and never established; the time would then be that since the
        // system's start.
        info.tcpi_rtt > 0,
        // A reset comes from a host that is alive.
        info.tcpi_last_ack_recv >= UInt32(unconfirmedMilliseconds) / 2
      else { return nil }
      return Int(info.tcpi_last_ack_recv)
    #else
      return nil
    #endif
  }

  /// TCP_CLOSE from netinet/tcp.h, which Swift does not import.
  private static let closedState: UInt8 = 7

  /// The local port of a socket; nil before it is connected.
  static func localPort(of socket: Int32) -> Int? {
    var address = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let port = withUnsafeMutableBytes(of: &address) { raw -> UInt16 in
      guard let start = raw.baseAddress,
        getsockname(socket, start.assumingMemoryBound(to: sockaddr.self), &length) == 0
      else { return 0 }
      // sockaddr_in and sockaddr_in6 have the port at the same offset, in network order.
      return UInt16(raw[2]) << 8 | UInt16(raw[3])
    }
    return port == 0 ? nil : Int(port)
  }

  private static func set(_ socket: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
    var value = value
    setsockopt(socket, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
  }
}

/// Distinguishes public internet addresses from addresses of this host, a private network or no host at all, by IANA's
/// registries of special-purpose addresses (RFC 6890), as of 2024.
enum PublicAddress {
  /// Whether a `sockaddr` is public. Only internet families can be.
  static func isPublic(family: Int32, _ address: UnsafeRawBufferPointer) -> Bool {
    // The address follows family and port, and in version 6 also the flow label.
    let (start, count) = family == AF_INET6 ? (8, 16) : (4, 4)
    guard family == AF_INET || family == AF_INET6, address.count >= start + count else { return false }
    return isPublic(Array(address[start..<start + count]))
  }

  /// Whether an address of 4 or 16 bytes is public. 6to4 addresses are not, because a relay would accept the connection
  /// instead of the host.
  static func isPublic(_ address: [UInt8]) -> Bool {
    address.count == 4
      ? IPAddress.v4(address).isPublic : IPAddress.v6(address).isPublic && !address.starts(with: [0x20, 0x02])
  }
}

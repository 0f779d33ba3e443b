import CLibcurl
import Glibc
import PeerSockets

/// The libcurl this process runs with.
enum CurlLibrary {
  /// The result of `curl_global_init`, which is called once, before any other function of the library.
  static let initialization: CURLcode = curl_global_init(Int(CURL_GLOBAL_ALL))

  /// Its version as text, and as 0xMMmmpp.
  static let version: (text: String, number: UInt32) = {
    guard let info = nudge_version_info() else { return ("unknown", 0) }
    return (info.pointee.version.map { String(cString: $0) } ?? "unknown", info.pointee.version_num)
  }()

  /// The oldest version known not to send RST_STREAM for streams that ended normally. 8.14.1 was measured without a
  /// failure in 240,000 requests, 7.88.1 with one lost connection per thousand. Versions in between count as old
  /// because they were not measured.
  static let firstWithoutResets: UInt32 = 0x080E00

  /// The text of a result.
  static func text(of code: CURLcode) -> String {
    curl_easy_strerror(code).map { String(cString: $0) } ?? "unknown error"
  }

  /// The text of a multi handle's result.
  static func text(of code: CURLMcode) -> String {
    curl_multi_strerror(code).map { String(cString: $0) } ?? "unknown error"
  }
}

/// Nanoseconds on a clock that only goes forward.
enum MonotonicClock {
  static func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}

extension Duration {
  /// Milliseconds, rounded up so that a short wait does not become none; at least 0.
  var wholeMilliseconds: Int {
    let (seconds, attoseconds) = components
    if seconds < 0 || attoseconds < 0 { return 0 }
    // Thirty years are practically unlimited, and do not overflow as nanoseconds.
    if seconds > 1_000_000_000 { return 1_000_000_000_000 }
    return Int(seconds) * 1_000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }

  /// Nanoseconds, at least 0.
  var wholeNanoseconds: UInt64 { UInt64(wholeMilliseconds) * 1_000_000 }
}

/// Wakes a thread that sleeps in `poll`. It is a pipe instead of `curl_multi_wakeup`, because the thread waits for the
/// sockets of several multi handles while a set of connections drains.
final class WakeupPipe: Sendable {
  let readEnd: Int32
  private let writeEnd: Int32

  init() throws(HTTPTransportError) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else {
      throw HTTPTransportError(
        kind: .other, message: "cannot make a pipe: \(String(cString: strerror(errno))); raise the limit of open files")
    }
    readEnd = ends[0]
    writeEnd = ends[1]
    for end in ends {
      _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
  }

  deinit {
    close(readEnd)
    close(writeEnd)
  }

  /// Makes the read end ready. A full pipe is ready already.
  func signal() {
    var byte: UInt8 = 1
    _ = write(writeEnd, &byte, 1)
  }

  /// Empties the pipe, so that the thread can wait for it again.
  func drain() {
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(readEnd, &bytes, bytes.count) > 0 {}
  }
}

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
    set(socket, Int32(IPPROTO_TCP), TCP_KEEPIDLE, probeAfterSeconds)
    set(socket, Int32(IPPROTO_TCP), TCP_KEEPINTVL, 1)
    set(socket, Int32(IPPROTO_TCP), TCP_KEEPCNT, unconfirmedMilliseconds / 1_000 - probeAfterSeconds)
    set(socket, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, unconfirmedMilliseconds)
  }

  /// For a connection that the system has given up: the milliseconds since the other side's last confirmation. Nil for
  /// any other connection.
  static func silence(ofDead socket: Int32) -> Int? {
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

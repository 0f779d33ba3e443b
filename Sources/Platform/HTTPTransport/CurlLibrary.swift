internal import CLibcurl

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

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

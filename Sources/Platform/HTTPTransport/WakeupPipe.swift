#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Wakes a thread that sleeps in `poll`. A pipe in place of `curl_multi_wakeup`, because the thread waits for the sockets of
/// several multi handles at once while one set of connections drains.
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

  /// Makes the read end ready. A full pipe is as good: the thread wakes all the same.
  func signal() {
    var byte: UInt8 = 1
    _ = write(writeEnd, &byte, 1)
  }

  /// Empties it, so that it can be waited for again.
  func drain() {
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(readEnd, &bytes, bytes.count) > 0 {}
  }
}

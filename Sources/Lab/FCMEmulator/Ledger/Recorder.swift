internal import Foundation
internal import Glibc

/// Appends requests to a file as lines of JSON. It buffers them and writes at least every 100 ms. Used by one thread.
final class Recorder {
  /// The longest time a line stays in the buffer, in nanoseconds.
  static let flushAfter: UInt64 = 100_000_000
  private static let flushBytes = 1 << 20

  private let file: Int32
  private var buffer: [UInt8] = []
  /// When the buffer must be written, on the loop's clock. Absent while it is empty.
  private(set) var flushDue: UInt64?
  /// The error of a failed write, after which the record is incomplete. Absent until a write fails.
  private(set) var failure: String?

  init(path: String) throws(FCMEmulatorError) {
    file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      throw FCMEmulatorError("cannot open the record file \(path): \(String(cString: strerror(errno)))")
    }
    // An existing file may be readable by others; it will contain tokens and texts.
    guard fchmod(file, 0o600) == 0 || errno == EPERM else {
      throw FCMEmulatorError("cannot close the record file \(path) to others: \(String(cString: strerror(errno)))")
    }
    buffer.reserveCapacity(Self.flushBytes + 65_536)
  }

  deinit {
    close(file)
  }

  /// Adds a line. A JSON body is written unchanged on one line, any other body as a string.
  func add(_ request: RecordedRequest, bodyIsJSON: Bool, now: UInt64) {
    let fields = request.headers.map { quoted($0.name) + ":" + quoted($0.value) }.joined(separator: ",")
    let milliseconds = Int64(request.time.timeIntervalSince1970 * 1_000)
    buffer.append(
      contentsOf:
        "{\"time\":\(milliseconds),\"path\":\(quoted(request.path)),\"status\":\(request.status),\"headers\":{\(fields)},\"body\":"
        .utf8)
    if request.body.isEmpty {
      buffer.append(contentsOf: "null".utf8)
    } else if bodyIsJSON {
      // A line break in valid JSON is always white space.
      buffer.append(contentsOf: request.body.lazy.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 })
    } else {
      buffer.append(contentsOf: quoted(String(decoding: request.body, as: UTF8.self)).utf8)
    }
    buffer.append(contentsOf: "}\n".utf8)
    if flushDue == nil { flushDue = now + Self.flushAfter }
    if buffer.count >= Self.flushBytes { flush() }
  }

  /// Writes the buffered lines.
  func flush() {
    flushDue = nil
    // Emptied after a failure too, because lines that cannot be written must not fill the memory.
    defer { buffer.removeAll(keepingCapacity: true) }
    var written = 0
    buffer.withUnsafeBytes { bytes in
      while written < bytes.count {
        let count = write(file, bytes.baseAddress.map { $0 + written }, bytes.count - written)
        if count < 0 {
          if errno == EINTR { continue }
          failure = "cannot write the record file: \(String(cString: strerror(errno)))"
          return
        }
        written += count
      }
    }
  }
}

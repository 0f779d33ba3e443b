import Foundation
import Glibc
import NudgeSchema

/// A tar archive in memory (POSIX ustar): what `nudge support-bundle` writes.
struct TarArchive {
  private(set) var bytes: [UInt8] = []

  /// Adds a file. `time` is in seconds since the epoch.
  mutating func add(_ name: String, _ content: [UInt8], time: Int64) {
    var header = [UInt8](repeating: 0, count: 512)
    func put(_ text: String, at offset: Int, length: Int) {
      for (index, byte) in text.utf8.prefix(length).enumerated() { header[offset + index] = byte }
    }
    func octal(_ number: Int64, digits: Int) -> String {
      let text = String(number, radix: 8)
      return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
    put(name, at: 0, length: 100)
    put(octal(0o600, digits: 7), at: 100, length: 7)
    put(octal(0, digits: 7), at: 108, length: 7)
    put(octal(0, digits: 7), at: 116, length: 7)
    put(octal(Int64(content.count), digits: 11), at: 124, length: 11)
    put(octal(time, digits: 11), at: 136, length: 11)
    put("        ", at: 148, length: 8)
    put("0", at: 156, length: 1)
    put("ustar", at: 257, length: 5)
    put("00", at: 263, length: 2)
    let sum = header.reduce(Int64(0)) { $0 + Int64($1) }
    put(octal(sum, digits: 6), at: 148, length: 6)
    header[154] = 0
    bytes += header + content
    bytes += [UInt8](repeating: 0, count: (512 - content.count % 512) % 512)
  }

  /// The whole archive.
  var finished: [UInt8] { bytes + [UInt8](repeating: 0, count: 1_024) }
}

/// Gets pages of a service's own port.
struct PageReader {
  /// The page of `HOST:PORT/PATH`, or why there is none.
  static func get(_ address: String, _ path: String, timeout: Int = 5) -> Result<
    String, CommandError
  > {
    guard let colon = address.lastIndex(of: ":"),
      let port = UInt16(address[address.index(after: colon)...])
    else {
      return .failure(CommandError("\(address) is not HOST:PORT"))
    }
    let host = address[..<colon].trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, String(port), &hints, &found) == 0, let first = found else {
      return .failure(CommandError("\(host) is not known"))
    }
    defer { freeaddrinfo(found) }
    let descriptor = Glibc.socket(first.pointee.ai_family, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { return .failure(CommandError("no socket for \(address)")) }
    defer { close(descriptor) }
    var time = timeval(tv_sec: timeout, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
    }
    guard connect(descriptor, first.pointee.ai_addr, first.pointee.ai_addrlen) == 0 else {
      return .failure(CommandError("\(address) does not answer"))
    }
    let request = "GET \(path) HTTP/1.1\r\nHost: \(address)\r\nConnection: close\r\n\r\n"
    guard
      request.withCString({ Glibc.send(descriptor, $0, strlen($0), Int32(MSG_NOSIGNAL)) })
        == request.utf8.count
    else {
      return .failure(CommandError("\(address) takes no request"))
    }
    var answer: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while answer.count < 16 << 20 {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { break }
      answer += buffer[..<count]
    }
    let text = String(decoding: answer, as: UTF8.self)
    guard let head = text.range(of: "\r\n\r\n") else {
      return .failure(CommandError("\(address) did not answer in time"))
    }
    return .success(String(text[head.upperBound...]))
  }
}

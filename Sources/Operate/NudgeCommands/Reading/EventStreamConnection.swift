import Foundation
import Glibc

/// The address from which streams are read.
package struct EventStreamAddress: Sendable {
  fileprivate let host: String
  fileprivate let port: String
  fileprivate let path: String

  /// - Parameter url: The API's address, such as `http://127.0.0.1:8081`.
  package init(url: String) throws {
    guard let address = URLComponents(string: url), address.scheme == "http", let host = address.host, !host.isEmpty
    else {
      throw CommandError("\(url): streams are read from an address that starts with http://")
    }
    self.host = host
    port = String(address.port ?? 80)
    path = address.path == "/" ? "" : address.path
  }
}

/// A request over HTTP/1.1 whose answer does not end: Server-Sent Events. One thread uses it and asks for the parts that have arrived.
package final class EventStreamConnection {
  /// A part of the answer.
  package enum Part: Sendable, Equatable {
    /// The answer's status, with its `Retry-After` in seconds.
    case head(status: Int, retryAfter: Int?)
    /// Bytes of the body.
    case bytes([UInt8])
    /// The answer has ended, or the connection broke.
    case ended
  }

  /// The most bytes of a chunk, and of an answer's head.
  private static let mostBytes = 16 << 20

  private let address: EventStreamAddress
  private var descriptor: Int32 = -1
  private var received: [UInt8] = []
  private var hasHead = false

  package init(_ address: EventStreamAddress) { self.address = address }

  deinit { close() }

  /// Whether a request is in flight.
  package var isOpen: Bool { descriptor >= 0 }

  /// Sends `GET` for a path below the address. Returns false if nobody answers.
  package func open(_ target: String, headers: [(name: String, value: String)]) -> Bool {
    close()
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(address.host, address.port, &hints, &found) == 0 else { return false }
    defer { freeaddrinfo(found) }
    let lines = ["GET \(address.path)\(target) HTTP/1.1", "Host: \(address.host)", "Accept: text/event-stream"]
    let request = (lines + headers.map { "\($0.name): \($0.value)" }).joined(separator: "\r\n") + "\r\n\r\n"
    let bytes = Array(request.utf8)
    var next = found
    while let place = next?.pointee {
      descriptor = socket(place.ai_family, place.ai_socktype, place.ai_protocol)
      if descriptor >= 0, connect(descriptor, place.ai_addr, place.ai_addrlen) == 0,
        send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
      {
        return true
      }
      close()
      next = place.ai_next
    }
    return false
  }

  package func close() {
    if descriptor >= 0 { Glibc.close(descriptor) }
    descriptor = -1
    received = []
    hasHead = false
  }

  /// The parts that have arrived or arrive within this time.
  package func parts(within milliseconds: Int32) -> [Part] {
    guard isOpen else { return [] }
    var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&event, 1, milliseconds) > 0 else { return [] }
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    guard count > 0 else {
      close()
      return [.ended]
    }
    received += buffer[..<count]
    var parts: [Part] = []
    if !hasHead, let head = takeHead() { parts.append(head) }
    if hasHead { takeChunks(&parts) }
    if received.count > 2 * Self.mostBytes { end(&parts) }
    return parts
  }

  private func end(_ parts: inout [Part]) {
    close()
    parts.append(.ended)
  }

  private func takeHead() -> Part? {
    guard let end = received.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
    let lines = String(decoding: received[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
    received.removeFirst(end.upperBound)
    hasHead = true
    let words = lines[0].split(separator: " ")
    let later = lines.first { $0.lowercased().hasPrefix("retry-after:") }.flatMap {
      Int($0.dropFirst(12).trimmingCharacters(in: .whitespaces))
    }
    return .head(status: words.count > 1 ? Int(words[1]) ?? 0 : 0, retryAfter: later)
  }

  /// Removes the complete chunks that have arrived.
  private func takeChunks(_ parts: inout [Part]) {
    while let line = received.firstRange(of: Array("\r\n".utf8)) {
      guard let size = Int(String(decoding: received[..<line.lowerBound], as: UTF8.self), radix: 16),
        (1...Self.mostBytes).contains(size)
      else { return end(&parts) }
      guard received.count >= line.upperBound + size + 2 else { return }
      parts.append(.bytes(Array(received[line.upperBound..<(line.upperBound + size)])))
      received.removeFirst(line.upperBound + size + 2)
    }
  }
}

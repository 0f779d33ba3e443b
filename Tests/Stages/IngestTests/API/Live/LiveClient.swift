import TestSupport

@testable import Ingest

/// A client of `GET /v1/live` on a socket.
final class LiveClient {
  private let socket: SocketClient
  private(set) var sent: SentEvents
  private(set) var head = ""
  private var received: [UInt8] = []
  private(set) var isClosed = false

  init(_ api: APIUnderTest, token: String, query: String = "?deviceId=d1", after id: String? = nil) throws {
    socket = try SocketClient(port: api.api.port)
    sent = SentEvents(lastId: id ?? "")
    try socket.send(
      "GET /v1/live\(query) HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(token)\r\n"
        + (id.map { "Last-Event-ID: \($0)\r\n" } ?? "") + "\r\n")
  }

  /// Reads until the condition holds, or the stream ends.
  func read(until condition: (SentEvents) -> Bool) throws {
    while !isClosed {
      decode()
      if condition(sent) { return }
      guard let bytes = try socket.next() else { return isClosed = true }
      received += bytes
    }
  }

  func readToEnd() throws { try read { _ in false } }

  /// Takes the chunks apart.
  private func decode() {
    if head.isEmpty {
      guard let end = received.firstRange(of: Array("\r\n\r\n".utf8)) else { return }
      head = String(decoding: received[..<end.lowerBound], as: UTF8.self)
      received.removeFirst(end.upperBound)
    }
    while let end = received.firstRange(of: Array("\r\n".utf8)),
      let size = Int(String(decoding: received[..<end.lowerBound], as: UTF8.self), radix: 16),
      received.count >= end.upperBound + size + 2
    {
      sent.read(received[end.upperBound..<(end.upperBound + size)])
      received.removeFirst(end.upperBound + size + 2)
      if size == 0 { isClosed = true }
    }
  }
}

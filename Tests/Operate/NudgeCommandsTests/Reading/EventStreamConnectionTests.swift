import Foundation
import Glibc
import TestSupport
import Testing

@testable import NudgeCommands

@Suite("A connection to a stream of events")
struct EventStreamConnectionTests {
  private typealias Part = EventStreamConnection.Part

  /// The parts that an answer's bytes give, until the connection has ended.
  private func parts(of answer: String) throws -> [Part] {
    let listener = try LoopbackListener()
    defer { Glibc.close(listener.descriptor) }
    let connection = EventStreamConnection(try EventStreamAddress(url: "http://127.0.0.1:\(listener.port)"))
    try #require(connection.open("/v1/live", headers: []))
    let served = accept(listener.descriptor, nil, nil)
    // It stays open: the client ends it.
    defer { Glibc.close(served) }
    let bytes = Array(answer.utf8)
    try #require(send(served, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count)
    var parts: [Part] = []
    wait(for: "the end") {
      parts += connection.parts(within: 20)
      return !connection.isOpen
    }
    return parts
  }

  @Test("chunks come until the last one")
  func chunks() throws {
    let parts = try parts(of: "HTTP/1.1 200 OK\r\nRetry-After: 3\r\n\r\n3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n")
    #expect(
      parts == [
        .head(status: 200, retryAfter: 3), .bytes(Array("abc".utf8)), .bytes(Array("0123456789".utf8)), .ended,
      ])
  }

  @Test("a chunk that is none, or is too long, ends it", arguments: ["-5", "zz", "", "1000001", "7fffffffffffffff"])
  func noChunk(_ size: String) throws {
    let parts = try parts(of: "HTTP/1.1 200 OK\r\n\r\n3\r\nabc\r\n\(size)\r\n0123456789\r\n")
    #expect(parts == [.head(status: 200, retryAfter: nil), .bytes(Array("abc".utf8)), .ended])
  }

  @Test("an address of another kind is refused", arguments: ["https://api.example", "api.example", "http://"])
  func addresses(_ url: String) {
    #expect(throws: CommandError.self) { try EventStreamAddress(url: url) }
  }
}

import Foundation
import Glibc
import NudgeClient
import NudgeCommands
import Synchronization

/// Where phones get what happens inside their app from.
protocol BannerSource: AnyObject {
  /// The records since the last call. Does not wait.
  func take() throws -> [GatewayRecord]
  func close()
}

/// Reads `GET /v1/live` of ingest's HTTP API by a user's token, as an app would. `LiveStream` decides when to connect, and from which event on.
final class LiveFeed: BannerSource {
  private struct State {
    var records: [GatewayRecord] = []
    var isLive = false
    var isOver = false
  }

  /// Shared with the thread.
  private final class Shared: Sendable {
    let state = Mutex(State())
    /// Wakes the thread between two connections.
    let wake = DispatchSemaphore(value: 0)
    let ended = DispatchSemaphore(value: 0)
  }

  private let shared = Shared()

  /// - Parameter url: The API's address, such as `http://127.0.0.1:8081`.
  init(url: String, token: String, deviceId: String) throws {
    guard let address = URLComponents(string: url), address.scheme == "http", let host = address.host else {
      throw CommandError("\(url): streams are read from an address that starts with http://")
    }
    let device = deviceId.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    let path = (address.path == "/" ? "" : address.path) + "/v1/live?deviceId=\(device)&answers=true"
    let head =
      "GET \(path) HTTP/1.1\r\nHost: \(host)\r\nAccept: text/event-stream\r\nAuthorization: Bearer \(token)\r\n"
    let port = String(address.port ?? 80)
    let thread = Thread { [shared] in
      Reader(host: host, port: port, head: head, shared: shared).run()
      shared.ended.signal()
    }
    thread.name = "live"
    thread.start()
  }

  /// Whether the stream is open.
  var isLive: Bool { shared.state.withLock { $0.isLive } }

  func take() -> [GatewayRecord] {
    shared.state.withLock { state in
      defer { state.records = [] }
      return state.records
    }
  }

  func close() {
    shared.state.withLock { $0.isOver = true }
    shared.wake.signal()
    shared.ended.wait()
  }

  /// The thread's side: a connection at a time.
  private final class Reader {
    private let host: String
    private let port: String
    private let head: String
    private let shared: Shared
    private var live = LiveStream { Double.random(in: $0) }
    private var descriptor: Int32 = -1
    private var received: [UInt8] = []
    private var hasHead = false
    private var due: Date?

    init(host: String, port: String, head: String, shared: Shared) {
      self.host = host
      self.port = port
      self.head = head
      self.shared = shared
    }

    func run() {
      perform(live.opened(at: Date()))
      while !shared.state.withLock({ $0.isOver }) {
        if let due, due <= Date() { perform(live.timeReached(at: Date())) }
        guard descriptor >= 0 else {
          _ = shared.wake.wait(timeout: due.map { .now() + max(0, $0.timeIntervalSinceNow) } ?? .distantFuture)
          continue
        }
        var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        if poll(&event, 1, 100) > 0 { read() }
      }
      perform(live.closed())
    }

    private func perform(_ actions: [LiveStream.Action]) {
      for action in actions {
        switch action {
        case .connect(let request): connect(request)
        case .disconnect: disconnect()
        case .deliver(.record(let record)): shared.state.withLock { $0.records.append(record) }
        // A phone loads what it shows from its backend, and has none here.
        case .deliver(.reset), .deliver(.end): break
        case .isLive(let isLive): shared.state.withLock { $0.isLive = isLive }
        case .wake(let time): due = time
        case .cancelWake: due = nil
        }
      }
    }

    private func connect(_ request: LiveStream.Request) {
      received = []
      hasHead = false
      var hints = addrinfo()
      hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
      var found: UnsafeMutablePointer<addrinfo>?
      guard getaddrinfo(host, port, &hints, &found) == 0, let first = found else {
        return perform(live.disconnected(at: Date()))
      }
      defer { freeaddrinfo(found) }
      descriptor = socket(first.pointee.ai_family, first.pointee.ai_socktype, first.pointee.ai_protocol)
      let text = head + (request.lastEventId.map { "Last-Event-ID: \($0)\r\n" } ?? "") + "\r\n"
      let bytes = Array(text.utf8)
      guard descriptor >= 0, Glibc.connect(descriptor, first.pointee.ai_addr, first.pointee.ai_addrlen) == 0,
        send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
      else {
        disconnect()
        return perform(live.disconnected(at: Date()))
      }
    }

    private func disconnect() {
      if descriptor >= 0 { Glibc.close(descriptor) }
      descriptor = -1
    }

    private func read() {
      var buffer = [UInt8](repeating: 0, count: 64 << 10)
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else {
        disconnect()
        return perform(live.disconnected(at: Date()))
      }
      received += buffer[..<count]
      if !hasHead { readHead() }
      if hasHead, descriptor >= 0 { readChunks() }
    }

    private func readHead() {
      guard let end = received.firstRange(of: Array("\r\n\r\n".utf8)) else { return }
      let lines = String(decoding: received[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
      received.removeFirst(end.upperBound)
      hasHead = true
      let words = lines[0].split(separator: " ")
      let later = lines.first { $0.lowercased().hasPrefix("retry-after:") }.flatMap {
        Int($0.dropFirst(12).trimmingCharacters(in: .whitespaces))
      }
      perform(
        live.answered(status: words.count > 1 ? Int(words[1]) ?? 0 : 0, retryAfter: later, at: Date()))
    }

    /// Takes the whole chunks that have come.
    private func readChunks() {
      while let end = received.firstRange(of: Array("\r\n".utf8)),
        let size = Int(String(decoding: received[..<end.lowerBound], as: UTF8.self), radix: 16),
        received.count >= end.upperBound + size + 2
      {
        let chunk = Array(received[end.upperBound..<(end.upperBound + size)])
        received.removeFirst(end.upperBound + size + 2)
        guard size > 0 else {
          disconnect()
          return perform(live.disconnected(at: Date()))
        }
        perform(live.received(chunk, at: Date()))
      }
    }
  }
}

import Dispatch
import Glibc
import Synchronization

/// Closes connections on which something moves, but too slowly: a head or a body that comes byte by byte, an answer that is
/// not taken. libmicrohttpd's own time-out begins anew with each byte.
final class ConnectionDeadlines: Sendable {
  private struct Entry {
    let socket: Int32
    /// Nil while a handler has the request, and once the connection was cut off.
    var deadline: ContinuousClock.Instant?
  }

  private let idle: Duration
  private let transfer: Duration
  /// By the connection's address.
  private let entries = Mutex<[UInt: Entry]>([:])
  private let timer = Mutex<(any DispatchSourceTimer)?>(nil)

  init(idle: Duration, transfer: Duration) {
    self.idle = idle
    self.transfer = transfer
  }

  /// Begins to look, every quarter of the time a transfer may take.
  func start() {
    let (seconds, attoseconds) = transfer.components
    let pause = max(50, Int(seconds) * 250 + Int(attoseconds / 4_000_000_000_000_000))
    timer.withLock { timer in
      let source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "http-deadlines"))
      source.schedule(deadline: .now() + .milliseconds(pause), repeating: .milliseconds(pause))
      source.setEventHandler { [weak self] in self?.sweep(.now) }
      source.activate()
      timer = source
    }
  }

  func stop() { timer.withLock { $0.take()?.cancel() } }

  func opened(_ connection: Exchange.Connection, socket: Int32) {
    entries.withLock { $0[Self.key(connection)] = Entry(socket: socket, deadline: .now + transfer) }
  }

  /// libmicrohttpd calls this before it closes the socket, so that `sweep`, under the same lock, never meets a descriptor
  /// that belongs to somebody else by now.
  func closed(_ connection: Exchange.Connection) {
    entries.withLock { _ = $0.removeValue(forKey: Self.key(connection)) }
  }

  /// The request line has been read.
  func requestBegins(_ connection: Exchange.Connection) { set(connection, .now + transfer) }

  /// All of the request is there: what follows takes as long as its handler takes.
  func requestArrived(_ connection: Exchange.Connection) { set(connection, nil) }

  /// The answer is on its way.
  func answerBegins(_ connection: Exchange.Connection) { set(connection, .now + transfer) }

  /// The connection may be used again: it may be idle for a while, and then the next request line must come.
  func requestEnded(_ connection: Exchange.Connection) { set(connection, .now + idle + transfer) }

  private func set(_ connection: Exchange.Connection, _ deadline: ContinuousClock.Instant?) {
    entries.withLock { $0[Self.key(connection)]?.deadline = deadline }
  }

  private func sweep(_ now: ContinuousClock.Instant) {
    entries.withLock { entries in
      for (key, entry) in entries {
        guard let deadline = entry.deadline, deadline <= now else { continue }
        // libmicrohttpd sees the end of the stream and closes the connection itself.
        shutdown(entry.socket, Int32(SHUT_RDWR))
        entries[key]?.deadline = nil
      }
    }
  }

  private static func key(_ connection: Exchange.Connection) -> UInt {
    UInt(bitPattern: connection.pointer)
  }
}

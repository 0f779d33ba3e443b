import CMicroHTTPD
import Dispatch
import Glibc
import Synchronization

/// The body of an answer that is written piece by piece, without a limit in time. An idle stream occupies a connection
/// but no thread.
///
/// The connection is closed with the body. The stream notices that the client is gone when it next writes to it.
public final class HTTPStream: Sendable {
  /// What happened to a piece.
  public enum Writing: Sendable, Equatable {
    case taken
    /// Too much waits for the client, so the piece was not accepted.
    case full
    /// The stream has ended, or the client is gone.
    case ended
  }

  /// A limit on the bytes that wait in several streams together.
  public final class Budget: Sendable {
    let limit: Int
    let used = Atomic<Int>(0)

    /// A budget in bytes.
    public init(limit: Int) { self.limit = limit }

    /// Bytes that wait now.
    public var waiting: Int { used.load(ordering: .relaxed) }
  }

  private struct State {
    /// The pieces; the first `sent` have been passed on.
    var pieces: [[UInt8]] = []
    var sent = 0
    /// Bytes of the first remaining piece that have been passed on.
    var offset = 0
    var waiting = 0
    /// Whether no more may be written.
    var isEnded = false
    var isGone = false
    var connection: Exchange.Connection?
    var isSuspended = false
    /// Signalled when the client has accepted something, or the stream ends.
    var waiter: DispatchSemaphore?
    var isInterrupted = false
    /// The most bytes of libmicrohttpd's buffer that were used since its memory was last freed.
    var used = Int.max
  }

  /// A closure inside a struct, because `Mutex` and generic types leak bare closures.
  private struct Ending {
    let call: @Sendable () -> Void
  }

  /// A client that acknowledges nothing for this long counts as gone.
  private static let silence: Duration = .seconds(30)

  private let limit: Int
  private let budget: Budget
  private let ending: Ending
  private let deadlines = Mutex<ConnectionDeadlines?>(nil)
  private let state = Mutex(State())

  /// A stream that is not sent yet.
  /// - Parameters:
  ///   - limit: Bytes that may wait for the client.
  ///   - onEnd: Called once, on the server's thread, when the connection has ended.
  public init(limit: Int, budget: Budget = Budget(limit: .max), onEnd: @escaping @Sendable () -> Void = {}) {
    self.limit = limit
    self.budget = budget
    ending = Ending(call: onEnd)
  }

  /// Appends a piece to the waiting ones. If the budget of all streams is used up, a piece is accepted only if nothing
  /// waits in this stream.
  @discardableResult public func write(_ piece: [UInt8]) -> Writing {
    state.withLock { state in
      guard !state.isEnded, !state.isGone else { return .ended }
      guard !piece.isEmpty else { return .taken }
      guard state.waiting + piece.count <= limit, state.waiting == 0 || budget.waiting + piece.count <= budget.limit
      else { return .full }
      add(piece, to: &state)
      return .taken
    }
  }

  /// Waits until there is room for a piece of this size, the stream has ended, somebody calls `stopWaiting`, or the
  /// time is over. Only one thread may wait at a time.
  public func waitForRoom(for size: Int, atMost time: Duration) {
    let deadline = ContinuousClock.now + time
    while true {
      let waiter = state.withLock { state -> DispatchSemaphore? in
        guard !state.isEnded, !state.isGone, !state.isInterrupted, state.waiting + size > limit else { return nil }
        let waiter = DispatchSemaphore(value: 0)
        state.waiter = waiter
        return waiter
      }
      let left = deadline - .now
      guard let waiter, left > .zero else { return }
      if waiter.wait(timeout: .now() + .nanoseconds(Int(left / .nanoseconds(1)))) == .timedOut { return }
    }
  }

  /// Ends the current and all later calls of `waitForRoom`.
  public func stopWaiting() {
    state.withLock { state in
      state.isInterrupted = true
      Self.wake(&state)
    }
  }

  private static func wake(_ state: inout State) {
    state.waiter?.signal()
    state.waiter = nil
  }

  /// Ends the body after the waiting pieces and this one.
  public func end(_ last: [UInt8] = []) {
    state.withLock { state in
      guard !state.isEnded, !state.isGone else { return }
      add(last, to: &state)
      state.isEnded = true
      Self.wake(&state)
      resume(&state)
    }
  }

  /// Ends the body after this piece, and drops the waiting pieces except for the rest of one that is partly sent.
  public func cut(_ last: [UInt8] = []) {
    state.withLock { state in
      guard !state.isGone else { return }
      let begun = state.offset > 0 ? [state.pieces[state.sent]] : []
      let left = (begun.first?.count ?? 0) - state.offset
      count(left - state.waiting, in: &state)
      state.pieces = begun
      state.sent = 0
      add(last, to: &state)
      state.isEnded = true
      Self.wake(&state)
      resume(&state)
    }
  }

  /// Bytes that wait for the client.
  public var waiting: Int { state.withLock { $0.waiting } }

  private func add(_ piece: [UInt8], to state: inout State) {
    guard !piece.isEmpty else { return }
    state.pieces.append(piece)
    count(piece.count, in: &state)
    resume(&state)
  }

  private func count(_ bytes: Int, in state: inout State) {
    state.waiting += bytes
    budget.used.wrappingAdd(bytes, ordering: .relaxed)
  }

  private func resume(_ state: inout State) {
    guard state.isSuspended, let connection = state.connection else { return }
    state.isSuspended = false
    MHD_resume_connection(connection.pointer)
  }

  // MARK: On the server's thread

  /// The answer is about to be sent on this connection.
  func begin(_ connection: Exchange.Connection, _ deadlines: ConnectionDeadlines) {
    self.deadlines.withLock { $0 = deadlines }
    state.withLock { $0.connection = connection }
    var silence = Int32(clamping: Self.silence.components.seconds * 1_000)
    setsockopt(
      nudge_mhd_socket(connection.pointer), Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &silence,
      socklen_t(MemoryLayout<Int32>.size))
  }

  /// libmicrohttpd's answer with this stream as its content. The stream is retained until the answer is destroyed.
  func response() -> OpaquePointer? {
    let retained = Unmanaged.passRetained(self)
    let response = MHD_create_response_from_callback(
      UInt64.max, Self.blockLength, { context, _, buffer, size in HTTPStream.read(context, buffer, size) },
      retained.toOpaque(),
      { context in
        guard let context else { return }
        Unmanaged<HTTPStream>.fromOpaque(context).takeRetainedValue().leave()
      })
    if response == nil { retained.release() }
    return response
  }

  /// The buffer size in bytes of an answer to a client without chunks (HTTP/1.0).
  private static let blockLength = 512

  private static func read(
    _ context: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int
  ) -> Int {
    guard let context, let buffer else { return endOfStream }
    return Unmanaged<HTTPStream>.fromOpaque(context).takeUnretainedValue().read(
      into: UnsafeMutableRawBufferPointer(start: buffer, count: size))
  }

  /// `MHD_CONTENT_READER_END_OF_STREAM`, a macro that Swift does not import.
  private static let endOfStream = -1

  /// Takes the waiting bytes. If there are none, suspends the connection until there are some.
  private func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    state.withLock { state in
      let copied = take(into: buffer, from: &state)
      state.used = max(state.used, copied)
      guard let connection = state.connection else { return Self.endOfStream }
      let deadlines = deadlines.withLock { $0 }
      if copied > 0 {
        deadlines?.answerBegins(connection)
        return copied
      }
      if state.isEnded { return Self.endOfStream }
      if state.used > Self.pageSize {
        Self.giveBack(buffer)
        state.used = 0
      }
      // Holds the lock, because a resume before the suspension would be lost.
      MHD_suspend_connection(connection.pointer)
      state.isSuspended = true
      deadlines?.requestArrived(connection)
      return 0
    }
  }

  /// Frees the memory of an idle buffer. libmicrohttpd keeps 32 KiB for a connection, used most of it while it read the
  /// request, and leaves the rest to the buffer. The first page stays, because events are short and will use it again.
  static func giveBack(_ buffer: UnsafeMutableRawBufferPointer) {
    guard let start = buffer.baseAddress else { return }
    let first = (UInt(bitPattern: start) + UInt(2 * pageSize - 1)) & ~UInt(pageSize - 1)
    let end = (UInt(bitPattern: start) + UInt(buffer.count)) & ~UInt(pageSize - 1)
    // The kernel provides zeroed pages on the next use.
    if end > first { madvise(UnsafeMutableRawPointer(bitPattern: first), Int(end - first), MADV_DONTNEED) }
  }

  static let pageSize = Int(sysconf(Int32(_SC_PAGESIZE)))

  /// Takes the waiting bytes, up to the buffer's size, as a client would read them.
  func take(into buffer: UnsafeMutableRawBufferPointer) -> Int { state.withLock { take(into: buffer, from: &$0) } }

  private func take(into buffer: UnsafeMutableRawBufferPointer, from state: inout State) -> Int {
    var copied = 0
    while copied < buffer.count, state.sent < state.pieces.count {
      let piece = state.pieces[state.sent]
      let part = min(buffer.count - copied, piece.count - state.offset)
      piece.withUnsafeBytes { bytes in
        if let to = buffer.baseAddress, let from = bytes.baseAddress {
          memcpy(to + copied, from + state.offset, part)
        }
      }
      copied += part
      state.offset += part
      if state.offset == piece.count {
        state.pieces[state.sent] = []
        state.sent += 1
        state.offset = 0
      }
    }
    if state.sent == state.pieces.count || state.sent > 256 {
      state.pieces.removeFirst(state.sent)
      state.sent = 0
    }
    count(-copied, in: &state)
    if copied > 0 { Self.wake(&state) }
    return copied
  }

  /// The connection has ended, or the answer was never sent.
  func leave() {
    let isFirst = state.withLock { state in
      guard !state.isGone else { return false }
      count(-state.waiting, in: &state)
      state.isGone = true
      Self.wake(&state)
      state.pieces = []
      state.sent = 0
      state.offset = 0
      state.connection = nil
      state.isSuspended = false
      return true
    }
    if isFirst { ending.call() }
  }
}

/// The streams of a server.
final class OpenStreams: Sendable {
  private struct State {
    var streams: [ObjectIdentifier: HTTPStream] = [:]
    var isClosed = false
  }

  private let state = Mutex(State())

  /// Adds a stream. If the server is stopping, the stream ends at once.
  func add(_ stream: HTTPStream) {
    let isClosed = state.withLock { state in
      if !state.isClosed { state.streams[ObjectIdentifier(stream)] = stream }
      return state.isClosed
    }
    if isClosed { stream.end() }
  }

  func remove(_ stream: HTTPStream) { state.withLock { $0.streams[ObjectIdentifier(stream)] = nil } }

  /// Ends all current and future streams. Afterwards no stream has a suspended connection.
  func end() {
    let streams = state.withLock { state in
      state.isClosed = true
      return Array(state.streams.values)
    }
    for stream in streams { stream.end() }
  }
}

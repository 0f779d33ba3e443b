import CMicroHTTPD
import Dispatch
import Glibc
import Synchronization

/// The body of an answer that is written piece by piece, for as long as one likes. While nothing is to be sent it holds a connection and no thread.
///
/// The connection is closed with the body. A client that is gone is noticed when something is written to it.
public final class HTTPStream: Sendable {
  /// The fate of a piece.
  public enum Writing: Sendable, Equatable {
    case taken
    /// More waits for the client than may: the piece is not taken.
    case full
    /// The stream has ended, or its client is gone.
    case ended
  }

  /// Bytes that may wait in several streams together.
  public final class Budget: Sendable {
    let limit: Int
    let used = Atomic<Int>(0)

    /// A budget in bytes.
    public init(limit: Int) { self.limit = limit }

    /// Bytes that wait now.
    public var waiting: Int { used.load(ordering: .relaxed) }
  }

  private struct State {
    /// The first `sent` of these have been passed on.
    var pieces: [[UInt8]] = []
    var sent = 0
    /// Bytes of the first piece that is left which have been passed on.
    var offset = 0
    var waiting = 0
    /// Whether nothing more is written.
    var isEnded = false
    var isGone = false
    var connection: Exchange.Connection?
    var isSuspended = false
    /// Is signalled once the client has taken something, or the stream ends.
    var waiter: DispatchSemaphore?
    var isInterrupted = false
    /// The most bytes of libmicrohttpd's buffer that have been used since its memory was given back.
    var used = Int.max
  }

  /// A closure in a struct: `Mutex` and generic types leak bare ones.
  private struct Ending {
    let call: @Sendable () -> Void
  }

  /// A client that acknowledges nothing for this long is gone.
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

  /// Sends a piece behind those that wait. Beyond the budget of all streams, only where nothing waits in this one.
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

  /// Waits until the client has taken so much that a piece of this size has room, or the stream has ended, or somebody calls `stopWaiting`:
  /// at most for this time. For one thread at a time.
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

  /// Ends the waiting of `waitForRoom`, also of later calls.
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

  /// Ends the body after what waits, and after this piece.
  public func end(_ last: [UInt8] = []) {
    state.withLock { state in
      guard !state.isEnded, !state.isGone else { return }
      add(last, to: &state)
      state.isEnded = true
      Self.wake(&state)
      resume(&state)
    }
  }

  /// Drops what waits, except for the rest of a piece that is half sent, and ends the body after this piece.
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

  /// libmicrohttpd's answer, whose content this is. The stream is kept until the answer is destroyed, and is gone then.
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

  /// The buffer of an answer to a client without chunks (HTTP/1.0), in bytes.
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

  /// Takes what waits. Where nothing does, the connection is suspended until there is something.
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
      // Under the lock: a resume before the suspension would be lost.
      MHD_suspend_connection(connection.pointer)
      state.isSuspended = true
      deadlines?.requestArrived(connection)
      return 0
    }
  }

  /// Gives back the memory of a buffer that nothing is written to for now: libmicrohttpd keeps 32 KiB for a connection, has used most of them
  /// while it read the request, and leaves the rest to the buffer. The first page stays: events are short, and it is used again.
  static func giveBack(_ buffer: UnsafeMutableRawBufferPointer) {
    guard let start = buffer.baseAddress else { return }
    let first = (UInt(bitPattern: start) + UInt(2 * pageSize - 1)) & ~UInt(pageSize - 1)
    let end = (UInt(bitPattern: start) + UInt(buffer.count)) & ~UInt(pageSize - 1)
    // The system gives pages of zeros once they are used again.
    if end > first { madvise(UnsafeMutableRawPointer(bitPattern: first), Int(end - first), MADV_DONTNEED) }
  }

  static let pageSize = Int(sysconf(Int32(_SC_PAGESIZE)))

  /// Takes what waits, up to the buffer's size, as a client reads it.
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

  /// Keeps a stream. One that comes when the server stops ends at once.
  func add(_ stream: HTTPStream) {
    let isClosed = state.withLock { state in
      if !state.isClosed { state.streams[ObjectIdentifier(stream)] = stream }
      return state.isClosed
    }
    if isClosed { stream.end() }
  }

  func remove(_ stream: HTTPStream) { state.withLock { $0.streams[ObjectIdentifier(stream)] = nil } }

  /// Ends all streams, and those to come. None has a suspended connection afterwards.
  func end() {
    let streams = state.withLock { state in
      state.isClosed = true
      return Array(state.streams.values)
    }
    for stream in streams { stream.end() }
  }
}

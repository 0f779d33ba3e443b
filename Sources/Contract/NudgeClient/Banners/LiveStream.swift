public import Foundation

/// The stream `GET /v1/live` of events inside the app: when to open it, where to continue, and what it delivers.
///
/// It does no I/O: calls in, actions out. Open the stream while the app is in the foreground and a user is signed in.
/// With `answers=true` an app promises to answer the banners that it shows (`ReceiptQueue.shown`); their pushes are
/// then not sent.
///
/// ```swift
/// var live = LiveStream(random: { Double.random(in: $0) })
/// perform(live.opened(at: Date()))  // the app is in the foreground, with somebody signed in
///
/// func perform(_ actions: [LiveStream.Action]) {
///   for action in actions {
///     switch action {
///     case .connect(let request): connection.start(request)  // then `answered`, `received` for each piece, `disconnected`
///     case .disconnect: connection.cancel()
///     case .deliver(.record(let record)): take(record)  // as `GatewayRecord` shows
///     case .deliver(.reset): reload()
///     case .deliver(.end): break
///     case .isLive(let isLive): presenter.hasLiveChannel = isLive
///     case .wake(let time): timer.schedule(at: time) { perform(live.timeReached(at: Date())) }
///     case .cancelWake: timer.cancel()
///     }
///   }
/// }
/// ```
public struct LiveStream: Sendable {
  /// A step that the app takes. Take the steps in the order given.
  public enum Action: Sendable, Equatable {
    /// Send `GET /v1/live`.
    case connect(Request)
    /// Cancel the request; do not call `disconnected` for it.
    case disconnect
    /// Process an event.
    case deliver(LiveEvent)
    /// Whether the stream delivers banners from now on: `NotificationPresenter.hasLiveChannel`.
    case isLive(Bool)
    /// Call `timeReached(at:)` at this time. A later `wake` replaces it.
    case wake(at: Date)
    /// Cancel the call of `timeReached(at:)`.
    case cancelWake
  }

  /// The parts of a request that differ from attempt to attempt.
  public struct Request: Sendable, Equatable {
    /// The header `Last-Event-ID`; nil to omit it.
    public let lastEventId: String?
    /// Whether the token of the last request was refused or has expired.
    public let needsFreshToken: Bool
  }

  /// The seconds without a byte after which a stream counts as dead. The services send a comment every 15 s.
  public static let silence: TimeInterval = 45
  /// The seconds to wait for an answer before the request is cancelled.
  public static let patience: TimeInterval = 15
  /// The most seconds between two attempts, before the random factor.
  public static let longestPause: TimeInterval = 60
  /// The seconds between two attempts if the stream has not named another time.
  public static let pause: TimeInterval = 2

  private enum Phase: Sendable {
    case closed
    /// The request is in progress.
    case connecting
    case live
    /// Between two attempts.
    case waiting
  }

  private let random: @Sendable (ClosedRange<Double>) -> Double
  private var parser = EventStreamParser()
  private var phase = Phase.closed
  private var due: Date?
  private var failures = 0
  private var needsFreshToken = false

  /// A closed stream. `random` returns a number in the range. It spreads the attempts of clients whose streams ended
  /// together.
  public init(random: @escaping @Sendable (ClosedRange<Double>) -> Double) { self.random = random }

  /// The app is in the foreground with a user signed in, so the stream should be open.
  public mutating func opened(at now: Date) -> [Action] {
    guard case .closed = phase else { return [] }
    return connect(at: now)
  }

  /// The app went into the background. The next stream delivers the events in between.
  public mutating func closed() -> [Action] {
    defer {
      phase = .closed
      due = nil
      failures = 0
      parser.ended()
    }
    switch phase {
    case .closed: return []
    case .connecting: return [.disconnect, .cancelWake]
    case .live: return [.disconnect, .isLive(false), .cancelWake]
    case .waiting: return [.cancelWake]
    }
  }

  /// The user has signed out: forgets their stream.
  public mutating func signedOut() -> [Action] {
    let actions = closed()
    parser = EventStreamParser()
    needsFreshToken = false
    return actions
  }

  /// A network is available again: ends the wait.
  public mutating func networkReturned(at now: Date) -> [Action] {
    guard case .waiting = phase else { return [] }
    return connect(at: now)
  }

  /// The head of the answer has arrived.
  /// - Parameters:
  ///   - status: The HTTP status.
  ///   - retryAfter: The header `Retry-After`, in seconds.
  ///   - now: The current time.
  public mutating func answered(status: Int, retryAfter: Int? = nil, at now: Date) -> [Action] {
    guard case .connecting = phase else { return [] }
    guard status == 200 else {
      needsFreshToken = status == 401
      failures += 1
      return [.disconnect] + wait(TimeInterval(retryAfter ?? 0), at: now)
    }
    phase = .live
    failures = 0
    needsFreshToken = false
    return [.isLive(true)] + wake(at: now.addingTimeInterval(Self.silence))
  }

  /// The next bytes of the body.
  public mutating func received(_ bytes: some Sequence<UInt8>, at now: Date) -> [Action] {
    guard case .live = phase else { return [] }
    var actions: [Action] = []
    for event in parser.receive(bytes).compactMap({ LiveEvent($0) }) {
      if event == .end(.expired) { needsFreshToken = true }
      actions.append(.deliver(event))
    }
    return actions + wake(at: now.addingTimeInterval(Self.silence))
  }

  /// The request failed, or its answer has ended.
  public mutating func disconnected(at now: Date) -> [Action] {
    switch phase {
    case .closed, .waiting: return []
    case .connecting:
      failures += 1
      return wait(0, at: now)
    case .live: return [.isLive(false)] + wait(0, at: now)
    }
  }

  /// The time of the last `wake` has come. A call that is early or late is harmless.
  public mutating func timeReached(at now: Date) -> [Action] {
    guard let due else { return [] }
    guard now >= due else { return [.wake(at: due)] }
    switch phase {
    case .closed: return []
    case .waiting: return connect(at: now)
    case .connecting:
      failures += 1
      return [.disconnect] + wait(0, at: now)
    case .live: return [.disconnect, .isLive(false)] + wait(0, at: now)
    }
  }

  private mutating func connect(at now: Date) -> [Action] {
    phase = .connecting
    let id = parser.lastEventId
    let request = Request(lastEventId: id.isEmpty ? nil : id, needsFreshToken: needsFreshToken)
    return [.connect(request)] + wake(at: now.addingTimeInterval(Self.patience))
  }

  /// Waits for the next attempt, at least this many seconds.
  private mutating func wait(_ least: TimeInterval, at now: Date) -> [Action] {
    phase = .waiting
    parser.ended()
    let asked = parser.retry.map { TimeInterval($0) / 1_000 } ?? Self.pause
    let pause = min(Self.longestPause, asked * pow(2, Double(min(failures, 6))))
    return wake(at: now.addingTimeInterval(max(least * random(1...1.5), pause * random(0.5...1.5))))
  }

  private mutating func wake(at time: Date) -> [Action] {
    due = time
    return [.wake(at: time)]
  }
}

/// An event of `GET /v1/live`.
public enum LiveEvent: Sendable, Equatable {
  /// A record of `nudge.banners`: a banner, a notice or a change.
  case record(GatewayRecord)
  /// Events may be missing: reload what the app shows.
  case reset
  /// The stream ends, and the app opens a new one.
  case end(EndReason)

  /// Why a stream ends.
  public enum EndReason: String, Sendable, Equatable {
    /// The token has expired. The next attempt needs a new one.
    case expired
    /// The service instance stops.
    case stopping
  }

  /// An event of the stream; nil for a name or data that this module does not know, as from later services.
  public init?(_ event: EventStreamParser.Event) {
    let data = Data(event.data.utf8)
    switch event.name {
    case "reset": self = .reset
    case "end":
      guard let reason = (try? JSONDecoder().decode(End.self, from: data)).flatMap({ EndReason(rawValue: $0.reason) })
      else { return nil }
      self = .end(reason)
    default:
      guard let record = try? JSONDecoder().decode(GatewayRecord.self, from: data) else { return nil }
      self = .record(record)
    }
  }

  private struct End: Decodable {
    let reason: String
  }
}

/// Parses `text/event-stream` as specified in the WHATWG's HTML standard. Bytes in, in any pieces; events out.
///
/// ```swift
/// var parser = EventStreamParser()
/// for event in parser.receive(bytes) { print(event.name, event.data) }
/// request.setValue(parser.lastEventId, forHTTPHeaderField: "Last-Event-ID")  // at the next attempt, unless it is empty
/// ```
public struct EventStreamParser: Sendable {
  /// An event.
  public struct Event: Sendable, Equatable {
    /// The event's name; `message` where the stream gives none.
    public let name: String
    /// Its data.
    public let data: String

    /// An event.
    public init(name: String, data: String) {
      self.name = name
      self.data = data
    }
  }

  /// The most bytes of an event. A longer event is dropped, and so is the rest of a line that is too long.
  public static let maximumBytes = 1 << 20

  /// The id of the last event, for `Last-Event-ID`; empty before the first one.
  public private(set) var lastEventId: String
  /// The milliseconds to wait before the next attempt; nil unless the stream has named them.
  public private(set) var retry: Int?

  private var id: String
  private var name = ""
  private var data: [String] = []
  private var bytes = 0
  private var line: [UInt8] = []
  /// Bytes of the line, including those that were dropped.
  private var length = 0
  private var endedInReturn = false
  private var isAtStart = true

  /// A parser for a stream that continues after an event.
  public init(lastEventId: String = "") {
    self.lastEventId = lastEventId
    id = lastEventId
  }

  /// The next bytes of the stream.
  public mutating func receive(_ received: some Sequence<UInt8>) -> [Event] {
    var events: [Event] = []
    for byte in received {
      if byte == 0x0a, endedInReturn {
        endedInReturn = false
        continue
      }
      endedInReturn = byte == 0x0d
      guard byte == 0x0a || byte == 0x0d else {
        bytes += 1
        length += 1
        if bytes <= Self.maximumBytes { line.append(byte) }
        continue
      }
      if let event = take() { events.append(event) }
    }
    return events
  }

  /// The stream has ended. An incomplete event is dropped, and the next stream continues after the last complete one.
  public mutating func ended() {
    self = {
      var next = EventStreamParser(lastEventId: lastEventId)
      next.retry = retry
      return next
    }()
  }

  /// Processes a complete line.
  private mutating func take() -> Event? {
    var line = line[...]
    let isFirst = isAtStart
    defer { length = 0 }
    isAtStart = false
    guard length > 0 else { return dispatch() }
    self.line = []
    // The event is too long, so its line may be cut.
    guard bytes <= Self.maximumBytes else { return nil }
    if isFirst, line.starts(with: [0xef, 0xbb, 0xbf]) { line = line.dropFirst(3) }
    guard !line.isEmpty else { return dispatch() }
    let colon = line.firstIndex(of: 0x3a)
    let field = String(decoding: line[..<(colon ?? line.endIndex)], as: UTF8.self)
    var content = colon.map { line[line.index(after: $0)...] } ?? []
    if content.first == 0x20 { content = content.dropFirst() }
    let value = String(decoding: content, as: UTF8.self)
    switch field {
    case "event": name = value
    case "data": data.append(value)
    case "id": if !content.contains(0) { id = value }
    case "retry":
      if !content.isEmpty, content.allSatisfy({ (0x30...0x39).contains($0) }) { retry = Int(value) }
    default: break
    }
    return nil
  }

  private mutating func dispatch() -> Event? {
    let isTooLong = bytes > Self.maximumBytes
    defer {
      name = ""
      data = []
      bytes = 0
    }
    lastEventId = id
    guard !data.isEmpty, !isTooLong else { return nil }
    return Event(name: name.isEmpty ? "message" : name, data: data.joined(separator: "\n"))
  }
}

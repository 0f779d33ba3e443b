public import Foundation

/// The stream of what happens inside the app, `GET /v1/live`: when to open it, where it continues, and what it brings.
///
/// It has no network: calls in, actions out. Open the stream while the app is in the foreground and a user is signed in. An app that answers
/// the banners that it shows (`ReceiptQueue.shown`) says so with `answers=true`; their pushes are not sent then.
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
    /// An event.
    case deliver(LiveEvent)
    /// Whether banners come by the stream from now on: `NotificationPresenter.hasLiveChannel`.
    case isLive(Bool)
    /// Call `timeReached(at:)` at this time. A later `wake` replaces it.
    case wake(at: Date)
    /// Cancel the call of `timeReached(at:)`.
    case cancelWake
  }

  /// The parts of a request that change from one to the next.
  public struct Request: Sendable, Equatable {
    /// The header `Last-Event-ID`; nil: leave it out.
    public let lastEventId: String?
    /// Whether the token of the last request was refused or has expired.
    public let needsFreshToken: Bool
  }

  /// The seconds without a byte after which a stream is dead: comments come every 15 s.
  public static let silence: TimeInterval = 45
  /// The seconds after which a request without an answer is given up.
  public static let patience: TimeInterval = 15
  /// The most seconds between two attempts, before the random factor.
  public static let longestPause: TimeInterval = 60
  /// The seconds between two attempts, where the stream has not said them.
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

  /// A closed stream. `random` returns a number of the range: clients whose streams ended together do not come back together.
  public init(random: @escaping @Sendable (ClosedRange<Double>) -> Double) { self.random = random }

  /// The app is in the foreground with a user signed in: the stream is to be open.
  public mutating func opened(at now: Date) -> [Action] {
    guard case .closed = phase else { return [] }
    return connect(at: now)
  }

  /// The app went into the background. The next opening delivers the events of the meantime.
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

  /// The user has signed out: nothing is kept of their stream.
  public mutating func signedOut() -> [Action] {
    let actions = closed()
    parser = EventStreamParser()
    needsFreshToken = false
    return actions
  }

  /// There is a network again: does not wait any longer.
  public mutating func networkReturned(at now: Date) -> [Action] {
    guard case .waiting = phase else { return [] }
    return connect(at: now)
  }

  /// The answer's head has come.
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

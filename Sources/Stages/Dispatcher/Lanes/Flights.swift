import NudgeSchema

/// A request of a task, in flight.
struct Flight {
  var lane: LaneSchedule.LaneID
  var scope: DeliveryScope
  /// Where it went. Meanwhile the push may have received another registration of the device.
  var target: PushTarget
  /// The breakers that this request probes.
  var probes: [DeliveryScope]
}

/// The requests of a task in flight, with a limit for each destination, so that a slow destination does not reduce the requests to others.
struct Flights {
  private struct Window {
    var window: FlightWindow
    var count = 0
  }

  private let limit: Int
  private var flights: [UInt64: Flight] = [:]
  private var windows: [Destination: Window] = [:]

  /// - Parameter limit: The most requests to one destination.
  init(limit: Int) { self.limit = limit }

  var count: Int { flights.count }

  /// Whether another request to a destination is allowed.
  func hasRoom(_ destination: Destination) -> Bool {
    windows[destination].map { $0.count < $0.window.size } ?? true
  }

  mutating func begin(_ id: UInt64, _ flight: Flight) {
    flights[id] = flight
    windows[flight.scope.destination, default: Window(window: FlightWindow(limit: limit))].count += 1
  }

  /// The request ends, whatever its answer. Returns nil if it belongs to an earlier epoch.
  mutating func end(_ id: UInt64) -> Flight? {
    guard let flight = flights.removeValue(forKey: id) else { return nil }
    windows[flight.scope.destination]?.count -= 1
    return flight
  }

  /// A request that has ended waited too long in the process.
  mutating func shrink(_ destination: Destination, now: Milliseconds) {
    let count = windows[destination]?.count ?? 0
    windows[destination]?.window.shrink(inFlight: count, now: now)
  }

  /// A request was answered.
  mutating func grow(_ destination: Destination) { windows[destination]?.window.grow() }
}

/// How many requests a task may have in flight. It shrinks when requests wait too long in the process, and grows by one with each round of
/// answers, like a TCP congestion window without slow start (RFC 5681, section 3.1). It shrinks to seven tenths (RFC 9438, section 4.6), so
/// that the connections stay busy.
struct FlightWindow {
  /// Requests wait too long in groups, and each group counts once.
  private static let shrinkInterval: Milliseconds = 1_000
  /// The smallest window, so that a task also sends if FCM takes seconds.
  static let least = 8

  private let limit: Int
  private(set) var size: Int
  /// Answers since the window last grew.
  private var answers = 0
  private var shrunkAt: Milliseconds?

  init(limit: Int) {
    self.limit = limit
    size = limit
  }

  /// A request waited too long in the process.
  mutating func shrink(inFlight: Int, now: Milliseconds) {
    if let shrunkAt, now - shrunkAt < Self.shrinkInterval { return }
    shrunkAt = now
    answers = 0
    size = min(size, max(inFlight * 7 / 10, Self.least))
  }

  /// A request was answered. A full window of answers allows one more request. If each answer did, the window would double with each round,
  /// and half of all requests would wait in vain.
  mutating func grow() {
    guard size < limit else { return }
    answers += 1
    if answers >= size {
      answers = 0
      size += 1
    }
  }
}

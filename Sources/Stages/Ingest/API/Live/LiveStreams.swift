import HTTPServer
import NudgeSchema
import ServiceKit
import Synchronization

/// Why a stream cannot continue where it was. Its app must reload what it shows.
enum LiveReset: String, CaseIterable {
  /// The events in between are no longer available.
  case gap
  /// The client did not read what was sent.
  case slow
  /// `Last-Event-ID` is not a position on the topic.
  case unknownId = "unknown_id"
}

/// Why the service ends a stream. The client opens another one and continues there.
enum LiveEnd: String {
  /// The token has expired, or its signing keys have changed.
  case expired
  case stopping
}

/// The open streams of this process and the events that they receive.
///
/// All writes to streams happen under one lock, in the order of reading. So when a stream receives a position, it has received all earlier
/// events.
final class LiveStreams: Sendable {
  /// Limits of streams.
  struct Limits: Sendable {
    /// The most open streams of all people.
    var streams = 20_000
    /// The most open streams of one person.
    var streamsOfAPerson = 16
    /// The most bytes in the ring.
    var ring = 64 << 20
    /// The most bytes that wait for one client.
    var waiting = 256 << 10
    /// The most bytes that wait for all clients.
    var waitingInAll = 64 << 20
    /// The time between two comments on a stream.
    var beat: Milliseconds = 15_000
    /// After how many milliseconds a client should reconnect.
    var retry = 2_000
    /// The time over which the ends of all streams are spread when the process stops.
    var drain: Duration = .seconds(3)
  }

  /// A client that opens a stream.
  struct Client: Sendable {
    var userId: String
    /// When the token expires, in seconds since the epoch.
    var until: Int64
    /// `Last-Event-ID`.
    var lastEventId: String?
    /// Its device, if it answers the banners that it shows.
    var answering: StreamReports.Device?
  }

  enum Opening {
    case opened(HTTPStream)
    case refused(HTTPServerResponse)
  }

  /// The part of the topic that a stream needs and that the ring no longer has.
  struct Gap: Sendable, Equatable {
    var stream: UInt64
    var person: ExactText
    var partition: Int32
    var from: Int64
    /// The offset after the last one that is needed.
    var to: Int64
  }

  enum Condition: Sendable {
    case starting
    case ready
    case failed(String)
  }

  private struct Open {
    var person: ExactText
    var partition: Int32
    var stream: HTTPStream
    var until: Int64
    var answering: StreamReports.Device?
    var openedAt: Milliseconds
    var beatAt: Milliseconds
    /// The stream receives events from this offset on.
    var from: Int64
    /// How often it waited for a part of the topic; nil if it does not wait.
    var gaps: Int?
  }

  private struct State {
    var ring: LiveRing
    var condition = Condition.starting
    var open: [UInt64: Open] = [:]
    var byPerson: [ExactText: [UInt64]] = [:]
    var lastStream: UInt64 = 0
    var isClosed = false
  }

  /// How often the part before the ring is read for a stream while the ring moves on.
  private static let mostGaps = 3
  /// How long a position may be ahead of what this process has read.
  private static let aheadTime: Milliseconds = 5_000

  private let limits: Limits
  private let budget: HTTPStream.Budget
  private let metrics: LiveMetrics
  private let reports: StreamReports?
  private let random: @Sendable (ClosedRange<Int>) -> Int
  private let state: Mutex<State>
  /// Receives the gaps that must be read from the topic.
  private let gaps = Mutex<[Gap]>([])

  init(
    limits: Limits = Limits(), metrics: LiveMetrics, reports: StreamReports? = nil,
    random: @escaping @Sendable (ClosedRange<Int>) -> Int = { Int.random(in: $0) }
  ) {
    self.limits = limits
    self.metrics = metrics
    self.reports = reports
    self.random = random
    budget = HTTPStream.Budget(limit: limits.waitingInAll)
    state = Mutex(State(ring: LiveRing(limit: limits.ring)))
  }

  // MARK: Streams

  /// The number of open streams.
  var count: Int { state.withLock { $0.open.count } }

  /// Opens a stream.
  /// - Parameter now: The time on a monotonic clock.
  func open(_ client: Client, now: Milliseconds) -> Opening {
    let person = ExactText(client.userId)
    return state.withLock { state in
      if let refusal = refusal(of: person, in: &state) { return .refused(refusal) }
      state.lastStream += 1
      let id = state.lastStream
      let stream = HTTPStream(limit: limits.waiting, budget: budget) { [weak self] in self?.ended(id) }
      let place = state.ring.position(of: person)
      state.open[id] = Open(
        person: person, partition: place.partition, stream: stream, until: client.until,
        answering: client.answering, openedAt: now, beatAt: now, from: place.next)
      if let device = client.answering { reports?.opened(device) }
      state.byPerson[person, default: []].append(id)
      metrics.streams.set(state.open.count)
      begin(id, client.lastEventId, at: place, in: &state)
      return .opened(stream)
    }
  }

  private func refusal(of person: ExactText, in state: inout State) -> HTTPServerResponse? {
    if state.isClosed {
      return .error(
        503, code: "stopping", message: "the server is stopping: open it again, at another instance", retryAfter: 1)
    }
    switch state.condition {
    case .starting:
      return .error(
        503, code: "unavailable", message: "streams are not served yet: open it again in some seconds", retryAfter: 2)
    case .failed(let reason):
      return .error(503, code: "unavailable", message: "streams are not served: \(reason)", retryAfter: 5)
    case .ready: break
    }
    let own = state.byPerson[person] ?? []
    if own.count >= limits.streamsOfAPerson {
      // Some of them may belong to clients that are gone, which is noticed when something is written.
      for id in own { state.open[id]?.stream.write(ServerSentEvent.beat(id: nil)) }
      return .error(
        429, code: "too_many_streams",
        message: "a user may have \(limits.streamsOfAPerson) streams open (--live-user-streams): close some",
        retryAfter: 5)
    }
    guard state.open.count < limits.streams else {
      return .error(
        503, code: "too_many_streams",
        message: "this instance has \(limits.streams) streams open (--live-streams): try another one", retryAfter: 5)
    }
    return nil
  }

  /// Begins a stream at the client's position, or now.
  private func begin(_ id: UInt64, _ lastEventId: String?, at place: LivePosition, in state: inout State) {
    guard let open = state.open[id] else { return }
    guard let lastEventId, !lastEventId.isEmpty else {
      open.stream.write(ServerSentEvent.beginning(retry: limits.retry, id: place))
      return
    }
    open.stream.write(ServerSentEvent.beginning(retry: limits.retry, id: nil))
    guard let asked = LivePosition(lastEventId), asked.partition == place.partition else {
      return reset(id, .unknownId, in: &state)
    }
    state.open[id]?.from = asked.next
    catchUp(id, in: &state)
  }

  /// Writes what a stream has missed since `from`, or requests that it is read.
  private func catchUp(_ id: UInt64, in state: inout State) {
    guard let open = state.open[id] else { return }
    switch state.ring.resume(open.person, from: open.from) {
    case .events(let events):
      state.open[id]?.gaps = nil
      for event in events { write(event.bytes, to: id, in: &state) }
    case .ahead:
      // Another process has read further than this one. Nothing is repeated once this one has read it too.
      state.open[id]?.gaps = nil
    case .older(let floor):
      let gaps = (open.gaps ?? 0) + 1
      guard gaps <= Self.mostGaps else { return reset(id, .gap, in: &state) }
      state.open[id]?.gaps = gaps
      let gap = Gap(stream: id, person: open.person, partition: open.partition, from: open.from, to: floor)
      self.gaps.withLock { $0.append(gap) }
    }
  }

  /// Writes an event. A client that does not read is disconnected.
  private func write(_ bytes: [UInt8], to id: UInt64, in state: inout State) {
    guard let open = state.open[id] else { return }
    switch open.stream.write(bytes) {
    case .taken, .ended: break
    case .full:
      metrics.count(.slow)
      open.stream.cut(Self.reset(.slow, id: state.ring.position(of: open.person)))
      remove(id, from: &state)
    }
  }

  private func reset(_ id: UInt64, _ reason: LiveReset, in state: inout State) {
    guard let open = state.open[id] else { return }
    let place = state.ring.position(of: open.person)
    state.open[id]?.from = place.next
    state.open[id]?.partition = place.partition
    state.open[id]?.gaps = nil
    metrics.count(reason)
    write(Self.reset(reason, id: place), to: id, in: &state)
  }

  private static func reset(_ reason: LiveReset, id: LivePosition) -> [UInt8] {
    ServerSentEvent.event("reset", Array(#"{"reason":"\#(reason.rawValue)"}"#.utf8), id: id)
  }

  private func end(_ id: UInt64, _ reason: LiveEnd, retry: Int, in state: inout State) {
    guard let open = state.open[id] else { return }
    open.stream.end(
      ServerSentEvent.event("end", Array(#"{"reason":"\#(reason.rawValue)"}"#.utf8), id: nil, retry: retry))
    remove(id, from: &state)
  }

  private func ended(_ id: UInt64) { state.withLock { remove(id, from: &$0) } }

  private func remove(_ id: UInt64, from state: inout State) {
    guard let open = state.open.removeValue(forKey: id) else { return }
    let left = state.byPerson[open.person]?.filter { $0 != id } ?? []
    state.byPerson[open.person] = left.isEmpty ? nil : left
    if let device = open.answering { reports?.ended(device) }
    metrics.streams.set(state.open.count)
  }

  // MARK: Time

  /// Ends streams whose token has expired, and writes comments, by which clients and service notice that the connection is alive. Called
  /// every second. The streams of one call are served together, because waking them means checking all suspended connections.
  /// - Parameters:
  ///   - now: The time on a monotonic clock.
  ///   - seconds: The time in seconds since the epoch.
  func tick(now: Milliseconds, seconds: Int64) {
    state.withLock { state in
      for (id, open) in state.open {
        if open.until <= seconds {
          end(id, .expired, retry: limits.retry, in: &state)
        } else if open.gaps == nil, open.from > state.ring.next[open.partition] ?? 0,
          now - open.openedAt >= Self.aheadTime
        {
          // No process had read that far, so it is a position of another topic.
          reset(id, .unknownId, in: &state)
        } else if now - open.beatAt >= limits.beat {
          state.open[id]?.beatAt = now
          let next = max(open.from, state.ring.next[open.partition] ?? 0)
          let place = open.gaps == nil ? LivePosition(partition: open.partition, next: next) : nil
          write(ServerSentEvent.beat(id: place), to: id, in: &state)
        }
      }
    }
  }

  /// The keys of tokens have changed, so every stream's token must be checked again. Their ends are spread over some seconds.
  /// - Parameter seconds: The time in seconds since the epoch.
  func keysChanged(seconds: Int64) {
    state.withLock { state in
      for (id, open) in state.open { state.open[id]?.until = min(open.until, seconds + Int64(random(0...5))) }
    }
  }

  /// Opens no more streams, and ends the open ones, spread over some seconds.
  /// - Parameter pause: Waits for a part of that time.
  func close(_ pause: (Duration) -> Void) {
    let ids = state.withLock { state in
      state.isClosed = true
      return Array(state.open.keys)
    }
    let parts = min(30, ids.count)
    for part in 0..<parts {
      state.withLock { state in
        for id in ids[(ids.count * part / parts)..<(ids.count * (part + 1) / parts)] {
          end(id, .stopping, retry: random(500...5_000), in: &state)
        }
      }
      pause(limits.drain / parts)
    }
  }

  // MARK: What is read

  var condition: Condition { state.withLock { $0.condition } }

  func set(_ condition: Condition) { state.withLock { $0.condition = condition } }

  /// The next offset to read, by partition.
  var next: [Int32: Int64] { state.withLock { $0.ring.next } }

  /// Sets the number of the topic's partitions. A change resets all streams.
  func setPartitions(_ count: Int32) {
    state.withLock { state in
      let isNew = state.ring.partitions != 0 && state.ring.partitions != count
      state.ring.setPartitions(count)
      if isNew { for id in state.open.keys { reset(id, .gap, in: &state) } }
    }
  }

  /// A partition is read from this offset on. Whatever precedes it is unknown.
  func begin(_ partition: Int32, at offset: Int64) {
    state.withLock { state in
      state.ring.begin(partition, at: offset)
      for (id, open) in state.open where open.partition == partition { reset(id, .gap, in: &state) }
    }
  }

  /// Reading has reached an offset.
  func advance(_ partition: Int32, to offset: Int64) { state.withLock { $0.ring.advance(partition, to: offset) } }

  /// A record was read; nil if it is not for a stream.
  func receive(_ event: LiveEvent?, partition: Int32, offset: Int64, delay seconds: Double) {
    state.withLock { state in
      guard let event else { return state.ring.advance(partition, to: offset + 1) }
      let bytes = event.bytes(id: LivePosition(partition: partition, next: offset + 1))
      guard let kept = state.ring.add(bytes, of: event.person, partition: partition, offset: offset) else { return }
      metrics.keep(state.ring.bytes)
      let own = (state.byPerson[event.person] ?? []).filter {
        guard let open = state.open[$0] else { return false }
        return open.gaps == nil && open.partition == partition && kept.next > open.from
      }
      for id in own { write(kept.bytes, to: id, in: &state) }
      if !own.isEmpty { metrics.count(own.count, delay: seconds) }
    }
  }

  /// Removes and returns the gaps that must be read from the topic.
  func takeGaps() -> [Gap] {
    gaps.withLock { gaps in
      defer { gaps = [] }
      return gaps
    }
  }

  /// Passes the events of a gap; nil if the topic no longer has them, or if there are too many.
  func fill(_ gap: Gap, with events: [LiveRing.Event]?) {
    state.withLock { state in
      guard let open = state.open[gap.stream], open.gaps != nil, open.from == gap.from else { return }
      guard let events else { return reset(gap.stream, .gap, in: &state) }
      for event in events where event.next > open.from { write(event.bytes, to: gap.stream, in: &state) }
      state.open[gap.stream]?.from = gap.to
      catchUp(gap.stream, in: &state)
    }
  }
}

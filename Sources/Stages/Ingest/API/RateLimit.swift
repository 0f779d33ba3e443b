import NudgeSchema
import Synchronization

/// How many events a second each caller may send: a token bucket for each caller.
///
/// A batch is admitted when the bucket holds one event, and may leave the bucket in debt: a batch larger than the bucket must pass too.
/// The next batch then waits.
final class RateLimit: Sendable {
  private struct Bucket {
    var events: Double
    var filledAt: Milliseconds
  }

  /// Beyond this many buckets, full ones are forgotten: they are as good as new.
  static let rememberedCallers = 10_000

  private let eventsPerSecond: Double
  private let burst: Double
  private let buckets = Mutex<[String: Bucket]>([:])

  /// - Parameter burst: How many events a bucket holds; a second's worth unless given.
  init(eventsPerSecond: Int, burst: Int? = nil) {
    self.eventsPerSecond = Double(max(1, eventsPerSecond))
    self.burst = Double(max(1, burst ?? eventsPerSecond))
  }

  /// How many seconds a caller must wait before it may send again; nil if it may send now.
  /// - Parameter now: By a monotonic clock.
  func secondsToWait(_ caller: String, now: Milliseconds) -> Int? {
    buckets.withLock { buckets in
      guard let bucket = buckets[caller] else { return nil }
      let events = filled(bucket, now)
      return events >= 1 ? nil : max(1, Int(((1 - events) / eventsPerSecond).rounded(.up)))
    }
  }

  /// Counts the events of a caller's batch.
  func count(_ events: Int, of caller: String, now: Milliseconds) {
    buckets.withLock { buckets in
      let before = buckets[caller].map { filled($0, now) } ?? burst
      buckets[caller] = Bucket(events: before - Double(events), filledAt: now)
      guard buckets.count > Self.rememberedCallers else { return }
      buckets = buckets.filter { filled($0.value, now) < burst }
    }
  }

  private func filled(_ bucket: Bucket, _ now: Milliseconds) -> Double {
    let elapsed = Double(max(0, now - bucket.filledAt)) / 1_000
    return min(burst, bucket.events + elapsed * eventsPerSecond)
  }
}

/// The rates of both kinds of callers. Users' buckets are apart from backends': thousands of users do not push a backend's bucket out.
struct CallerRates: Sendable {
  private let backends: RateLimit
  private let users: RateLimit

  init(backendEventsPerSecond: Int, userEventsPerSecond: Int) {
    backends = RateLimit(eventsPerSecond: backendEventsPerSecond)
    users = RateLimit(eventsPerSecond: userEventsPerSecond, burst: 10 * userEventsPerSecond)
  }

  /// How long a caller must wait, in seconds, and the setting that says so; nil if it may send now.
  func wait(of caller: Caller, now: Milliseconds) -> (seconds: Int, setting: String)? {
    switch caller {
    case .backend(let name): backends.secondsToWait(name, now: now).map { ($0, "--http-rate") }
    case .user(let id): users.secondsToWait(id, now: now).map { ($0, "--http-user-rate") }
    }
  }

  func count(_ events: Int, of caller: Caller, now: Milliseconds) {
    switch caller {
    case .backend(let name): backends.count(events, of: name, now: now)
    case .user(let id): users.count(events, of: id, now: now)
    }
  }
}

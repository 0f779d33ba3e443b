import NudgeSchema
import Synchronization

/// How many events a second each caller may send: a bucket for each, which holds a second's worth.
///
/// A batch is let in when the bucket holds one event, and may leave it in debt: a batch that is larger than the rate must pass too,
/// and what follows it waits.
final class RateLimit: Sendable {
  private struct Bucket {
    var events: Double
    var filledAt: Milliseconds
  }

  /// Buckets that are full say nothing; beyond this many they are forgotten.
  static let rememberedCallers = 10_000

  private let eventsPerSecond: Double
  private let buckets = Mutex<[String: Bucket]>([:])

  init(eventsPerSecond: Int) { self.eventsPerSecond = Double(max(1, eventsPerSecond)) }

  /// How many seconds a caller must wait before it may send again; nil if it may now.
  /// - Parameter now: Of a clock that does not go back.
  func secondsToWait(_ caller: String, now: Milliseconds) -> Int? {
    buckets.withLock { buckets in
      guard let bucket = buckets[caller] else { return nil }
      let events = filled(bucket, now)
      return events >= 1 ? nil : max(1, Int(((1 - events) / eventsPerSecond).rounded(.up)))
    }
  }

  /// Counts what a caller sent.
  func count(_ events: Int, of caller: String, now: Milliseconds) {
    buckets.withLock { buckets in
      let before = buckets[caller].map { filled($0, now) } ?? eventsPerSecond
      buckets[caller] = Bucket(events: before - Double(events), filledAt: now)
      guard buckets.count > Self.rememberedCallers else { return }
      buckets = buckets.filter { filled($0.value, now) < eventsPerSecond }
    }
  }

  private func filled(_ bucket: Bucket, _ now: Milliseconds) -> Double {
    let elapsed = Double(max(0, now - bucket.filledAt)) / 1_000
    return min(eventsPerSecond, bucket.events + elapsed * eventsPerSecond)
  }
}

import NudgeSchema
import Synchronization

/// How much each caller may send per second, in events or bytes: one token bucket per caller.
final class RateLimit: Sendable {
  private struct Bucket {
    var held: Double
    var filledAt: Milliseconds
  }

  /// When there are more buckets than this, full ones are removed, because they are equal to new ones.
  static let rememberedCallers = 10_000

  private let perSecond: Double
  /// The capacity of a bucket.
  let burst: Int
  private let buckets = Mutex<[String: Bucket]>([:])

  /// - Parameter burst: The capacity of a bucket; by default the amount of one second.
  init(perSecond: Int, burst: Int? = nil) {
    self.perSecond = Double(max(1, perSecond))
    self.burst = max(1, burst ?? perSecond)
  }

  /// The seconds until a caller's bucket holds this much; nil if it does now.
  /// - Parameter now: The time on a monotonic clock.
  func secondsToWait(for amount: Int = 1, _ caller: String, now: Milliseconds) -> Int? {
    buckets.withLock { buckets in
      guard let bucket = buckets[caller] else { return nil }
      let missing = Double(min(amount, burst)) - filled(bucket, now)
      return missing <= 0 ? nil : max(1, Int((missing / perSecond).rounded(.up)))
    }
  }

  /// Takes from a caller's bucket even if it holds too little. The debt is at most the bucket's capacity.
  func take(_ amount: Int, of caller: String, now: Milliseconds) {
    buckets.withLock { buckets in
      let before = buckets[caller].map { filled($0, now) } ?? Double(burst)
      buckets[caller] = Bucket(held: max(before - Double(amount), -Double(burst)), filledAt: now)
      guard buckets.count > Self.rememberedCallers else { return }
      buckets = buckets.filter { filled($0.value, now) < Double(burst) }
    }
  }

  /// Takes this much if the bucket holds it.
  func takeIfThere(_ amount: Int = 1, of caller: String, now: Milliseconds) -> Bool {
    guard secondsToWait(for: amount, caller, now: now) == nil else { return false }
    take(amount, of: caller, now: now)
    return true
  }

  private func filled(_ bucket: Bucket, _ now: Milliseconds) -> Double {
    let elapsed = Double(max(0, now - bucket.filledAt)) / 1_000
    return min(Double(burst), bucket.held + elapsed * perSecond)
  }
}

/// The rates of both kinds of callers. Users and backends have separate buckets, so that thousands of users cannot displace a backend's
/// bucket.
struct CallerRates: Sendable {
  /// Why a caller may not send now.
  enum Refusal: Equatable {
    /// The caller may send later.
    case wait(seconds: Int, setting: String)
    /// The caller may never send this much at once.
    case never(most: Int, setting: String)
  }

  private struct Rate: Sendable {
    let events: RateLimit
    let bytes: RateLimit
    let settings: (events: String, bytes: String)
  }

  private let backends: Rate
  private let users: Rate
  /// Limits the traces that users' tokens ask to record, per user and in total.
  private let userTraces = RateLimit(perSecond: 1, burst: 5)
  private let allTraces = RateLimit(perSecond: 50)

  /// The most bytes of one event of a user's token.
  static let userEventBytes = 64 << 10

  /// - Parameters:
  ///   - backendBytes: MiB per second.
  ///   - userBytes: KiB per second.
  init(backendEvents: Int, backendBytes: Int, userEvents: Int, userBytes: Int) {
    backends = Rate(
      events: RateLimit(perSecond: backendEvents, burst: max(backendEvents, RequestBody.maxEvents)),
      bytes: RateLimit(perSecond: backendBytes << 20, burst: max(2, backendBytes) << 20),
      settings: ("--http-rate", "--http-bytes"))
    users = Rate(
      events: RateLimit(perSecond: userEvents, burst: 10 * userEvents),
      bytes: RateLimit(perSecond: userBytes << 10, burst: max(2 * Self.userEventBytes, 32 * userBytes << 10)),
      settings: ("--http-user-rate", "--http-user-bytes"))
  }

  private func rate(of caller: Caller) -> (Rate, key: String) {
    switch caller {
    case .backend(let name): (backends, name)
    case .user(let id): (users, id)
    }
  }

  /// Why a request may not be read; nil if it may. `bytes` is the length of its body, if known.
  func refusal(of caller: Caller, bytes: Int? = nil, now: Milliseconds) -> Refusal? {
    let (rate, key) = rate(of: caller)
    if let seconds = rate.events.secondsToWait(key, now: now) {
      return .wait(seconds: seconds, setting: rate.settings.events)
    }
    if let bytes, bytes > rate.bytes.burst { return .never(most: rate.bytes.burst, setting: rate.settings.bytes) }
    return rate.bytes.secondsToWait(for: max(1, bytes ?? 1), key, now: now).map {
      .wait(seconds: $0, setting: rate.settings.bytes)
    }
  }

  /// Counts a body that was read, whatever happens to it.
  func count(bytes: Int, of caller: Caller, now: Milliseconds) {
    let (rate, key) = rate(of: caller)
    rate.bytes.take(bytes, of: key, now: now)
  }

  /// Counts the events of a body if the caller may send them now. Otherwise counts one event, for the work of refusing.
  func take(_ events: Int, of caller: Caller, now: Milliseconds) -> Refusal? {
    let (rate, key) = rate(of: caller)
    if events > rate.events.burst {
      rate.events.take(1, of: key, now: now)
      return .never(most: rate.events.burst, setting: rate.settings.events)
    }
    if let seconds = rate.events.secondsToWait(for: events, key, now: now) {
      rate.events.take(1, of: key, now: now)
      return .wait(seconds: seconds, setting: rate.settings.events)
    }
    rate.events.take(events, of: key, now: now)
    return nil
  }

  /// Counts work that costs as much as this number of events.
  func count(_ events: Int, of caller: Caller, now: Milliseconds) {
    let (rate, key) = rate(of: caller)
    rate.events.take(events, of: key, now: now)
  }

  /// Whether a caller's trace is recorded. A user's token may ask for only a few, so that one phone cannot fill the exporter's queue.
  func recordsTrace(of caller: Caller, now: Milliseconds) -> Bool {
    guard case .user(let id) = caller else { return true }
    return userTraces.takeIfThere(of: id, now: now) && allTraces.takeIfThere(of: "", now: now)
  }
}

extension CallerRates.Refusal {
  /// The seconds of `Retry-After`, and the error for the caller.
  func answer(_ what: String) -> (seconds: Int, message: String) {
    switch self {
    case .wait(let seconds, let setting):
      (seconds, "more \(what) than this caller may send (\(setting)): send them again in \(seconds) s")
    case .never(let most, let setting):
      (1, "more \(what) at once than this caller may send (\(setting)): send at most \(most) at once")
    }
  }

  /// Whether the rate limits bytes.
  var isOfBytes: Bool {
    switch self {
    case .wait(_, let setting), .never(_, let setting): setting.hasSuffix("bytes")
    }
  }
}

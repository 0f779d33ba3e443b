import ServiceKit

/// Spans that wait to be sent, and what is to be done about them. A value: it has no clock and does no I/O.
struct SpanQueue {
  /// The most spans that wait; what comes beyond is dropped.
  static let capacity = 8_192
  /// The most spans of a request.
  static let batchSize = 512
  /// How long spans wait for others, in milliseconds, where they do not fill a request.
  static let linger: Int64 = 1_000
  /// The least and the most time between two tries, in milliseconds.
  static let backoff: ClosedRange<Int64> = 1_000...30_000

  /// What whoever sends does next.
  enum Next: Equatable {
    /// Send these, and tell what came of it.
    case send([Span])
    /// Ask again at a time (milliseconds of a steady clock), or when there is news; nil: only then.
    case wait(until: Int64?)
  }

  /// What came of a request.
  enum Outcome: Equatable {
    /// The collector has them, but for so many that it left out.
    case taken(rejected: Int)
    /// It will never take these.
    case refused
    /// It is away, or has too much to do; where it said so, for how many milliseconds.
    case unavailable(retryAfter: Int64?)
  }

  private var waiting: [Span] = []
  /// When the first of those that wait came.
  private var firstAt: Int64 = 0
  /// What is being sent, or is to be sent again.
  private var batch: [Span] = []
  private var isSending = false
  private var retryAt: Int64?
  private var pause = Self.backoff.lowerBound
  /// The process ends: nothing waits for anything.
  private(set) var isDraining = false

  /// Spans there are, those on the wire included.
  var count: Int { waiting.count + batch.count }

  /// Takes a span; false: there is no room. True twice: whether whoever sends has to be told.
  mutating func add(_ span: Span, now: Int64) -> (taken: Bool, isNews: Bool) {
    guard count < Self.capacity else { return (false, false) }
    if waiting.isEmpty { firstAt = now }
    waiting.append(span)
    // The first sets the clock, one that fills a request stops it; those between change nothing.
    return (true, waiting.count == 1 || waiting.count == Self.batchSize)
  }

  /// What is to be done now.
  mutating func next(now: Int64) -> Next {
    if isSending { return .wait(until: nil) }
    if let retryAt, now < retryAt { return .wait(until: retryAt) }
    if batch.isEmpty {
      guard !waiting.isEmpty else { return .wait(until: nil) }
      guard waiting.count >= Self.batchSize || isDraining || now - firstAt >= Self.linger else {
        return .wait(until: firstAt + Self.linger)
      }
      batch = Array(waiting.prefix(Self.batchSize))
      waiting.removeFirst(batch.count)
      firstAt = now
    }
    isSending = true
    retryAt = nil
    return .send(batch)
  }

  /// What came of the request that `next` asked for. Returns how many spans are sent, and how many are dropped.
  mutating func finished(_ outcome: Outcome, now: Int64) -> (sent: Int, dropped: Int) {
    isSending = false
    let count = batch.count
    switch outcome {
    case .taken(let rejected):
      batch = []
      pause = Self.backoff.lowerBound
      let dropped = min(max(0, rejected), count)
      return (count - dropped, dropped)
    case .refused:
      batch = []
      return (0, count)
    case .unavailable(let retryAfter):
      // Once the process ends there is one try.
      guard !isDraining else {
        defer {
          batch = []
          waiting = []
        }
        return (0, self.count)
      }
      retryAt = now + max(pause, min(retryAfter ?? 0, Self.backoff.upperBound))
      pause = min(pause * 2, Self.backoff.upperBound)
      return (0, 0)
    }
  }

  /// From now on nothing waits for others, or for a collector that is away.
  mutating func drain() {
    isDraining = true
    retryAt = nil
  }
}

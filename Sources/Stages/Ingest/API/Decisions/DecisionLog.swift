import NudgeSchema

/// What the pipeline makes of events that somebody waits for: decisions of messages, and refusals. Bounded in bytes, and in time a record
/// takes: it is kept for awaited events alone.
///
/// A decision may be read before Kafka's acknowledgement says where its event is. So while events are on their way, what is read is kept,
/// the latest `earlyBytes` of it.
struct DecisionLog {
  /// Decisions kept of an event; a message to more people is answered with these.
  static let decisionsOfAnEvent = 1_000
  /// Bytes of what is kept of all awaited events. Beyond it an event gets no more decisions.
  static let bytes = 16 << 20
  /// Bytes kept while events are in flight.
  static let earlyBytes = 4 << 20

  /// A person's decision: the final one, or `deferred` until there is one.
  struct Decided: Sendable, Equatable {
    var userId: String
    var outcome: String
    var reason: String

    var bytes: Int { 96 + userId.utf8.count + outcome.utf8.count + reason.utf8.count }
  }

  /// A record of the pipeline about an event.
  enum Report: Sendable, Equatable {
    /// The event is a retry: an earlier one has its id.
    case known
    /// How many people the message is for.
    case recipients(Int)
    case decided(Decided)
    case refused(Fate.Refusal)

    var bytes: Int {
      switch self {
      case .known, .recipients: 96
      case .decided(let decision): decision.bytes
      case .refused(let refusal): 96 + refusal.code.utf8.count + refusal.message.utf8.count
      }
    }
  }

  /// The known results of an event.
  struct Fate: Sendable, Equatable {
    /// Whether it is a retry. Then the rest is what became of the first event with its id.
    var isKnown = false
    /// How many people a message is for; nil: it is not on the timeline yet.
    var recipients: Int?
    private(set) var byUser: [String: Decided] = [:]
    /// The code and the reason.
    var refusal: Refusal?
    /// Whether there may be more decisions than are kept.
    fileprivate(set) var isCut = false

    /// A refusal.
    struct Refusal: Sendable, Equatable {
      var code: String
      var message: String
    }

    /// The decisions, in no order.
    var decided: some Collection<Decided> { byUser.values }

    /// Adds a decision. A final one takes the place of the one that was deferred. Returns the bytes it takes.
    mutating func add(_ decision: Decided) -> Int {
      guard !isCut else { return 0 }
      if let known = byUser[decision.userId] {
        if known.outcome == "deferred" { byUser[decision.userId] = decision }
        return 0
      }
      guard byUser.count < DecisionLog.decisionsOfAnEvent else {
        isCut = true
        return 0
      }
      byUser[decision.userId] = decision
      return decision.bytes
    }

    /// Whether everybody is decided for, or the decision is deferred.
    var isComplete: Bool { refusal != nil || !isCut && recipients.map { byUser.count >= $0 } ?? false }
    /// Whether nothing was read of it.
    var isUnseen: Bool { !isKnown && recipients == nil && refusal == nil && byUser.isEmpty }
    /// Whether there is nothing to wait for.
    var isSettled: Bool { isComplete || isCut }
  }

  private struct Awaited {
    var fate = Fate()
    var bytes = 0
    /// The requests that wait for it.
    var waiters: [UInt64]
  }

  private var awaited: [RecordPosition: Awaited] = [:]
  /// Awaited events without a fate, by who waits.
  private var open: [UInt64: Int] = [:]
  /// Bytes of the awaited events' decisions.
  private(set) var keptBytes = 0
  /// Requests whose events are in flight.
  private(set) var underway = 0
  private var early: [(position: RecordPosition, report: Report)] = []
  private var dropped = 0
  private(set) var keptEarlyBytes = 0

  /// Whether anything is to be kept of what is read.
  var isWanted: Bool { underway > 0 || !awaited.isEmpty }

  /// Events are about to be published.
  mutating func begin() { underway += 1 }

  /// The events are published. Waits for those at these places, which are known now; with none, for nothing.
  mutating func watch(_ positions: [RecordPosition], as waiter: UInt64) {
    for position in positions {
      awaited[position, default: Awaited(waiters: [])].waiters.append(waiter)
      if awaited[position]?.fate.isSettled != true { open[waiter, default: 0] += 1 }
    }
    let wanted = Set(positions)
    if !wanted.isEmpty {
      for (position, report) in early[dropped...] where wanted.contains(position) { add(report, to: position) }
    }
    underway -= 1
    if underway == 0 { forgetEarly() }
  }

  /// Whether all events that one waits for have a fate.
  func isDone(_ waiter: UInt64) -> Bool { open[waiter] == nil }

  /// The known results of events.
  func fates(of positions: [RecordPosition]) -> [RecordPosition: Fate] {
    Dictionary(positions.map { ($0, awaited[$0]?.fate ?? Fate()) }, uniquingKeysWith: { first, _ in first })
  }

  /// Nobody waits as this one any more.
  mutating func end(_ waiter: UInt64, _ positions: [RecordPosition]) {
    open[waiter] = nil
    for position in positions {
      awaited[position]?.waiters.removeAll { $0 == waiter }
      guard let event = awaited[position], event.waiters.isEmpty else { continue }
      keptBytes -= event.bytes
      awaited[position] = nil
    }
  }

  /// A record about an event was read.
  mutating func record(_ position: RecordPosition, _ report: Report) {
    if awaited[position] != nil { return add(report, to: position) }
    guard underway > 0 else { return }
    early.append((position, report))
    keptEarlyBytes += report.bytes
    while keptEarlyBytes > Self.earlyBytes, dropped < early.count {
      keptEarlyBytes -= early[dropped].report.bytes
      dropped += 1
    }
    // In bulk, so that removing costs little a record.
    if dropped > 1_024, dropped * 2 > early.count {
      early.removeFirst(dropped)
      dropped = 0
    }
  }

  private mutating func add(_ report: Report, to position: RecordPosition) {
    // Taken out, so that it is changed in place.
    guard var event = awaited[position] else { return }
    awaited[position] = nil
    let wasSettled = event.fate.isSettled
    switch report {
    case .known: event.fate.isKnown = true
    case .recipients(let count): event.fate.recipients = count
    case .refused(let refusal): event.fate.refusal = refusal
    case .decided(let decision):
      if keptBytes + decision.bytes > Self.bytes { event.fate.isCut = true }
      let bytes = event.fate.add(decision)
      event.bytes += bytes
      keptBytes += bytes
    }
    if !wasSettled, event.fate.isSettled {
      for waiter in event.waiters {
        open[waiter] = open[waiter].flatMap { $0 > 1 ? $0 - 1 : nil }
      }
    }
    awaited[position] = event
  }

  private mutating func forgetEarly() {
    early = []
    dropped = 0
    keptEarlyBytes = 0
  }
}

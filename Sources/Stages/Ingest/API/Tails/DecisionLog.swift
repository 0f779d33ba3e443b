import Kafka
import NudgeSchema

/// Collects decisions and refusals for HTTP requests that wait for the results of their events. It keeps only what a request waits for, so
/// memory and time per record are bounded.
///
/// The tail may read a decision before Kafka acknowledges the event and so reveals its position. While events are in flight, the log
/// therefore keeps the latest `earlyBytes` of all records, whichever event they are about.
struct DecisionLog {
  /// The most decisions kept for an event. The answer about a message to more people has only these.
  static let decisionsOfAnEvent = 1_000
  /// The most bytes kept for all awaited events. Beyond that, no further decisions are kept.
  static let bytes = 16 << 20
  /// The most bytes kept while events are in flight.
  static let earlyBytes = 4 << 20

  /// A person's decision: `deferred`, or the final one that replaces it.
  struct Decided: Sendable, Equatable {
    var userId: String
    var outcome: String
    var reason: String

    var bytes: Int { 96 + userId.utf8.count + outcome.utf8.count + reason.utf8.count }
  }

  /// A record of the pipeline about an event.
  enum Report: Sendable, Equatable {
    /// The event is a retry of an earlier one with the same id.
    case known
    /// The number of recipients of the message.
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
    /// Whether it is a retry. Then the other fields are the results of the first event with its id.
    var isKnown = false
    /// The number of recipients of a message; nil until the message is on the timeline.
    var recipients: Int?
    private(set) var byUser: [String: Decided] = [:]
    /// Why the event was refused; nil if it was not.
    var refusal: Refusal?
    /// Whether decisions may have been dropped at a limit.
    fileprivate(set) var isCut = false

    struct Refusal: Sendable, Equatable {
      var code: String
      var message: String
    }

    /// The decisions, in no order.
    var decided: some Collection<Decided> { byUser.values }

    /// Adds a decision, or replaces a deferred one. Returns the bytes by which memory grew.
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

    /// Whether there is a decision for every recipient, or a refusal.
    var isComplete: Bool { refusal != nil || !isCut && recipients.map { byUser.count >= $0 } ?? false }
    /// Whether no record about the event was read.
    var isUnseen: Bool { !isKnown && recipients == nil && refusal == nil && byUser.isEmpty }
    /// Whether a request need not wait for the event any longer.
    var isSettled: Bool { isComplete || isCut }
  }

  private struct Awaited {
    var fate = Fate()
    var bytes = 0
    /// The requests that wait for it.
    var waiters: [UInt64]
  }

  private var awaited: [RecordPosition: Awaited] = [:]
  /// For each waiting request, the number of its events without a result.
  private var open: [UInt64: Int] = [:]
  /// The bytes of the kept decisions.
  private(set) var keptBytes = 0
  /// The number of requests whose events are in flight.
  private(set) var underway = 0
  private var early: [(position: RecordPosition, report: Report)] = []
  private var dropped = 0
  private(set) var keptEarlyBytes = 0

  /// Whether the log needs records from the tail.
  var isWanted: Bool { underway > 0 || !awaited.isEmpty }

  /// Keeps early records from now on, because a request is about to publish events. Call `watch` once for each call.
  mutating func begin() { underway += 1 }

  /// Collects results of the published events at these positions for a request, first those among the early records. Without positions it
  /// only ends what `begin` began.
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

  /// Whether all events of a waiting request have a result.
  func isDone(_ waiter: UInt64) -> Bool { open[waiter] == nil }

  /// The known results of events.
  func fates(of positions: [RecordPosition]) -> [RecordPosition: Fate] {
    Dictionary(positions.map { ($0, awaited[$0]?.fate ?? Fate()) }, uniquingKeysWith: { first, _ in first })
  }

  /// Drops what was collected only for a request that has stopped waiting.
  mutating func end(_ waiter: UInt64, _ positions: [RecordPosition]) {
    open[waiter] = nil
    for position in positions {
      awaited[position]?.waiters.removeAll { $0 == waiter }
      guard let event = awaited[position], event.waiters.isEmpty else { continue }
      keptBytes -= event.bytes
      awaited[position] = nil
    }
  }

  /// Adds what the tail has read about an event.
  mutating func record(_ position: RecordPosition, _ report: Report) {
    if awaited[position] != nil { return add(report, to: position) }
    guard underway > 0 else { return }
    early.append((position, report))
    keptEarlyBytes += report.bytes
    while keptEarlyBytes > Self.earlyBytes, dropped < early.count {
      keptEarlyBytes -= early[dropped].report.bytes
      dropped += 1
    }
    // Removing in bulk keeps the cost per record small.
    if dropped > 1_024, dropped * 2 > early.count {
      early.removeFirst(dropped)
      dropped = 0
    }
  }

  private mutating func add(_ report: Report, to position: RecordPosition) {
    // Out of the dictionary the entry has one owner, so changing it copies nothing.
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

/// Finds the results of events that were published earlier with the same ids. Ingest writes nothing for a retry, so the retry itself has no
/// results.
struct EarlierEvents {
  /// A published event without any record.
  struct Wanted: Sendable {
    let position: RecordPosition
    let eventId: String
    /// In milliseconds since the epoch. Nothing about the first event was written earlier.
    let occurredAt: Milliseconds
  }

  /// The most records, from the end of a partition, that are read if the broker cannot find the time.
  private static let depth: Int64 = 20_000
  /// The tolerance for clock differences.
  private static let slack: Milliseconds = 300_000

  let configuration: ClientConfiguration
  let names: TopicNames

  /// Calls `report` with the results of the first event of each id, as those of the later one.
  func find(
    _ wanted: [Wanted], until deadline: ContinuousClock.Instant, _ report: (RecordPosition, DecisionLog.Report) -> Void
  ) throws(KafkaError) {
    guard let first = wanted.map(\.occurredAt).min() else { return }
    let consumer = try Consumer(configuration, name: "nudge-ingest-retries")
    defer { consumer.close() }
    let coder = RecordCoder()
    let byId = Dictionary(grouping: wanted, by: \.eventId)
    var later: [RecordPosition: [RecordPosition]] = [:]
    try read(.timeline, consumer, since: first - Self.slack, until: deadline) { value in
      guard let it = try? coder.decode(TimelineGlance.self, from: value), it.type != "message.sent",
        let events = byId[it.eventId]
      else { return }
      for event in events where it.source != event.position && it.source.isBeside(event.position) {
        if later[it.source]?.contains(event.position) != true {
          later[it.source, default: []].append(event.position)
          report(event.position, .known)
        }
        report(event.position, .recipients(it.recipients))
      }
    }
    guard !later.isEmpty else { return }
    try read(.decisions, consumer, since: first - Self.slack, until: deadline) { value in
      guard let it = try? coder.decode(DecisionGlance.self, from: value) else { return }
      for position in later[it.source] ?? [] { report(position, .decided(it.decided)) }
    }
  }

  private func read(
    _ topic: Topic, _ consumer: Consumer, since: Milliseconds, until deadline: ContinuousClock.Instant,
    _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(KafkaError) {
    let count = try consumer.partitionCounts(of: [names(topic)], timeout: .seconds(1))[names(topic)] ?? 0
    let places = (0..<Int32(clamping: count)).map { TopicPartition(topic: names(topic), partition: $0) }
    func offsets(_ time: Int64) throws(KafkaError) -> [TopicPartition: Int64?] {
      try consumer.offsets(
        forTimes: Dictionary(uniqueKeysWithValues: places.map { ($0, time) }), timeout: .seconds(1))
    }
    let (low, high, found) = (try offsets(Offset.beginning), try offsets(Offset.end), try offsets(max(0, since)))
    var open: [TopicPartition: Int64] = [:]
    var starts: [TopicPartitionOffset] = []
    for place in places {
      guard let end = high[place] ?? nil, let begin = low[place] ?? nil, begin < end else { continue }
      open[place] = end
      starts.append(
        TopicPartitionOffset(place, offset: max(begin, (found[place] ?? nil) ?? (end - Self.depth))))
    }
    guard !open.isEmpty else { return }
    try consumer.assign(starts)
    defer { try? consumer.assign([]) }
    while !open.isEmpty, ContinuousClock.now < deadline {
      let event = consumer.poll(maxRecords: 5_000, maxBytes: 8 << 20, timeout: .milliseconds(20)) { record in
        if let value = record.value { body(value) }
        if let end = open[record.topicPartition], record.offset >= end - 1 { open[record.topicPartition] = nil }
      }
      switch event {
      case .endOfPartition(let place, let offset): if let end = open[place], offset >= end { open[place] = nil }
      case .error(let error) where error.isFatal || error.isAuthorization: throw error
      default: break
      }
    }
  }
}

extension RecordPosition {
  /// Whether two events may have the same key.
  fileprivate func isBeside(_ other: RecordPosition) -> Bool { topic == other.topic && partition == other.partition }
}

/// The fields that are read from a timeline record.
struct TimelineGlance: Decodable {
  struct Conversation: Decodable { let memberCount: Int }
  let type: String
  let eventId: String
  let source: RecordPosition
  let conversation: Conversation?

  /// The number of recipients of a message; 0 for other records.
  var recipients: Int { type == "message.candidate" ? max(0, (conversation?.memberCount ?? 1) - 1) : 0 }
}

/// The fields that are read from a decision.
struct DecisionGlance: Decodable {
  let userId: String
  let outcome: String
  let reason: String
  let source: RecordPosition

  var decided: DecisionLog.Decided { .init(userId: userId, outcome: outcome, reason: reason) }
}

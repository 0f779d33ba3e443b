import Foundation
import Kafka
import NudgeSchema

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

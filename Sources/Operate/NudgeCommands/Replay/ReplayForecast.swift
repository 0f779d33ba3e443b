import Analyzer
import Kafka
import NudgeSchema
import StreamRuntime

/// Predicts the decisions on a plan's items, with the analyzer's own code on a copy of its state. It writes nothing.
struct ReplayForecast {
  struct Result: Equatable {
    /// The number of decisions to notify.
    var wouldSend = 0
    /// The number of decisions to suppress, by reason.
    var suppressed: [DecisionReason: Int] = [:]
  }

  let rules: AnalyzerRules
  let browser: TopicBrowser
  /// The wall clock, in milliseconds since the epoch.
  let now: Milliseconds

  /// Counts the decisions that the items would have if they were written now.
  func result(of items: [ReplayPlan.Item], mode: ReplayMode) throws -> Result {
    var result = Result()
    guard !items.isEmpty else { return result }
    let count = try browser.partitionCount(of: .timeline)
    let driver = StageDriver(AnalyzerStage(rules: rules), partitions: count, now: now)
    for (partition, rows) in try rows(of: items) {
      driver.load(rows, partition: partition)
      // A task reads only at its start which people and conversations are erased.
      try driver.restart(partition: partition)
    }
    for item in items {
      let event = ReplayRecord.event(item, replayId: "dry-run", mode: mode)
      let step = try driver.send(
        event, to: .timeline, key: item.fields.conversationId, partition: item.partition)
      for output in step.outputs where output.topic == .decisions {
        let decision = try driver.decode(Decision.self, from: output).body
        if decision.outcome == .notify {
          result.wouldSend += 1
        } else {
          result.suppressed[decision.reason, default: 0] += 1
        }
      }
    }
    return result
  }

  /// The rows of the affected people, by task.
  private func rows(of items: [ReplayPlan.Item]) throws -> [Int32: [(key: RowKey, bytes: [UInt8]?)]] {
    var people: [Int32: Set<[UInt8]>] = [:]
    for item in items {
      for recipient in item.fields.recipients {
        people[item.partition, default: []].insert(Array(recipient.userId.utf8))
      }
    }
    var rows: [Int32: [(key: RowKey, bytes: [UInt8]?)]] = [:]
    let ranges = try browser.ranges(of: .analyzerState, partitions: people.keys.sorted())
    try browser.read(ranges, "reading \(browser.names(.analyzerState))") { record in
      // A key is the kind of row, NUL, a user's id, and for some kinds NUL and more. Rows of resent messages and of erasures (`x`) have
      // something else in second place, so all of them are loaded.
      guard let key = record.key, key.count > 2, key[1] == 0, let wanted = people[record.partition] else { return true }
      if Resend.isRow(key) || key[0] == UInt8(ascii: "x") {
        rows[record.partition, default: []].append((RowKey(bytes: [UInt8](key)), record.valueBytes()))
        return true
      }
      let userId = key.dropFirst(2).prefix { $0 != 0 }
      guard wanted.contains([UInt8](userId)) else { return true }
      rows[record.partition, default: []].append((RowKey(bytes: [UInt8](key)), record.valueBytes()))
      return true
    }
    return rows
  }
}

/// The records a replay writes.
enum ReplayRecord {
  /// A `candidate.redecide` for an item.
  static func event(_ item: ReplayPlan.Item, replayId: String, mode: ReplayMode) -> TimelineEvent {
    var fields = item.fields
    fields.replayId = replayId
    fields.forced = mode == .force ? true : nil
    return TimelineEvent(
      // The message's own time determines its freshness.
      Envelope(
        eventId: "\(replayId)-\(item.position.partition)-\(item.position.offset)"
          + (item.target.map { "-\($0.partition)-\($0.number)" } ?? ""),
        occurredAt: item.occurredAt),
      origin: Origin(item.position), source: item.source, takenAt: item.takenAt, .redecide(fields))
  }

  static func record(_ item: ReplayPlan.Item, replayId: String, mode: ReplayMode, coder: RecordCoder) throws
    -> OutgoingRecord
  {
    OutgoingRecord(
      topic: .timeline, partition: item.partition, key: Array(item.fields.conversationId.utf8),
      value: try coder.encode(event(item, replayId: replayId, mode: mode)),
      headers: [(RecordHeader.replayId, Array(replayId.utf8))])
  }

  /// A stop event for each partition.
  static func stops(_ replayId: String, partitions: Int32, cause: RecordPosition, now: Milliseconds, coder: RecordCoder)
    throws -> [OutgoingRecord]
  {
    try (0..<partitions).map { partition in
      OutgoingRecord(
        topic: .timeline, partition: partition, key: Array(replayId.utf8),
        value: try coder.encode(
          TimelineEvent(
            Envelope(eventId: "\(replayId)-stop-\(partition)", occurredAt: now), origin: Origin(cause), source: cause,
            .replayStopped(ReplayStopped(replayId: replayId)))),
        headers: [(RecordHeader.replayId, Array(replayId.utf8))])
    }
  }
}

/// Collects from the timeline what has happened to messages, conversations and people since, so that a replay shows no deleted text and
/// notifies nobody who has left.
struct ReplayChanges {
  private struct Edit {
    var stamp: EventStamp
    var body: String
    var title: String?
    var sender: Member?
  }

  /// The last edit of each message.
  private var edits: [ExactText: Edit] = [:]
  private var deleted: Set<ExactText> = []
  /// When conversations were deleted, and when people last left one.
  private var ended: [ExactText: Milliseconds] = [:]
  private var left: [ExactText: Milliseconds] = [:]
  /// When people were deleted.
  private var erased: [ExactText: Milliseconds] = [:]

  private static let types = [EventType.messageWithdrawn, .userDeleted].map { Array("\"\($0.rawValue)\"".utf8) }

  /// Whether a record may contain such a change, by a search of its bytes.
  static func mayConcern(_ record: ConsumerRecord) -> Bool { types.contains { record.valueContains($0) } }

  /// Adds an event of the timeline if it concerns the selection.
  mutating func add(_ event: TimelineEvent, _ selection: ReplaySelection) {
    switch event.body {
    case .user(.deleted(let user)): Self.record(event.cappedAt, of: user.userId, in: &erased)
    case .withdrawn(let withdrawn):
      let id = withdrawn.conversationId
      if let selected = selection.conversation, !sameId(selected, id) { return }
      switch withdrawn.cause {
      case .conversationDeleted: Self.record(event.cappedAt, of: id, in: &ended)
      case .left: for userId in withdrawn.userIds { Self.record(event.cappedAt, of: Self.pair(userId, id), in: &left) }
      case .deleted: if let messageId = withdrawn.messageId { deleted.insert(ExactText(Self.pair(id, messageId))) }
      case .edited:
        guard let messageId = withdrawn.messageId, let body = withdrawn.body else { return }
        let key = ExactText(Self.pair(id, messageId))
        if let known = edits[key], event.stamp <= known.stamp { return }
        edits[key] = Edit(stamp: event.stamp, body: body, title: withdrawn.title, sender: withdrawn.sender)
      }
    default: return
    }
  }

  private static func record(_ time: Milliseconds, of id: String, in times: inout [ExactText: Milliseconds]) {
    times[ExactText(id)] = max(times[ExactText(id)] ?? time, time)
  }

  private static func pair(_ first: String, _ second: String) -> String { "\(first)\u{0}\(second)" }

  /// Why a person may no longer get a message; nil if nothing prevents it.
  func standing(of userId: String, _ message: MessageCandidate, sentAt: Milliseconds) -> ReplayPlan.Standing? {
    if erased[ExactText(userId)].map({ sentAt <= $0 }) ?? false { return .erased }
    let id = message.conversationId
    let isWithdrawn =
      deleted.contains(ExactText(Self.pair(id, message.messageId)))
      || ended[ExactText(id)].map { sentAt <= $0 } ?? false
      || left[ExactText(Self.pair(userId, id))].map { sentAt <= $0 } ?? false
    return isWithdrawn ? .withdrawn : nil
  }

  /// Gives a candidate the text, title and sender of the message's last edit.
  func apply(to message: inout MessageCandidate) {
    guard let edit = edits[ExactText(Self.pair(message.conversationId, message.messageId))] else { return }
    message.body = edit.body
    if let title = edit.title, edit.sender != nil { message.title = title }
    if let sender = edit.sender, sameId(sender.userId, message.sender.userId) { message.sender = sender }
  }
}

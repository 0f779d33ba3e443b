import NudgeCodec
import NudgeSchema
import StreamRuntime

/// Writes the timeline records of one cause, numbered per partition. The origins for one person only rise, so a reader that stores the last
/// origin recognises a repeat.
struct TimelineWriter {
  private let step: Step<IngestStage>
  private let codec: RecordCodec
  private let envelope: Envelope
  private let takenAt: Milliseconds?
  private let arrivedAt: Milliseconds?
  private let cause: Origin
  private let source: RecordPosition
  private let firstIndex: Int32
  private let headers: [RecordHeaderField]
  /// The next index for each partition with a record.
  private var next: [(partition: Int32, index: Int32)] = []

  /// A writer for the effects of `cause`, whose chain began with `source`, and which was accepted at `takenAt` and arrived at `arrivedAt`.
  /// `firstIndex` follows the indices of earlier steps; `headers` are added to each record.
  /// behind those of earlier steps. `headers`: of each record.
  init(
    _ step: Step<IngestStage>, _ codec: RecordCodec, envelope: Envelope, takenAt: Milliseconds?,
    arrivedAt: Milliseconds? = nil, cause: Origin, source: RecordPosition, firstIndex: Int32 = 0,
    headers: [RecordHeaderField] = []
  ) {
    self.step = step
    self.codec = codec
    self.envelope = envelope
    self.takenAt = takenAt
    self.arrivedAt = arrivedAt
    self.cause = cause
    self.source = source
    self.firstIndex = firstIndex
    self.headers = headers
  }

  /// An index after all that were used so far.
  var nextIndex: Int32 { next.lazy.map(\.index).max() ?? firstIndex }

  /// The event, without writing it.
  func event(_ body: TimelineEventBody) -> TimelineEvent {
    TimelineEvent(envelope, origin: cause, source: source, takenAt: takenAt, arrivedAt: arrivedAt, body)
  }

  /// Writes to one person's timeline.
  mutating func write(_ body: TimelineEventBody, to userId: String) throws {
    try write(body, key: userId, partition: step.partition(of: userId, on: .timeline))
  }

  /// Writes to the timelines of one partition.
  mutating func write(
    _ body: TimelineEventBody, key: String, partition: Int32
  ) throws {
    let place = next.firstIndex { $0.partition == partition } ?? next.endIndex
    if place == next.endIndex { next.append((partition, firstIndex)) }
    let index = next[place].index
    next[place].index += 1
    let event = TimelineEvent(
      envelope, origin: cause.effect(index), source: source, takenAt: takenAt, arrivedAt: arrivedAt, body)
    try step.emit(bytes: codec.encode(event), to: .timeline, key: key, partition: partition, headers: headers)
  }

  /// Withdraws a message, or with nil the whole conversation, from people's timelines.
  mutating func withdraw(
    conversationId: String, messageId: String?, cause: MessageWithdrawn.Cause, body: String? = nil,
    title: String? = nil, sender: Member? = nil, from people: [(userId: String, partition: Int32)]
  ) throws {
    for (partition, userIds) in Self.chunks(people.map { ($0.userId, partition: $0.partition) }) {
      try write(
        .withdrawn(
          MessageWithdrawn(
            userIds: userIds, conversationId: conversationId, messageId: messageId, cause: cause, body: body,
            title: title, sender: sender)),
        key: conversationId, partition: partition)
    }
  }

  /// Items by timeline partition in their order, with at most `MessageCandidate.maxRecipients` per chunk.
  static func chunks<Item>(_ items: [(Item, partition: Int32)]) -> [(partition: Int32, items: [Item])] {
    // A linear search is used instead of a dictionary, because most messages have few recipients.
    var chunks: [(partition: Int32, items: [Item])] = []
    for (item, partition) in items {
      if let place = chunks.lastIndex(where: { $0.partition == partition }),
        chunks[place].items.count < MessageCandidate.maxRecipients
      {
        chunks[place].items.append(item)
      } else {
        chunks.append((partition, [item]))
      }
    }
    // The sort is stable, so chunks of one partition stay in order.
    if chunks.count > 1 { chunks.sort { $0.partition < $1.partition } }
    return chunks
  }
}

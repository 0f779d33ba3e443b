public import NudgeSchema
public import StreamRuntime

/// Works out the recipients of past messages by the membership that ingest has now, on a copy of its state. Writes nothing.
public final class Rederivation {
  /// The recipients of a message.
  public struct Result {
    /// The message's event, and when ingest would take it.
    public var envelope: Envelope
    /// See `DerivedEvent.takenAt`.
    public var takenAt: Milliseconds?
    /// The candidates by the timeline's partition, as ingest would write them.
    public var candidates: [(partition: Int32, candidate: MessageCandidate)] = []
    /// Why ingest would refuse the message now; nil: it would not.
    public var refusal: DeadLetterCode?
  }

  private let driver: StageDriver<IngestStage>

  /// `partitions` is the number of partitions of every topic.
  public init(partitions: Int32, now: Milliseconds) {
    driver = StageDriver(IngestStage(IngestRules(fanOutStep: .max, frame: .skip)), partitions: partitions, now: now)
  }

  /// The conversation of a row of ingest's changelog that this needs; nil: it needs another row not.
  public static func conversation(of key: RowKey) -> String? {
    let parts = key.parts
    return parts.count >= 2 && parts[0] == "c" ? parts[1] : nil
  }

  /// Loads the rows of a task. Call before its first message.
  public func load(_ rows: [(key: RowKey, bytes: [UInt8]?)], partition: Int32) {
    driver.load(rows, partition: partition)
  }

  /// Derives the recipients of an event of `chat.events`. nil: it is no message, or one that was there before. `text` replaces the
  /// message's own, because it was edited since.
  /// `byUser`: the record has `RecordHeader.caller`.
  public func derive(
    value: [UInt8], text: String? = nil, key: [UInt8], at position: RecordPosition, timestamp: Milliseconds,
    byUser: Bool
  ) -> Result? {
    let coder = RecordCoder()
    var value = value
    guard let event = try? coder.decode(ChatEvent.self, from: value), case .messageCreated(var message) = event.body
    else {
      return nil
    }
    if let text {
      message.text = text
      guard let edited = try? coder.encode(ChatEvent(event.envelope, .messageCreated(message))) else { return nil }
      value = edited
    }
    let step = driver.process(
      InputRecord(
        topic: .chatEvents, topicName: position.topic, partition: position.partition, offset: position.offset,
        timestamp: timestamp, key: key, value: value,
        headers: byUser ? [RecordHeaderField(RecordHeader.caller, RecordHeader.user)] : []))
    var result = Result(envelope: event.envelope, refusal: step.rejection?.code)
    for output in step.outputs where output.topic == .timeline {
      guard let record = try? driver.decode(TimelineEvent.self, from: output),
        case .candidate(let candidate) = record.body
      else { continue }
      result.takenAt = record.takenAt
      result.candidates.append((output.partition, candidate))
    }
    return step.rejection == nil && step.outputs.isEmpty ? nil : result
  }

  /// The time of the change that made a person a member; nil: they are not a member.
  public func memberSince(_ userId: String, of conversationId: String, partition: Int32) -> Milliseconds? {
    guard case .member(let member)? = try? driver.row(RowKey("c", conversationId, userId), partition: partition),
      member.takesPart
    else { return nil }
    if let stamp = member.stamp { return stamp.occurredAt }
    guard case .conversation(let row)? = try? driver.row(RowKey("c", conversationId), partition: partition) else {
      return nil
    }
    return row.snapshot?.occurredAt
  }
}

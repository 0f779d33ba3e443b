import NudgeCodec
public import NudgeSchema
public import StreamRuntime

/// The stage between producers' events and each person's timeline. It validates events, stores conversations, devices and recent event ids,
/// and writes each message's possible recipients.
public struct IngestStage: Stage {
  /// A row of the stage's state.
  public typealias Row = IngestRow
  public typealias Metric = IngestMetric

  /// Name, topics and changelog.
  public static let definition = StageDefinition(
    name: "ingest", inputs: [.chatEvents, .userEvents, .deviceClaims],
    outputs: [.timeline, .deviceClaims, .chatEvents, .userEvents], changelog: .ingestState, timers: .deviceClaims)

  let rules: IngestRules
  let codec = RecordCodec()
  var rosters = RosterCache()
  var fanOuts = PendingFanOuts()
  var erasures = Erasures()

  public init(_ rules: IngestRules) { self.rules = rules }

  /// Processes one record. Throws a `Rejection` for a record that belongs to the dead letters.
  public mutating func process(_ record: InputRecord, in step: Step<IngestStage>) throws {
    let key = try RecordReading.key(of: record)
    let partition = step.partition(of: key, on: record.topic)
    let isForEveryTask = record.topic == .deviceClaims && record.header(ClaimWriter.everyTask) != nil
    guard partition == record.partition || isForEveryTask else {
      return try rekey(record, key: key, to: partition, in: step)
    }
    switch record.topic {
    case .chatEvents: try processChatEvent(record, key: key, in: step)
    case .userEvents: try processUserEvent(record, key: key, in: step)
    case .deviceClaims: try processDeviceClaim(record, key: key, in: step)
    default: throw Rejection(.internal, "ingest does not read \(record.topic.rawValue)")
    }
  }

  /// Drops what is held in memory for a task.
  public mutating func close(partition: Int32) {
    rosters.forget(partition: partition)
    fanOuts.forget(partition: partition)
    erasures.forget(partition: partition)
  }

  /// Writes a record that is not on its key's partition to that partition (M9), because its task has the necessary state.
  private func rekey(_ record: InputRecord, key: String, to partition: Int32, in step: Step<IngestStage>) throws {
    // The step itself adds these two.
    let inherited = [RecordHeader.traceparent, RecordHeader.replayId]
    try step.emit(
      bytes: record.value, to: record.topic, key: key, partition: partition,
      headers: record.headers.filter { !inherited.contains($0.name) })
  }
}

/// Ingest's metrics.
public enum IngestMetric: StageMetric {
  /// An event with an ignored field. For changes of a conversation this is the only trace of it.
  case ignored(CosmeticField)

  public static let expected = CosmeticField.allCases.map(Self.ignored)

  public var series: StageSeries {
    switch self {
    case .ignored(let field):
      StageSeries(
        "nudge_ingest_ignored_fields_total",
        help: "Events with a field that was ignored because its value does not fit, by the kind of field.",
        labels: ["field": field.rawValue])
    }
  }
}

extension IgnoredFields {
  /// A header for the records written for the event.
  var headers: [RecordHeaderField] { isEmpty ? [] : [RecordHeaderField(RecordHeader.ignored, description)] }

  /// Counts the event once for each kind of field.
  func count(in step: Step<IngestStage>) {
    for field in CosmeticField.allCases where kinds.contains(field) { step.count(.ignored(field)) }
  }
}

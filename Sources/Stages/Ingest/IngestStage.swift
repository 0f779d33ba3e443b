import NudgeCodec
public import NudgeSchema
public import ServiceKit
public import StreamRuntime
public import WebPush

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

public struct IngestRules: Sendable {
  /// The greatest age at which a message may still notify, in milliseconds. Ingest passes older messages on, because they count on badges
  /// and have decision records; `maxEventAge` says what it refuses.
  public var freshness: Milliseconds
  /// How far producers' clocks may be ahead, in milliseconds. An event further ahead is refused (`from_the_future`).
  public var futureTolerance: Milliseconds
  /// The age in milliseconds from which an event is refused (`too_old`): the retention of the topics it comes from.
  public var maxEventAge: Milliseconds
  /// The largest value in bytes. A larger one is refused (`too_large`) without being read.
  public var maxRecordBytes: Int
  /// The longest body of a push, in grapheme clusters, including the `…` of a cut text (M3).
  public var bodyCharacters: Int
  /// The longest body of a push, in bytes of UTF-8. FCM accepts 4,096 for the whole payload.
  public var bodyBytes: Int
  /// The most removed members that a conversation stores, or a tenth of its members if that is more. Beyond that, the older half is
  /// dropped. Then a change that is older than the dropped ones no longer adds a person whom the conversation does not know.
  public var removedMembers: Int
  /// The most devices of a person. With one more, the device that registered longest ago is signed out.
  public var devicesPerUser: Int
  /// How long a token is kept without a registration, in milliseconds (T5). Then its device loses it, as by a sign-out.
  public var tokenLifetime: Milliseconds
  /// The most sign-outs stored for a person's devices. The oldest are removed first.
  public var signedOutDevices: Int
  /// The most members in decoded rosters in memory, over all conversations of a thread.
  public var cachedMembers: Int
  /// The most members of a conversation whose roster is read completely and kept. In a larger one, the immediate cost of a message does not
  /// depend on the number of members, because each step of its fan-out reads its own members.
  public var wholeRoster: Int
  /// The most people to whom one step of a fan-out writes.
  public var fanOutStep: Int
  /// The shortest pause between such steps of a task, in milliseconds. With `fanOutStep` it allows 5,555 people per second. That is about
  /// half of what one thread of the analyzer decides, so other conversations' messages do not queue there.
  public var fanOutPause: Milliseconds
  /// The most pending fan-outs of one conversation. Beyond that, the oldest is completed at once.
  public var pendingFanOuts: Int
  /// How to handle a schema registry's frames on producers' topics.
  public var frame: SchemaRegistryFrame
  /// The endpoints that Web Push subscriptions may have.
  public var endpoints: EndpointRules
  /// Represents a token or an endpoint on topics and in state: `TokenHash`, unless a test wants to see the token.
  public var hash: @Sendable (String) -> String

  /// Rules. The defaults are those of the service.
  public init(
    freshness: Milliseconds = 3_600_000, futureTolerance: Milliseconds = 300_000,
    maxEventAge: Milliseconds = 7 * 86_400_000, maxRecordBytes: Int = 4 << 20, bodyCharacters: Int = 1_000,
    bodyBytes: Int = 3_072, removedMembers: Int = 1_000, devicesPerUser: Int = 100,
    tokenLifetime: Milliseconds = 270 * 86_400_000, signedOutDevices: Int = 16, cachedMembers: Int = 100_000,
    wholeRoster: Int = 10_000, fanOutStep: Int = 200, fanOutPause: Milliseconds = 36, pendingFanOuts: Int = 8,
    frame: SchemaRegistryFrame = .refuse, endpoints: EndpointRules = EndpointRules(),
    hash: @escaping @Sendable (String) -> String = { TokenHash.of($0) }
  ) {
    self.freshness = freshness
    self.futureTolerance = futureTolerance
    self.maxEventAge = maxEventAge
    self.maxRecordBytes = maxRecordBytes
    self.bodyCharacters = bodyCharacters
    self.bodyBytes = bodyBytes
    self.removedMembers = removedMembers
    self.devicesPerUser = max(1, devicesPerUser)
    self.tokenLifetime = tokenLifetime
    self.signedOutDevices = signedOutDevices
    self.cachedMembers = cachedMembers
    self.wholeRoster = wholeRoster
    self.fanOutStep = fanOutStep
    self.fanOutPause = fanOutPause
    self.pendingFanOuts = max(1, pendingFanOuts)
    self.frame = frame
    self.endpoints = endpoints
    self.hash = hash
  }
}

public import NudgeSchema

/// A stage of the pipeline: a pure function over an ordered, keyed stream. It has no clock, randomness or I/O; a `Step` has its inputs
/// and takes its outputs.
///
/// A stream thread owns an instance and calls it for all of its tasks, one record at a time.
///
/// ```swift
/// /// Counts the messages of each conversation, and writes every hundredth count.
/// struct MessageCounter: Stage {
///   struct Row: StateRow {
///     var count = 0
///
///     init() {}
///     init(key: RowKey, bytes: UnsafeRawBufferPointer, coder: RecordCoder) throws {
///       count = try coder.decode(Int.self, from: bytes)
///     }
///     func encoded(coder: RecordCoder, at level: FormatLevel) throws -> [UInt8] { try coder.encode(count) }
///   }
///
///   static let definition = StageDefinition(
///     name: "counter", inputs: [.chatEvents], outputs: [.decisions], changelog: .analyzerState)
///
///   func process(_ record: InputRecord, in step: Step<Self>) throws {
///     guard let bytes = record.key else { throw Rejection(.missingKey, "the record has no key") }
///     let conversationId = String(decoding: bytes, as: UTF8.self)
///     let key = RowKey("conversation", conversationId)
///     var row = try step.row(key) ?? Row()
///     row.count += 1
///     try step.set(row, for: key)
///     if row.count % 100 == 0 { try step.emit(["count": row.count], to: .decisions, key: conversationId) }
///   }
/// }
/// ```
///
/// `StageDriver` runs a stage in a test, without Kafka.
public protocol Stage: SendableMetatype {
  /// A row of the stage's state.
  associatedtype Row: StateRow
  /// A request to the outside, such as to FCM, whose reply comes later. `Never` for a stage without effects.
  associatedtype Effect: Sendable = Never
  /// The reply to an effect.
  associatedtype Reply: Sendable = Never
  /// The things that the stage counts, by `Step.count`. `Never` for a stage that counts nothing.
  associatedtype Metric: StageMetric = Never
  /// The rules that an operator may change while the stage runs. A step has those in force.
  associatedtype Policy: Sendable = Void
  /// The state of the stage's memory, for metrics and readiness. `Never` for a stage that shows none.
  associatedtype Statistics: Sendable = Never

  /// The stage's name and topics.
  static var definition: StageDefinition { get }

  /// The policy in force where nobody hands in another one.
  var policy: Policy { get }

  /// Whether the stage's memory has reached its bound. While it is true no records are read; replies, timers and wake-ups go on.
  var holdsInput: Bool { get }

  /// A task starts, with its state restored. The stage may ask for effects that are due by its state.
  mutating func open(in step: Step<Self>) throws

  /// Processes a record of an input.
  /// - Throws: a `Rejection` undoes the step, and the record becomes a dead letter. On a topic that only Nudge writes, a record of a later release (`Rejection.mayBeOfLaterRelease`) ends the thread instead. A `StoreFailure` ends the
  ///   thread. Any other error is a dead letter with the code `internal`.
  mutating func process(_ record: InputRecord, in step: Step<Self>) throws

  /// Processes the reply to an effect. Each effect of an assignment of the task gets one, unless it is cancelled or the task is
  /// lost before. The runtime commits the step even if transactions fail in between.
  mutating func receive(_ reply: Reply, in step: Step<Self>) throws

  /// Takes back what was noted about an effect that is not performed because the task is given up, or has only now read as far as
  /// it had before it was lost and returned. No reply will come, and the next owner should not wait for one. In the second case `wake`
  /// follows: there the stage asks for the effect again, if it still applies.
  mutating func effectCancelled(_ effect: Effect, in step: Step<Self>) throws

  /// The group of an effect, such as the project of a request; nil: it has none. A stage that names groups asks `Step.hasRoom(forEffectsOf:)` before it asks for an effect, and keeps what has no room in its state.
  static func group(of effect: Effect) -> String?

  /// Identifies an effect over assignments of its task. When the task is lost while a request is in flight, or before its reply is
  /// committed, and this process gets the task back, the runtime performs an effect with the same `effect` key no second time:
  /// it gets the reply to the first request. nil: replies of earlier assignments are dropped.
  static func ticket(for effect: Effect) -> EffectTicket?

  /// Turns the reply to an earlier request into one to `effect`, which asks for the same. nil: the reply decides nothing, and
  /// the effect is performed.
  static func reply(_ reply: Reply, to sent: EffectTicket, asReplyTo effect: Effect) -> Reply?

  /// The record that hands over an effect to the owner of its task, once this process has lost the task: key and value of a record of the
  /// stage's first input. It may be written more than once. nil: nothing is handed over.
  static func handover(of known: HandedOver<Reply>, now: Milliseconds) throws -> (key: [UInt8], value: [UInt8])?

  /// Reads such a record. The runtime takes it in place of `process`; `replyIsHere` follows.
  /// - Throws: as `process`.
  static func handedOver(_ record: InputRecord) throws -> HandedOver<Reply>

  /// The value of the record that comes back through the stage's input when a timer is due. Only for stages that set timers.
  /// - Throws: an error of the stage's own ends the thread.
  static func value(of timer: DueTimer, coder: RecordCoder) throws -> [UInt8]

  /// The reply to an effect that left in an earlier epoch of the task is here now, and ends the effect. Where the stage waits for the reply before it
  /// asks for the effect again, it may ask now, and gets the reply.
  mutating func replyIsHere(to effect: EffectTicket, in step: Step<Self>) throws

  /// The time requested with `Step.wake(at:)` has come.
  mutating func wake(in step: Step<Self>) throws

  /// The thread has given up the task: drop the memory of it.
  mutating func close(partition: Int32)

  /// The state of the stage's memory, over all of its tasks. The runtime asks once a turn, and shows it. Absent for a stage without any.
  mutating func statistics(now: Milliseconds) -> Statistics?
}

extension Stage {
  /// The stage has no bound of its own.
  public var holdsInput: Bool { false }
  /// Nothing to do.
  public mutating func open(in step: Step<Self>) throws {}
  /// Never asked for.
  public mutating func wake(in step: Step<Self>) throws {}
  /// No memory to drop.
  public mutating func close(partition: Int32) {}
  /// Nothing to show.
  public mutating func statistics(now: Milliseconds) -> Statistics? { nil }
  /// A stage without timers is not asked.
  public static func value(of timer: DueTimer, coder: RecordCoder) throws -> [UInt8] {
    throw StoreFailure(operation: "fire a timer", reason: "\(definition.name) does not say what its timers write")
  }
  /// There are no groups.
  public static func group(of effect: Effect) -> String? { nil }
  /// Replies of earlier assignments are dropped.
  public static func ticket(for effect: Effect) -> EffectTicket? { nil }
  public static func reply(_ reply: Reply, to sent: EffectTicket, asReplyTo effect: Effect) -> Reply? { reply }
  /// Nothing is handed over.
  public static func handover(of known: HandedOver<Reply>, now: Milliseconds) throws -> (key: [UInt8], value: [UInt8])?
  {
    nil
  }
  /// The stage asks when it asks.
  public mutating func replyIsHere(to effect: EffectTicket, in step: Step<Self>) throws {}
  /// Nobody hands anything over.
  public static func handedOver(_ record: InputRecord) throws -> HandedOver<Reply> {
    throw Rejection(.unknownType, "\(definition.name) takes no handovers")
  }
}

extension Stage where Policy == Void {
  /// Nothing can be changed.
  public var policy: Void { () }
}

extension Stage where Reply == Never {
  /// There are no effects, so there is no reply.
  public mutating func receive(_ reply: Never, in step: Step<Self>) throws {}
}

extension Stage where Effect == Never {
  /// There are no effects.
  public mutating func effectCancelled(_ effect: Never, in step: Step<Self>) throws {}
}

/// The name and topics of a stage.
public struct StageDefinition: Sendable {
  /// `ingest`, `analyzer`, `dispatcher`: part of group, transactional and instance ids, and of dead letters.
  public var name: String
  /// The topics it reads; all have the same number of partitions.
  public var inputs: [Topic]
  /// The topics it writes, without changelog and dead letters.
  public var outputs: [Topic]
  /// The compacted topic that holds its state.
  public var changelog: Topic
  /// The input that its timers are written to and come back through; nil: it sets no timers.
  public var timers: Topic?
  /// Whether its processes hand over effects (`Stage.handover`), which are records of its first input.
  public var handsOver: Bool

  /// A definition.
  public init(
    name: String, inputs: [Topic], outputs: [Topic], changelog: Topic, timers: Topic? = nil, handsOver: Bool = false
  ) {
    self.name = name
    self.inputs = inputs
    self.outputs = outputs
    self.changelog = changelog
    self.timers = timers
    self.handsOver = handsOver
  }

  /// The consumer group of the stage's services.
  public func group(_ topics: TopicNames) -> String { "\(topics.prefix)nudge-\(name)" }
}

/// Something that a stage counts: an occurrence, as a value of the stage's own type. It counts once its step is committed.
///
/// ```swift
/// enum CounterMetric: StageMetric {
///   case message(isLong: Bool)
///
///   static let expected = [false, true].map(Self.message)
///   var series: StageSeries {
///     switch self {
///     case .message(let isLong):
///       StageSeries("messages_total", help: "Messages, by length.", labels: ["length": isLong ? "long" : "short"])
///     }
///   }
/// }
/// ```
public protocol StageMetric: Hashable, Sendable {
  /// Those whose series are there before they occur: Prometheus sees no increase in the first value of a series.
  static var expected: [Self] { get }

  /// Where it is counted. Any thread may ask.
  var series: StageSeries { get }

  /// The value of its label that an app or its user chooses; nil: it has no such label.
  var openLabel: StageOpenLabel? { get }

  /// The same with another value of its open label, and of no source.
  func labeled(_ value: String) -> Self
}

extension StageMetric {
  /// There is no such label.
  public var openLabel: StageOpenLabel? { nil }
  public func labeled(_ value: String) -> Self { self }
}

extension Never: StageMetric {
  public static var expected: [Never] { [] }
  public var series: StageSeries { switch self {} }
}

/// The value of a label that anybody may choose, such as the version of an app. Only the first values that a process sees have series of
/// their own; others are counted together.
public struct StageOpenLabel: Sendable {
  /// The value.
  public var value: String
  /// The id of the chooser, such as a person's. One source has few values, so that nobody uses the series up alone.
  public var source: String

  /// A value and its source.
  public init(_ value: String, from source: String) {
    self.value = value
    self.source = source
  }
}

/// A series of a Prometheus counter, or an observation of a histogram.
public struct StageSeries: Sendable, Equatable {
  /// The metric's name.
  public var metric: String
  /// The metric's help text; the same for all series of a metric.
  public var help: String
  /// The labels, each with few values.
  public var labels: [String: String]
  /// The value observed each time; nil: the metric is a counter.
  public var observation: Observation?

  /// A value of a histogram.
  public struct Observation: Sendable, Equatable {
    /// The value.
    public var value: Double
    /// The upper bounds of the histogram's buckets, ascending.
    public var bounds: [Double]

    /// A value and the bounds of its histogram.
    public init(value: Double, bounds: [Double]) {
      self.value = value
      self.bounds = bounds
    }
  }

  /// A series.
  public init(_ metric: String, help: String, labels: [String: String], observation: Observation? = nil) {
    self.metric = metric
    self.help = help
    self.labels = labels
    self.observation = observation
  }
}

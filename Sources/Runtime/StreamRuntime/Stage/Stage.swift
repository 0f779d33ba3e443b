public import NudgeSchema

/// A stage of the pipeline: a pure function over an ordered, keyed stream. It has no clock, randomness or I/O. A `Step` gives it its inputs
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
  /// The rules that an operator may change while the stage runs. `Step.policy` has the rules in force.
  associatedtype Policy: Sendable = Void
  /// The state of the stage's memory, for metrics and readiness. `Never` for a stage that shows none.
  associatedtype Statistics: Sendable = Never

  /// The stage's name and topics.
  static var definition: StageDefinition { get }

  /// The policy in force until another is given to the stage's service.
  var policy: Policy { get }

  /// Whether the stage's memory has reached its bound. While it is true, no records are read. Replies, timers and wake-ups go on.
  var holdsInput: Bool { get }

  /// Opens a task, whose state is restored. The stage may request effects that are due by its state.
  mutating func open(in step: Step<Self>) throws

  /// Processes a record of an input.
  /// - Throws: A `Rejection` undoes the step, and the record becomes a dead letter. A record of a later release
  ///   (`Rejection.mayBeOfLaterRelease`), on a topic that only Nudge writes, ends the thread, as a `StoreFailure` does. Any other error
  ///   makes a dead letter with the code `internal`.
  mutating func process(_ record: InputRecord, in step: Step<Self>) throws

  /// Processes the reply to an effect. Each effect of an assignment of the task gets one reply, unless the effect is cancelled or the task
  /// is lost first. The runtime commits the step even if transactions fail in between.
  mutating func receive(_ reply: Reply, in step: Step<Self>) throws

  /// Undoes the notes about an effect that is not performed: its task is given up, or has only now read as far as it had before it was lost
  /// and returned. No reply will come, and the next owner must not wait for one. In the second case `wake` follows, in which the stage
  /// requests the effect again if it still applies.
  mutating func effectCancelled(_ effect: Effect, in step: Step<Self>) throws

  /// The group of an effect, such as the project of a request. Absent if it has none. A stage with groups asks
  /// `Step.hasRoom(forEffectsOf:)` before it requests an effect, and keeps effects without room in its state.
  static func group(of effect: Effect) -> String?

  /// Identifies an effect across assignments of its task. The task may be lost while a request is in flight, or before its reply is
  /// committed. If this process gets the task back, the runtime does not perform an effect with the same `effect` key a second time: the
  /// stage gets the reply to the first request. Absent: replies of earlier assignments are dropped.
  static func ticket(for effect: Effect) -> EffectTicket?

  /// Turns the reply to an earlier request into a reply to `effect`, which requests the same. Absent if the reply decides nothing: the
  /// effect is then performed.
  static func reply(_ reply: Reply, to sent: EffectTicket, asReplyTo effect: Effect) -> Reply?

  /// The record that hands over an effect to the next owner of its task, after this process has lost the task: key and value of a record of
  /// the stage's first input. It may be written more than once. Absent: nothing is handed over.
  static func handover(of known: HandedOver<Reply>, now: Milliseconds) throws -> (key: [UInt8], value: [UInt8])?

  /// Reads a record of `handover`. The runtime calls it in place of `process`, and calls `replyIsHere` afterwards.
  /// - Throws: As `process`.
  static func handedOver(_ record: InputRecord) throws -> HandedOver<Reply>

  /// The value of the record that comes back through the stage's input when a timer is due. Only for stages that set timers.
  /// - Throws: Any error ends the thread.
  static func value(of timer: DueTimer, coder: RecordCoder) throws -> [UInt8]

  /// The reply to an effect that left in an earlier epoch of the task is here now, and ends the effect. Where the stage waits for the reply before it
  /// asks for the effect again, it may ask now, and gets the reply.
  mutating func replyIsHere(to effect: EffectTicket, in step: Step<Self>) throws

  /// Called when the time requested with `Step.wake(at:)` has come.
  mutating func wake(in step: Step<Self>) throws

  /// Drops the memory of a task that the thread has given up.
  mutating func close(partition: Int32)

  /// The state of the stage's memory, over all of its tasks. The runtime asks for it once a turn and shows it. Absent for a stage that
  /// shows nothing.
  mutating func statistics(now: Milliseconds) -> Statistics?
}

extension Stage {
  /// False: the stage has no bound of its own.
  public var holdsInput: Bool { false }
  /// Does nothing.
  public mutating func open(in step: Step<Self>) throws {}
  /// Does nothing, because the stage requests no wake-up.
  public mutating func wake(in step: Step<Self>) throws {}
  /// Does nothing, because the stage keeps no memory of a task.
  public mutating func close(partition: Int32) {}
  /// Absent: the stage shows nothing.
  public mutating func statistics(now: Milliseconds) -> Statistics? { nil }
  /// Never called for a stage without timers.
  public static func value(of timer: DueTimer, coder: RecordCoder) throws -> [UInt8] {
    throw StoreFailure(operation: "fire a timer", reason: "\(definition.name) does not say what its timers write")
  }
  /// Absent: the stage has no groups.
  public static func group(of effect: Effect) -> String? { nil }
  /// Absent: replies of earlier assignments are dropped.
  public static func ticket(for effect: Effect) -> EffectTicket? { nil }
  public static func reply(_ reply: Reply, to sent: EffectTicket, asReplyTo effect: Effect) -> Reply? { reply }
  /// Absent: nothing is handed over.
  public static func handover(of known: HandedOver<Reply>, now: Milliseconds) throws -> (key: [UInt8], value: [UInt8])?
  {
    nil
  }
  /// The stage asks when it asks.
  public mutating func replyIsHere(to effect: EffectTicket, in step: Step<Self>) throws {}
  /// Never called, because nothing is handed over.
  public static func handedOver(_ record: InputRecord) throws -> HandedOver<Reply> {
    throw Rejection(.unknownType, "\(definition.name) takes no handovers")
  }
}

extension Stage where Policy == Void {
  /// Empty: the stage has no rules that an operator may change.
  public var policy: Void { () }
}

extension Stage where Reply == Never {
  /// Never called, because the stage has no effects.
  public mutating func receive(_ reply: Never, in step: Step<Self>) throws {}
}

extension Stage where Effect == Never {
  /// Never called, because the stage has no effects.
  public mutating func effectCancelled(_ effect: Never, in step: Step<Self>) throws {}
}

/// The name and topics of a stage.
public struct StageDefinition: Sendable {
  /// The stage's name: `ingest`, `analyzer` or `dispatcher`. It is part of group, transactional and instance ids, and of dead letters.
  public var name: String
  /// The topics it reads. All have the same number of partitions.
  public var inputs: [Topic]
  /// The topics it writes, except the changelog and the dead letters.
  public var outputs: [Topic]
  /// The compacted topic that holds its state.
  public var changelog: Topic
  /// The input to which its timers are written and through which they come back. Absent for a stage without timers.
  public var timers: Topic?
  /// Whether its processes hand over effects (`Stage.handover`), which are records of its first input.
  public var handsOver: Bool

  /// Makes the definition of a stage.
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

/// Something that a stage counts. An occurrence is a value of the stage's own type, and counts once its step is committed.
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
  /// The metrics whose series exist before they occur, because Prometheus sees no increase in the first value of a series.
  static var expected: [Self] { get }

  /// The series in which the metric is counted. Any thread may ask.
  var series: StageSeries { get }

  /// The value of the label that an app or its user chooses. Absent for a metric without such a label.
  var openLabel: StageOpenLabel? { get }

  /// The same metric with another value of its open label, and without a source.
  func labeled(_ value: String) -> Self
}

extension StageMetric {
  /// Absent: the metric has no such label.
  public var openLabel: StageOpenLabel? { nil }
  public func labeled(_ value: String) -> Self { self }
}

extension Never: StageMetric {
  public static var expected: [Never] { [] }
  public var series: StageSeries { switch self {} }
}

/// The value of a label that anybody may choose, such as the version of an app. Only the first values that a process sees get their own
/// series. All others are counted together.
public struct StageOpenLabel: Sendable {
  /// The value.
  public var value: String
  /// The id of the chooser, such as a person's. A source gets series for a few values only, so that no source can use them up.
  public var source: String

  /// Makes a value of a source.
  public init(_ value: String, from source: String) {
    self.value = value
    self.source = source
  }
}

/// A series of a Prometheus counter, or an observation of a histogram.
public struct StageSeries: Sendable, Equatable {
  /// The metric's name.
  public var metric: String
  /// The metric's help text, which all series of a metric share.
  public var help: String
  /// The labels, each with few values.
  public var labels: [String: String]
  /// The value observed each time. Absent for a counter.
  public var observation: Observation?

  /// A value of a histogram.
  public struct Observation: Sendable, Equatable {
    /// The value.
    public var value: Double
    /// The upper bounds of the histogram's buckets, ascending.
    public var bounds: [Double]

    /// Makes an observation.
    public init(value: Double, bounds: [Double]) {
      self.value = value
      self.bounds = bounds
    }
  }

  /// Makes a series.
  public init(_ metric: String, help: String, labels: [String: String], observation: Observation? = nil) {
    self.metric = metric
    self.help = help
    self.labels = labels
    self.observation = observation
  }
}

/// Identifies an effect across the assignments of its task, so that a reply finds its effect even after the task was lost and returned.
public struct EffectTicket: Sendable, Hashable {
  /// The purpose of the effect. A stage that requests the same thing again uses the same key.
  public var effect: RowKey
  /// The number of the attempt, which the stage counts.
  public var attempt: Int

  /// Makes the ticket of an attempt at an effect.
  public init(_ effect: RowKey, attempt: Int) {
    self.effect = effect
    self.attempt = attempt
  }
}

/// A former owner's knowledge of an effect, for the task's present owner.
public struct HandedOver<Reply: Sendable>: Sendable {
  /// The request that was sent.
  public var ticket: EffectTicket
  /// The reply. Absent while the request is in flight: its reply follows.
  public var reply: Reply?
  /// Whether the reply ends the effect. Else the effect may be performed again.
  public var decides: Bool

  public init(_ ticket: EffectTicket, reply: Reply?, decides: Bool = true) {
    self.ticket = ticket
    self.reply = reply
    self.decides = decides
  }
}

/// Performs a stage's effects on threads of its own, and calls back with the replies.
public protocol EffectPerformer<Effect, Reply>: Sendable {
  associatedtype Effect: Sendable
  associatedtype Reply: Sendable
  /// Performs an effect. Must call `reply` exactly once, from any thread.
  func perform(_ effect: Effect, reply: @escaping @Sendable (Reply) -> Void)
  /// Cancels effects in flight. No effect is requested after this call.
  func stop()
}

/// Shares a thread's effects among groups, such as the projects that requests go to, so that a slow group cannot use up all of them.
///
/// A group may have as many effects, waiting or in flight, as are free for all groups together (a dynamic threshold). One group alone gets
/// half of the limit, and two groups get a third each. Some effects always stay free for a group that has none. One thread uses it.
final class EffectBudget {
  private let limit: Int
  private(set) var total = 0
  private var counts: [String: Int] = [:]

  init(limit: Int) { self.limit = limit }

  func hasRoom(for group: String) -> Bool { counts[group, default: 0] < max(1, limit - total) }

  func add(_ group: String?) {
    total += 1
    if let group { counts[group, default: 0] += 1 }
  }

  func remove(_ group: String?) {
    total -= 1
    guard let group, let count = counts[group] else { return }
    counts[group] = count > 1 ? count - 1 : nil
  }
}

public import NudgeSchema

/// A stage of the pipeline: a pure function over an ordered, keyed stream. It has no clock, no randomness and does no
/// I/O; all it needs comes with the step, and all it wants is left there.
///
/// One stream thread owns an instance and calls it for all of its tasks, one record at a time.
public protocol Stage: SendableMetatype {
  /// A row of the stage's state.
  associatedtype Row: StateRow
  /// Something to be done outside, whose reply comes back later (a request to FCM). `Never` for most stages.
  associatedtype Effect: Sendable = Never
  /// The answer to an effect.
  associatedtype Reply: Sendable = Never

  /// What the stage is called, reads and writes.
  static var definition: StageDefinition { get }

  /// What it counts of its own, by `Step.count`.
  static var tallies: [StageTally] { get }

  /// What the stage keeps has reached its bound: nothing more is read until this is false again. Replies, timers and
  /// wake-ups go on.
  var holdsInput: Bool { get }

  /// A task begins: its state is complete, also where it had to be rebuilt. Effects that the state says are due may be asked for.
  mutating func open(in step: Step<Self>) throws

  /// A record of one of the inputs. To refuse it, throw a `Rejection`: all that the step did is undone, the record goes
  /// to the dead letters and the partition goes on. Any other error of the stage's own counts as `internal`.
  mutating func process(_ record: InputRecord, in step: Step<Self>) throws

  /// Processes the reply to an effect. Each effect of an assignment of the task gets one, unless it is cancelled or the task is
  /// lost before. What the step changes is committed, after failed transactions too.
  mutating func receive(_ reply: Reply, in step: Step<Self>) throws

  /// Takes back what was noted about an effect that is not performed because the task is given up. No reply will come, and the
  /// next owner should not wait for one.
  mutating func effectCancelled(_ effect: Effect, in step: Step<Self>) throws

  /// Whom an effect shares the thread's effects with, such as the project a request goes to; nil: with nobody. A stage that names
  /// groups asks `Step.hasRoom(forEffectsOf:)` before it asks for an effect, and keeps what has no room in its state.
  static func group(of effect: Effect) -> String?

  /// Identifies an effect over assignments of its task. When the task is lost while a request is in flight, or before its reply is
  /// committed, and this process gets the task back, the runtime performs an effect with the same `effect` key no second time:
  /// it gets the reply to the first request. nil: replies of earlier assignments are dropped.
  static func ticket(for effect: Effect) -> EffectTicket?

  /// Turns the reply to an earlier request into one to `effect`, which asks for the same. nil: the reply decides nothing, and
  /// the effect is performed.
  static func reply(_ reply: Reply, to sent: EffectTicket, asReplyTo effect: Effect) -> Reply?

  /// The value of the record that comes back through the stage's input when a timer is due. Only for stages that set timers.
  /// - Throws: an error of the stage's own ends the thread.
  static func value(of timer: DueTimer, coder: RecordCoder) throws -> [UInt8]

  /// The time asked for with `Step.wake(at:)` has come.
  mutating func wake(in step: Step<Self>) throws

  /// The task is no longer this thread's: forget what is held in memory for it.
  mutating func close(partition: Int32)
}

extension Stage {
  /// It counts nothing.
  public static var tallies: [StageTally] { [] }
  /// It keeps nothing that grows with its input.
  public var holdsInput: Bool { false }
  /// Nothing is due.
  public mutating func open(in step: Step<Self>) throws {}
  /// Never asked for.
  public mutating func wake(in step: Step<Self>) throws {}
  /// Nothing is held in memory.
  public mutating func close(partition: Int32) {}
  /// A stage without timers is not asked.
  public static func value(of timer: DueTimer, coder: RecordCoder) throws -> [UInt8] {
    throw StoreFailure(operation: "fire a timer", reason: "\(definition.name) does not say what its timers write")
  }
  /// There are no groups.
  public static func group(of effect: Effect) -> String? { nil }
  /// Replies of earlier assignments are dropped.
  public static func ticket(for effect: Effect) -> EffectTicket? { nil }
  /// The reply as it is.
  public static func reply(_ reply: Reply, to sent: EffectTicket, asReplyTo effect: Effect) -> Reply? { reply }
}

extension Stage where Reply == Never {
  /// There are no effects, so there is no reply.
  public mutating func receive(_ reply: Never, in step: Step<Self>) throws {}
}

extension Stage where Effect == Never {
  /// There are no effects.
  public mutating func effectCancelled(_ effect: Never, in step: Step<Self>) throws {}
}

/// Something a stage counts, as a series of a Prometheus counter; counted once what was done is committed.
public struct StageTally: Sendable, Equatable {
  /// The metric's name.
  public var metric: String
  /// What it means, in a sentence; the same for all of a metric.
  public var help: String
  /// From small sets.
  public var labels: [String: String]

  /// A series.
  public init(_ metric: String, help: String, labels: [String: String]) {
    self.metric = metric
    self.help = help
    self.labels = labels
  }
}

/// What a stage is called, reads and writes.
public struct StageDefinition: Sendable {
  /// `ingest`, `analyzer`, `dispatcher`: part of group, transactional and instance ids, and of dead letters.
  public var name: String
  /// The topics it reads; all have the same number of partitions.
  public var inputs: [Topic]
  /// The topics it writes, without changelog and dead letters.
  public var outputs: [Topic]
  /// The compacted topic that holds its state.
  public var changelog: Topic
  /// Which of its inputs, which it also writes, its timers come back by; nil: it sets none.
  public var timers: Topic?

  /// A definition.
  public init(name: String, inputs: [Topic], outputs: [Topic], changelog: Topic, timers: Topic? = nil) {
    self.name = name
    self.inputs = inputs
    self.outputs = outputs
    self.changelog = changelog
    self.timers = timers
  }

  /// The consumer group of the stage's services.
  public func group(_ topics: TopicNames) -> String { "\(topics.prefix)nudge-\(name)" }
}

import NudgeCodec
import NudgeSchema
public import StreamRuntime

/// The analyzer: reads each person's timeline and decides for each message whether and how the person is notified.
///
/// It is a pure function of the timeline and the wall clock. `AnalyzerRow` describes its state.
///
/// Repeats: a candidate, an own message or a withdrawal is a repeat if its origin is not later than the last one of the
/// same person and conversation. It is dropped without a decision. Repeats occur because the embedded broker has no
/// transactions, and because a topic can be filled from a copy. The check `duplicate` is different: a producer
/// published a message twice. All other events are last-writer-wins by stamp or version, so a repeat changes nothing.
public struct AnalyzerStage: Stage {
  /// See `AnalyzerRow`.
  public typealias Row = AnalyzerRow
  public typealias Metric = AnalyzerMetric
  public typealias Policy = PolicyVersion

  /// Reads `nudge.timeline`; writes decisions, pushes, banners, receipts and, for its timers, the timeline itself.
  public static let definition = StageDefinition(
    name: "analyzer", inputs: [.timeline], outputs: [.decisions, .pushes, .banners, .outcomes, .timeline],
    changelog: .analyzerState, timers: .timeline)

  let rules: AnalyzerRules
  let codec = RecordCodec()
  var zones = TimeZones()
  var erased = ErasedPersons()

  /// A stage that decides by these rules.
  public init(rules: AnalyzerRules) { self.rules = rules }

  /// The policy of the rules.
  public var policy: PolicyVersion { rules.policyVersion }

  /// Processes one record of the timeline. Throws a `Rejection` if the record cannot be read, or asks to store
  /// something too large.
  public mutating func process(_ record: InputRecord, in step: Step<AnalyzerStage>) throws {
    let event = try readTimelineEvent(record, codec: codec)
    let cause = Cause(event, at: step.origin(of: record), partition: record.partition)
    switch event.body {
    case .candidate(let candidate): try decide(candidate, because: cause, in: step)
    case .redecide(let candidate): try redecide(candidate, because: cause, in: step)
    case .replayStopped(let stopped): try stop(stopped, because: cause, in: step)
    case .sent(let sent): try change(sent.userId, because: cause, in: step) { person, _ in try person.wrote(sent) }
    case .withdrawn(let withdrawn): try withdraw(withdrawn, because: cause, in: step)
    case .deviceGained(let gained):
      try change(gained.userId, because: cause, isRegistration: true, in: step) { person, _ in try person.gain(gained) }
    case .deviceLost(let lost):
      try change(lost.userId, because: cause, in: step) { person, _ in try person.lose(lost) }
    case .deviceInvalidated(let it):
      try change(it.userId, because: cause, in: step) { person, _ in try person.invalidate(it) }
    case .pushMissed(let missed):
      try change(missed.userId, because: cause, in: step) { try $0.miss(missed, zones: &$1) }
    case .user(.deleted(let user)): try delete(user.userId, because: cause, in: step)
    case .user(let body): try change(body.userId, because: cause, in: step) { try $0.process(body, zones: &$1) }
    case .asked(let question): try answer(question, because: cause, in: step)
    case .timerFired(let fired): try timerFired(fired, key: record.key, because: cause, in: step)
    }
  }

  /// A person's context under the policy in force.
  func context(
    of userId: String, number: Int = 0, because cause: Cause, in step: Step<AnalyzerStage>
  ) throws -> PersonContext {
    try PersonContext(userId: userId, number: number, cause: cause, rules: rules, codec: codec, step: step)
  }

  /// Runs one person's part of a record and saves the changes. Drops it if the person was deleted.
  mutating func change(
    _ userId: String, number: Int = 0, because cause: Cause, isRegistration: Bool = false,
    in step: Step<AnalyzerStage>, _ body: (inout PersonContext, inout TimeZones) throws -> Void
  ) throws {
    if try isDropped(userId, because: cause, isRegistration: isRegistration, in: step) { return }
    var person = try context(of: userId, number: number, because: cause, in: step)
    try body(&person, &zones)
    try person.save()
  }
}

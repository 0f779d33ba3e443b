import NudgeCodec
import NudgeSchema
public import StreamRuntime

/// The analyzer: reads each person's timeline and decides, message by message, whether and how they are notified.
///
/// It is a pure function of the timeline and the wall clock. `AnalyzerRow` describes its state.
///
/// Repeats: a candidate, an own message or a withdrawal whose origin is not later than the last one of its (person,
/// conversation) is a repeat, and is dropped without a decision. Repeats occur because the embedded broker has no transactions, and
/// because a topic can be filled from a copy. The check `duplicate` is another case: a producer published a message twice.
/// All other events are last-writer-wins by stamp or version, so a repeat changes nothing.
public struct AnalyzerStage: Stage {
  /// See `AnalyzerRow`.
  public typealias Row = AnalyzerRow
  public typealias Metric = AnalyzerMetric

  /// Reads `nudge.timeline`; writes decisions, pushes, banners, receipts and, for its timers, the timeline itself.
  public static let definition = StageDefinition(
    name: "analyzer", inputs: [.timeline], outputs: [.decisions, .pushes, .banners, .outcomes, .timeline],
    changelog: .analyzerState, timers: .timeline)

  private(set) var rules: AnalyzerRules
  let codec = RecordCodec()
  var zones = TimeZones()
  var erased = ErasedPersons()

  /// A stage that decides by these rules.
  public init(rules: AnalyzerRules) { self.rules = rules }

  /// Works on one record of the timeline. Throws a `Rejection` where it cannot be read, or asks for what cannot be kept.
  public mutating func process(_ record: InputRecord, in step: Step<AnalyzerStage>) throws {
    rules.refreshPolicy()
    let event = try readTimelineEvent(record, codec: codec)
    let cause = Cause(event, at: step.origin(of: record), partition: record.partition)
    switch event.body {
    case .candidate(let candidate): try decide(candidate, because: cause, in: step)
    case .redecide(let candidate): try redecide(candidate, because: cause, in: step)
    case .replayStopped(let stopped): try stop(stopped, because: cause, in: step)
    case .sent(let sent):
      try person(sent.userId, cause, step) { try $0.wrote(sent) }
    case .withdrawn(let withdrawn):
      if withdrawn.cause == .conversationDeleted {
        try forget(conversation: withdrawn.conversationId, because: cause, in: step)
      }
      for (number, userId) in withdrawn.userIds.enumerated() {
        if try isDropped(userId, because: cause, in: step) { continue }
        var person = try PersonContext(
          userId: userId, number: number, cause: cause, rules: rules, codec: codec, step: step)
        try person.withdraw(withdrawn, zones: &zones)
        try person.save()
      }
    case .deviceGained(let gained):
      if try isDropped(gained.userId, because: cause, isRegistration: true, in: step) { return }
      try person(gained.userId, cause, step) { try $0.gain(gained) }
    case .deviceLost(let lost):
      try person(lost.userId, cause, step) { try $0.lose(lost) }
    case .deviceInvalidated(let invalidated):
      try person(invalidated.userId, cause, step) { try $0.invalidate(invalidated) }
    case .pushMissed(let missed):
      if try isDropped(missed.userId, because: cause, in: step) { return }
      var person = try PersonContext(
        userId: missed.userId, number: 0, cause: cause, rules: rules, codec: codec, step: step)
      try person.miss(missed, zones: &zones)
      try person.save()
    case .user(.deleted(let user)): try delete(user.userId, because: cause, in: step)
    case .user(let body):
      if try isDropped(body.userId, because: cause, in: step) { return }
      var person = try PersonContext(
        userId: body.userId, number: 0, cause: cause, rules: rules, codec: codec, step: step)
      try process(body, for: &person)
      try person.save()
    case .asked(let question): try answer(question, because: cause, in: step)
    case .timerFired(let fired):
      if let replayId = ReplayBudget.replayId(ofTimer: fired.timer) {
        return try ReplayBudget.forget(replayId, in: step)
      }
      let userId = String(decoding: record.key ?? [], as: UTF8.self)
      if try isDropped(userId, because: cause, in: step) { return }
      var person = try PersonContext(userId: userId, number: 0, cause: cause, rules: rules, codec: codec, step: step)
      switch PersonTimer(fired.timer, of: userId) {
      case .badge: try person.badgeTimerFired(fired, zones: &zones)
      case .hold(let conversationId): try holdTimerFired(fired, in: conversationId, for: &person)
      case .catchUp: try person.catchUpTimerFired(fired, zones: &zones)
      case .escalation: try person.escalationTimerFired(fired, zones: &zones)
      case .device(let id): try person.deviceTimerFired(fired, id)
      case nil: break
      }
      try person.save()
    }
  }

  private mutating func process(_ body: UserEventBody, for person: inout PersonContext) throws {
    switch body {
    case .activity(let activity): try person.report(activity)
    case .read(let read): try person.read(read)
    case .preferences(let update): try person.change(update.preferences, zones: &zones)
    case .deviceRegistered, .deviceUnregistered:
      // They reach the timeline by way of the claims only, as `deviceGained` and `deviceLost`.
      break
    case .feedback(let feedback): try person.judge(feedback)
    // Only a device acted, not the person: it teaches nothing.
    case .notificationReceived(let report): try person.receive(report, .arrived)
    case .notificationOpened(let report):
      person.seePerson(on: report.deviceId, in: report.conversationId ?? "")
      try person.react(report, .opened)
      try person.receive(report, .opened)
    case .notificationDismissed(let report):
      try person.react(report, .dismissed)
      try person.receive(report, .dismissed)
    case .deleted: break
    }
  }

  /// Works on one person's part of a record and keeps what changed.
  private mutating func person(
    _ userId: String, number: Int = 0, _ cause: Cause, _ step: Step<AnalyzerStage>,
    _ body: (inout PersonContext) throws -> Void
  ) throws {
    if try isDropped(userId, because: cause, in: step) { return }
    var person = try PersonContext(userId: userId, number: number, cause: cause, rules: rules, codec: codec, step: step)
    try body(&person)
    try person.save()
  }
}

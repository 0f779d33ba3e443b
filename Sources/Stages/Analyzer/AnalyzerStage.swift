import Foundation
import NudgeCodec
public import NudgeSchema
public import Relevance
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

/// The parameters of the analyzer's decisions. Every instance of a deployment must have the same ones.
public struct AnalyzerRules: Sendable {
  /// The age up to which a device's report counts (D1), in milliseconds. Default: 2 minutes; apps report every 60 s.
  public var reportHorizon: Milliseconds = 120_000
  /// How much the clocks of different senders may differ, in milliseconds (D11). A message from up to this long before
  /// the read position is treated as unread. Default: 2 s.
  public var clockTolerance: Milliseconds = 2_000
  /// How long FCM stores a push for a device that is off, in seconds. Default: 4 weeks, which is FCM's maximum.
  public var ttlSeconds = 2_419_200
  /// The age in milliseconds above which a message's decision has the mode `catching_up`. Default: 1 minute.
  public var catchingUpAfter: Milliseconds = 60_000
  /// How long a device may be inactive before it is dropped (T5), in milliseconds. Default: 270 days, as in FCM.
  public var tokenLifetime: Milliseconds = 270 * 86_400_000
  /// How often one replay may notify one person. Default: 20.
  public var replayPerPerson = 20
  /// How often one replay may notify by force in one partition. Default: 100, the maximum of `nudge replay force`.
  public var replayForced = 100
  /// How many conversations are kept for each person.
  var conversationBound = ConversationBound()
  /// The model for how likely a group's message is for a person (docs/relevance.md).
  public var model = RelevanceModel.current
  /// SHA-256; returns the 32 bytes of a digest. Push ids, token hashes and the policy's version are derived from it.
  public let hash: @Sendable ([UInt8]) -> [UInt8]
  /// The policy in force, with its version.
  public private(set) var policyVersion: PolicyVersion

  /// The operator's policy. Setting it creates a new version.
  public var policy: NotificationPolicy {
    get { policyVersion.policy }
    set { policyVersion = PolicyVersion(newValue, hash: hash) }
  }

  /// Rules with the defaults.
  public init(hash: @escaping @Sendable ([UInt8]) -> [UInt8]) {
    self.hash = hash
    policyVersion = PolicyVersion(NotificationPolicy(), hash: hash)
  }

  /// These rules with another policy.
  func with(_ policy: PolicyVersion) -> AnalyzerRules {
    var rules = self
    if rules.policyVersion !== policy { rules.policyVersion = policy }
    return rules
  }
}

/// How many conversations are kept for each person (decision 40).
struct ConversationBound: Equatable, Sendable {
  /// The number of conversations above which the oldest are removed.
  var conversations = 4_096
  /// How long a conversation must be inactive before it may be removed. Messages of that age notify nobody anyway.
  var idle: Milliseconds = 28 * 86_400_000

  /// How far the number may exceed the bound before the rows are checked again. A check reads all of the person's
  /// conversations.
  var slack: Int { max(1, conversations / 8) }
}

/// The analyzer's metrics.
public enum AnalyzerMetric: StageMetric {
  /// A final decision, including those for replays.
  case decision(DecisionReason, Priority?)
  /// A deferred decision; a final one follows.
  case deferred(DecisionReason)
  /// A push of a message to a device, by the state that it reached; nil when it is made.
  case push(ReceiptState?, Platform, AppVersion?)
  /// The time until a device received a push, in steps of a tenth (`ArrivalTime`).
  case arrival(Platform, ArrivalTime)
  /// A report about a notification that is ignored.
  case ignoredReport(IgnoredReport)
  /// A message that was due to be pushed again.
  case again(EscalationResult)
  /// A message that was due to be reported to the webhook.
  case webhook(EscalationResult)

  /// The version that a device's app reports, and the device's owner.
  public struct AppVersion: Hashable, Sendable {
    var version: String
    var person: String
  }

  /// Why a report is not recorded.
  public enum IgnoredReport: String, Sendable, CaseIterable {
    case unknownDevice = "unknown_device"
    case unknownPush = "unknown_push"
    /// The report came more than a day after the push, or after a hundred later pushes.
    case tooLate = "too_late"
    case repeated
  }

  /// The fate of a message that was due to be pushed again or escalated.
  public enum EscalationResult: String, Sendable, CaseIterable {
    /// The push or the escalation was made.
    case made
    /// The person had read it.
    case read
    /// A device had reported one of the message's pushes.
    case arrived
    /// The message was deleted, or the person left.
    case withdrawn
    /// Notifications are off, the conversation is muted, or the policy no longer asks for it.
    case unwanted
    /// No device could be reached. The webhook still receives it.
    case noDevice = "no_device"
    /// Too many of the person's messages wait, so this one is not pushed again.
    case full
  }

  /// The reasons of deferred decisions.
  private static let deferring: [DecisionReason] = [.activeConversation, .activeElsewhere, .alreadyRead]

  public static let expected: [Self] =
    DecisionReason.allCases.flatMap { reason in
      ([nil] + Priority.allCases.map(Optional.some)).map { Self.decision(reason, $0) }
    }
    + deferring.map(Self.deferred) + IgnoredReport.allCases.map(Self.ignoredReport)
    + Platform.allCases.map { .arrival($0, ArrivalTime(0)) }
    + EscalationResult.allCases.map(Self.again) + EscalationResult.allCases.map(Self.webhook)

  public var openLabel: StageOpenLabel? {
    guard case .push(_, _, let app?) = self else { return nil }
    // Cut for the label, because a version may have 64 characters.
    return StageOpenLabel(String(app.version.prefix(32)), from: app.person)
  }

  public func labeled(_ value: String) -> Self {
    guard case .push(let state, let platform, _?) = self else { return self }
    return .push(state, platform, AppVersion(version: value, person: ""))
  }

  public var series: StageSeries {
    switch self {
    case .decision(let reason, let priority):
      Self.decisions(reason.notifies ? .notify : .suppress, reason, priority)
    case .deferred(let reason): Self.decisions(.deferred, reason, nil)
    case .push(let state, let platform, let app):
      StageSeries(
        "nudge_push_states_total",
        help: "Pushes of messages, one a device, by the state they reached; made: the push was made for the device.",
        labels: [
          "state": state?.rawValue ?? "made", "platform": platform.rawValue, "app_version": app?.version ?? "none",
        ])
    case .arrival(let platform, let time):
      StageSeries(
        "nudge_arrival_seconds",
        help: "From a message, or from a later push of it, until a device had it, in seconds.",
        labels: ["platform": platform.rawValue],
        observation: .init(
          value: time.seconds, bounds: [0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 21_600, 86_400]))
    case .ignoredReport(let reason):
      StageSeries(
        "nudge_receipts_ignored_total", help: "Reports about notifications that count for nothing, by reason.",
        labels: ["reason": reason.rawValue])
    case .again(let result): Self.escalations("again", result)
    case .webhook(let result): Self.escalations("webhook", result)
    }
  }

  private static func decisions(
    _ outcome: DecisionBody.Outcome, _ reason: DecisionReason, _ priority: Priority?
  ) -> StageSeries {
    StageSeries(
      "nudge_decisions_total",
      help:
        "Decisions by outcome, reason and priority: a final one a person and message, before it perhaps a deferred one.",
      labels: [
        "outcome": outcome.rawValue, "reason": reason.rawValue, "priority": priority?.rawValue ?? "none",
      ])
  }

  private static func escalations(_ step: String, _ result: EscalationResult) -> StageSeries {
    StageSeries(
      "nudge_escalations_total",
      help: "Messages whose time came to be pushed again, or to be told to the webhook, by step and result.",
      labels: ["step": step, "result": result.rawValue])
  }
}

/// A time rounded to steps of a tenth, from 50 ms to more than a day. There are few values, so each can be counted.
public struct ArrivalTime: Hashable, Sendable {
  private static let (first, ratio, steps) = (0.05, 1.1, 152)

  private let step: Int

  /// The step of a time in milliseconds. A negative time, of an arrival before the message, counts as the shortest.
  init(_ time: Milliseconds) {
    let seconds = max(Double(time) / 1_000, Self.first)
    step = min(Int((log(seconds / Self.first) / log(Self.ratio)).rounded()), Self.steps - 1)
  }

  /// The time of the step in seconds.
  var seconds: Double { Self.first * pow(Self.ratio, Double(step)) }
}

extension EscalationsRow.Step {
  /// The metric for this result.
  func metric(_ result: AnalyzerMetric.EscalationResult) -> AnalyzerMetric {
    switch self {
    case .again: .again(result)
    case .webhook: .webhook(result)
    }
  }
}

import Foundation
public import NudgeSchema
public import StreamRuntime

/// The analyzer's metrics.
public enum AnalyzerMetric: StageMetric {
  /// A final decision, including those for replays.
  case decision(DecisionReason, Priority?)
  /// A deferred decision; a final one follows.
  case deferred(DecisionReason)
  /// A push of a message to a device, by the state that it reached.
  case push(PushState, Platform, AppVersion?)
  /// The time until a device received a push, in steps of a tenth (`ArrivalTime`).
  case arrival(Platform, ArrivalTime)
  /// A report about a notification that is ignored.
  case ignoredReport(IgnoredReport)
  /// A message that was due to be pushed again.
  case again(EscalationResult)
  /// A message that was due to be reported to the webhook.
  case webhook(EscalationResult)

  /// The state of a push on a device, as the metric counts it.
  public enum PushState: String, Sendable {
    /// The push was made for the device.
    case made
    case arrived
    case opened
    case dismissed
    case withdrawn
  }

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

  /// What happened to a message that was due to be pushed again or escalated.
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
          "state": state.rawValue, "platform": platform.rawValue, "app_version": app?.version ?? "none",
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

extension ReceiptState {
  /// The state for the metric.
  var metric: AnalyzerMetric.PushState {
    switch self {
    case .arrived: .arrived
    case .opened: .opened
    case .dismissed: .dismissed
    case .withdrawn: .withdrawn
    }
  }
}

import Analyzer
import NudgeConsole
import NudgeSchema
import ServiceKit
import Synchronization

/// The page Replays, with the answers and actions of `nudge replay`.
extension CommandAnswers {
  func replays(_ job: ConsoleJob) throws {
    try reading(for: job) { browser in
      try job.write(fields: ["row": "replays", "answer": ReplayHistory(try AuditTrail(browser))])
    }
  }

  func replayTrail(_ question: ConsoleQuestion, _ job: ConsoleJob) throws {
    let id = question["replay"] ?? ""
    try reading(for: job) { browser in
      try job.write(fields: ["row": "replay", "entries": try AuditTrail(browser, replayId: id).entries.map(\.event)])
    }
  }

  /// Plans a replay and, as an action, runs what was planned.
  func replay(_ question: ConsoleQuestion, writes: Bool, _ job: ConsoleJob) throws {
    guard let mode = question["mode"].flatMap(ReplayMode.init(rawValue:)) else { throw CommandError("choose a mode") }
    let now = SystemClock.milliseconds()
    var selection = try selection(question, mode, now: now)
    var wanted: Set<String> = []
    let why = try writes ? reason(question) : ""
    if writes {
      // Uses the times of the plan, because a selection of "the last hour" has moved since.
      guard case .replay(let planned, let identities) = try counted.take(question) else {
        throw CountedPlans.hasChanged
      }
      (selection, wanted) = (planned, identities)
    }
    try reading(for: job) { browser in
      let operation = ReplayOperation(
        mode: mode, selection: selection, rules: try options.rules(), most: Self.mostNotifications, resuming: nil,
        cluster: cluster, browser: browser, now: now)
      let (plan, report) = try operation.plan()
      guard writes else {
        let name = counted.keep(.replay(selection, plan.identities))
        return try job.write(fields: [
          "row": "report", "answer": report, "recipients": plan.recipients, "counted": name,
        ])
      }
      guard plan.identities == wanted else { throw CountedPlans.hasChanged }
      guard !plan.items.isEmpty || !plan.deadLetters.isEmpty else {
        return try job.write(fields: ["row": "report", "answer": report, "recipients": plan.recipients])
      }
      if mode == .force, question["confirm"].flatMap({ Int($0) }) != plan.recipients {
        throw CommandError(
          "not confirmed: there \(plan.recipients == 1 ? "is" : "are") \(plan.recipients.counted("notification")). Nothing was written"
        )
      }
      let done = try operation.run(
        plan, report, rate: Double(Self.number(question["rate"], 1...10_000, default: 50)), why: why,
        began: { try job.write(fields: ["row": "started", "replayId": $0]) }, progress: { job.report($0) })
      try job.write(fields: ["row": "report", "answer": done, "recipients": plan.recipients])
    }
  }

  /// The default of the command's `--max`.
  private static let mostNotifications = 10_000

  func stopReplay(_ question: ConsoleQuestion, _ job: ConsoleJob) throws {
    let why = try reason(question)
    try reading(for: job) { browser in
      let known = try ReplayOperation.find(question["replay"] ?? "", browser)
      try ReplayOperation.stop(known, why: why, cluster, browser, now: SystemClock.milliseconds())
      try job.write(fields: ["row": "stopped", "replayId": known.replayId])
    }
  }

  func selection(_ question: ConsoleQuestion, _ mode: ReplayMode?, now: Milliseconds) throws -> ReplaySelection {
    var selection = ReplaySelection(
      since: try Self.time(question["since"], now: now) ?? now - 3_600_000,
      until: try Self.time(question["until"], now: now) ?? now)
    guard selection.since < selection.until else { throw CommandError("the beginning must be before the end") }
    if mode == .rederive { selection.topic = .chatEvents }
    selection.user = question["user"]
    selection.conversation = question["conversation"]
    selection.message = question["message"]
    if mode != .rederive, let name = question["reason"] {
      guard let reason = DecisionReason(rawValue: name) else {
        throw CommandError(
          "\(name) is no reason: use one of \(DecisionReason.allCases.map(\.rawValue).joined(separator: ", "))")
      }
      selection.reason = reason
    }
    if mode == .resendFailed, let names = question["result"] {
      guard let results = FailedResult.set(names) else {
        throw CommandError("\(names): use gave_up, expired, rejected or replay_stopped, separated by commas")
      }
      selection.results = results
    }
    if mode == .rederive, let name = question["members"] {
      guard let members = RederivedMembers(rawValue: name) else {
        throw CommandError("\(name): use then or current")
      }
      selection.members = members
    }
    if mode == .rederive || mode == .resendFailed, let text = question["max-age"] {
      let age: Duration
      do {
        age = try Duration.parse(text)
      } catch {
        throw CommandError("\(text) is no duration: use \(error.allowed)")
      }
      guard age.milliseconds <= Resend.longestAge else { throw CommandError("messages may be at most 24h old") }
      selection.maxAge = age.milliseconds
    }
    return selection
  }
}

extension ReplayPlan {
  /// Identifies what a plan writes: person and message of each record, and dead letters.
  fileprivate var identities: Set<String> {
    var found = Set(deadLetters.map { "\($0.partition)@\($0.offset)" })
    for item in items {
      let message = "\(item.fields.conversationId)\u{1}\(item.fields.messageId)"
      for recipient in item.fields.recipients { found.insert("\(message)\u{1}\(recipient.userId)") }
    }
    return found
  }
}

/// Plans that the console has counted for a person, who may then carry one out. An action names a plan, and does exactly that or nothing.
final class CountedPlans: Sendable {
  enum Plan: Sendable, Equatable {
    case deadLetters(DeadLetterSelection, [DeadLetterSelection.Place])
    /// A replay, with the identities of the records that it writes.
    case replay(ReplaySelection, Set<String>)
  }

  /// The number of latest plans that can be carried out. A person works on one at a time.
  private static let most = 32

  private let plans = Mutex<[(id: String, plan: Plan)]>([])

  /// Stores a plan and returns its name.
  func keep(_ plan: Plan) -> String {
    let id = ConsoleSecret.make()
    plans.withLock { plans in
      plans.append((id, plan))
      plans.removeFirst(max(0, plans.count - Self.most))
    }
    return id
  }

  /// Removes and returns the plan that an action names, so that it is carried out only once.
  func take(_ question: ConsoleQuestion) throws -> Plan {
    let found = plans.withLock { plans -> Plan? in
      guard let index = plans.firstIndex(where: { $0.id == question["counted"] }) else { return nil }
      return plans.remove(at: index).plan
    }
    guard let found else { throw CommandError("count it first: nothing that was counted has this name, or no longer") }
    return found
  }

  static let hasChanged = CommandError("it is no longer what was counted: nothing was written. Count again")
}

import Analyzer
import Foundation
import NudgeSchema
import ServiceKit

/// `nudge replay simulate | resend-missing | resend-failed | rederive | force | resume | stop | list`.
enum ReplayCommand {
  // MARK: Settings

  private static let since = TimeSpan.since("Messages that reached the timeline", default: .seconds(3_600))
  private static let until = Setting<PointInTime?>(
    "until", environment: .none, default: nil, help: "And before then. Default: now.")
  private static let topic = Setting<String>(
    "topic", environment: .none, default: "timeline", placeholder: "timeline|chat.events",
    help: "The topic of --partition, --from-offset and --to-offset.",
    check: { ["timeline", "nudge.timeline", "chat.events"].contains($0) ? nil : "timeline or chat.events" })
  private static let partition = Setting<Int?>(
    "partition", environment: .none, default: nil, help: "Only this partition.",
    check: { $0.map { (0...Int(Int32.max)).contains($0) } ?? true ? nil : "the number of a partition" })
  private static let fromOffset = Setting<Int?>(
    "from-offset", environment: .none, default: nil, help: "From this offset on; with --partition.")
  private static let toOffset = Setting<Int?>(
    "to-offset", environment: .none, default: nil, help: "Before this offset; with --partition.")
  private static let user = Setting<String?>(
    "user", environment: .none, default: nil, placeholder: "USER", help: "Only for this person.")
  private static let conversation = Setting<String?>(
    "conversation", environment: .none, default: nil, placeholder: "CONVERSATION",
    help: "Only of this conversation, which is the key on chat.events.")
  private static let message = Setting<String?>(
    "message", environment: .none, default: nil, placeholder: "MESSAGE", help: "Only this message.")
  private static let reason = Setting<String?>(
    "reason", environment: .none, default: nil, placeholder: "REASON",
    help:
      "Only what was first decided for this reason, such as quiet_hours. (Of dead letters: nudge dead-letters replay.)",
    check: { Choices.missing($0, among: DecisionReason.allCases.map(\.rawValue)) })
  private static let result = Setting<String>(
    "result", environment: .none, default: "gave_up,expired,rejected", placeholder: "RESULT,…",
    help: "How the pushes ended: gave_up, expired, rejected, or replay_stopped (taken back by nudge replay stop).",
    check: { FailedResult.set($0) == nil ? "gave_up, expired, rejected or replay_stopped, separated by commas" : nil })
  private static let maxAge = Setting<Duration?>(
    "max-age", environment: .none, default: nil,
    help: "Messages older than this are not sent; at most 24h. Default: their freshness.",
    check: { $0.map { $0.milliseconds > Resend.longestAge } ?? false ? "at most 24h" : nil })
  private static let rate = Setting<Double>(
    "rate", environment: .none, default: 50, in: 1...10_000, placeholder: "N", help: "The most notifications a second.")
  private static let max = Setting<Int>(
    "max", environment: .none, default: 10_000, in: 1...1_000_000,
    help: "The most notifications to write.")
  private static let confirm = Setting<Int?>(
    "confirm", environment: .none, default: nil,
    help: "The number of notifications, instead of typing it when asked.")

  static let selecting: [any AnySetting] = [
    since, until, topic, partition, fromOffset, toOffset, user, conversation, message, reason,
  ]
  /// The analyzer's settings, which must have the same values as in the services, from the same variables.
  static let deciding: [any AnySetting] = [ServiceSettings.freshness] + AnalyzerSettings.all
  private static let writing: [any AnySetting] = [rate] + Writing.all + [CommandOutput.json]

  static let command = Command(
    "replay",
    abstract: "Decides again: to compare, send what was missed, or by force.",
    subcommands: [SimulateCommand.replayCommand, resendMissing, resendFailed, rederive, force, resume, stop, list])

  // MARK: Commands

  private static let resendMissing = Command(
    "resend-missing",
    abstract: "Notifies people who were not notified of a message.",
    discussion:
      "The analyzer runs every check again: a person who was notified before, has read the message or does "
      + "not want it is not notified, and neither is anyone after the message's freshness.",
    settings: ClusterSettings.all + selecting + deciding + [max] + writing,
    examples: [
      "nudge replay resend-missing --since 2026-11-22T08:00:00Z --until 2026-11-22T08:10:00Z --reason quiet_hours "
        + "--bootstrap-servers kafka:9092",
      "nudge replay resend-missing --since 30m --reason quiet_hours --yes --why 'bad rules in 4.3.1' "
        + "--bootstrap-servers kafka:9092",
    ]
  ) { try replay($0, .resendMissing) }

  private static let resendFailed = Command(
    "resend-failed",
    abstract: "Notifies again the devices on which a push failed.",
    discussion:
      "For pushes that gave up, expired in a lane or were rejected, after FCM or its credentials failed. The analyzer runs "
      + "every check again, for what is still unread. A device that has the message already, by an outcome sent or its own "
      + "report, gets nothing, and a failed push is made again only once.",
    settings: ClusterSettings.all + selecting + [result, maxAge] + deciding + [max] + writing,
    examples: [
      "nudge replay resend-failed --since 2026-11-22T08:00:00Z --until 2026-11-22T08:15:00Z "
        + "--bootstrap-servers kafka:9092",
      "nudge replay resend-failed --since 3h --max-age 3h --yes --why 'FCM was away' --bootstrap-servers kafka:9092",
    ]
  ) { try replay($0, .resendFailed) }

  private static let members = Setting<String>(
    "members", environment: .none, default: "then", placeholder: "then|current",
    help:
      "The members to decide for: those whose membership is dated before the message (then), or all of today's (current), for an "
      + "import that carries its own time.",
    check: { RederivedMembers(rawValue: $0) == nil ? "then or current" : nil })

  private static let rederive = Command(
    "rederive",
    abstract: "Works out the recipients of messages again, by today's membership.",
    discussion:
      "For messages whose membership was wrong or missing when they came. Decides only for people who had no decision, and "
      + "writes dead letters (unknown_conversation, sender_not_member) to chat.events again where their conversation is known "
      + "now. --partition and offsets are those of chat.events.",
    settings: ClusterSettings.all
      + [since, until, partition, fromOffset, toOffset, user, conversation, message, members, maxAge]
      + deciding + [max] + writing,
    examples: [
      "nudge replay rederive --since 2h --conversation c-engines --bootstrap-servers kafka:9092",
      "nudge replay rederive --since 2h --members current --yes --why 'the import came late' --bootstrap-servers kafka:9092",
    ]
  ) { try replay($0, .rederive) }

  private static let force = Command(
    "force",
    abstract: "Notifies again, including people who were notified before.",
    discussion:
      "Makes new pushes, at most \(ReplayOperation.forceCap), confirmed by their number. A person's preferences, reads and "
      + "the message's freshness still count.",
    settings: ClusterSettings.all + selecting + deciding + [confirm] + writing,
    examples: [
      "nudge replay force --message m-17 --bootstrap-servers kafka:9092",
      "nudge replay force --message m-17 --yes --confirm 3 --why 'FCM lost them' --bootstrap-servers kafka:9092",
    ]
  ) { try replay($0, .force) }

  private static let replayName = PositionalArgument("id", help: "The replay's id, as 'nudge replay list' shows it.")

  private static let resume = Command(
    "resume",
    abstract: "Continues a replay that stopped or was interrupted.",
    settings: ClusterSettings.all + deciding + [confirm] + writing, arguments: [replayName],
    examples: ["nudge replay resume 20261122-103000-k3f9x2 --yes --why 'quota is back' --bootstrap-servers kafka:9092"]
  ) { input in
    _ = try Writing.isAsked(input)
    let cluster = ClusterSettings(input)
    let browser = try TopicBrowser(cluster)
    let known = try find(input, browser)
    guard known.condition != .stopped else {
      throw CommandError(
        "replay \(known.replayId) was stopped (\(known.note ?? "")) and cannot be resumed: start a new one")
    }
    guard let selection = ReplaySelection(flags: known.started.selection) else {
      throw CommandError("the selection of replay \(known.replayId) has a format of another version")
    }
    return try run(input, known.started.mode, selection, resuming: known, cluster, browser)
  }

  private static let stop = Command(
    "stop",
    abstract: "Stops a replay for all time, on whatever machine it runs.",
    discussion:
      "Nothing more of it is written, its records that the analyzer has not processed yet notify nobody, and its pushes "
      + "that wait in the dispatcher's lanes are taken back. What a push service has taken is not.",
    settings: ClusterSettings.all + Writing.all + [CommandOutput.json], arguments: [replayName],
    examples: [
      "nudge replay stop 20261122-103000-k3f9x2 --yes --why 'wrong conversation' --bootstrap-servers kafka:9092"
    ]
  ) { input in
    let writes = try Writing.isAsked(input)
    let cluster = ClusterSettings(input)
    let browser = try TopicBrowser(cluster)
    let known = try find(input, browser)
    if writes {
      try ReplayOperation.stop(known, why: input[Writing.why], cluster, browser, now: SystemClock.milliseconds())
    }
    if input[CommandOutput.json] {
      try CommandOutput.print(fields: [
        "replayId": known.replayId, "isWritten": writes, "condition": known.condition,
      ])
    } else {
      print(
        writes
          ? "replay \(known.replayId) is stopped: nothing more of it is written or decided, and what waits of it is taken back"
          : "replay \(known.replayId), \(known.condition.rawValue), would be stopped for all time. Nothing was written. Add --yes --why TEXT to do it."
      )
    }
    return ExitCode.success
  }

  private static let list = Command(
    "list", abstract: "Lists replays with their author, reason and result.",
    settings: ClusterSettings.all + [Watching.every, CommandOutput.json],
    examples: ["nudge replay list --bootstrap-servers kafka:9092"]
  ) { input in
    let browser = try TopicBrowser(ClusterSettings(input))
    return try Watching.run(input, asJSON: input[CommandOutput.json]) {
      let history = ReplayHistory(try AuditTrail(browser))
      try CommandOutput.print(history, asJSON: input[CommandOutput.json], text: history.text)
      return ExitCode.success
    }
  }

  private static func find(_ input: CommandInput, _ browser: TopicBrowser) throws -> ReplayHistory.Replay {
    let id = input.argument("id") ?? ""
    guard ReplayID.isValid(id) else {
      throw SettingsError("\(id) is not a replay's id: 'nudge replay list' lists them")
    }
    return try ReplayOperation.find(id, browser)
  }

  // MARK: Replaying

  static func selection(_ input: CommandInput, _ mode: ReplayMode? = nil) throws -> ReplaySelection {
    let now = SystemClock.milliseconds()
    var selection = ReplaySelection(
      since: input[since].milliseconds(now: now), until: input[until]?.milliseconds(now: now) ?? now)
    guard selection.since < selection.until else { throw SettingsError("--since must be before --until") }
    if input[partition] == nil, input[fromOffset] != nil || input[toOffset] != nil {
      throw SettingsError("--from-offset and --to-offset need --partition")
    }
    selection.topic = mode == .rederive || input[topic] == "chat.events" ? .chatEvents : .timeline
    selection.partition = input[partition].map { Int32($0) }
    selection.fromOffset = input[fromOffset].map { Int64($0) }
    selection.toOffset = input[toOffset].map { Int64($0) }
    selection.user = input[user]
    selection.conversation = input[conversation]
    selection.message = input[message]
    if mode != .rederive { selection.reason = input[reason].flatMap(DecisionReason.init(rawValue:)) }
    return selection
  }

  private static func replay(_ input: CommandInput, _ mode: ReplayMode) throws -> Int32 {
    _ = try Writing.isAsked(input)
    var selection = try selection(input, mode)
    if mode == .rederive {
      selection.members = RederivedMembers(rawValue: input[members]) ?? .then
      selection.maxAge = input[maxAge].map(\.milliseconds)
    } else if mode == .resendFailed {
      selection.results = FailedResult.set(input[result]) ?? FailedResult.usual
      selection.maxAge = input[maxAge].map(\.milliseconds)
    }
    if mode == .force, selection.message == nil, selection.conversation == nil, selection.user == nil {
      throw SettingsError("force needs --message, --conversation or --user: it never applies to everybody")
    }
    let cluster = ClusterSettings(input)
    let browser = try TopicBrowser(cluster)
    return try run(input, mode, selection, resuming: nil, cluster, browser)
  }

  private static func run(
    _ input: CommandInput, _ mode: ReplayMode, _ selection: ReplaySelection, resuming: ReplayHistory.Replay?,
    _ cluster: ClusterSettings, _ browser: TopicBrowser
  ) throws -> Int32 {
    let writes = try Writing.isAsked(input)
    let operation = ReplayOperation(
      mode: mode, selection: selection, rules: try AnalyzerSettings.rules(from: input.values),
      most: mode == .force || resuming != nil ? .max : input[max], resuming: resuming, cluster: cluster,
      browser: browser, now: SystemClock.milliseconds())
    let (plan, report) = try operation.plan()
    guard writes else { return try show(report, input) }
    guard !plan.items.isEmpty || !plan.deadLetters.isEmpty else {
      CommandOutput.report("nothing is to be written")
      return try show(report, input)
    }
    if mode == .force { try confirmed(plan.recipients, input) }
    let done = try operation.run(
      plan, report, rate: input[rate], why: input[Writing.why],
      began: { id in
        CommandOutput.report("replay \(id); to stop it: nudge replay stop \(id) --yes --why TEXT")
      }, progress: CommandOutput.report)
    _ = try show(done, input)
    return done.result == ReplayEnded.Result.completed.rawValue ? ExitCode.success : ExitCode.failure
  }

  private static func show(_ report: ReplayReport, _ input: CommandInput) throws -> Int32 {
    try CommandOutput.print(report, asJSON: input[CommandOutput.json], text: report.text)
    // The person, conversation or message in question is not known.
    let named = ["user", "conversation", "message"].contains { report.selection[$0] != nil }
    return named && report.selected == 0 && (report.deadLetters ?? 0) == 0 ? ExitCode.failure : ExitCode.success
  }

  /// The number typed at the prompt or given with `--confirm` must equal the number of notifications.
  private static func confirmed(_ count: Int, _ input: CommandInput) throws {
    var answer = input[confirm]
    if answer == nil {
      FileHandle.standardError.write(
        Data("\(count.counted("notification")) will be made by force. Type their number to go on: ".utf8))
      answer = readLine().flatMap { Int($0.trimmingCharacters(in: .whitespaces)) }
    }
    guard answer == count else {
      throw CommandError(
        "not confirmed: there \(count == 1 ? "is" : "are") \(count.counted("notification"))\(answer.map { ", not \($0)" } ?? ""). Nothing was written"
      )
    }
  }
}

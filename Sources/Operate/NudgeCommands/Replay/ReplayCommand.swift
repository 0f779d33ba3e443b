import Analyzer
import Foundation
import NudgeSchema
import ServiceKit

/// `nudge replay simulate | resend-missing | force | resume | stop | list`.
enum ReplayCommand {
  /// Notifications one replay may make by force. The analyzer has the same limit.
  static let forceCap = 100

  // MARK: Settings

  private static let since = Setting<PointInTime>(
    "since", environment: .none, default: .ago(.seconds(3_600)),
    help: "Messages that reached the timeline since then: so long ago (1h), or a time (2026-11-22T10:30:00Z).")
  private static let until = Setting<PointInTime?>(
    "until", environment: .none, default: nil, help: "And before then. Default: now.")
  private static let topic = Setting<String>(
    "topic", environment: .none, default: "timeline", placeholder: "timeline|chat.events",
    help: "Whose numbers --partition, --from-offset and --to-offset are.",
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
    check: { name in
      guard let name, DecisionReason(rawValue: name) == nil else { return nil }
      return "one of \(DecisionReason.allCases.map(\.rawValue).joined(separator: ", "))"
    })
  private static let rate = Setting<Double>(
    "rate", environment: .none, default: 50, in: 1...10_000, placeholder: "N", help: "Notifications a second at most.")
  private static let max = Setting<Int>(
    "max", environment: .none, default: 10_000, in: 1...1_000_000,
    help: "Refuses to write more than so many notifications.")
  private static let yes = Setting<Bool>(
    "yes", environment: .none, default: false, help: "Does it. Without, what would be done is counted and printed.")
  private static let why = Setting<String>(
    "why", environment: .none, default: "", placeholder: "TEXT", help: "Why, for the audit; needed with --yes.")
  private static let confirm = Setting<Int?>(
    "confirm", environment: .none, default: nil,
    help: "The number of notifications, instead of typing it when asked.")
  static let json = Setting<Bool>(
    "json", environment: .none, default: false, help: "Prints JSON, for machines.")

  static let selecting: [any AnySetting] = [
    since, until, topic, partition, fromOffset, toOffset, user, conversation, message, reason,
  ]
  /// By these the analyzer decides: told as the services were told, by the same variables.
  static let deciding: [any AnySetting] = [ServiceSettings.freshness] + AnalyzerSettings.all
  private static let writing: [any AnySetting] = [rate, yes, why, json]

  static let command = Command(
    "replay",
    abstract:
      "Decide again: to see what would differ, to send what was missed, or by force. Every way is a dry run first.",
    subcommands: [SimulateCommand.replayCommand, resendMissing, force, resume, stop, list])

  // MARK: Commands

  private static let resendMissing = Command(
    "resend-missing",
    abstract:
      "Has messages decided again for people who were not notified of them. The analyzer looks at everything anew: who was "
      + "notified before, has read it, or does not want it is left in peace, and so is what is past its freshness.",
    settings: ClusterSettings.all + selecting + deciding + [max] + writing,
    examples: [
      "nudge replay resend-missing --since 2026-11-22T08:00:00Z --until 2026-11-22T08:10:00Z --reason quiet_hours "
        + "--bootstrap-servers kafka:9092",
      "nudge replay resend-missing --since 30m --reason quiet_hours --yes --why 'bad rules in 4.3.1' "
        + "--bootstrap-servers kafka:9092",
    ]
  ) { try replay($0, .resendMissing) }

  private static let force = Command(
    "force",
    abstract:
      "Notifies again, by new pushes, also who was notified before; at most \(forceCap) notifications, which must be "
      + "confirmed by their number. What a person does not want, has read, or is past its freshness is not sent by force either.",
    settings: ClusterSettings.all + selecting + deciding + [confirm] + writing,
    examples: [
      "nudge replay force --message m-17 --bootstrap-servers kafka:9092",
      "nudge replay force --message m-17 --yes --confirm 3 --why 'FCM lost them' --bootstrap-servers kafka:9092",
    ]
  ) { try replay($0, .force) }

  private static let replayName = PositionalArgument("id", help: "The replay's id, as 'nudge replay list' shows it.")

  private static let resume = Command(
    "resume",
    abstract: "Takes up a replay that stopped by itself or was interrupted, where it ended.",
    settings: ClusterSettings.all + deciding + [confirm] + writing, arguments: [replayName],
    examples: ["nudge replay resume 20261122-103000-k3f9x2 --yes --why 'quota is back' --bootstrap-servers kafka:9092"]
  ) { input in
    let cluster = ClusterSettings(input)
    let browser = try TopicBrowser(cluster)
    defer { browser.close() }
    let known = try find(input, browser)
    guard known.condition != .stopped else {
      throw ReadingError("replay \(known.replayId) was stopped for good (\(known.note ?? "")): begin a new one")
    }
    guard let selection = ReplaySelection(flags: known.started.selection) else {
      throw ReadingError("the selection of replay \(known.replayId) is not one that this version understands")
    }
    return try run(input, known.started.mode, selection, resuming: known, cluster, browser)
  }

  private static let stop = Command(
    "stop",
    abstract:
      "Stops a replay for good, wherever it runs: nothing more of it is written, and what the analyzer has not come to yet "
      + "notifies nobody. Pushes that were made already are not taken back.",
    settings: ClusterSettings.all + [why], arguments: [replayName],
    examples: ["nudge replay stop 20261122-103000-k3f9x2 --why 'wrong conversation' --bootstrap-servers kafka:9092"]
  ) { input in
    guard !input[why].isEmpty else { throw SettingsError("--why is missing: say why, for the audit") }
    let cluster = ClusterSettings(input)
    let browser = try TopicBrowser(cluster)
    defer { browser.close() }
    let known = try find(input, browser)
    let now = SystemClock.milliseconds()
    // Opening the writer shuts out the one of the process that runs the replay.
    let writer = try AuditedWriter(
      cluster, replayId: known.replayId, auditPartitions: try browser.partitionCount(of: .audit), now: now)
    defer { writer.close() }
    try writer.commit(
      try ReplayRecord.stops(
        known.replayId, partitions: try browser.partitionCount(of: .timeline), cause: known.position, now: now,
        coder: browser.coder),
      audit: .stopped(ReplayStopRequest(replayId: known.replayId, who: ReplayID.whoRuns(), why: input[why])), now: now)
    print("replay \(known.replayId) is stopped: nothing more of it is written or decided")
    return ExitCode.success
  }

  private static let list = Command(
    "list", abstract: "The replays there were, with who, why, and how they stand.",
    settings: ClusterSettings.all + [json],
    examples: ["nudge replay list --bootstrap-servers kafka:9092"]
  ) { input in
    let browser = try TopicBrowser(ClusterSettings(input))
    defer { browser.close() }
    let history = ReplayHistory(try AuditTrail(browser))
    if input[json] {
      try CommandOutput.print(json: history)
    } else {
      print(history.text)
    }
    return ExitCode.success
  }

  private static func find(_ input: CommandInput, _ browser: TopicBrowser) throws -> ReplayHistory.Replay {
    let id = input.argument("id") ?? ""
    guard ReplayID.isValid(id) else { throw SettingsError("\(id) is no replay's id: 'nudge replay list' shows them") }
    guard let known = ReplayHistory(try AuditTrail(browser, replayId: id)).replays.first else {
      throw ReadingError("no replay \(id) is on \(browser.names(.audit)): 'nudge replay list' shows those there are")
    }
    return known
  }

  // MARK: Replaying

  static func selection(_ input: CommandInput) throws -> ReplaySelection {
    let now = SystemClock.milliseconds()
    var selection = ReplaySelection(
      since: input[since].milliseconds(now: now), until: input[until]?.milliseconds(now: now) ?? now)
    guard selection.since < selection.until else { throw SettingsError("--since must be before --until") }
    if input[partition] == nil, input[fromOffset] != nil || input[toOffset] != nil {
      throw SettingsError("--from-offset and --to-offset need --partition")
    }
    selection.topic = input[topic] == "chat.events" ? .chatEvents : .timeline
    selection.partition = input[partition].map { Int32($0) }
    selection.fromOffset = input[fromOffset].map { Int64($0) }
    selection.toOffset = input[toOffset].map { Int64($0) }
    selection.user = input[user]
    selection.conversation = input[conversation]
    selection.message = input[message]
    selection.reason = input[reason].flatMap(DecisionReason.init(rawValue:))
    return selection
  }

  private static func replay(_ input: CommandInput, _ mode: ReplayMode) throws -> Int32 {
    let selection = try selection(input)
    if mode == .force, selection.message == nil, selection.conversation == nil, selection.user == nil {
      throw SettingsError("force needs --message, --conversation or --user: it never means everybody")
    }
    let cluster = ClusterSettings(input)
    let browser = try TopicBrowser(cluster)
    defer { browser.close() }
    return try run(input, mode, selection, resuming: nil, cluster, browser)
  }

  private static func run(
    _ input: CommandInput, _ mode: ReplayMode, _ selection: ReplaySelection, resuming: ReplayHistory.Replay?,
    _ cluster: ClusterSettings, _ browser: TopicBrowser
  ) throws -> Int32 {
    if input[yes], input[why].isEmpty { throw SettingsError("--why is missing: say why, for the audit") }
    let rules = try AnalyzerSettings.rules(from: input.values)
    let now = SystemClock.milliseconds()
    var next: [Int32: Int64] = [:]
    for (partition, offset) in resuming?.progress?.next ?? [:] {
      if let partition = Int32(partition) { next[partition] = offset }
    }
    let plan = try ReplayPlanning(
      selection: selection, mode: mode, freshness: rules.policy.freshness, now: now, browser: browser
    ).plan(resumingAt: next)
    let forecast = try ReplayForecast(rules: rules, browser: browser, now: now).result(of: plan.items, mode: mode)
    var report = ReplayReport(
      replayId: nil, mode: mode.rawValue, selection: selection.flags, selected: plan.selected,
      wouldSend: forecast.wouldSend)
    for (standing, count) in plan.standings where standing != .missing { report.standings[standing.rawValue] = count }
    // By force they are decided again all the same, so that they are counted as what comes of it.
    if mode == .force {
      report.standings = report.standings.filter { $0.key != "already_sent" && $0.key != "already_notified" }
    }
    for (reason, count) in forecast.suppressed { report.suppressed[reason.rawValue] = count }
    let cap = mode == .force ? forceCap : resuming == nil ? input[max] : Int.max
    // What an earlier run of the same replay wrote counts too.
    let recipients = plan.recipients + (mode == .force ? resuming?.progress?.recipients ?? 0 : 0)
    guard recipients <= cap else {
      let allowed =
        mode == .force ? "by force one replay makes at most \(cap)" : "--max allows \(cap)"
      throw ReadingError("\(recipients) notifications are selected; \(allowed): narrow the selection")
    }
    guard input[yes] else { return try show(report, input) }
    guard !plan.items.isEmpty else {
      FileHandle.standardError.write(Data("nothing is to be written\n".utf8))
      return try show(report, input)
    }
    if mode == .force { try confirmed(plan.recipients, input) }
    var random = SystemRandomNumberGenerator()
    let id = resuming?.replayId ?? ReplayID.make(now: now, using: &random)
    report.replayId = id
    let writer = try AuditedWriter(
      cluster, replayId: id, auditPartitions: try browser.partitionCount(of: .audit), now: now)
    defer { writer.close() }
    let watch = try ReplayWatch(replayId: id, browser: browser, cluster: cluster)
    defer { watch.close() }
    try writer.commit(
      [],
      audit: .started(
        ReplayStarted(
          replayId: id, mode: mode, who: ReplayID.whoRuns(), why: input[why], selection: selection.flags,
          counts: report.counts, resumed: resuming == nil ? nil : true)), now: now)
    FileHandle.standardError.write(Data("replay \(id); to stop it: nudge replay stop \(id) --why TEXT\n".utf8))
    let result = try ReplayRun(
      replayId: id, mode: mode, items: plan.items, rate: input[rate], before: resuming?.progress, writer: writer,
      watch: watch, coder: browser.coder, tell: { FileHandle.standardError.write(Data("\($0)\n".utf8)) }
    ).run()
    report.result = result.ended.result.rawValue
    report.stoppedBecause = result.ended.reason
    report.decisions = Dictionary(uniqueKeysWithValues: result.account.decisions.map { ($0.key.rawValue, $0.value) })
    report.outcomes = Dictionary(uniqueKeysWithValues: result.account.outcomes.map { ($0.key.rawValue, $0.value) })
    _ = try show(report, input)
    return result.ended.result == .completed ? ExitCode.success : ExitCode.failure
  }

  private static func show(_ report: ReplayReport, _ input: CommandInput) throws -> Int32 {
    if input[json] {
      try CommandOutput.print(json: report)
    } else {
      print(report.text)
    }
    return ExitCode.success
  }

  /// The number typed, or given by `--confirm`, must be that of the notifications.
  private static func confirmed(_ count: Int, _ input: CommandInput) throws {
    var answer = input[confirm]
    if answer == nil {
      FileHandle.standardError.write(
        Data("\(count) notifications will be made by force. Type their number to go on: ".utf8))
      answer = readLine().flatMap { Int($0.trimmingCharacters(in: .whitespaces)) }
    }
    guard answer == count else {
      throw ReadingError(
        "not confirmed: there are \(count) notifications\(answer.map { ", not \($0)" } ?? ""). Nothing was written")
    }
  }
}

import Foundation
import Kafka
import NudgeCommands
import NudgeSchema
import ServiceKit

/// Runs a load on a cluster with running services, from the first device to the account.
final class ClusterLoad {
  private static let pollWait: Duration = .milliseconds(20)
  private static let introductionTimeout: Duration = .seconds(120)
  /// After everything is accounted for, topics are read until this long without a record, because a record may have been written twice.
  private static let silence: Duration = .milliseconds(500)

  private let cluster: ClusterSettings
  private let cast: LoadCast
  private let plan: LoadRun.Plan
  private let duration: Duration
  private let settleTimeout: Duration
  private let interrupts: Interrupts
  private let display: LiveDisplay
  private let limits: QuotaWaits.Limits
  private var ledger = DeliveryLedger(seesAborted: false, seesRequests: false)

  init(
    cluster: ClusterSettings, cast: LoadCast, plan: LoadRun.Plan, duration: Duration, settleTimeout: Duration,
    limits: QuotaWaits.Limits, interrupts: Interrupts, display: LiveDisplay
  ) {
    self.limits = limits
    self.cluster = cluster
    self.cast = cast
    self.plan = plan
    self.duration = duration
    self.settleTimeout = settleTimeout
    self.interrupts = interrupts
    self.display = display
  }

  /// Runs the load. Throws if it cannot continue. A failed check is in the summary.
  func run() throws -> LoadSummary {
    // Fails before anything is published if no broker answers or a topic is missing.
    let report = try TopicCreation.report(on: try cluster.admin(), names: cluster.topics)
    let missing = report.topics.filter { $0.status == .missing }.map(\.name)
    guard missing.isEmpty else {
      throw CommandError("topics are missing: \(missing.joined(separator: ", ")). Is --topic-prefix right?")
    }
    let observer = try PipelineObserver(
      cluster.client(.consumer(bootstrapServers: cluster.bootstrapServers, group: nil)), names: cluster.topics,
      isFresh: false, keyPrefix: plan.prefix, rest: PipelineObserver.unhurried)
    defer { observer.close() }
    ledger.quotaWaits.limits = limits
    ledger.quotaWaits.limits.partitions = observer.partitions
    let publisher = try EventPublisher(
      cluster.client(.producer(bootstrapServers: cluster.bootstrapServers, transactionalID: nil)),
      topics: cluster.topics)
    defer { publisher.close() }
    let load = LoadRun(plan, publisher: publisher)
    display.print(
      "\(cast.messages) messages of \(cast.people.count) people in \(cast.conversations) conversations; their ids begin "
        + "with \(plan.prefix)")
    try introduce(load, publisher, observer)
    load.play()
    while load.phase != .finished {
      try turn(load, publisher, observer, .playing)
      if interrupts.count > 0 { load.stop() }
    }
    let settling = ContinuousClock.now
    repeat {
      try turn(load, publisher, observer, .settling)
    } while !ledger.isSettled && settling.duration(to: .now) < settleTimeout
    let settledAfter = settling.duration(to: .now)
    if !ledger.isSettled {
      // Read before the rest of the outcomes, so that a push that leaves its lane meanwhile has an outcome.
      let now = SystemClock.milliseconds()
      try PipelineObserver.readLanes(
        cluster.client(.consumer(bootstrapServers: cluster.bootstrapServers, group: nil)), names: cluster.topics,
        keyPrefix: plan.prefix, into: &ledger)
      ledger.findWaits(at: now)
    }
    var quietSince = ContinuousClock.now
    while quietSince.duration(to: .now) < Self.silence {
      if try observer.read(into: &ledger, timeout: Self.pollWait) > 0 { quietSince = .now }
    }
    let summary = LoadSummary(
      run: plan.run,
      decisions: ledger.decisionsByReason.byName,
      figures: LoadFigures(
        chatLog: plan.source.name, played: load.playedFor, settledAfter: settledAfter, asked: plan.shape.rate,
        load: publisher.progress, ledger: ledger, wasInterrupted: interrupts.count > 0),
      account: LedgerVerdict(ledger, load: publisher.progress, wasDispatcherKilled: false))
    display.finish(view(load, publisher, .done))
    load.retire()
    let deadline = ContinuousClock.now + .seconds(60)
    while load.phase != .retired, ContinuousClock.now < deadline {
      try check(load)
      usleep(10_000)
    }
    return summary
  }

  /// Publishes devices and preferences, and waits until the timeline has them.
  private func introduce(_ load: LoadRun, _ publisher: EventPublisher, _ observer: PipelineObserver) throws {
    let (devices, preferences) = ledger.expect(cast)
    load.start()
    let deadline = ContinuousClock.now + Self.introductionTimeout
    while load.phase == .introducing || ledger.introduction.seen != (devices, preferences) {
      try turn(load, publisher, observer, .introducing)
      guard ContinuousClock.now < deadline, interrupts.count == 0 else {
        let (seenDevices, seenPreferences) = ledger.introduction.seen
        throw CommandError(
          "of \(devices) devices \(seenDevices) and of \(preferences) preferences \(seenPreferences) came to the "
            + "timeline: check that ingest runs, with 'nudge lag' and 'nudge doctor'")
      }
    }
  }

  private func turn(
    _ load: LoadRun, _ publisher: EventPublisher, _ observer: PipelineObserver, _ act: PipelineView.Act
  ) throws {
    _ = try observer.read(into: &ledger, timeout: Self.pollWait)
    for message in publisher.takePublished() { ledger.published(message) }
    try check(load)
    display.update(view(load, publisher, act))
  }

  /// The first Ctrl-C ends the load and the account is checked. The second ends the command.
  private func check(_ load: LoadRun) throws {
    if case .failed(let reason) = load.phase { throw CommandError("the load cannot go on: \(reason)") }
    if interrupts.count > 1 { throw CommandError("interrupted") }
  }

  private func view(_ load: LoadRun, _ publisher: EventPublisher, _ act: PipelineView.Act) -> PipelineView {
    PipelineView(
      title: "nudge load", act: act, brokerName: cluster.bootstrapServers, elapsed: load.playedFor,
      duration: duration, rate: plan.shape.rate, load: publisher.progress, ledger: ledger, processes: [])
  }
}

extension DeliveryLedger {
  /// Expects the devices and preferences of a cast on the timeline. Returns their numbers.
  mutating func expect(_ cast: LoadCast) -> (devices: Int, preferences: Int) {
    let devices = cast.people.flatMap(\.devices)
    for device in devices { register(deviceId: device.deviceId, token: device.address, platform: device.platform) }
    let now = SystemClock.milliseconds()
    let people = cast.people.filter { $0.preferences(now: now) != nil }
    for person in people { introduction.expectPreferences(of: person.userId) }
    return (devices.count, people.count)
  }
}

enum LoadCommand {
  private static let duration = Setting<Duration>(
    "duration", environment: .none, default: .seconds(60), in: .seconds(1)...(.seconds(7 * 86_400)),
    help: "How long messages are published, including the ramp.")
  private static let rate = Setting<Double>(
    "rate", environment: .none, default: 50, in: 0.1...100_000, placeholder: "N",
    help: "Messages a second; each is for all members of its conversation.")
  private static let ramp = Setting<Duration>(
    "ramp", environment: .none, default: .zero, in: .zero...(.seconds(86_400)),
    help: "The rate rises from 0 to --rate in this time.")
  private static let burst = Setting<LoadShape.Burst?>(
    "burst", environment: .none, default: nil,
    help: "A higher rate for part of each period: 10x5s/1m is ten times the rate, for 5 s of each minute.")
  private static let groups = Setting<Int?>(
    "groups", environment: .none, default: nil,
    help: "Groups of the built-in log, of 5 to 11 people; 8 groups have 40 people and 4 pairs of friends. Default: "
      + "enough to keep devices below FCM's limits.",
    check: { $0.map { (1...100_000).contains($0) } ?? true ? nil : "a value from 1 to 100000" })
  private static let members = Setting<Int>(
    "members", environment: .none, default: 8, in: 2...1_000,
    help: "The most members of a conversation: its latest speakers.")
  private static let chatLog = Setting<String?>(
    "chat-log", environment: .none, default: nil, placeholder: "FILE",
    help: "Chat log to play, JSON lines, plain or gzip. Default: a generated one.")
  private static let seed = Setting<Int>(
    "seed", environment: .none, default: 1, in: 0...Int.max, help: "Seed of the people, and of the generated log."
  )
  private static let settleTimeout = Setting<Duration>(
    "settle-timeout", environment: .none, default: .seconds(120), in: .seconds(1)...(.seconds(3_600)),
    help: "How long to wait for the account after the last message.")
  private static let quota = Setting<Int>(
    "fcm-quota", environment: .none, default: QuotaWaits.Limits().perProjectAndMinute, in: 60...60_000_000,
    help: "The dispatcher's --fcm-quota: pushes that wait for it are not missing.")
  private static let devicePerHour = Setting<Int>(
    "fcm-device-per-hour", environment: .none, default: QuotaWaits.Limits().perDeviceAndHour, in: 0...60_000_000,
    help: "The dispatcher's --fcm-device-per-hour: pushes that wait for it are not missing.")
  private static let yes = Setting<Bool>(
    "yes", environment: .none, default: false, help: "Publish; without it, only print what would be published.")
  private static let json = Setting<Bool>(
    "json", environment: .none, default: false,
    help: "Print one JSON object on standard output, and progress on standard error.")

  static let command = Command(
    "load",
    abstract: "Publishes a load to a running cluster, and accounts for it.",
    discussion:
      "Checks from the topics that every recipient has a decision and every target an outcome. Pushes that wait "
      + "in the lanes for FCM's quota are printed apart, and are no failure. For test clusters whose dispatcher sends to the emulator: the tokens are invented, and FCM would reject "
      + "them. People and conversations have new ids (load-RUN-…); the people are signed out at the end. "
      + "Exits with 1 if something is missing.",
    settings: ClusterSettings.all + [
      duration, rate, ramp, burst, groups, members, chatLog, seed, settleTimeout, quota, devicePerHour, yes, json,
    ],
    examples: [
      "nudge load --rate 200 --duration 5m --bootstrap-servers kafka:9092",
      "nudge load --rate 100 --ramp 1m --burst 10x5s/1m --groups 200 --duration 10m --yes --bootstrap-servers kafka:9092",
    ]
  ) { input in
    let shape = LoadShape(rate: input[rate], ramp: input[ramp].seconds, burst: input[burst])
    let start = UInt64(input[seed])
    let run = String(UInt32.random(in: .min ... .max), radix: 36)
    let prefix = "load-\(run)-"
    let source: ChatLogSource =
      input[chatLog].map { .file($0) }
      ?? .generated(
        seed: start, groups: input[groups] ?? GeneratedChatLog.groups(rate: input[rate], duration: input[duration]))
    let wanted = max(1, Int(shape.messages(in: input[duration].seconds).rounded()))
    let cast = try LoadCast(source, messages: wanted, seed: start, prefix: prefix)
    guard cast.messages > 0 else { throw CommandError("\(source.name) has no messages") }
    let cluster = ClusterSettings(input)
    guard input[yes] else {
      print(
        "would publish \(cast.messages) messages of \(cast.people.count) people with "
          + "\(cast.people.flatMap(\.devices).count) devices in \(cast.conversations) conversations to "
          + "\(cluster.bootstrapServers), topics \(cluster.topics(.chatEvents)) and \(cluster.topics(.userEvents)).\n"
          + "Nothing was published. The devices' tokens are invented: add --yes only if the dispatcher sends to the emulator."
      )
      return ExitCode.success
    }
    let interrupts = Interrupts()
    let display = LiveDisplay(
      input[json] ? .standardError : .standardOutput, environment: ProcessInfo.processInfo.environment)
    let summary = try ClusterLoad(
      cluster: cluster, cast: cast,
      plan: LoadRun.Plan(
        source: source, cast: cast, shape: shape, members: input[members], seed: start, run: run, prefix: prefix,
        retiresPeople: true),
      duration: input[duration], settleTimeout: input[settleTimeout],
      limits: QuotaWaits.Limits(perDeviceAndHour: input[devicePerHour], perProjectAndMinute: input[quota]),
      interrupts: interrupts, display: display
    ).run()
    try CommandOutput.print(summary, asJSON: input[json], text: summary.text(display.colours))
    guard summary.account.isBalanced else {
      for complaint in summary.account.complaints { CommandOutput.report(complaint) }
      return ExitCode.failure
    }
    return summary.figures.interrupted ? ExitCode.interrupted : ExitCode.success
  }
}

/// The result of a load, which `--json` prints as one object.
struct LoadSummary: Encodable {
  /// Part of the run's ids.
  let run: String
  /// Decisions by reason.
  let decisions: [String: Int]
  let figures: LoadFigures
  let account: LedgerVerdict

  func encode(to encoder: any Encoder) throws {
    try figures.encode(to: encoder)
    try encoder.encode(fields: ["run": run, "decisions": decisions, "account": account])
  }

  /// The summary for a person: one line for each fact, then one for each check.
  func text(_ paint: Paint) -> String {
    func grouped(_ number: Int) -> String { PipelineView.grouped(number) }
    let facts: [(name: String, text: String)] = [
      ("chat log", figures.chatLog),
      (
        "messages",
        "\(grouped(figures.messages)) in \(figures.durationSeconds) s, \(figures.rateAchieved)/s (\(figures.rateAsked.settingText)/s asked)"
      ),
      ("candidates", grouped(figures.candidates)),
      ("decisions", SummaryText.counts(decisions)),
      ("pushes", "\(grouped(figures.pushes)) to \(grouped(figures.targets)) devices"),
      ("outcomes", SummaryText.counts(figures.outcomes)),
      ("latency", figures.latencyMs.text),
      ("settled", "\(figures.settledAfterSeconds) s after the last message"),
    ]
    return SummaryText.page(facts, account, paint)
  }
}

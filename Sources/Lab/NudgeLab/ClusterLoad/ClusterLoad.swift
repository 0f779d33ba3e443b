import Foundation
import Kafka
import NudgeCommands
import NudgeSchema
import ServiceKit

/// Runs a load on a cluster with running services, from the first device to the account.
final class ClusterLoad {
  private static let pollWait: Duration = .milliseconds(20)
  private static let introductionTimeout: Duration = .seconds(120)
  /// After everything is accounted for, topics are read until this long without a record: it may have been written twice.
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

  /// Runs the load. Throws if it cannot continue; a failed check is in the summary.
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
    display.say(
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
      // Before the rest of the outcomes: what left its lane meanwhile has one.
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
      run: plan.run, chatLog: plan.source.name, played: load.playedFor, settledAfter: settledAfter,
      asked: plan.shape.rate, load: publisher.progress, ledger: ledger, wasInterrupted: interrupts.count > 0)
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
    let devices = cast.people.flatMap(\.devices)
    for device in devices {
      ledger.register(deviceId: device.deviceId, token: device.address, platform: device.platform)
    }
    let now = SystemClock.milliseconds()
    let withPreferences = cast.people.filter { $0.preferences(now: now) != nil }
    for person in withPreferences { ledger.introduction.expectPreferences(of: person.userId) }
    let preferences = withPreferences.count
    load.start()
    let deadline = ContinuousClock.now + Self.introductionTimeout
    while load.phase == .introducing || ledger.introduction.seen != (devices.count, preferences) {
      try turn(load, publisher, observer, .introducing)
      guard ContinuousClock.now < deadline, interrupts.count == 0 else {
        let (seenDevices, seenPreferences) = ledger.introduction.seen
        throw CommandError(
          "of \(devices.count) devices \(seenDevices) and of \(preferences) preferences \(seenPreferences) came to the "
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

  /// The first Ctrl-C ends the load and the account is checked; the second ends the command.
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

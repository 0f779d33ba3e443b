import Foundation
import Kafka
import NudgeSchema
import Testing

@testable import NudgeCommands
@testable import NudgeLab

/// Runs a pipeline under a chaos schedule: brokers, instances of each service with their supervisors, and a load. One thread uses it.
final class ChaosRun {
  /// The parameters of a run.
  struct Plan: Sendable {
    var seed: UInt64
    /// How long faults occur.
    var seconds: Int
    /// Messages a second.
    var rate: Double
    /// Instances of each service.
    var instances = 2
    /// Brokers. A lone broker is its own controller for even seeds.
    var brokers = 1
    /// The kinds of trouble; empty: all.
    var faults: [ChaosSchedule.Fault] = []
    /// Whether clocks jump. librdkafka's threads sleep by the wall clock: one that is set back by 98 s leaves a starting service
    /// without a connection for as long, which is more patience than a short run has.
    var clocksJump = true
    /// Whether some people have quiet hours or a bound on alerts, and what nobody reads is escalated. Quiet hours end at a full minute,
    /// which makes a short run long.
    var limitsAttention = true
    /// How many of the devices have a subscription of Web Push, in percent.
    var browsers = 0
    /// Where programs of another build are; nil: upgrades and rollbacks go to a copy of the same build.
    var otherPrograms: URL?
    /// The command that repeats the run.
    var again: String
  }

  /// The result of a run.
  struct Report {
    /// One line of figures.
    var figures = ""
    var violations: [PipelineViolation] = []
    /// Ends of processes that no fault explains.
    var failures: [String] = []
    /// Actions that this machine does not support.
    var skipped = 0
    /// Messages a second until all were published.
    var rate = 0.0
  }

  /// How long the services may take to be ready again, and then to process the backlog.
  private static let recoveryTime = 120.0
  /// How long a service may still end because of a disk after that disk is writable again.
  private static let diskRecovery: Duration = .seconds(5)

  /// Removes the directory; fails, as intended, if a failed run left files in it.
  private static let cleanup: Void = { _ = atexit { rmdir(RealKafka.directory.path) } }()

  let plan: Plan
  let schedule: ChaosSchedule
  let directory: URL
  private let broker: ChaosBroker
  private let pipeline: Pipeline
  private let load: ChaosLoad
  /// Each service's instances by slot; slots beyond `plan.instances` are for scaling out.
  private let instances: [[ChaosInstance]]
  /// Instances of a service still to be restarted, one after the other, and the build to restart them as.
  private var rolling: [DemoProgram: (waiting: [ChaosInstance], build: ChaosSchedule.Build?)] = [:]
  private let programs: [ChaosSchedule.Build: [DemoProgram: URL]]
  private var skipped = 0
  private let stranger: ChaosStranger
  /// Targets whose connections are delayed or lack a coordinator.
  private var hampered = Set<ChaosSchedule.Target>()
  /// When the current trouble with services or brokers began, in milliseconds since the epoch.
  private var troubledSince: Int64?

  /// The operator's policy. Nobody in the load says twice that a conversation is open: all that is held for that is told after all, some
  /// seconds later. With limits of attention, catch-ups and escalation take seconds, too.
  private static func policy(limitingAttention: Bool) -> String {
    let ofAttention = """
      , "bursts": {"groupSeconds": 5}, "catchUp": {"spreadSeconds": 10}, "escalation": {"againSeconds": 6, "webhookSeconds": 4}
      """
    return #"{"waits": {"presenceSeconds": 4}"# + (limitingAttention ? ofAttention : "") + "}"
  }

  /// Longer than a step of an escalation takes, in milliseconds.
  private static let escalationStep: Int64 = 15_000

  /// Starts the brokers; nothing else runs yet.
  init(_ plan: Plan) throws {
    Self.cleanup
    self.plan = plan
    schedule = ChaosSchedule(
      seed: plan.seed, duration: plan.seconds * 1_000, instances: plan.instances, only: plan.faults)
    let name = "chaos-\(plan.seed)-\(plan.seconds)s\(plan.brokers == 1 ? "" : "-\(plan.brokers)")"
    let services = DemoProgram.services
    broker = try ChaosBroker(
      directory: RealKafka.directory.appendingPathComponent("\(name)-kafka"), proxies: services.count,
      brokers: plan.brokers, isCombined: plan.seed.isMultiple(of: 2))
    // As long as FCM takes: a clock of libfaketime is some milliseconds behind, and an outcome must not be older than its request.
    let pipeline = try Pipeline(
      name, faults: #"{"faults":[{"endpoint":"webhook","delayMs":50}]}"#, brokers: broker.bootstrapServers)
    self.pipeline = pipeline
    directory = pipeline.directory
    pipeline.brokerData = broker.data
    try broker.grantAll(prefix: pipeline.names.prefix)
    load = ChaosLoad(
      seed: plan.seed, messages: Int(Double(plan.seconds) * plan.rate),
      limitingAttentionFor: plan.limitsAttention ? plan.seconds : nil,
      browsers: ChatLoad.Browsers(share: plan.browsers, pushService: pipeline.pushService))
    pipeline.attention = load.attention
    stranger = try ChaosStranger(
      brokers: broker.bootstrapServers, names: pipeline.names, seed: plan.seed, conversation: load.conversation)
    let (broker, directory) = (broker, directory)
    let policy = directory.appendingPathComponent("policy.json")
    try Data(Self.policy(limitingAttention: plan.limitsAttention).utf8).write(to: policy)
    let webPush = try pipeline.webPush()
    let settings: [DemoProgram: [String]] = [
      .ingest: webPush[.ingest, default: []], .analyzer: ["--policy", policy.path],
      .dispatcher: pipeline.webhook + webPush[.dispatcher, default: []],
    ]
    programs = try Self.builds(plan.otherPrograms, copyingTo: directory.appendingPathComponent("second-build"))
    instances = try services.enumerated().map { index, service in
      try (1...max(3, plan.instances)).map { slot in
        let store = try ChaosStore(
          directory.appendingPathComponent("state-\(service.shortName)-\(slot)"),
          ownDisk: slot > 1 && ChaosStore.unmountable == nil)
        // The second instance has no name and is a dynamic member. There can be only one, because it uses the host's name.
        let command = try pipeline.command(
          service, instance: slot == 2 ? nil : "slot\(slot)", stateDirectory: store.directory,
          brokers: slot == 1
            ? broker.proxies[index].map { "127.0.0.1:\($0.port)" }.joined(separator: ",") : broker.bootstrapServers)
        return ChaosInstance(
          .init(service: service, slot: slot), executable: command.executable,
          arguments: command.arguments + ["--kafka-property", "session.timeout.ms=\(ChaosSchedule.sessionTimeout)"]
            + settings[service, default: []],
          store: store, directory: directory,
          clock: slot == 2 && plan.clocksJump
            ? try ChaosClock(directory.appendingPathComponent("clock-\(service.shortName)")) : nil)
      }
    }
  }

  /// The programs of both builds. Without another build the second is a copy, under another path, of the first.
  private static func builds(_ other: URL?, copyingTo copies: URL) throws -> [ChaosSchedule.Build: [DemoProgram: URL]] {
    let first = try DemoProgram.find(in: DemoProgram.directoryOfThisProgram())
    if let other { return [.first: first, .second: try DemoProgram.find(in: other)] }
    try FileManager.default.createDirectory(at: copies, withIntermediateDirectories: true)
    for program in first.values {
      try FileManager.default.copyItem(at: program, to: copies.appendingPathComponent(program.lastPathComponent))
    }
    return [.first: first, .second: try DemoProgram.find(in: copies)]
  }

  deinit {
    for instance in instances.joined() { instance.store.close() }
    broker.end()
  }

  private func instance(_ target: ChaosSchedule.Target) -> ChaosInstance {
    of(target.service)[target.slot - 1]
  }

  private func of(_ service: DemoProgram) -> [ChaosInstance] {
    instances.first { $0.first?.target.service == service } ?? []
  }

  /// The target's proxies, one to each broker.
  private func proxies(_ target: ChaosSchedule.Target) -> [ChaosProxy] {
    DemoProgram.services.firstIndex(of: target.service).map { broker.proxies[$0] } ?? []
  }

  // MARK: The run

  func run() throws -> Report {
    if let reason = ChaosStore.unmountable { print("no full and no read-only disks in this run: \(reason)") }
    if ChaosClock.library == nil { print("no clock jumps in this run: apt-get install libfaketime") }
    if plan.otherPrograms == nil {
      print(
        "upgrades and rollbacks of this run go to a copy of the same build: OLDER=DIR names another build's programs")
    }
    for service in DemoProgram.services { try scale(service, to: plan.instances) }
    try wait("every service is ready", atMost: Self.recoveryTime) { try isWell }
    try pipeline.introduce(load.introductions())

    let start = ContinuousClock.now
    pipeline.publisher.start(rate: plan.rate * load.eventsPerMessage, load.events)
    for entry in schedule.entries {
      try wait("it is time for the next action") { start.duration(to: .now) >= .milliseconds(entry.at) }
      try carryOut(entry.action)
    }
    // All faults are healed by now.
    try wait("the load is published", atMost: Double(plan.seconds) + Self.recoveryTime) {
      try pipeline.publisher.isDone() && stranger.isDone()
    }
    let published = start.duration(to: .now)
    try wait("every service is ready again", atMost: Self.recoveryTime) { try isWell }
    // What waits until a time of a clock that was ahead waits for as much longer.
    let patience = Self.recoveryTime + Double(schedule.fastestAnalyzer)
    try wait("everything is worked off", atMost: patience, pause: .milliseconds(500)) {
      try pipeline.isSettled(load.expected)
    }
    let settled = start.duration(to: .now)
    if plan.limitsAttention { try waitForEscalations(atMost: patience) }
    try stop()
    return try judge(published: published / .seconds(1), settled: settled / .seconds(1))
  }

  /// Waits until no timer makes another push: what nobody read is said again, and then the webhook is told.
  private func waitForEscalations(atMost patience: Double) throws {
    // A timer of a clock that was ahead comes as much later.
    let calm = Self.escalationStep + Int64(schedule.fastestAnalyzer) * 1_000
    var (count, since) = (0, ChatLoad.now())
    try wait("nothing is escalated any more", atMost: patience + Double(2 * calm) / 1_000, pause: .milliseconds(500)) {
      let pushes = pipeline.checker.count(of: "nudge.pushes")
      if pushes != count { (count, since) = (pushes, ChatLoad.now()) }
      return try ChatLoad.now() - since > calm && pipeline.isSettled(load.expected)
    }
  }

  /// Supervises all processes and reads topics and requests until a condition holds. A time-out ends the run with the ends of the
  /// logs of the instances that are not ready.
  private func wait(
    _ what: String, atMost seconds: Double = 3_600, pause: Duration = .milliseconds(5), _ condition: () throws -> Bool
  ) throws {
    let deadline = ContinuousClock.now + .seconds(seconds)
    let semaphore = DispatchSemaphore(value: 0)
    while true {
      try supervise()
      try pipeline.look()
      if try condition() { return }
      guard .now < deadline else {
        let tails = instances.joined().filter { !$0.isOff && !$0.isReady }.map(\.tail)
        throw StillWaiting(
          description: "still waiting after \(seconds) s until \(what); open: "
            + "\(pipeline.checker.open.prefix(5)); pending: \(pending); not ready: \(tails.joined(separator: "\n"))")
      }
      _ = semaphore.wait(timeout: .now() + .milliseconds(Int(pause / .milliseconds(1))))
    }
  }

  /// What keeps the deployment from being well although every instance is ready: orders and connections.
  private var pending: String {
    let restarts = rolling.map { "restarts of \($0.key.shortName), \($0.value.waiting.count) to come" }
    let connections = hampered.map { "\($0)'s connection" }
    let brokers = (try? broker.isSettled()) == true ? [] : ["a broker"]
    return (restarts + connections + brokers).sorted().joined(separator: "; ")
  }

  /// How long the services may be behind after trouble, both in milliseconds: events that were published meanwhile wait, and they carry a
  /// multiple of the load.
  private static func catchUp(after trouble: Int64) -> Int64 { 5_000 + trouble / 4 }

  private func supervise() throws {
    for instance in instances.joined() { try instance.supervise() }
    let isWell =
      broker.isWell && rolling.isEmpty && hampered.isEmpty && instances.joined().allSatisfy { $0.isOff || $0.isReady }
    if !isWell {
      troubledSince = troubledSince ?? ChatLoad.now()
    } else if let since = troubledSince {
      let now = ChatLoad.now()
      pipeline.troubles.append(since...now + Self.catchUp(after: now - since))
      troubledSince = nil
    }
    _ = stranger.isDone()
    for (service, order) in rolling where of(service).allSatisfy({ $0.isOff || $0.isReady }) {
      rolling[service] = order.waiting.isEmpty ? nil : (Array(order.waiting.dropFirst()), order.build)
      guard let next = order.waiting.first else { continue }
      if let program = order.build.flatMap({ programs[$0]?[service] }) { next.executable = program }
      next.end(restarting: true)
    }
  }

  /// Whether all instances that should run are ready, and no order is pending.
  private var isWell: Bool {
    get throws {
      try broker.isSettled() && rolling.isEmpty && instances.joined().allSatisfy { $0.isOff || $0.isReady }
    }
  }

  private func carryOut(_ action: ChaosSchedule.Action) throws {
    print("chaos \(plan.seed): \(action)")
    switch action {
    case .kill(let target, let losingState):
      let instance = instance(target)
      try instance.kill { if losingState { try instance.store.erase() } }
    case .suspend(let target): instance(target).suspend()
    case .resume(let target): instance(target).resume()
    case .stopBroker(let cleanly): broker.stop(cleanly: cleanly)
    case .startBroker: broker.start()
    case .pauseBroker: broker.pause()
    case .resumeBroker: broker.resume()
    case .revokeRights(let service): broker.setWritable(false, output(of: service))
    case .giveBackRights(let service): broker.setWritable(true, output(of: service))
    case .publishHostile:
      try stranger.publish()
      pipeline.sentByOthers = stranger.sent
    case .setQuota(let bytes): broker.setQuota(bytesPerSecond: bytes)
    case .remakeTopic:
      for plan in TopicPlan.all where plan.topic == .banners {
        broker.remake(
          Admin.NewTopic(
            name: pipeline.names(plan.topic), partitions: Int(Pipeline.partitions), replicationFactor: -1,
            configuration: plan.configuration))
      }
    case .rollingRestart(let service): rolling[service] = (of(service).filter { !$0.isOff }, nil)
    case .roll(let service, let build): rolling[service] = (of(service).filter { !$0.isOff }, build)
    case .setClock(let target, let seconds):
      if try !instance(target).setClock(ahead: seconds) { skipped += 1 }
    case .damageStore(let target): try instance(target).damageStore()
    case .fillDisk(let target):
      guard canUseDisks() else { return }
      instance(target).diskTroubleEnds = .now + .seconds(86_400)
      try instance(target).store.fill()
    case .emptyDisk(let target):
      guard canUseDisks() else { return }
      try instance(target).store.empty()
      instance(target).diskTroubleEnds = .now + Self.diskRecovery
    case .protectStore(let target):
      guard canUseDisks() else { return }
      let instance = instance(target)
      instance.diskTroubleEnds = .now + .seconds(86_400)
      try instance.kill { try instance.store.setWritable(false) }
    case .unprotectStore(let target):
      guard canUseDisks() else { return }
      try instance(target).store.setWritable(true)
      instance(target).diskTroubleEnds = .now + Self.diskRecovery
    case .scale(let service, let count): try scale(service, to: count)
    case .delay(let target, let milliseconds):
      hampered.insert(target)
      for proxy in proxies(target) { proxy.set(.delayed(milliseconds)) }
    case .cutCoordinator(let target, let coordinator):
      hampered.insert(target)
      // Without the group's coordinator it may lose its partitions; without the transactions' it keeps them, and its answers.
      if coordinator == .group { instance(target).disturb() } else { instance(target).holdCommits() }
      for proxy in proxies(target) { proxy.set(.without(coordinator)) }
    case .silence(let target):
      hampered.insert(target)
      instance(target).disturb()
      for proxy in proxies(target) { proxy.silence() }
    case .cutOneWay(let target, let way):
      hampered.insert(target)
      instance(target).disturb()
      for proxy in proxies(target) { proxy.set(.oneWay(without: way)) }
    case .cutFromOne(let target, let broker):
      hampered.insert(target)
      instance(target).disturb()
      let all = proxies(target)
      all[broker % all.count].set(.cut)
    case .cut(let target):
      instance(target).disturb()
      for proxy in proxies(target) { proxy.set(.cut) }
    case .mend(let target, let dropping):
      for proxy in proxies(target) {
        if dropping { proxy.drop() }
        proxy.set(.open)
      }
      hampered.remove(target)
      instance(target).calm()
    }
  }

  /// Topics whose absence may end a service: its own outputs, and the timeline, which all three write.
  private func outputs(of service: DemoProgram) -> Set<String> {
    let ofAnalyzer = [pipeline.names(.banners), pipeline.names(.outcomes)]
    return Set([output(of: service), pipeline.names(.timeline)] + (service == .analyzer ? ofAnalyzer : []))
  }

  /// The topic that this service writes most.
  private func output(of service: DemoProgram) -> String {
    switch service {
    case .analyzer: pipeline.names(.decisions)
    case .dispatcher: pipeline.names(.outcomes)
    default: pipeline.names(.timeline)
    }
  }

  private func canUseDisks() -> Bool {
    if ChaosStore.unmountable == nil { return true }
    skipped += 1
    return false
  }

  private func scale(_ service: DemoProgram, to count: Int) throws {
    for instance in of(service) {
      if instance.target.slot <= count { try instance.start() } else { instance.end(restarting: false) }
    }
  }

  // MARK: The end

  /// SIGTERM to all. Each must drain and exit with 0 within 10 s.
  private func stop() throws {
    let before = instances.joined().map { $0.exits[0, default: 0] }
    let running = instances.joined().map { !$0.isOff }
    for instance in instances.joined() { instance.end(restarting: false) }
    try wait("every service has ended, which it may take 10 s for", atMost: 10) {
      instances.joined().allSatisfy(\.isOff)
    }
    for (index, instance) in instances.joined().enumerated() where running[index] {
      #expect(instance.exits[0, default: 0] == before[index] + 1, "\(instance.tail)")
    }
  }

  private func judge(published: Double, settled: Double) throws -> Report {
    if let troubledSince { pipeline.troubles.append(troubledSince...ChatLoad.now()) }
    pipeline.dispatcherClocks = of(.dispatcher).flatMap(\.slowClocks)
    pipeline.dispatcherAbsences = of(.dispatcher).flatMap(\.absences)
    pipeline.commitGaps = broker.absences + of(.dispatcher).flatMap(\.commitGaps)
    let (judge, violations) = try pipeline.verdict(load.expected)
    var report = Report(violations: violations, skipped: skipped)
    report.failures = instances.joined().flatMap { instance in
      // A service that cannot reach a broker, or is limited to a few kilobytes a second, may be unable to drain: 79.
      let excuses = broker.absences + broker.quotas + instance.absences.filter { $0.count > 1 }
      return instance.failures.filter { failure in
        if failure.status == 79 { return !excuses.contains { $0.overlaps(failure.time) } }
        let refusals = broker.refusals.filter { outputs(of: instance.target.service).contains($0.topic) }
        return failure.status != 70 || !refusals.contains { $0.time.overlaps(failure.time) }
      }.map(\.description)
    }
    report.rate = Double(load.messages) / published
    let faults = schedule.faults.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key.rawValue) \($0.value)" }
    var exits: [Int32: Int] = [:]
    for instance in instances.joined() { exits.merge(instance.exits) { $0 + $1 } }
    report.figures =
      "chaos seed \(plan.seed), \(plan.brokers) broker\(plan.brokers == 1 ? "" : "s"): \(load.messages) events, \(Int(report.rate))/s, \(judge.decisionCount) decisions \(judge.decisionsByReason), "
      + "\(judge.outcomeCount) outcomes \(judge.outcomesByResult), \(judge.requests.count) requests, "
      + "\(judge.requests.count { $0.status == 201 }) of them taken by Web Push, "
      + "\(judge.resends.count) resends, \(judge.ownerChanges.all) changes of owner "
      + "(\(judge.ownerChanges.judgedByTime) judged by time), "
      + "\(judge.hostileByCode.values.reduce(0, +)) hostile records of \(judge.hostileByCode.count) kinds; "
      + "\(judge.attentionFigures); faults: \(faults.joined(separator: ", ")); actions skipped: \(skipped); "
      + "exits: \(exits.sorted { $0.key < $1.key }.map { "\($0.key) × \($0.value)" }.joined(separator: ", ")); "
      + "\(Int(settled)) s until settled; \(violations.count) violations"
    for instance in instances.joined() { instance.store.close() }
    broker.end()
    pipeline.hasPassed = violations.isEmpty && report.failures.isEmpty
    if pipeline.hasPassed {
      try? FileManager.default.removeItem(at: broker.directory)
    }
    return report
  }
}

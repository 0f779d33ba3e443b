import Foundation
import Kafka
import NudgeCommands
import NudgeSchema
import ServiceKit

/// Runs a demo from its first process to its last check.
final class DemoRun {
  /// The rate, in messages a second, above which the emulator does not serve the page with the phones, because the page would distort the
  /// demo's figures.
  private static let maxRateWithPhones = 500.0
  private static let pollWait: Duration = .milliseconds(20)
  private static let introductionTimeout: Duration = .seconds(60)
  /// After the services have ended, the topics are read until this long without a record.
  private static let silence: Duration = .milliseconds(500)

  private let options: DemoOptions
  private let programs: [DemoProgram: URL]
  private let interrupts: Interrupts
  private let display: LiveDisplay
  private let name = String(UInt32.random(in: .min ... .max), radix: 36)
  private var cast: LoadCast
  /// The directory of logs, state, the record of requests, and the data of a broker that the demo starts.
  let directory: URL

  private var ledger: DeliveryLedger
  private var kills: [DemoSummary.Kill] = []
  private var pendingKills: [KillPlan.Kill]

  /// Reads the chat log's people, and creates the directory.
  init(_ options: DemoOptions, programs: [DemoProgram: URL], interrupts: Interrupts, display: LiveDisplay) throws {
    self.options = options
    self.programs = programs
    self.interrupts = interrupts
    self.display = display
    display.print("reading \(options.source.name)")
    cast = try LoadCast(options.source, messages: options.messages, seed: options.seed)
    guard cast.messages > 0 else { throw CommandError("\(options.source.name) has no messages") }
    ledger = DeliveryLedger(seesAborted: options.broker == .embedded, ownPrefix: "\(name)/")
    pendingKills = options.kills
    directory = FileManager.default.temporaryDirectory.appendingPathComponent("nudge-demo-\(name)")
    // The directory will hold tokens and texts, so it must not be one that somebody else has made.
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  /// Runs the demo. Throws if it cannot continue. A failed check is in the summary.
  func run() throws -> DemoSummary {
    display.print(
      "\(cast.messages) messages of \(cast.people.count) people in \(cast.conversations) conversations; logs in "
        + directory.path)

    let broker = try DemoBroker(options, directory: directory, run: name)
    try broker.createTopics(partitions: options.partitions)
    display.print("\(broker.name) at \(broker.bootstrapServers); starting the emulator and the services")
    let apiKey = options.http ? (0..<32).map { _ in String(UInt8.random(in: 0..<16), radix: 16) }.joined() : nil
    let showsPhones = options.rate <= Self.maxRateWithPhones
    let processes = DemoProcesses(
      programs: programs, directory: directory, environment: broker.environment, showsPhones: showsPhones,
      apiKey: apiKey)
    let decisionLines = try showsPhones ? DecisionLines(path: processes.decisionLines) : nil
    try processes.start(broker: broker, logLevel: options.serviceLogLevel) { try pause() }
    if let url = processes.pushServiceURL { cast.reachBrowsers(by: url) }
    try processes.openApps(of: cast.people.flatMap(\.devices))
    if let url = processes.phonesURL { display.print("the phones, live: \(url)") }
    if let apiKey, let address = processes.apiAddress { printAPI(address, apiKey) }

    let console = try options.console ? openConsole(on: broker, processes, apiKey: apiKey) : nil
    defer { console?.stop() }

    let observer = try PipelineObserver(
      broker.client(.consumer(bootstrapServers: broker.bootstrapServers, group: nil)), names: broker.topics,
      // The embedded broker keeps too little of the changelog to read the lanes at the end.
      topics: PipelineObserver.counted + (broker.seesAborted ? [.dispatcherState] : []),
      isFresh: broker.areTopicsNew, decisionLines: decisionLines,
      rest: broker.seesAborted ? .zero : PipelineObserver.unhurried)
    let publisher = try EventPublisher(
      broker.client(.producer(bootstrapServers: broker.bootstrapServers, transactionalID: nil)), topics: broker.topics)
    let load = LoadRun(
      LoadRun.Plan(
        source: options.source, cast: cast, shape: LoadShape(rate: options.rate), members: options.members,
        seed: options.seed, run: name),
      publisher: publisher)
    let scene = Scene(
      broker: broker, processes: processes, observer: observer, publisher: publisher, load: load,
      requests: RequestRecord(path: processes.requestRecord))
    defer { publisher.close() }

    try introduce(scene)
    try play(scene)
    let settledAfter = try settle(scene)
    if let console { try stay(scene, console) }
    try end(scene)
    let summary = summary(scene, settledAfter)
    display.finish(view(scene, .done))
    observer.close()
    try broker.close(isDone: summary.own.account.isBalanced)
    if summary.own.account.isBalanced, !options.keep { try FileManager.default.removeItem(at: directory) }
    return summary
  }

  /// The parts of a running demo.
  private final class Scene {
    let broker: DemoBroker
    let processes: DemoProcesses
    let observer: PipelineObserver
    let publisher: EventPublisher
    let load: LoadRun
    var requests: RequestRecord

    init(
      broker: DemoBroker, processes: DemoProcesses, observer: PipelineObserver, publisher: EventPublisher,
      load: LoadRun,
      requests: RequestRecord
    ) {
      self.broker = broker
      self.processes = processes
      self.observer = observer
      self.publisher = publisher
      self.load = load
      self.requests = requests
    }
  }

  // MARK: The phases

  /// Publishes devices and preferences, and waits until the timeline has them, so that every message finds them.
  private func introduce(_ scene: Scene) throws {
    let (devices, preferences) = ledger.expect(cast)
    scene.load.start()
    let deadline = ContinuousClock.now + Self.introductionTimeout
    while scene.load.phase == .introducing || ledger.introduction.seen != (devices, preferences) {
      try turn(scene, .introducing)
      guard ContinuousClock.now < deadline else {
        let (seenDevices, seenPreferences) = ledger.introduction.seen
        throw CommandError(
          "of \(devices) devices \(seenDevices) and of \(preferences) preferences \(seenPreferences) were on the "
            + "timeline after \(Self.introductionTimeout.settingText); see \(directory.path)/nudge-ingest.log"
            + (ledger.deadLetters.isEmpty ? "" : " (dead letters: \(ledger.deadLetters))"))
      }
    }
  }

  private func play(_ scene: Scene) throws {
    scene.load.play()
    while scene.load.phase != .finished {
      try turn(scene, .playing)
      try kill(scene)
      if interrupts.count > 0 { scene.load.stop() }
    }
  }

  /// Waits until everything is accounted for, at most until the time-out. Returns how long it took.
  private func settle(_ scene: Scene) throws -> Duration {
    let start = ContinuousClock.now
    let deadline = start + options.settleTimeout
    // Runs at least once, because the last acknowledgements may not have been entered yet.
    repeat { try turn(scene, .settling) } while !isSettled && ContinuousClock.now < deadline
    return start.duration(to: .now)
  }

  private func printAPI(_ address: String, _ key: String) {
    let event =
      #"{"schemaVersion":1,"type":"user.activity","eventId":"by-hand-1","occurredAt":'$(date +%s%3N)',"userId":"ann","#
      + #""deviceId":"ann-phone","state":"foreground"}"#
    display.print("events over HTTP: http://\(address)/v1/events with the key \(key)")
    display.print(
      "curl -i http://\(address)/v1/events -H 'Authorization: Bearer \(key)' -H 'Content-Type: application/json' -d '\(event)'"
    )
  }

  /// Opens the console. It may write, because all that it changes is removed with the demo.
  private func openConsole(on broker: DemoBroker, _ processes: DemoProcesses, apiKey: String?) throws -> RunningConsole
  {
    var options = RunningConsole.Options(
      allowsActions: true, showsTexts: true, phones: processes.phonesURL, services: processes.adminAddresses)
    if let apiKey, let address = processes.apiAddress {
      options.stream = ConsoleStream(url: "http://\(address)", apiKey: apiKey)
    }
    let console = try RunningConsole(broker.cluster, host: "127.0.0.1", port: 0, options)
    display.print("the console: \(console.url)")
    return console
  }

  /// Keeps the demo running until the first Ctrl-C, so that a person can look around.
  private func stay(_ scene: Scene, _ console: RunningConsole) throws {
    guard interrupts.count == 0 else { return }
    display.print("everything has been played; the console stays at \(console.url) until Ctrl-C")
    while interrupts.count == 0 { try turn(scene, .settling) }
  }

  private var isSettled: Bool { ledger.isSettled && kills.allSatisfy { $0.readyAfterMs != nil } }

  /// Stops the processes, and reads the rest of the topics, because records may have been written twice.
  private func end(_ scene: Scene) throws {
    display.update(view(scene, .ending))
    let settledAt = SystemClock.milliseconds()
    func readUntilSilence() throws {
      var quietSince = ContinuousClock.now
      while quietSince.duration(to: .now) < Self.silence {
        if try scene.observer.read(into: &ledger, timeout: Self.pollWait) > 0 { quietSince = .now }
      }
    }
    // A deferred message may have been decided at the last moment, so that the dispatcher still has its push to send.
    try scene.processes.stopServices { try readUntilSilence() }
    try readUntilSilence()
    scene.processes.stopEmulator()
    try scene.requests.read(into: &ledger)
    guard !ledger.isSettled else { return }
    if !scene.broker.seesAborted {
      try PipelineObserver.readLanes(
        scene.broker.client(.consumer(bootstrapServers: scene.broker.bootstrapServers, group: nil)),
        names: scene.broker.topics, into: &ledger)
    }
    ledger.quotaWaits.limits.partitions = scene.observer.partitions
    ledger.findWaits(at: settledAt)
  }

  // MARK: A turn

  private func turn(_ scene: Scene, _ act: PipelineView.Act) throws {
    _ = try scene.observer.read(into: &ledger, timeout: Self.pollWait)
    for message in scene.publisher.takePublished() { ledger.published(message) }
    try scene.requests.read(into: &ledger)
    try scene.processes.check()
    for index in kills.indices where kills[index].readyAfterMs == nil {
      if try scene.processes.isReady(kills[index].program) {
        kills[index].readyAfterMs = Int(kills[index].killedAt.duration(to: .now).milliseconds)
      }
    }
    if case .failed(let reason) = scene.load.phase { throw CommandError("the load cannot go on: \(reason)") }
    try checkInterrupts()
    display.update(view(scene, act))
  }

  /// Waits while processes start, without blocking Ctrl-C.
  private func pause() throws {
    try checkInterrupts()
    usleep(10_000)
  }

  /// The first Ctrl-C ends the load, and the demo checks its account. The second ends the demo.
  private func checkInterrupts() throws {
    if interrupts.count > 1 { throw CommandError("interrupted") }
  }

  private func kill(_ scene: Scene) throws {
    while let next = pendingKills.first, scene.load.playedFor >= next.after {
      pendingKills.removeFirst()
      display.print("kill -9 \(next.program.rawValue)")
      let killedAt = ContinuousClock.now
      try scene.processes.kill(next.program)
      kills.append(DemoSummary.Kill(program: next.program, after: next.after, killedAt: killedAt))
    }
  }

  // MARK: Printed lines

  private func verdict(_ scene: Scene, ending: LedgerVerdict.Ending? = nil) -> LedgerVerdict {
    LedgerVerdict(
      ledger, load: scene.publisher.progress,
      wasDispatcherKilled: scene.processes.fencedRestarts > 0 || kills.contains { $0.program == .dispatcher },
      ending: ending)
  }

  private func view(_ scene: Scene, _ act: PipelineView.Act) -> PipelineView {
    PipelineView(
      act: act, brokerName: scene.broker.name, elapsed: scene.load.playedFor, duration: options.duration,
      rate: options.rate, load: scene.publisher.progress, ledger: ledger,
      processes: (try? scene.processes.states()) ?? [])
  }

  private func summary(_ scene: Scene, _ settledAfter: Duration) -> DemoSummary {
    var verdict = verdict(scene, ending: scene.processes.endings)
    if !pendingKills.isEmpty {
      verdict.checks.append(
        LedgerVerdict.Check(
          name: "kills", expected: options.kills.count, found: kills.count, ok: false,
          missing: pendingKills.map { "\($0.program.shortName) at \($0.after.settingText): the load had ended before" })
      )
    }
    return DemoSummary(
      options: options, broker: scene.broker.name, played: scene.load.playedFor, settledAfter: settledAfter,
      load: scene.publisher.progress, ledger: ledger, kills: kills, fencedRestarts: scene.processes.fencedRestarts,
      verdict: verdict, wasInterrupted: interrupts.count > 0)
  }
}

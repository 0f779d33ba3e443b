import Foundation
import Kafka
import KafkaTransactions
public import NudgeSchema
public import ServiceKit
import Synchronization

/// Runs a service's stream threads: starts, watches and drains them.
public final class StreamService<S: Stage>: Service {
  /// The configuration of a service.
  public struct Configuration: Sendable {
    /// The settings every service takes.
    public var settings: ServiceSettings
    /// Bounds and times.
    public var limits: StreamLimits
    /// Whether the process has stream threads. Without them it gets no partitions, and only watches the cluster for readiness.
    public var runsTasks: Bool
    /// Topics that another part of the process reads. The right to read them is checked before the start.
    public var alsoReads: [Topic]
    /// How soon a second fencing makes the process wait before it exits, and how long it waits, in milliseconds.
    var fencingWindow: Milliseconds = 60_000

    /// The number of stream threads.
    var threads: Int { runsTasks ? settings.threads : 0 }

    /// A configuration with the default limits.
    public init(
      settings: ServiceSettings, limits: StreamLimits = StreamLimits(), runsTasks: Bool = true, alsoReads: [Topic] = []
    ) {
      self.settings = settings
      self.runsTasks = runsTasks
      self.alsoReads = alsoReads
      self.limits = limits
      self.limits.follow(kafkaProperties: settings.kafkaProperties)
    }
  }

  public let name = S.definition.name
  private let configuration: Configuration
  private let makeStage: @Sendable () -> S
  private let policy: (@Sendable () -> S.Policy)?
  private let show: (@Sendable (S.Statistics, _ thread: Int) -> Void)?
  private let performer: (any EffectPerformer<S.Effect, S.Reply>)?
  /// Shared by all threads, because a lost task may return to another one.
  private let outliving: OutlivingEffects<S.Reply>
  private let spans: (any SpanRecorder)?
  private let logger: Logger
  private let metrics: MetricsRegistry
  private let observer: StreamObserver
  private let watchdog: Watchdog
  private let silenceWatch: SilenceWatch
  private let readiness: HealthChecks
  private let fencing: LastFencing
  private let wakeUps: Counter
  private let uncleanStarts: Counter
  private let state = Mutex(State())

  private struct State {
    /// When the stop was requested, by the steady clock.
    var stoppingSince: Milliseconds?
    /// Whether the instance will not return. Then static members leave the group too.
    var isRetiring = false
    var threads: [RunningThread] = []
    var brokerWatch: BrokerWatch?
    var lagMonitor: LagMonitor?
    var lock: StateDirectoryLock?
    var starts: UncleanStarts?
    #if DEBUG
      var failPoints: FailPoints?
    #endif
  }

  private struct RunningThread: Sendable {
    var signal: ThreadSignal
    var done: DispatchSemaphore
  }

  /// A service.
  ///
  /// - Parameters:
  ///   - spans: Takes the spans of records whose trace is recorded.
  ///   - policy: Returns the policy in force; each thread calls it once a turn. Absent: the stage's own policy stays in force.
  ///   - show: Shows the statistics of a thread's stage, once a turn.
  ///   - makeStage: Called once for each thread.
  public init(
    _ configuration: Configuration, logger: Logger, health: HealthState, metrics: MetricsRegistry,
    performer: (any EffectPerformer<S.Effect, S.Reply>)? = nil, spans: (any SpanRecorder)? = nil,
    policy: (@Sendable () -> S.Policy)? = nil, show: (@Sendable (S.Statistics, _ thread: Int) -> Void)? = nil,
    makeStage: @escaping @Sendable () -> S
  ) {
    self.configuration = configuration
    self.logger = logger
    self.metrics = metrics
    self.performer = performer
    outliving = OutlivingEffects(
      limit: configuration.limits.maxOutlivingEffects, retention: configuration.limits.replyRetention)
    self.spans = spans
    self.makeStage = makeStage
    self.policy = policy
    self.show = show
    observer = StreamObserver(
      stage: S.definition.name, logger: logger, health: health, metrics: metrics, expected: S.Metric.expected)
    wakeUps = metrics.counter("nudge_thread_wakeups_total", help: "Times another thread woke a stream thread.")
    uncleanStarts = metrics.counter(
      "nudge_unclean_starts_total",
      help: "Starts on this state directory after a process that crashed or was killed.")
    watchdog = Watchdog(logger: logger, liveness: health.liveness)
    silenceWatch = SilenceWatch(logger: logger)
    readiness = health.readiness
    fencing = LastFencing(
      directory: "\(configuration.settings.stateDirectory)/\(S.definition.name)", window: configuration.fencingWindow)
    setReadiness(.notReady("joining the group"))
  }

  // MARK: Start

  /// How long `--check` waits for a broker, and then for the broker's answer about topics.
  private let checkPatience: Duration = .seconds(4)

  /// The check of `--check`: whether the topics exist and have the settings that the stage needs, as `start` checks them.
  public var topicCheck: ServiceCheck {
    ServiceCheck("topics") { [self] in
      let topics = TopicNames(prefix: configuration.settings.topicPrefix)
      let found = try checkCluster(topics, patience: checkPatience)
      let counts = found?.counts ?? [:]
      return
        "\(counts.count) of \(S.definition.name)'s, \(counts[S.definition.inputs[0]] ?? 0) partitions; transactions "
        + (found?.transactions.map { "of version \($0.rawValue)" } ?? "are librdkafka's")
        + "; release \(NudgeVersion.current) knows levels up to \(FormatLevel.latest)"
    }
  }

  /// Locks the state directory and begins to start. The threads run once a broker answers and the topics are right. Until then readiness
  /// says what is missing. Wrong topics end the service with an error that names the remedy.
  public func start(_ onEnd: @escaping @Sendable (ServiceEnd) -> Void) throws {
    let lock = try StateDirectoryLock("\(configuration.settings.stateDirectory)/\(S.definition.name)")
    #if DEBUG
      let failPoints = try FailPoints.fromEnvironment(logger: logger)
      state.withLock { $0.failPoints = failPoints }
    #else
      FailPoints.refuse(logger: logger)
    #endif
    recordStart()
    let starter = RunningThread(signal: ThreadSignal(wakeUps: wakeUps), done: DispatchSemaphore(value: 0))
    state.withLock {
      $0.lock = lock
      $0.threads = [starter]
    }
    watchdog.start()
    silenceWatch.start()
    spawn("nudge-start", starter) { [self] in startThreads(onEnd) }
  }

  /// Logs whether the previous process ended in order. The state directory's lock is held.
  private func recordStart() {
    let starts = UncleanStarts(directory: "\(configuration.settings.stateDirectory)/\(S.definition.name)")
    uncleanStarts.increment(by: starts.count)
    if starts.isUnclean {
      logger.warning(
        "the process before this one did not stop: it crashed, was killed, or its host went down",
        ["uncleanStarts": .int(starts.count)])
    }
    do {
      try starts.begin()
      state.withLock { $0.starts = starts }
    } catch {
      logger.warning("the state directory does not take a note of this start", ["reason": .string("\(error)")])
    }
  }

  private func spawn(_ name: String, _ running: RunningThread, _ body: @escaping @Sendable () -> Void) {
    let thread = Thread {
      body()
      running.done.signal()
    }
    thread.name = name
    thread.stackSize = 8 << 20
    thread.start()
  }

  private func startThreads(_ onEnd: @escaping @Sendable (ServiceEnd) -> Void) {
    let settings = configuration.settings
    let topics = TopicNames(prefix: settings.topicPrefix)
    let cluster: ClusterCheck.Finding
    do {
      guard let found = try checkCluster(topics) else { return }
      cluster = found
    } catch {
      onEnd(ServiceEnd(exitCode: ExitCode.software, reason: "\(error)"))
      return
    }
    watchBroker(topics)
    // The embedded broker has no offsets in transactions, so all records would look unprocessed for ever.
    if cluster.transactions != nil, configuration.runsTasks { measureLag(topics) }
    if !configuration.runsTasks { setReadiness(.ready) }
    let life = String(UInt64.random(in: .min ... .max), radix: 36)
    for number in 0..<configuration.threads {
      let running = RunningThread(signal: ThreadSignal(wakeUps: wakeUps), done: DispatchSemaphore(value: 0))
      var kafka = KafkaStreamSettings(
        stage: S.definition, topics: topics, bootstrapServers: settings.bootstrapServers,
        properties: ClientConfiguration.inOrder(settings.kafkaProperties),
        threadName: "\(settings.instance)-\(number)", isStatic: settings.isInstanceExplicit,
        stateDirectory: settings.stateDirectory, limits: configuration.limits,
        transactions: TransactionVersion(settings.transactions),
        log: { [logger] in logger.write($0) }, onThrottle: { [observer] in observer.throttled($0) })
      if cluster.transactions == nil { kafka.makeWriter = { LibrdkafkaTransactions($0) } }
      let isStopping = state.withLock { state in
        if state.stoppingSince == nil { state.threads.append(running) }
        return state.stoppingSince != nil
      }
      if isStopping { return }
      spawn("nudge-stream-\(number)", running) { [self, kafka] in
        run(number, kafka, cluster.counts, writer: "\(settings.instance)-\(number)/\(life)", running, onEnd)
      }
    }
  }

  /// Starts a watch that makes the process not ready while no broker answers.
  private func watchBroker(_ topics: TopicNames) {
    let settings = configuration.settings
    let admin: Admin
    do {
      admin = try Admin(
        ClientConfiguration(bootstrapServers: settings.bootstrapServers).merging(
          overrides: settings.kafkaProperties.map { (name: $0.key, value: $0.value) }),
        name: "nudge-\(S.definition.name)-watch", log: { [logger] in logger.write($0) })
    } catch {
      // The threads connect with the same settings, and their errors say what is wrong with them.
      logger.notice("readiness does not watch the brokers", ["reason": "\(error)"])
      return
    }
    let topic = topics(S.definition.changelog)
    let watch = BrokerWatch(
      servers: settings.bootstrapServers, readiness: readiness, logger: logger,
      ask: { _ = try admin.partitionCounts(of: [topic], timeout: .seconds(2)) })
    let isStopping = state.withLock { state in
      if state.stoppingSince == nil { state.brokerWatch = watch }
      return state.stoppingSince != nil
    }
    if !isStopping { watch.start() }
  }

  /// Starts the metrics of how far the process's tasks are behind.
  private func measureLag(_ topics: TopicNames) {
    let monitor = LagMonitor(
      S.definition, topics: topics, bootstrapServers: configuration.settings.bootstrapServers,
      properties: configuration.settings.kafkaProperties, metrics: metrics, logger: logger,
      tasks: { [observer] in observer.tasks })
    let isStopping = state.withLock { state in
      if state.stoppingSince == nil { state.lagMonitor = monitor }
      return state.stoppingSince != nil
    }
    if !isStopping { monitor.start() }
  }

  /// Waits for a broker, at most for `patience` if it is given, and then checks the cluster. Absent if the service is stopped meanwhile.
  private func checkCluster(_ topics: TopicNames, patience: Duration? = nil) throws -> ClusterCheck.Finding? {
    let settings = configuration.settings
    let cluster = try KafkaClusterProbe(
      settings, stage: S.definition, reading: configuration.alsoReads, patience: patience, logger: logger,
      isStopping: { [self] in isStopping },
      setReadiness: { [self] in setReadiness($0) })
    let check = ClusterCheck(
      topics: TopicCheck(stage: S.definition, topics: topics, freshness: settings.freshness.milliseconds),
      isPatient: patience == nil, isStopping: { [self] in isStopping },
      log: { [logger] in logger.notice($0, $1.map { ["reason": .string($0)] } ?? [:]) })
    return try check.run(on: cluster)
  }

  /// Sets the readiness of all threads; without threads, that of the cluster.
  private func setReadiness(_ status: HealthStatus) {
    guard configuration.runsTasks else { return readiness.set("cluster", status) }
    for thread in 0..<configuration.threads { observer.set(thread, status) }
  }

  // MARK: A thread

  private func run(
    _ number: Int, _ settings: KafkaStreamSettings, _ counts: [Topic: Int32], writer: String, _ running: RunningThread,
    _ onEnd: @escaping @Sendable (ServiceEnd) -> Void
  ) {
    let kafka: KafkaStreamIO
    do {
      kafka = try KafkaStreamIO(settings, signal: running.signal)
    } catch {
      onEnd(ServiceEnd(exitCode: ExitCode.software, reason: "\(error)"))
      return
    }
    let end: StreamExit
    #if DEBUG
      if let points = state.withLock({ $0.failPoints }) {
        end = turn(
          number, FailPointIO(kafka, points), performer.map { FailPointPerformer($0, points) }, settings, counts,
          writer, running.signal)
      } else {
        end = turn(number, kafka, performer, settings, counts, writer, running.signal)
      }
    #else
      end = turn(number, kafka, performer, settings, counts, writer, running.signal)
    #endif
    watchdog.ended(number)
    kafka.close(leavingGroup: end == .stopped && (!settings.isStatic || state.withLock { $0.isRetiring }))
    switch end {
    case .stopped: break
    case .fenced:
      observer.set(number, .notReady("fenced"))
      waitOutFencing(number, settings, running.signal)
      onEnd(
        ServiceEnd(
          exitCode: ExitCode.fenced,
          reason:
            "another process runs as \(settings.transactionalID), or this one was away too long: it must not go on. "
            + "A supervisor restarts it; if this repeats, look for a second process with the same --instance"))
    case .failed(let reason):
      observer.set(number, .notReady("failed"))
      onEnd(ServiceEnd(exitCode: ExitCode.software, reason: reason))
    }
  }

  /// Runs turns until the thread ends, or until the service is stopped and the thread has drained.
  private func turn<IO: StreamIO>(
    _ number: Int, _ io: IO, _ performer: (any EffectPerformer<S.Effect, S.Reply>)?, _ settings: KafkaStreamSettings,
    _ counts: [Topic: Int32], _ writer: String, _ signal: ThreadSignal
  ) -> StreamExit {
    let observer = observer
    let thread = StreamThread(
      makeStage(), io: io, topics: settings.topics, partitionCounts: counts, limits: settings.limits, writer: writer,
      performer: performer, outliving: outliving, wake: { signal.raise() }, spans: spans,
      surroundings: StageSurroundings(policy: policy, show: show.map { show in { show($0, number) } }),
      observe: { observer.observe($0, thread: number) })
    while true {
      watchdog.turned(number)
      if let exit = stoppingSince.map({ thread.stop(since: $0) }) ?? thread.turn() { return exit }
    }
  }

  /// Waits before the process exits, if it was fenced twice within a minute, and logs the other holders of its name. Without the wait, two
  /// processes with one name would keep fencing each other. A stop ends the wait.
  private func waitOutFencing(_ number: Int, _ settings: KafkaStreamSettings, _ signal: ThreadSignal) {
    do {
      guard case .wait(let milliseconds) = try fencing.fenced(now: SystemClock.milliseconds()) else { return }
      observer.set(number, .notReady("fenced twice within a minute; another process has its name"))
      let deadline = ContinuousClock.now + .milliseconds(milliseconds)
      let log = logger.with(["thread": .int(number), "name": .string(settings.transactionalID)])
      log.error(
        "fenced twice within a minute: waits before it exits. Find the other process of this name and stop one of the two",
        ["seconds": .int(Int(milliseconds / 1000)), "holders": .string(GroupMembers.description(settings))])
      while !isStopping {
        let rest = ContinuousClock.now.duration(to: deadline).milliseconds
        guard rest > 0 else { break }
        signal.wait(atMost: rest)
      }
      try fencing.waited(now: SystemClock.milliseconds())
    } catch {
      logger.error(
        "the state directory does not take a note of the fencing: a second one will not be waited out",
        ["reason": .string("\(error)")])
    }
  }

  private var stoppingSince: Milliseconds? { state.withLock { $0.stoppingSince } }
  private var isStopping: Bool { stoppingSince != nil }

  // MARK: Stop

  /// Drains every thread, as `stop` does, and leaves the group even with static members. The others then get the partitions at once, and
  /// not only after a session time-out.
  public func retire() {
    state.withLock { $0.isRetiring = true }
    stop()
  }

  /// Drains every thread: nothing new is begun, replies are awaited, and finished work is committed.
  public func stop() {
    observer.stopping()
    watchdog.stop()
    silenceWatch.stop()
    state.withLock { $0.brokerWatch }?.stop()
    state.withLock { $0.lagMonitor }?.stop()
    state.withLock { $0.stoppingSince = $0.stoppingSince ?? SystemClock.steadyMilliseconds() }
    // The starter is joined first, because after its end no thread is added.
    var index = 0
    while let thread = state.withLock({ index < $0.threads.count ? $0.threads[index] : nil }) {
      for running in state.withLock({ $0.threads }) { running.signal.raise() }
      thread.done.wait()
      index += 1
    }
    performer?.stop()
    do {
      try state.withLock { $0.starts }?.end()
    } catch {
      logger.warning(
        "the state directory does not take a note of this end: the next start will be counted as unclean",
        ["reason": .string("\(error)")])
    }
    state.withLock { $0.lock = nil }
  }
}

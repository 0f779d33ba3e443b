import Foundation
import Kafka
import NudgeSchema
import Testing
import WebPush

@testable import NudgeCommands
@testable import NudgeLab

/// A test's own pipeline: topics with a prefix, the emulator, and services as processes, which end with this object at the
/// latest. One thread uses it.
final class Pipeline {
  static let partitions: Int32 = 4
  /// The time-out of requests to FCM: longer than the emulator's slowest answer, and short, because requests in flight of a killed
  /// dispatcher are sent again after this time and 10 s.
  static let fcmTimeout = "3s"

  /// The number of partitions now.
  private var partitions = Pipeline.partitions
  let brokers: String
  private let serviceBrokers: String
  let names: TopicNames
  let directory: URL
  let publisher: Publisher
  /// The evidence so far. `judge` uses a new checker that reads everything again.
  private(set) var checker: PipelineChecker
  /// The emulator's lines, one for each request.
  private(set) var requestLines: [[UInt8]] = []

  private let programs: [DemoProgram: URL]
  private var reader: TopicReader
  private var requests: RequestFile
  private let emulator: DemoProcess
  private let fcm: [String]
  /// The dispatcher's settings for a webhook, which the emulator stands in for.
  let webhook: [String]
  /// The base URL of the emulator's service of Web Push.
  let pushService: String
  private var services: [DemoProcess] = []
  private var mayBeFenced: DemoProcess?

  /// The test has passed, so the files can be removed.
  var hasPassed = false

  deinit {
    if hasPassed { try? FileManager.default.removeItem(at: directory) }
  }

  private struct EmulatorReady: Decodable {
    let url: String
    let serviceAccount: String
    let caFile: String
  }

  /// Creates the topics and starts the emulator. `faults` is its file of faults. `brokers` replaces the suite's broker;
  /// `serviceBrokers` is the address for services, if it differs.
  init(
    _ name: String, faults: String? = nil, delay: String = "20ms", brokers: String? = nil,
    serviceBrokers: String? = nil
  ) throws {
    let brokers = try brokers ?? RealKafka.bootstrapServers()
    self.brokers = brokers
    self.serviceBrokers = serviceBrokers ?? brokers
    names = TopicNames(prefix: "\(name).")
    checker = PipelineChecker(prefix: names.prefix)
    directory = RealKafka.directory.appendingPathComponent(name)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    programs = try DemoProgram.find(in: DemoProgram.directoryOfThisProgram())
    let admin = try Admin(ClientConfiguration(bootstrapServers: brokers))
    let report = try TopicCreation.create(on: admin, names: names, partitions: Int(Self.partitions))
    guard report.topics.allSatisfy({ $0.status == .created }) else {
      throw CommandError("the topics were not made: \(report)")
    }

    let record = directory.appendingPathComponent("requests.jsonl").path
    var arguments = ["--directory", directory.path, "--record", record, "--delay", delay]
    if let faults {
      let file = directory.appendingPathComponent("faults.json")
      try Data(faults.utf8).write(to: file)
      arguments += ["--faults", file.path]
    }
    emulator = try Self.process(.emulator, programs, arguments, directory)
    try emulator.start()
    let emulator = emulator
    try waitUntil("the emulator is ready") { try emulator.isReady() }
    let ready = try JSONDecoder().decode(EmulatorReady.self, from: Data((emulator.readyLine ?? "").utf8))
    fcm = [
      "--fcm-url", ready.url, "--fcm-credentials", ready.serviceAccount, "--fcm-ca-file", ready.caFile,
      "--fcm-timeout", Self.fcmTimeout,
    ]
    let secret = directory.appendingPathComponent("webhook.secret")
    try Data("whsec_\(Data((0..<32).map { UInt8($0) }).base64EncodedString())\n".utf8).write(to: secret)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secret.path)
    // A webhook has a name.
    webhook = [
      "--escalation-url", ready.url.replacingOccurrences(of: "127.0.0.1", with: "localhost") + "/webhook",
      "--escalation-secret-file", secret.path, "--escalation-ca-file", ready.caFile, "--escalation-allow-private",
    ]
    pushService = ready.url
    requests = RequestFile(path: record)
    reader = try TopicReader(brokers: brokers, names: names, partitions: Self.partitions)
    publisher = try Publisher(brokers: brokers, names: names)
  }

  /// The environment of the programs, without variables that would configure them.
  static let environment = ProcessInfo.processInfo.environment.filter {
    !$0.key.hasPrefix("NUDGE_") && $0.key != "GOOGLE_APPLICATION_CREDENTIALS"
  }

  private static func process(
    _ program: DemoProgram, _ programs: [DemoProgram: URL], _ arguments: [String], _ directory: URL,
    failPoints: String? = nil
  ) throws -> DemoProcess {
    guard let executable = programs[program] else { throw CommandError("\(program.rawValue) was not found") }
    var environment = Self.environment
    environment["NUDGE_FAIL_POINTS"] = failPoints
    return DemoProcess(
      program, executable: executable, arguments: arguments, environment: environment, directory: directory)
  }

  // MARK: Services

  /// The settings with which services take subscriptions of the emulator's push service and send to it.
  func webPush() throws -> [DemoProgram: [String]] {
    let key = directory.appendingPathComponent("vapid.pem")
    if !FileManager.default.fileExists(atPath: key.path) { try Data(VAPIDKey.makePEM().utf8).write(to: key) }
    let allowed = ["--web-push-allow-private"]
    guard let authority = fcm.firstIndex(of: "--fcm-ca-file").map({ fcm[$0 + 1] }) else { return [.ingest: allowed] }
    return [
      .ingest: allowed,
      .dispatcher: allowed + [
        "--vapid-key", key.path, "--vapid-subject", "mailto:ops@example.org", "--web-push-ca-file", authority,
      ],
    ]
  }

  /// The program and arguments of a service.
  func command(_ program: DemoProgram, instance: String?, stateDirectory: URL, brokers: String) throws
    -> (executable: URL, arguments: [String])
  {
    guard let executable = programs[program] else { throw CommandError("\(program.rawValue) was not found") }
    let arguments =
      ["--bootstrap-servers", brokers, "--topic-prefix", names.prefix, "--state-dir", stateDirectory.path]
      + (instance.map { ["--instance", $0] } ?? []) + (program == .dispatcher ? fcm : [])
    return (executable, arguments)
  }

  /// Starts services, with or without an instance name, and waits until they are ready unless told not to.
  @discardableResult
  func start(
    _ which: [DemoProgram] = DemoProgram.services, instance: String?, _ arguments: [String] = [],
    brokers: String? = nil, waitsUntilReady: Bool = true
  ) throws -> [DemoProcess] {
    let started = try which.map { try service($0, instance: instance, arguments, brokers: brokers) }
    services += started
    for service in started { try service.start() }
    if waitsUntilReady { try waitUntilReady(started) }
    return started
  }

  /// Starts a service with fail-points. Does not wait until it is ready, which may never happen.
  func start(_ program: DemoProgram, instance: String, failPoints: String, _ arguments: [String] = []) throws
    -> DemoProcess
  {
    let started = try service(program, instance: instance, arguments, failPoints: failPoints)
    services.append(started)
    try started.start()
    return started
  }

  private func service(
    _ program: DemoProgram, instance: String?, _ arguments: [String], failPoints: String? = nil,
    brokers: String? = nil
  ) throws -> DemoProcess {
    let place = directory.appendingPathComponent(instance ?? "unnamed")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    let command = try command(
      program, instance: instance, stateDirectory: place.appendingPathComponent("state"),
      brokers: brokers ?? serviceBrokers)
    return try Self.process(program, programs, command.arguments + arguments, place, failPoints: failPoints)
  }

  /// Waits until a service exits by itself. The pipeline forgets it then.
  func waitForEnd(of service: DemoProcess) throws -> Int32 {
    try waitUntil("\(service.program.rawValue) ends", atMost: 30, state: { "its log is \(service.log.path)" }) {
      service.exitStatus != nil
    }
    noteCrash(of: service)
    services.removeAll { $0 === service }
    return service.exitStatus ?? 0
  }

  /// Freezes a service with SIGSTOP until SIGCONT. To the others it seems dead.
  func freeze(_ service: DemoProcess) {
    service.send("STOP")
    guard service.program == .dispatcher else { return }
    // Bytes that it already sent still arrive: a process keeps sending while a transaction is in flight.
    let now = ChatLoad.now()
    dispatcherAbsences.append(now...now + 500)
  }

  /// Stops the emulator in its tracks, or lets it go on: FCM takes requests and answers none.
  func setFCMFrozen(_ isFrozen: Bool) { emulator.send(isFrozen ? "STOP" : "CONT") }

  /// Waits until services are ready. Throws if one has ended.
  func waitUntilReady(_ services: [DemoProcess]) throws {
    try waitUntil(
      "services are ready",
      state: { services.map { $0.exitReport($0.exitStatus ?? 0) }.joined(separator: "\n") }
    ) {
      for service in services {
        if let status = service.exitStatus { throw StillWaiting(description: service.exitReport(status)) }
      }
      return try services.allSatisfy { try $0.isReady() }
    }
  }

  /// The state directory of a service of an instance.
  func stateDirectory(_ program: DemoProgram, instance: String?) -> URL {
    directory.appendingPathComponent(instance ?? "unnamed").appendingPathComponent("state")
      .appendingPathComponent(program.shortName)
  }

  /// Sends SIGTERM to all services at once. Each must drain and exit with 0 within 10 s.
  func stop(_ which: [DemoProcess]? = nil, sourceLocation: SourceLocation = #_sourceLocation) {
    let stopping = which ?? services
    services.removeAll { service in stopping.contains { $0 === service } }
    for service in stopping { service.terminate() }
    let deadline = ContinuousClock.now + .seconds(10)
    for service in stopping {
      let status = service.waitForEnd(timeout: max(.zero, ContinuousClock.now.duration(to: deadline)))
      #expect(
        isExpected(status, of: service), "\(service.exitReport(status ?? 137))", sourceLocation: sourceLocation)
    }
  }

  /// Sends SIGUSR1: the service is not to come back. It must exit with 0.
  func retire(_ service: DemoProcess, sourceLocation: SourceLocation = #_sourceLocation) {
    services.removeAll { $0 === service }
    service.send("USR1")
    let status = service.waitForEnd(timeout: .seconds(10))
    #expect(status == 0, "\(service.exitReport(status ?? 137))", sourceLocation: sourceLocation)
  }

  /// Kills a service for good, as a lost host would.
  func lose(_ service: DemoProcess) throws {
    services.removeAll { $0 === service }
    try kill(service)
  }

  /// Kills a service as a crash would.
  func kill(_ service: DemoProcess) throws {
    try service.kill()
    noteCrash(of: service)
  }

  /// Resumes a frozen service. It may find itself fenced and exit with 75, or outside its group and join again.
  func thaw(_ service: DemoProcess) {
    mayBeFenced = service
    service.send("CONT")
  }

  private func isExpected(_ status: Int32?, of service: DemoProcess) -> Bool {
    status == 0 || (status == 75 && service === mayBeFenced)
  }

  /// From now on FCM's answers to this service may be lost.
  func noteCrash(of service: DemoProcess) {
    if service.program == .dispatcher { dispatcherCrashes.append(ChatLoad.now()) }
  }

  /// The checker's property.
  private var formerPartitions: Int32?
  private(set) var dispatcherCrashes: [Int64] = []
  /// The checker's property.
  var dispatcherAbsences: [ClosedRange<Int64>] = []
  /// The checker's property.
  var commitGaps: [ClosedRange<Int64>] = []
  /// The people whose attention is limited.
  var attention = PipelineChecker.Attention() {
    didSet { checker.attention = attention }
  }
  /// When clocks of dispatchers were behind.
  var dispatcherClocks: [PipelineChecker.SlowClock] = []

  // MARK: Events

  /// The number of events that other publishers have handed to Kafka.
  var sentByOthers = 0
  /// The checker's property.
  var troubles: [ClosedRange<Int64>] = []
  /// The broker's data directory, if the checker needs commit times.
  var brokerData: URL?

  /// Throws if a service has ended unexpectedly.
  func check() throws {
    for service in services {
      if let status = service.exitStatus, status != 137, !isExpected(status, of: service) {
        throw StillWaiting(description: service.exitReport(status))
      }
    }
  }

  /// Reads new records and requests. Throws if a service has ended unexpectedly.
  func look() throws {
    try check()
    try reader.read { checker.read($0) }
    try requests.read { request, line in
      checker.read(request)
      requestLines.append(line)
    }
  }

  /// Waits for a condition on the evidence.
  func wait(for what: String, atMost seconds: Double = 60, until condition: (PipelineChecker) throws -> Bool) throws {
    try waitUntil(
      what, atMost: seconds,
      state: { "open: \(checker.open.prefix(5)); logs in \(directory.path)" }
    ) {
      try look()
      return try condition(checker)
    }
  }

  /// Waits until all published events are processed. `expected` are the load's recipients.
  func settle(_ expected: [String: Set<String>]?, atMost seconds: Double = 90) throws {
    try wait(for: "all events to be processed", atMost: seconds) { _ in try isSettled(expected) }
  }

  /// Starts all services, processes a load, and stops them. Returns the evidence.
  func processLoad(_ load: ChatLoad) throws -> PipelineChecker {
    // An instance without a name leaves its group when it ends; a static member would keep its partitions for a session time-out.
    try start(instance: nil)
    try introduce(load)
    publisher.start(rate: 200, load.chat)
    try settle(load.expected)
    stop()
    try look()
    return checker
  }

  /// Whether all published events are read and processed.
  func isSettled(_ expected: [String: Set<String>]?) throws -> Bool {
    checker.expected = expected
    // Only records that were read can be pending.
    let read = checker.count(of: "chat.events") + checker.count(of: "user.events")
    let all = publisher.sent + sentByOthers
    // After a repartition ingest writes records once more that waited, or that a producer wrote to the former partition.
    let isRead = formerPartitions == nil ? read == all : read >= all
    return try publisher.isDone() && isRead && !checker.isOpen
  }

  /// Publishes a load's introductions and waits until they are processed.
  func introduce(_ load: ChatLoad) throws { try introduce(load.introductions) }

  /// Publishes events and waits until they are processed.
  func introduce(_ events: [PublishedEvent]) throws {
    try publisher.publish(events)
    try settle(nil)
  }

  /// Stops the services, reads everything again, and judges it. Every rule must hold.
  @discardableResult
  func judge(
    _ expected: [String: Set<String>]?, allowing deadLetters: Set<String> = [],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> PipelineChecker {
    stop(sourceLocation: sourceLocation)
    let (judge, violations) = try verdict(expected, allowing: deadLetters, sourceLocation: sourceLocation)
    #expect(violations.isEmpty, "logs in \(directory.path)", sourceLocation: sourceLocation)
    print(
      "\(names.prefix) \(judge.decisionCount) decisions \(judge.decisionsByReason), \(judge.outcomeCount) outcomes "
        + "\(judge.outcomesByResult), \(judge.requests.count) requests, \(judge.resends.count) sent again after a kill")
    return judge
  }

  /// Reads everything again after the end of all services, and judges it.
  func verdict(
    _ expected: [String: Set<String>]?, allowing deadLetters: Set<String> = [],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> (judge: PipelineChecker, violations: [PipelineViolation]) {
    emulator.terminate()
    #expect(emulator.waitForEnd(timeout: .seconds(10)) == 0, sourceLocation: sourceLocation)

    var judge = PipelineChecker(expected: expected, prefix: names.prefix)
    judge.formerPartitions = formerPartitions
    judge.allowedDeadLetters = deadLetters
    judge.dispatcherCrashes = dispatcherCrashes
    judge.dispatcherAbsences = dispatcherAbsences
    judge.commitGaps = commitGaps
    judge.dispatcherClocks = dispatcherClocks
    judge.attention = attention
    judge.troubles = troubles
    if let brokerData {
      let logs = try (0..<partitions).map {
        try PartitionLog(in: brokerData.appendingPathComponent("\(names(.timeline))-\($0)"))
      }
      judge.commitTime = { partition, offset in logs[Int(partition)].commitTime(ofRecordAt: offset) }
    }
    try TopicReader(brokers: brokers, names: names, partitions: partitions, readsToTheEnd: true).readAll {
      judge.read($0)
    }
    var requests = RequestFile(path: directory.appendingPathComponent("requests.jsonl").path)
    try requests.read { request, _ in judge.read(request) }
    let violations = judge.violations(committed: try committed())
    hasPassed = violations.isEmpty
    return (judge, violations)
  }

  // MARK: Lost state

  /// Replaces the changelogs of stages by empty ones. Everything is read again from the beginning.
  func loseState(of stages: [String]) throws {
    try remake(stages.compactMap { PipelineChecker.stages[$0].map { names.prefix + $0.changelog } })
  }

  /// Deletes topics, and makes them again, empty. Everything is read again from the beginning.
  func remake(_ topics: [String]) throws {
    let admin = try Admin(ClientConfiguration(bootstrapServers: brokers))
    for result in try admin.deleteTopics(topics, timeout: .seconds(30)).values { try result.get() }
    var report: TopicReport?
    var made: Set<String> = []
    try waitUntil("the topics are gone and made anew", state: { report?.text ?? "" }) {
      let turn = try TopicCreation.create(on: admin, names: names, partitions: Int(partitions))
      report = turn
      // The broker deletes in the background and lists a topic until it is gone, so a topic that is listed may be the former one.
      made.formUnion(turn.topics.filter { $0.status == .created }.map(\.name))
      return made.isSuperset(of: topics) && turn.topics.allSatisfy { $0.status == .created || $0.status == .exists }
    }
    // The broker knows the new topics before it has replaced the old logs.
    try waitUntil("the new topics are empty") {
      topics.allSatisfy { topic in (try? ends(of: topic))?.allSatisfy { $0 == 0 } == true }
    }
    try readAgain()
  }

  /// The high watermarks of a topic's partitions.
  func ends(of topic: String) throws -> [Int64] {
    let reader = try Consumer(.consumer(bootstrapServers: brokers, group: nil), name: "test-ends")
    defer { reader.close() }
    return try (0..<partitions).map {
      try reader.watermarks(TopicPartition(topic: topic, partition: $0), timeout: .seconds(5)).high
    }
  }

  /// Reads all topics from the beginning: one was made again.
  func readAgain() throws {
    reader = try TopicReader(brokers: brokers, names: names, partitions: partitions)
    checker = PipelineChecker(prefix: names.prefix)
    checker.formerPartitions = formerPartitions
    requests = RequestFile(path: directory.appendingPathComponent("requests.jsonl").path)
    requestLines = []
  }

  /// The inputs and state topics have more partitions now.
  func repartitioned(to count: Int32) throws {
    formerPartitions = partitions
    partitions = count
    try readAgain()
  }

  /// Runs `nudge` on this pipeline's Kafka, and returns its status and output.
  func nudge(_ arguments: [String]) throws -> (status: Int32, output: String) {
    try RealKafka.run(
      DemoProgram.directoryOfThisProgram().appendingPathComponent("nudge"),
      arguments + ["--bootstrap-servers", brokers, "--topic-prefix", names.prefix])
  }

  // MARK: Groups

  private func inputs(_ stage: String) -> [TopicPartition] {
    (PipelineChecker.stages[stage]?.inputs ?? []).flatMap { topic in
      (0..<partitions).map { TopicPartition(topic: names.prefix + topic, partition: $0) }
    }
  }

  /// The stage's consumer group.
  func group(_ stage: String) -> String { "\(names.prefix)nudge-\(stage)" }

  private func committed() throws -> [CommittedPlace] {
    let admin = try Admin(ClientConfiguration(bootstrapServers: brokers))
    return try PipelineChecker.stages.keys.flatMap { stage in
      try admin.committedOffsets(group: group(stage), inputs(stage), requireStable: true, timeout: .seconds(30))
        .compactMap { place in
          place.offset.map {
            CommittedPlace(
              stage: stage, topic: String(place.topicPartition.topic.dropFirst(names.prefix.count)),
              partition: place.topicPartition.partition, offset: $0, metadata: place.metadata ?? "")
          }
        }
    }
  }
}

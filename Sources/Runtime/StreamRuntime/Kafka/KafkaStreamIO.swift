import Kafka
import NudgeSchema
import ServiceKit

/// `StreamIO` on Kafka, SQLite and the system's clocks. One thread uses it.
final class KafkaStreamIO: StreamIO {
  typealias Store = SQLiteTaskStore

  private let settings: KafkaStreamSettings
  private let coder = RecordCoder()
  private let signal: ThreadSignal
  private var consumer: Consumer
  /// The member's expired session. Absent if it has not expired, or if the group has assigned tasks since.
  private var lostSession: LostSession?
  private let changelogConsumer: Consumer
  /// Whether the changelog consumer knows the leaders of its topic.
  private var knowsChangelog = false
  /// Whether the group's consumer knows the leaders of the inputs: not where a broker has refused an offset.
  private var knowsInputs = true
  private var refusals = OffsetRefusals()
  /// A consumer that also reads uncommitted records, for high watermarks.
  private let watermarkConsumer: Consumer
  private let transactions: CommitThread
  private let storeWriter = StoreWriter()
  private var assigned: [TopicPartition] = []
  /// An error that came after records. The records are delivered first.
  private var laterFailure: IOFailure?
  /// The same for changelogs, until others are read.
  private var laterRefusal: KafkaError?
  private let topicByName: [String: Topic]

  /// The time-out of calls to brokers. Calls block the thread, which polls its group in between.
  private static let queryTimeout: Duration = .seconds(5)
  /// The time-out of questions about a refused offset, while a broker may be cut off.
  private static let refusalTimeout: Duration = .seconds(1)
  /// The time-out of a request for offsets, which waits for pending transactions.
  private static let committedTimeout: Duration = .milliseconds(500)

  /// Connects in the background and joins the group.
  init(_ settings: KafkaStreamSettings, signal: ThreadSignal) throws {
    self.settings = settings
    self.signal = signal
    transactions = CommitThread(
      try settings.makeWriter(settings), name: "nudge-commit-\(settings.threadName)", onOutcome: { signal.raise() })
    topicByName = Dictionary(uniqueKeysWithValues: settings.stage.inputs.map { (settings.topics($0), $0) })
    consumer = try Self.member(settings)
    var changelog = ClientConfiguration.consumer(
      bootstrapServers: settings.bootstrapServers, group: nil, reportsEndOfPartition: true)
    changelog.set("fetch.wait.max.ms", "10")
    // A restore is short, and reads faster than any other consumer.
    changelog.set("queued.max.messages.kbytes", "65536")
    changelogConsumer = try Consumer(
      changelog.merging(overrides: settings.properties), name: "\(settings.transactionalID)-changelog",
      log: settings.log)
    var watermarks = ClientConfiguration.consumer(bootstrapServers: settings.bootstrapServers, group: nil)
    watermarks.set("isolation.level", "read_uncommitted")
    watermarkConsumer = try Consumer(
      watermarks.merging(overrides: settings.properties), name: "\(settings.transactionalID)-watermarks",
      log: settings.log)
    try join()
  }

  private static func member(_ settings: KafkaStreamSettings) throws(KafkaError) -> Consumer {
    var group = ClientConfiguration.consumer(
      bootstrapServers: settings.bootstrapServers, group: settings.group,
      instance: settings.isStatic ? settings.transactionalID : nil)
    group.set("session.timeout.ms", String(settings.limits.sessionTimeout))
    group.set("heartbeat.interval.ms", String(settings.limits.heartbeatInterval))
    return try Consumer(
      group.merging(overrides: settings.properties), name: settings.consumerName, log: settings.log)
  }

  private func join() throws(KafkaError) {
    let waker = consumer.waker
    signal.attach { waker.wake() }
    try consumer.subscribe(settings.inputNames)
  }

  /// Closes all clients, and leaves the group if asked to.
  func close(leavingGroup: Bool) {
    signal.attach(nil)
    transactions.close()
    consumer.close(leavingGroup: leavingGroup)
    changelogConsumer.close()
    watermarkConsumer.close()
  }

  // MARK: Clocks

  var wallClock: Milliseconds { SystemClock.milliseconds() }

  /// The clock runs while the machine is suspended, because a proof of ownership must not outlive a suspension.
  var steadyClock: Milliseconds { SystemClock.steadyMilliseconds() }

  func idle(atMost timeout: Milliseconds) { signal.wait(atMost: timeout) }

  // MARK: Group and input

  func poll(timeout: Milliseconds, maxRecords: Int, maxBytes: Int) throws(IOFailure) -> PollResult {
    if let failure = laterFailure {
      laterFailure = nil
      throw failure
    }
    var result = PollResult()
    if lostSession?.isFenced == true {
      // This consumer is no longer of use. The next one joins once the loss is answered.
      signal.wait(atMost: timeout)
      return result
    }
    // Records of a partition are contiguous, so the topic is looked up only when it changes.
    var last: (name: String, topic: Topic)?
    let event = consumer.poll(maxRecords: maxRecords, maxBytes: maxBytes, timeout: .milliseconds(timeout)) { record in
      if last?.name != record.topic { last = topicByName[record.topic].map { (record.topic, $0) } }
      guard let topic = last?.topic else { return }
      result.records.append(InputRecord(record, of: topic))
    }
    switch event {
    case nil, .endOfPartition, .record: break
    case .assigned(let partitions):
      lostSession = nil
      result.change = .assigned(try tasks(partitions))
    case .revoked(let partitions, let lost):
      let numbers = Set(partitions.map(\.partition)).sorted()
      if lost { lostSession = LostSession() }
      result.change = lost ? .lost(numbers) : .revoked(numbers)
    case .error(let error) where error.isFenced && lostSession?.isRenewed == false:
      try fencedByItself()
    case .error(let error):
      do throws(IOFailure) {
        try check(error)
      } catch {
        if result.records.isEmpty { throw error }
        laterFailure = error
      }
    }
    return result
  }

  /// Maps partitions to tasks. The range assignor assigns the same partition of all inputs together if their counts are equal.
  private func tasks(_ partitions: [TopicPartition]) throws(IOFailure) -> [Int32] {
    let byNumber = Dictionary(grouping: partitions, by: \.partition)
    for (number, places) in byNumber where places.count != settings.stage.inputs.count {
      throw IOFailure(
        kind: .fatal, operation: "join group \(settings.group)",
        reason: "partition \(number) was assigned of \(places.map(\.topic).sorted()) only: all inputs need the same "
          + "number of partitions, and every member of the group partition.assignment.strategy=range")
    }
    return byNumber.keys.sorted()
  }

  private func check(_ error: KafkaError) throws(IOFailure) {
    // The next poll joins the group again. The loss of the partitions is an event of its own.
    if error.isPollIntervalExceeded { return }
    if error.isFenced { throw IOFailure(kind: .fenced, error) }
    if error.isOffsetOutOfRange { throw refused(error) }
    if error.isFatal || error.isAuthorization { throw IOFailure(kind: .fatal, error) }
    throw IOFailure(kind: .retriable, error)
  }

  /// A broker refuses an offset. Without the leader's epoch in its requests, which librdkafka has from 2.1 on, a client may ask one that leads
  /// the partition no more and does not know it yet. The thread reads again, by new metadata. A log that begins after the offset was cut.
  private func refused(_ error: KafkaError) -> IOFailure {
    (knowsInputs, knowsChangelog) = (false, false)
    let isCut = startsBehind(error)
    if !isCut, refusals.length(at: steadyClock) < settings.limits.refusalPatience {
      return IOFailure(
        kind: .offsetRefused, operation: error.operation,
        reason: "\(error.description): the broker leads the partition no more, or its log was cut")
    }
    return IOFailure(
      kind: .fatal, operation: error.operation,
      reason:
        "\(error.description): the log was cut while it was read, or made again. A restart goes on behind a gap; where the "
        + "log ends before the position, it waits for nudge state accept-loss")
  }

  private func startsBehind(_ error: KafkaError) -> Bool {
    guard let place = error.topicPartition, let offset = error.offset else { return false }
    let ends = try? watermarkConsumer.watermarks(place, timeout: Self.refusalTimeout)
    return ends.map { $0.low > offset } ?? false
  }

  /// Handles that a static member whose session has expired was fenced by its own heartbeats. librdkafka forgets the member's id when the
  /// session expires, and continues to send heartbeats until the loss is answered. The broker takes a heartbeat without the id for another
  /// process's (librdkafka issue 3437). The process has replies that the tasks' next owners need, so it joins again with a new consumer,
  /// once for each loss. If another process has the name, the second time ends this one.
  private func fencedByItself() throws(IOFailure) {
    lostSession?.isFenced = true
    if lostSession?.isAnswered == true { try renewMember() }
  }

  private func renewMember() throws(IOFailure) {
    lostSession?.isFenced = false
    lostSession?.isRenewed = true
    do throws(KafkaError) {
      signal.attach(nil)
      consumer.close()
      consumer = try Self.member(settings)
      try join()
    } catch {
      throw IOFailure(kind: .fatal, error)
    }
  }

  func assign(_ starts: [InputPosition]) throws(IOFailure) {
    if starts.isEmpty, lostSession != nil {
      lostSession?.isAnswered = true
      if consumer.fatalError?.isFenced == true, lostSession?.isRenewed == false {
        assigned = []
        return try renewMember()
      }
    }
    if !starts.isEmpty, !knowsInputs {
      // Where no broker answers, the next refusal asks again.
      try? consumer.warmUp(
        topics: settings.inputNames, timeout: Self.refusalTimeout)
      knowsInputs = true
    }
    do throws(KafkaError) {
      assigned = starts.map { TopicPartition(topic: settings.topics($0.topic), partition: $0.task) }
      try consumer.assign(
        starts.map {
          TopicPartitionOffset(
            TopicPartition(topic: settings.topics($0.topic), partition: $0.task), offset: $0.offset)
        })
    } catch {
      throw IOFailure(kind: error.isFenced ? .fenced : .fatal, error)
    }
  }

  func setPaused(_ paused: Bool) throws(IOFailure) {
    guard !assigned.isEmpty else { return }
    do throws(KafkaError) {
      if paused { try consumer.pause(assigned) } else { try consumer.resume(assigned) }
    } catch {
      throw IOFailure(kind: .retriable, error)
    }
  }

  func committedOffsets(of tasks: [Int32]) throws(IOFailure) -> [CommittedInput] {
    do throws(KafkaError) {
      let places = tasks.flatMap { task in
        settings.stage.inputs.map { TopicPartition(topic: settings.topics($0), partition: task) }
      }
      return try consumer.committed(places, timeout: Self.committedTimeout).compactMap { place in
        topicByName[place.topicPartition.topic].map {
          CommittedInput(
            topic: $0, task: place.topicPartition.partition, offset: place.offset, metadata: place.metadata ?? "")
        }
      }
    } catch {
      throw IOFailure(kind: error.isUnstableOffsets || error.isTimedOut ? .unstable : .retriable, error)
    }
  }

  func inputEnds(of topic: Topic, task: Int32) throws(IOFailure) -> LogEnds {
    do throws(KafkaError) {
      let ends = try watermarkConsumer.watermarks(
        TopicPartition(topic: settings.topics(topic), partition: task), timeout: Self.queryTimeout)
      return LogEnds(start: ends.low, high: ends.high)
    } catch {
      throw IOFailure(kind: .retriable, error)
    }
  }

  func topicIDs() throws(IOFailure) -> TopicIDs {
    try transactions.use { writer throws(IOFailure) in try writer.topicIDs() }
  }

  func handovers(in spans: [InputSpan]) throws(IOFailure) -> [InputRecord] {
    try HandoverReader(settings: settings).read(spans)
  }

  // MARK: Transactions

  func handOver(_ records: [OutputRecord]) throws(IOFailure) {
    try transactions.use { writer throws(IOFailure) in try writer.handOver(records) }
  }

  func openProducers() throws(IOFailure) { try transactions.use { writer throws(IOFailure) in try writer.open() } }

  var hasLostBroker: Bool { transactions.use { $0.hasLostBroker } }

  func endHanging() throws(IOFailure) { try transactions.use { writer throws(IOFailure) in try writer.endHanging() } }

  func watchTransactions() throws(IOFailure) {
    try transactions.use { writer throws(IOFailure) in try writer.watch() }
  }

  func takeEnded() -> [EndedTransaction] { transactions.use { $0.takeEnded() } }

  func begin(_ transaction: SealedTransaction) {
    do throws(KafkaError) {
      // The present generation is used, because a later one may have assigned the tasks to others.
      transactions.begin(transaction, by: try consumer.groupMetadata())
    } catch {
      transactions.setOutcome(
        error.isFenced
          ? .fenced("\(error)") : error.isUnknownFormat ? .refused("\(error)") : .notCommitted("\(error)"))
    }
  }

  func takeOutcome() -> CommitOutcome? { transactions.takeOutcome() }

  #if DEBUG
    func interruptTransactions(_ fails: @escaping @Sendable (FailPoint) -> Bool) {
      transactions.use { $0.interrupt(fails) }
    }
  #endif

  // MARK: Changelog and store

  private func changelog(_ task: Int32) -> TopicPartition {
    TopicPartition(topic: settings.topics(settings.stage.changelog), partition: task)
  }

  func changelogEnds(of task: Int32) throws(IOFailure) -> LogEnds {
    do throws(KafkaError) {
      let ends = try watermarkConsumer.watermarks(changelog(task), timeout: Self.queryTimeout)
      return LogEnds(start: ends.low, high: ends.high)
    } catch {
      throw IOFailure(kind: .retriable, error)
    }
  }

  func readChangelogs(_ starts: [Int32: Int64]) throws(IOFailure) {
    do throws(KafkaError) {
      if !starts.isEmpty && !knowsChangelog {
        try changelogConsumer.warmUp(topics: [settings.topics(settings.stage.changelog)], timeout: Self.queryTimeout)
        knowsChangelog = true
      }
      laterRefusal = nil
      try changelogConsumer.assign(
        starts.sorted { $0.key < $1.key }.map { TopicPartitionOffset(changelog($0.key), offset: $0.value) })
    } catch {
      throw IOFailure(kind: .retriable, error)
    }
  }

  /// The most records of a call, which take about 20 ms.
  private static let changelogBatch = 10_000

  func pollChangelogs(timeout: Milliseconds) throws(IOFailure) -> [ChangelogItem] {
    if let error = laterRefusal {
      laterRefusal = nil
      throw refused(error)
    }
    var items: [ChangelogItem] = []
    let event = changelogConsumer.poll(
      maxRecords: Self.changelogBatch, maxBytes: 16 << 20, timeout: .milliseconds(timeout)
    ) { record in
      guard let key = record.keyBytes() else { return }
      items.append(
        .record(
          task: record.partition, offset: record.offset, timestamp: record.timestamp, key: RowKey(bytes: key),
          bytes: record.valueBytes()))
    }
    switch event {
    case .endOfPartition(let place, let offset): items.append(.end(task: place.partition, offset: offset))
    case .error(let error) where items.isEmpty: try check(error)
    // It is reported once.
    case .error(let error) where error.isOffsetOutOfRange: laterRefusal = error
    // The next poll reports a fatal error again. Others are transient.
    case nil, .record, .assigned, .revoked, .error: break
    }
    return items
  }

  func openStore(of task: Int32) throws -> SQLiteTaskStore {
    try SQLiteTaskStore(
      path: "\(settings.stateDirectory)/\(settings.stage.name)/\(task).sqlite", coder: coder, writer: storeWriter)
  }
}

extension IOFailure {
  init(kind: Kind, _ error: KafkaError) {
    self.init(kind: kind, operation: error.operation, reason: "\(error.name): \(error.reason)")
  }
}

/// A run of refused offsets: it ends where none came for a while.
struct OffsetRefusals {
  private var since: Milliseconds?
  private var last: Milliseconds = 0

  /// A run ends after this time without a refusal, in milliseconds: each refusal is followed by another question at once.
  private static let gap: Milliseconds = 5000

  /// Counts a refusal.
  /// - Returns: how long the run has lasted, in milliseconds.
  mutating func length(at now: Milliseconds) -> Milliseconds {
    let start = now - last <= Self.gap ? since ?? now : now
    (since, last) = (start, now)
    return now - start
  }
}

import Foundation
public import Kafka
import KafkaTransactions
public import NudgeSchema
import Synchronization

/// Inspects the state of a stage's tasks in Kafka, and repairs lost state by writing a position from which a service continues.
///
/// No repair notifies anybody twice: `acceptLoss` continues at the group's committed offsets, and `rebuild` processes earlier records only
/// for their rows. One thread uses it. Calls block until Kafka answers.
public final class StateRepair {
  /// How to repair a lost state.
  public enum Method: String, Sendable, Encodable {
    /// Continue without the state.
    case acceptLoss = "accept-loss"
    /// Rebuild the state from the records that the inputs still have.
    case rebuild
    /// Continue at the position although topics have other ids, because they are copies with the same offsets, as on a mirrored cluster.
    case adoptTopics = "adopt-topics"
  }

  private let logs: StageLogs

  private static let timeout: Duration = .seconds(30)
  /// How long to wait until the group's offsets are stable.
  private static let unstablePatience: Duration = .seconds(10)

  /// Connects in the background.
  /// - Parameters:
  ///   - properties: librdkafka's properties, which override Nudge's.
  ///   - log: Called with librdkafka's log lines.
  public init(
    of stage: StageDefinition, topics: TopicNames, bootstrapServers: String, properties: [String: String] = [:],
    log: @escaping @Sendable (KafkaLogLine) -> Void = { _ in }
  ) throws(KafkaError) {
    logs = try StageLogs(
      of: stage, topics: topics, bootstrapServers: bootstrapServers, properties: properties, log: log)
  }

  private var stage: StageDefinition { logs.stage }
  private var topics: TopicNames { logs.topics }
  private var reader: LogReader { logs.reader }

  // MARK: Inspection

  /// The states of the stage's tasks, in order.
  /// - Throws: `KafkaError`. `StateRepairError` if topics are missing or a transaction stays pending.
  public func tasks() throws -> [TaskState] { try tasks(committed: committedOffsets()) }

  private func tasks(committed: [Int32: [CommittedInput]]) throws -> [TaskState] {
    try logs.warmUp()
    let topicIDs = try logs.topicIDs(timeout: Self.timeout)
    return try committed.sorted { $0.key < $1.key }.map { number, inputs in
      // As in a restore: stable offsets first, then the changelog's end.
      let position = try logs.lastPosition(of: number)?.position
      var behind: [String: LogEnds] = [:]
      for topic in stage.inputs {
        guard let next = position?.next(topic) else { continue }
        let ends = try reader.ends(of: logs.input(topic, of: number))
        if ends.high < next { behind[topic.rawValue] = LogEnds(start: ends.start, high: ends.high) }
      }
      return TaskState(
        number, position, inputs, behind: behind, replaced: position?.topicIDs?.replaced(by: topicIDs) ?? [])
    }
  }

  /// The group's stable offsets of all inputs, by task.
  private func committedOffsets() throws -> [Int32: [CommittedInput]] {
    let names = stage.inputs.map { topics($0) }
    let counts = try logs.admin.partitionCounts(of: names + [topics(stage.changelog)], timeout: Self.timeout)
    guard let count = counts[names[0]], Set(counts.values) == [count], counts.count == names.count + 1 else {
      let found = (names + [topics(stage.changelog)]).map { "\($0): \(counts[$0].map(String.init) ?? "missing")" }
      throw StateRepairError(
        "the inputs and the state topic of \(stage.name) need the same number of partitions (\(found.joined(separator: ", ")))."
          + " Is --topic-prefix right? Missing topics are made with: nudge topics create")
    }
    let places = (0..<Int32(count)).flatMap { task in names.map { TopicPartition(topic: $0, partition: task) } }
    let deadline = ContinuousClock.now + Self.unstablePatience
    while true {
      do throws(KafkaError) {
        let offsets = try logs.admin.committedOffsets(
          group: stage.group(topics), places, requireStable: true, timeout: Self.timeout)
        return Dictionary(
          grouping: offsets.compactMap { place in
            topics.topic(named: place.topicPartition.topic).map {
              CommittedInput(
                topic: $0, task: place.topicPartition.partition, offset: place.offset, metadata: place.metadata ?? "")
            }
          }, by: \.task)
      } catch {
        guard error.isUnstableOffsets else { throw error }
        guard ContinuousClock.now < deadline else {
          throw StateRepairError(
            "a transaction on the offsets of group \(stage.group(topics)) is pending: what was processed is not known yet. "
              + "Nothing was written; try again")
        }
      }
    }
  }

  // MARK: Hanging transactions

  /// The hanging transactions of all current and former threads of the stage.
  ///
  /// - Throws: `KafkaError`. `TransactionalProducerError` if the broker does not answer or refuses.
  public func hangingTransactions() throws -> HangingState {
    let (hanging, producer) = try hanging()
    defer { producer.close() }
    return HangingState(try hanging.find(by: producer, depth: .all))
  }

  /// Ends hanging transactions whose decision is known. Services of the stage may keep running.
  public func endHangingTransactions() throws -> HangingState {
    let (hanging, producer) = try hanging()
    defer { producer.close() }
    var findings = try hanging.find(by: producer, depth: .all)
    findings.found = try hanging.end(findings.found, by: producer)
    return HangingState(findings)
  }

  private func hanging() throws -> (HangingTransactions, TransactionalProducer) {
    let hanging = HangingTransactions(
      stage: stage, topics: topics, bootstrapServers: logs.bootstrapServers, properties: logs.overrides, log: logs.log)
    let producer = try TransactionalProducer(
      TransactionalProducerConfiguration(bootstrapServers: logs.bootstrapServers, properties: logs.overrides),
      transactionalIDs: [], topics: [],
      group: nil)
    return (hanging, producer)
  }

  // MARK: Planning

  /// Plans a repair without writing.
  /// - Parameters:
  ///   - tasks: The tasks to repair, all of which must be lost. Absent: all lost tasks.
  ///   - trustingMovedOffsets: Whether the group's offsets are used even if another client moved them.
  /// - Throws: `KafkaError`. `StateRepairError` if a task is not lost, does not exist or cannot be repaired.
  public func plan(
    _ method: Method, tasks wanted: [Int32]? = nil, trustingMovedOffsets: Bool = false
  ) throws -> [TaskRepair] {
    try drafts(method, wanted, trustingMovedOffsets).map(\.repair)
  }

  /// A repair with the records to write.
  private struct Draft {
    var repair: TaskRepair
    /// Keys of the rows to remove, in the order of the log.
    var keys: [RowKey]
    /// The changelog's high watermark. All records before it were read.
    var high: Int64
    var committed: [CommittedInput]
    /// The history of a state that stays. Absent if the repair begins a new one.
    var history: String?
    /// The generations of the inputs.
    var generations: [String: InputGeneration]
    /// The ids of the topics to which the position belongs.
    var topicIDs: TopicIDs
    /// The level of a state that stays. Absent if the task begins at the first level, which every release reads.
    var level: FormatLevel?
  }

  private func drafts(_ method: Method, _ wanted: [Int32]?, _ trustingMovedOffsets: Bool) throws -> [Draft] {
    let committed = try committedOffsets()
    let states = try tasks(committed: committed)
    for number in wanted ?? [] {
      guard let state = states.first(where: { $0.task == number }) else {
        throw StateRepairError("\(stage.name) has no task \(number): its tasks are 0 to \(states.count - 1)")
      }
      guard state.isLost else {
        throw StateRepairError(
          "the state of task \(number) of \(stage.name) is not lost (\(state.condition.rawValue)). Nothing was written")
      }
    }
    let topicIDs = try logs.topicIDs(timeout: Self.timeout)
    if method == .adoptTopics {
      return try states.filter { !$0.replaced.isEmpty && wanted?.contains($0.task) != false }.map {
        try draft(adopting: topicIDs, $0, committed[$0.task] ?? [])
      }
    }
    return try states.filter { $0.isLost && wanted?.contains($0.task) != false }.map { state in
      if state.condition == .inputBehind || state.condition == .inputReplaced {
        return try draft(method, behind: state, committed[state.task] ?? [], topicIDs)
      }
      guard state.committedSequence != nil || trustingMovedOffsets else {
        throw StateRepairError(
          "the committed offsets of task \(state.task) of \(stage.name) were moved by somebody else, or are not complete: "
            + "they do not tell what was processed, and people could be notified again. If you know that all before them was "
            + "processed, say --trust-moved-offsets. Nothing was written")
      }
      return try draft(method, state, committed[state.task] ?? [], topicIDs)
    }
  }

  /// The position stays, with the topics' present ids.
  private func draft(adopting topicIDs: TopicIDs, _ state: TaskState, _ committed: [CommittedInput]) throws -> Draft {
    guard state.behind.isEmpty else {
      throw StateRepairError(
        "\(state.behind.keys.sorted().joined(separator: ", ")) of task \(state.task) of \(stage.name) ends before the task's "
          + "position: this is no copy with the same offsets. Use nudge state accept-loss. Nothing was written")
    }
    let position = try logs.lastPosition(of: state.task)?.position
    return Draft(
      repair: TaskRepair(
        task: state.task, sequence: (state.sequence ?? 0) + 1, next: state.next, rebuildTo: state.rebuildTo,
        rowsRemoved: 0, trustsMovedOffsets: false, keepsState: true),
      keys: [], high: try reader.ends(of: logs.changelog(state.task)).high, committed: committed,
      history: state.history, generations: position?.generations ?? [:], topicIDs: topicIDs,
      level: position?.level)
  }

  /// The state stays. Inputs that were replaced, or that end before the position, are read from their first offsets. Stages recognise the
  /// records that they have processed before.
  private func draft(
    _ method: Method, behind state: TaskState, _ committed: [CommittedInput], _ topicIDs: TopicIDs
  ) throws -> Draft {
    guard method == .acceptLoss, let sequence = state.sequence else {
      throw StateRepairError(
        "an input of task \(state.task) of \(stage.name) was created again or ends before the task's position, and the state is "
          + "whole: there is nothing to rebuild. Use nudge state accept-loss. Nothing was written")
    }
    var next = state.next
    let last = try logs.lastPosition(of: state.task)
    var generations = last?.position.generations ?? [:]
    for topic in stage.inputs
    where state.behind[topic.rawValue] != nil || state.replaced.contains(topic.rawValue) {
      let place = logs.input(topic, of: state.task)
      let ends = try reader.ends(of: place)
      next[topic.rawValue] = ends.start
      // All records of a topic that was created again belong to its new life. If the ids are unknown, records from before the last position
      // were processed and are repeats.
      let from =
        state.replaced.contains(topic.rawValue)
        ? ends.start : try last.flatMap { try reader.offset(of: place, at: $0.time + 1) } ?? ends.high
      let former = generations[topic.rawValue]?.number
      generations[topic.rawValue] = InputGeneration(
        number: Self.generation(after: former), from: from, former: former)
    }
    return Draft(
      repair: TaskRepair(
        task: state.task, sequence: sequence + 1, next: next, rebuildTo: [:], rowsRemoved: 0,
        trustsMovedOffsets: false, keepsState: true),
      keys: [], high: try reader.ends(of: logs.changelog(state.task)).high, committed: committed,
      history: state.history,
      generations: generations, topicIDs: topicIDs, level: last?.position.level)
  }

  /// The next generation of an input that was created again. It counts seconds since 2020, so it is higher than any lost generation.
  private static func generation(after former: Int32?) -> Int32 {
    max((former ?? 0) + 1, Int32(clamping: Int(Date().timeIntervalSince1970) - 1_577_836_800))
  }

  private func draft(
    _ method: Method, _ state: TaskState, _ inputs: [CommittedInput], _ topicIDs: TopicIDs
  ) throws -> Draft {
    var next = state.committed
    var rebuildTo: [String: Int64] = [:]
    for input in inputs {
      guard let offset = input.offset else { continue }
      let place = logs.input(input.topic, of: state.task)
      let ends = try reader.ends(of: place)
      if state.replaced.contains(input.topic.rawValue) {
        next[input.topic.rawValue] = ends.start
        continue
      }
      guard offset <= ends.high else {
        throw StateRepairError(
          "the group has committed offset \(offset) of \(place), which ends at \(ends.high): the input has lost records, too. "
            + "Stop \(stage.name) and forget the offsets of this task (kafka-consumer-groups.sh --delete-offsets); it then "
            + "begins at its inputs' first offsets. Nothing was written")
      }
      if method == .rebuild,
        let last = try reader.last(of: place, from: ends.start, to: offset, { record -> Int64? in record.offset })
      {
        next[input.topic.rawValue] = ends.start
        rebuildTo[input.topic.rawValue] = last
      }
    }
    let ends = try reader.ends(of: logs.changelog(state.task))
    var keys: [RowKey] = []
    var known: Set<RowKey> = []
    try reader.records(of: logs.changelog(state.task), from: ends.start, to: ends.high) { record in
      guard let bytes = record.keyBytes(), record.value != nil else { return }
      let key = RowKey(bytes: bytes)
      // This is a position of the former changelog, which the new position replaces.
      if key == PositionRecord.key { return }
      if known.insert(key).inserted { keys.append(key) }
    }
    return Draft(
      repair: TaskRepair(
        task: state.task,
        sequence: inputs.compactMap { PositionRecord.sequence(inMetadata: $0.metadata) }.max() ?? state.sequence ?? 1,
        next: next, rebuildTo: rebuildTo, rowsRemoved: keys.count, trustsMovedOffsets: state.committedSequence == nil),
      keys: keys, high: ends.high, committed: inputs,
      // The inputs' former generations are lost.
      generations: Dictionary(
        uniqueKeysWithValues: stage.inputs.map {
          ($0.rawValue, InputGeneration(number: Self.generation(after: nil), from: 0))
        }), topicIDs: topicIDs)
  }

  // MARK: Writing

  /// Repairs tasks, with one transaction each. A running service finds the positions within 5 s. A concurrent repair of the same stage is
  /// fenced.
  /// - Parameter written: Called for each task after its commit.
  /// - Throws: As `plan`. `StateRepairError` also if a service writes to the changelog, because that service has the state.
  public func carryOut(
    _ method: Method, tasks wanted: [Int32]? = nil, trustingMovedOffsets: Bool = false,
    written: (TaskRepair) -> Void = { _ in }
  ) throws {
    let offsets = DeliveredOffset()
    // Concurrent repairs are fenced first.
    let producer = try logs.producer(timeout: Self.timeout, onDelivery: { offsets.record($0) })
    defer { producer.close(timeout: .seconds(2)) }
    let handle = try producer.topic(logs.changelog)
    let history = String(UInt64.random(in: .min ... .max), radix: 36)
    for draft in try drafts(method, wanted, trustingMovedOffsets) {
      try producer.inTransaction(timeout: Self.timeout) {
        try write(draft, method, history, producer, handle, offsets)
      }
      written(draft.repair)
    }
  }

  private func write(
    _ draft: Draft, _ method: Method, _ history: String, _ producer: Producer, _ handle: TopicHandle,
    _ offsets: DeliveredOffset
  ) throws {
    let repair = draft.repair
    let position = PositionRecord(
      sequence: repair.sequence, next: repair.next, writer: "nudge state \(method.rawValue)",
      rebuildTo: repair.rebuildTo.isEmpty ? nil : repair.rebuildTo,
      history: repair.keepsState ? draft.history : history, generations: draft.generations,
      topicIDs: draft.topicIDs.isEmpty ? nil : draft.topicIDs, level: draft.level)
    for key in draft.keys {
      try producer.produce(topic: handle, partition: repair.task, key: key.bytes, value: nil)
    }
    try producer.produce(
      topic: handle, partition: repair.task, key: PositionRecord.key.bytes, value: try logs.coder.encode(position),
      tag: 1)
    try producer.flush(timeout: Self.timeout)
    // A service with the task in memory may have written in between. The repair's position must not hide those records.
    guard offsets.take() == draft.high + Int64(draft.keys.count),
      try committedOffsets()[repair.task] == draft.committed
    else {
      throw StateRepairError(
        "somebody else has written to \(topics(stage.changelog)) or committed offsets meanwhile: a service still has the "
          + "state of task \(repair.task) and runs it. Restart the service, and see whether the state is lost. Nothing was "
          + "written for this task")
    }
  }
}

/// The offset of the position record.
private final class DeliveredOffset: Sendable {
  private let offset = Mutex<Int64?>(nil)
  func record(_ delivery: Delivery) { offset.withLock { $0 = delivery.offset } }
  func take() -> Int64? {
    offset.withLock { offset in
      defer { offset = nil }
      return offset
    }
  }
}

extension TaskState {
  /// Judges a task as a restore would.
  init(
    _ number: Int32, _ position: PositionRecord?, _ inputs: [CommittedInput], behind: [String: LogEnds] = [:],
    replaced: Set<Topic> = []
  ) {
    task = number
    sequence = position?.sequence
    next = position?.next ?? [:]
    rebuildTo = position?.rebuildTo ?? [:]
    committed = Dictionary(
      uniqueKeysWithValues: inputs.compactMap { input in input.offset.map { (input.topic.rawValue, $0) } })
    let sequences = Set(inputs.map { PositionRecord.sequence(inMetadata: $0.metadata) })
    committedSequence = sequences.count == 1 && committed.count == inputs.count ? sequences.first ?? nil : nil
    if position == nil {
      condition = committed.isEmpty ? .neverRan : .lost
    } else {
      condition = rebuildTo.isEmpty ? .present : .rebuilding
    }
    if !behind.isEmpty { condition = .inputBehind }
    if !replaced.isEmpty { condition = replaced.contains { TopicPlan($0).compacted } ? .lost : .inputReplaced }
    self.replaced = replaced.map(\.rawValue).sorted()
    self.behind = behind.mapValues(\.high)
    history = position?.history
  }
}

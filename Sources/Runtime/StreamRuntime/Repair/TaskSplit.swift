public import Kafka
public import NudgeSchema
import ServiceKit

/// Splits the tasks of a stage after partitions were added to its topics: the rows of each former task are divided among that task and its
/// new ones. One thread uses it. Calls block until Kafka answers.
///
/// The stage must not run. Its services refuse to start while its changelog has more partitions than its inputs. The changelog therefore
/// gets its partitions before the split, and the inputs get theirs after it.
///
/// A split that was interrupted at any point continues when it is started again: each row is copied before it is removed, and each run
/// plans from the rows that it finds.
public final class TaskSplit {
  private let logs: StageLogs
  private let rules: SplitRules
  /// The wall clock.
  private let now: () -> Milliseconds

  private static let timeout: Duration = .seconds(60)
  /// The bounds of a transaction.
  private static let maxRecords = 20_000
  private static let maxBytes = 16 << 20

  /// Connects in the background.
  /// - Parameter properties: librdkafka's properties, which override Nudge's.
  public init(
    of stage: StageDefinition, _ rules: SplitRules, topics: TopicNames, bootstrapServers: String,
    properties: [String: String] = [:], now: (() -> Milliseconds)? = nil
  ) throws(KafkaError) {
    self.rules = rules
    self.now = now ?? { SystemClock.milliseconds() }
    logs = try StageLogs(
      of: stage, topics: topics, bootstrapServers: bootstrapServers, properties: properties, log: { _ in })
  }

  private var stage: StageDefinition { logs.stage }
  private var topics: TopicNames { logs.topics }
  private var reader: LogReader { logs.reader }
  private var coder: RecordCoder { logs.coder }

  // MARK: Inspection

  /// A former task as it was read, with the records to write.
  private struct Read {
    var group: SplitGroup
    var draft: SplitGroup.Draft
    var positions: [Int32: PositionRecord]
    var waiting: [String: Int64]

    var report: SplitTask {
      SplitTask(
        task: group.task, rows: draft.rows, moving: draft.removals.count, copies: draft.shared,
        bytes: draft.copies.reduce(0) { $0 + $1.key.bytes.count + ($1.value?.count ?? 0) }, waiting: waiting)
    }
  }

  /// Plans the remaining work without writing. The changelog may have the former number of partitions or the new one.
  /// - Throws: `KafkaError`. `StateRepairError` if the tasks cannot be split now, with the reason.
  public func survey(from former: Int32, to count: Int32) throws -> [SplitTask] {
    let partitions = try partitions()
    return try (0..<former).map { try read($0, former: former, count: count, partitions: partitions).report }
  }

  private func partitions() throws -> Int32 {
    let count = try logs.partitionCount(timeout: Self.timeout)
    try logs.warmUp()
    return count
  }

  /// Reads a former task and the tasks that it is split into, as a restore would.
  private func read(_ task: Int32, former: Int32, count: Int32, partitions: Int32) throws -> Read {
    var group = SplitGroup(task: task, former: former, count: count, rules: rules)
    var positions: [Int32: PositionRecord] = [:]
    for number in [task] + group.successors where number < partitions {
      let place = logs.changelog(number)
      let ends = try reader.ends(of: place)
      var rows: [RowKey: [UInt8]] = [:]
      try reader.records(of: place, from: ends.start, to: ends.high) { record in
        guard let bytes = record.keyBytes() else { return }
        let key = RowKey(bytes: bytes)
        if key == PositionRecord.key {
          positions[number] = try PositionRecord(record.valueBytes(), offset: record.offset, coder: coder)
        } else {
          rows[key] = record.valueBytes()
        }
      }
      group.rows[number] = rows
    }
    let waiting = try waiting(task, positions[task])
    return Read(group: group, draft: try group.draft(), positions: positions, waiting: waiting)
  }

  /// Throws if the task still needs handovers of former owners. Their records are in the task's partition of the input, where a new task
  /// would not find them, and it would send the push again.
  private func requireNoHandovers(_ task: Int32, _ position: PositionRecord?) throws {
    guard let range = position?.handovers else { return }
    let limits = StreamLimits()
    var until: Milliseconds = 0
    let place = logs.input(stage.inputs[0], of: task)
    let start = max(range.from, try reader.ends(of: place).start)
    try reader.records(of: place, from: start, to: range.to) { record in
      if record.header(RecordHeader.handover) != nil { until = max(until, record.timestamp + limits.replyRetention) }
    }
    guard until > now() else { return }
    throw StateRepairError(
      "task \(task) of \(stage.name) keeps answers that former owners have handed over, and a new task would not find them. Run "
        + "\(stage.name) for a minute and stop it, or wait until \(RFC3339.text(until)), when they are not needed any more; then run the "
        + "command again")
  }

  /// The number of records that the task has not processed, by input.
  /// - Throws: `StateRepairError` if the task must process some before the split, or has lost its state or an input.
  private func waiting(_ task: Int32, _ position: PositionRecord?) throws -> [String: Int64] {
    if position == nil { try requireNeverRan(task) }
    guard position?.rebuildTo == nil else {
      throw StateRepairError(
        "task \(task) of \(stage.name) is rebuilding its state: run \(stage.name) until it is done")
    }
    let replaced = try position?.topicIDs?.replaced(by: logs.topicIDs(timeout: Self.timeout)) ?? []
    guard replaced.isEmpty else {
      throw StateRepairError(
        "\(replaced.map { topics($0) }.sorted().joined(separator: ", ")) was deleted and created again since task \(task) of "
          + "\(stage.name) ran: run nudge state accept-loss, and \(stage.name) after it")
    }
    try requireNoHandovers(task, position)
    var waiting: [String: Int64] = [:]
    for topic in stage.inputs {
      let place = logs.input(topic, of: task)
      let ends = try reader.ends(of: place)
      let next = max(position?.next(topic) ?? ends.start, ends.start)
      guard next <= ends.high else {
        throw StateRepairError(
          "\(place) ends before the position of task \(task) of \(stage.name): run nudge state accept-loss, and "
            + "\(stage.name) after it")
      }
      guard next < ends.high else { continue }
      let rule = rules.waiting[topic] ?? .mustBeProcessed
      if rule == .passedOn {
        waiting[topic.rawValue] = ends.high - next
        continue
      }
      var held: Int64 = 0
      try reader.records(of: place, from: next, to: ends.high) { record in
        // A timer whose row has moved fires again in its new task. The former task drops this record.
        if record.header(RecordHeader.timer) != nil { return }
        if case .passedOnUnless(let header) = rule, record.header(header) == nil {
          waiting[topic.rawValue, default: 0] += 1
        } else {
          held += 1
        }
      }
      guard held == 0 else {
        throw StateRepairError(
          "\(place) has \(held) records that \(stage.name) has not processed, and their state would move away from them: "
            + "run \(stage.name) until nudge lag shows none on \(topics(topic)), and stop it again")
      }
    }
    return waiting
  }

  private func requireNeverRan(_ task: Int32) throws {
    let places = stage.inputs.map { logs.input($0, of: task) }
    let committed = try logs.admin.committedOffsets(
      group: stage.group(topics), places, requireStable: true, timeout: Self.timeout)
    guard committed.allSatisfy({ $0.offset == nil }) else {
      throw StateRepairError("task \(task) of \(stage.name) has lost its state: repair it first (nudge state)")
    }
  }

  // MARK: Writing

  /// Splits all tasks. The changelog must have the new number of partitions.
  /// - Parameter done: Called for each former task once it is split and was read again for checking.
  /// - Throws: As `survey`. `StateRepairError` also if the tasks' rows differ from before.
  public func carryOut(from former: Int32, to count: Int32, done: (SplitTask) throws -> Void) throws {
    let partitions = try partitions()
    guard partitions == count else {
      throw StateRepairError(
        "\(logs.changelog) has \(partitions) partitions, and needs \(count) for the split")
    }
    let producer = try logs.producer(timeout: Self.timeout)
    defer { producer.close(timeout: .seconds(2)) }
    let handle = try producer.topic(logs.changelog)
    for task in 0..<former {
      let before = try read(task, former: former, count: count, partitions: partitions)
      var copies = before.draft.copies
      for successor in before.group.successors where before.positions[task] != nil && before.positions[successor] == nil
      {
        copies.append(
          SplitGroup.Write(
            task: successor, key: PositionRecord.key,
            value: try coder.encode(
              position(of: successor, from: task, before.positions[task]?.topicIDs, before.positions[task]?.level))))
      }
      try write(copies, by: producer, to: handle)
      try write(before.draft.removals, by: producer, to: handle)
      try check(before, read(task, former: former, count: count, partitions: partitions))
      try done(before.report)
    }
  }

  /// Ends the transaction of an interrupted split, so that the changelogs can be read to their ends. Fences a split that runs.
  public func endInterrupted() throws(KafkaError) {
    try logs.producer(timeout: Self.timeout).close(timeout: .seconds(2))
  }

  /// The position of a new task, at the first records of its inputs.
  private func position(
    of task: Int32, from former: Int32, _ topicIDs: TopicIDs?, _ level: FormatLevel?
  ) -> PositionRecord {
    PositionRecord(
      sequence: PositionRecord.firstSequence,
      next: Dictionary(uniqueKeysWithValues: stage.inputs.map { ($0.rawValue, 0) }),
      writer: "nudge topics repartition, of task \(former)", topicIDs: topicIDs, level: level)
  }

  /// Commits the positions of tasks for which the group has no offsets, so that a later loss of their state is noticed. The inputs must
  /// have their partitions, and the group no members.
  public func commitOffsets() throws {
    let partitions = try partitions()
    let group = stage.group(topics)
    let places = (0..<partitions).flatMap { task in
      stage.inputs.map { logs.input($0, of: task) }
    }
    let committed = try logs.admin.committedOffsets(group: group, places, requireStable: true, timeout: Self.timeout)
    let known = Set(committed.filter { $0.offset != nil }.map(\.topicPartition.partition))
    var missing: [TopicPartitionOffset] = []
    for task in 0..<partitions where !known.contains(task) {
      guard let position = try logs.lastPosition(of: task)?.position else { continue }
      missing += stage.inputs.map {
        TopicPartitionOffset(
          logs.input($0, of: task), offset: position.next($0) ?? 0,
          metadata: position.offsetMetadata)
      }
    }
    guard !missing.isEmpty else { return }
    try logs.admin.alterOffsets(group: group, to: missing, timeout: Self.timeout)
  }

  private func write(_ records: [SplitGroup.Write], by producer: Producer, to handle: TopicHandle) throws {
    var rest = records[...]
    while !rest.isEmpty {
      try producer.inTransaction(timeout: Self.timeout) {
        var bytes = 0
        var written = 0
        while let record = rest.first, written < Self.maxRecords, bytes < Self.maxBytes {
          try producer.produce(topic: handle, partition: record.task, key: record.key.bytes, value: record.value)
          bytes += record.key.bytes.count + (record.value?.count ?? 0)
          written += 1
          rest.removeFirst()
        }
      }
    }
  }

  /// Compares a group's rows with those before the split.
  private func check(_ before: Read, _ after: Read) throws {
    let task = before.group.task
    guard after.positions[task] == before.positions[task] else {
      throw StateRepairError(
        "task \(task) of \(stage.name) has run meanwhile: a service is not stopped. Stop it, and run the command again")
    }
    let lacksPosition = after.positions[task] != nil && after.group.successors.contains { after.positions[$0] == nil }
    guard after.draft.copies.isEmpty, after.draft.removals.isEmpty, after.draft.rows == before.draft.rows,
      after.draft.digest == before.draft.digest, !lacksPosition
    else {
      throw StateRepairError(
        "after the split task \(task) of \(stage.name) has \(after.draft.rows) rows, before \(before.draft.rows), "
          + "\(after.draft.copies.count) still to copy and \(after.draft.removals.count) to remove: somebody else writes to "
          + "\(logs.changelog). Nothing is lost; stop it, and run the command again")
    }
  }
}

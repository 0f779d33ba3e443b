import Kafka
public import NudgeSchema

/// Runs a stage without Kafka and with its state in memory, for tests and on recorded input.
public final class StageDriver<S: Stage> {
  public struct StepResult {
    /// The step's outputs, in order.
    public var outputs: [OutputRecord]
    public var effects: [S.Effect]
    /// Why the record would become a dead letter. Absent if it was accepted.
    public var rejection: Rejection?
    /// The requested wake-up, by the steady clock. Absent if none was requested.
    public var wakeAt: Milliseconds?
    /// The metrics that occurred, in order.
    public var counted: [S.Metric]
  }

  /// The stage driven.
  public var stage: S
  /// The wall clock of the next step, in milliseconds since the epoch.
  public var now: Milliseconds
  /// How far the wall clock is ahead of the steady clock, in milliseconds. A change of it together with `now` is a clock that was set.
  public var wallClockOffset: Milliseconds = 0
  /// The steady clock of the next step.
  public var steadyNow: Milliseconds { now - wallClockOffset }
  /// Whether the next steps rebuild lost state. Their outputs are returned, although the runtime would drop them.
  public var isRebuilding = false
  /// The policy of the next steps.
  public var policy: S.Policy
  /// The number of partitions of every topic.
  public let partitions: Int32
  /// The generations of the inputs of tasks that begin from now on.
  public var generations: [Topic: InputGeneration] = [:]
  private let cacheBytes: Int
  private let coder = RecordCoder()
  private var steps: [Int32: Step<S>] = [:]
  private var stores: [Int32: MemoryRowStore] = [:]
  private var offsets: [RecordPlace: Int64] = [:]

  private struct RecordPlace: Hashable {
    var topic: Topic
    var partition: Int32
  }

  /// Makes a driver with empty state.
  public init(_ stage: S, partitions: Int32 = 1, now: Milliseconds = 0, cacheBytes: Int = 64 << 20) {
    self.stage = stage
    policy = stage.policy
    self.cacheBytes = cacheBytes
    self.partitions = partitions
    self.now = now
  }

  /// The step of a task.
  private func step(_ partition: Int32) -> Step<S> {
    if let step = steps[partition] { return step }
    let store = stores[partition] ?? MemoryRowStore()
    stores[partition] = store
    let counts = Dictionary(uniqueKeysWithValues: Topic.allCases.map { ($0, partitions) })
    let step = Step<S>(
      table: RowCache(of: S.Row.self, store: store, coder: coder, cacheBytes: cacheBytes),
      timers: TimerQueue(store: store),
      partition: partition, policy: policy, topics: TopicNames(), coder: coder, partitionCounts: counts,
      maxOutputBytes: 1_000_000,
      // Effects of earlier steps do not count, because the driver does not know which are open.
      effectBudget: EffectBudget(limit: 2_000), generations: generations)
    steps[partition] = step
    return step
  }

  private func run(_ partition: Int32, record: InputRecord?, _ body: (inout S, Step<S>) throws -> Void) -> StepResult {
    let step = step(partition)
    step.returnEffects()
    step.policy = policy
    step.begin(now: now, steadyNow: steadyNow, record: record, isRebuilding: isRebuilding)
    var rejection: Rejection?
    do {
      try body(&stage, step)
    } catch {
      step.undo()
      rejection = error as? Rejection ?? Rejection(.internal, "\(error)")
    }
    return StepResult(
      outputs: step.outputs, effects: step.effects, rejection: rejection, wakeAt: step.takeWake(),
      counted: step.counted)
  }

  /// Processes an event as the next record of its key's partition, or of the given partition.
  @discardableResult
  public func send(
    _ event: some Encodable, to topic: Topic, key: String, partition: Int32? = nil, headers: [RecordHeaderField] = []
  ) throws -> StepResult {
    send(bytes: try coder.encode(event), to: topic, key: Array(key.utf8), partition: partition, headers: headers)
  }

  /// Processes bytes as the next record of their key's partition, or of the given partition.
  @discardableResult
  public func send(
    bytes: [UInt8]?, to topic: Topic, key: [UInt8]?, partition: Int32? = nil, headers: [RecordHeaderField] = []
  ) -> StepResult {
    let partition = partition ?? OutputRecord.partition(of: key, count: partitions)
    let place = RecordPlace(topic: topic, partition: partition)
    let offset = offsets[place, default: 0]
    offsets[place] = offset + 1
    return process(
      InputRecord(
        topic: topic, topicName: topic.rawValue, partition: partition, offset: offset, timestamp: now, key: key,
        value: bytes, headers: headers))
  }

  /// Processes a record unchanged, for example a second time.
  @discardableResult
  public func process(_ record: InputRecord) -> StepResult {
    run(record.partition, record: record) { try $0.process(record, in: $1) }
  }

  /// Processes the outputs of a step that go to the stage's own inputs, and their outputs, until none is left.
  public func sendBack(_ result: StepResult) -> [StepResult] {
    var results: [StepResult] = []
    var waiting = result.outputs
    while !waiting.isEmpty {
      let output = waiting.removeFirst()
      guard S.definition.inputs.contains(output.topic) else { continue }
      let next = send(
        bytes: output.value, to: output.topic, key: output.key, partition: output.partition, headers: output.headers)
      results.append(next)
      waiting += next.outputs
    }
    return results
  }

  /// Gives the stage the reply to an effect.
  @discardableResult
  public func receive(_ reply: S.Reply, partition: Int32) -> StepResult {
    run(partition, record: nil) { try $0.receive(reply, in: $1) }
  }

  /// Tells the stage that an effect is not performed.
  @discardableResult
  public func cancel(_ effect: S.Effect, partition: Int32) -> StepResult {
    run(partition, record: nil) { try $0.effectCancelled(effect, in: $1) }
  }

  /// Tells the stage that the reply to an effect of a former epoch is here.
  @discardableResult
  public func replyIsHere(to effect: EffectTicket, partition: Int32 = 0) -> StepResult {
    run(partition, record: nil) { try $0.replyIsHere(to: effect, in: $1) }
  }

  /// Wakes the stage.
  @discardableResult
  public func wake(partition: Int32 = 0) -> StepResult {
    run(partition, record: nil) { try $0.wake(in: $1) }
  }

  /// When the next timer is due, or when timers must be read from the store. Absent if there are none.
  public func nextTimer(partition: Int32 = 0) -> Milliseconds? { step(partition).timers.nextDue }

  /// Fires the timers that are due, one after the other.
  @discardableResult
  public func fireTimers(partition: Int32 = 0) throws -> [StepResult] {
    guard let topic = S.definition.timers else { return [] }
    let step = step(partition)
    let store = stores[partition] ?? MemoryRowStore()
    var results: [StepResult] = []
    while true {
      store.apply(step.timers.seal())
      step.timers.committed()
      step.timers.stored()
      if step.timers.needsLoad(now: now) { try step.timers.load() }
      guard let (timer, bytes) = step.timers.fireNext(now: now) else { return results }
      let row = try coder.decode(TimerRow.self, from: bytes)
      let output = row.record(
        of: timer, value: try S.value(of: row.due(timer), coder: coder), to: topic, partition: partition)
      step.timers.remove(timer.row)
      results.append(
        send(
          bytes: output.value, to: topic, key: output.key, partition: partition, headers: output.headers))
    }
  }

  /// Stops a task and starts it again, as a crash after a commit would. Only encoded rows survive.
  @discardableResult
  public func restart(partition: Int32 = 0) throws -> StepResult {
    let step = step(partition)
    let store = stores[partition] ?? MemoryRowStore()
    store.apply(try step.table.seal() + step.timers.seal())
    step.table.committed()
    step.table.stored()
    steps[partition] = nil
    stage.close(partition: partition)
    return run(partition, record: nil) { try $0.open(in: $1) }
  }

  /// Commits: writes the changed rows to the store.
  /// - Parameter row: Called with each changed row as the changelog would get it. Bytes are absent for a removed row.
  /// - Returns: The number of rows, and the bytes of their keys and values.
  @discardableResult
  public func commit(partition: Int32 = 0, row: (RowKey, [UInt8]?) -> Void = { _, _ in }) throws -> (
    rows: Int, bytes: Int
  ) {
    let step = step(partition)
    let store = stores[partition] ?? MemoryRowStore()
    let changes = try step.table.seal()
    let timers = step.timers.seal()
    for change in changes + timers { row(change.key, change.bytes) }
    store.apply(changes + timers)
    step.table.committed()
    step.table.stored()
    step.timers.committed()
    step.timers.stored()
    return (
      changes.count + timers.count,
      (changes + timers).reduce(0) { $0 + $1.key.bytes.count + ($1.bytes?.count ?? 0) }
    )
  }

  /// Rows that a task has read from its store so far because they were not in memory, absent rows included, and the bytes of keys and rows.
  public func reads(partition: Int32 = 0) -> (rows: Int, bytes: Int) { stores[partition]?.reads ?? (0, 0) }

  /// All rows of a task's state, by kind and in key order.
  public func allRows(partition: Int32 = 0) throws -> [(RowKey, S.Row)] {
    let step = step(partition)
    var rows: [(RowKey, S.Row)] = []
    for kind in UInt8(ascii: "a")...UInt8(ascii: "z") {
      for key in try step.keys(below: RowKey(bytes: [kind]), limit: .max).keys {
        if let row = try step.row(key) { rows.append((key, row)) }
      }
    }
    return rows
  }

  /// Loads rows of a task's state, as its changelog has them. Call it before the task's first record.
  public func load(_ rows: [(key: RowKey, bytes: [UInt8]?)], partition: Int32 = 0) {
    let store = stores[partition] ?? MemoryRowStore()
    stores[partition] = store
    store.apply(rows)
  }

  /// A row of a task's state.
  public func row(_ key: RowKey, partition: Int32 = 0) throws -> S.Row? { try step(partition).row(key) }

  /// All rows of a task's state whose keys are `parent` and one more part, in key order.
  public func rows(below parent: RowKey, partition: Int32 = 0) throws -> [(RowKey, S.Row)] {
    try step(partition).rows(below: parent)
  }

  /// The approximate size of the rows that a task holds in memory, in bytes.
  public func cachedBytes(partition: Int32 = 0) -> Int { step(partition).table.cachedBytes }

  public func decode<Value: Decodable>(_ type: Value.Type, from output: OutputRecord) throws -> Value {
    try coder.decode(type, from: output.value ?? [])
  }
}

extension OutputRecord {
  static func partition(of key: [UInt8]?, count: Int32) -> Int32 { Murmur2.partition(of: key ?? [], count: count) }
}

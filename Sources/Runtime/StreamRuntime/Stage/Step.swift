import Foundation
import Kafka
public import NudgeSchema
import ServiceKit

/// The context in which a stage processes a record, reply or wake-up: time, policy, state, outputs and effects. A step takes effect as a
/// whole or not at all.
///
/// ```swift
/// /// Posts each record to a webhook, and writes down whether the webhook took it.
/// struct Webhook: Stage {
///   typealias Row = MessageCounter.Row
///   typealias Effect = [UInt8]  // what is posted
///   typealias Reply = Bool  // whether it was taken
///   static let definition = StageDefinition(
///     name: "webhook", inputs: [.pushes], outputs: [.outcomes], changelog: .dispatcherState)
///
///   func process(_ record: InputRecord, in step: Step<Self>) throws {
///     // Undoes the step; the record becomes a dead letter.
///     guard let value = record.value else { throw Rejection(.schemaViolation, "the record has no value") }
///     // The reply goes to `receive`.
///     step.perform(value)
///   }
///   func receive(_ isTaken: Bool, in step: Step<Self>) throws {
///     try step.emit(["taken": isTaken], to: .outcomes, key: "webhook")
///     // Calls `wake` in a minute.
///     if !isTaken { step.wake(after: 60_000) }
///   }
///   func effectCancelled(_ effect: [UInt8], in step: Step<Self>) throws {}
/// }
/// ```
public final class Step<S: Stage> {
  /// The wall clock, in milliseconds since the epoch. During a rebuild, the time at which the record was written.
  public internal(set) var now: Milliseconds = 0
  /// A clock that never jumps and runs while the machine sleeps, in milliseconds from an arbitrary start. Waits in memory use it. Rows hold
  /// times of the wall clock.
  public internal(set) var steadyNow: Milliseconds = 0
  /// Whether lost state is being rebuilt. The record was processed before, so only its rows and timers count. Outputs, effects, wake-ups
  /// and dead letters are dropped. A stage whose rows hold pending work must not add work that was done before.
  public private(set) var isRebuilding = false
  /// The task's number: the partition of each of its inputs.
  public internal(set) var partition: Int32 = 0
  /// The level at which the task writes. A feature that needs a later level waits until an operator has finalised it (`nudge upgrade
  /// finalize`).
  public internal(set) var level: FormatLevel {
    get { table.level }
    set { table.level = newValue }
  }
  /// The policy in force when the turn began.
  public internal(set) var policy: S.Policy
  /// The full names of topics.
  public let topics: TopicNames
  /// The coder of this thread.
  public let coder: RecordCoder

  var table: RowCache
  var timers: TimerQueue
  private(set) var outputs: [OutputRecord] = []
  private(set) var effects: [S.Effect] = []
  /// Whether `effects` is not empty. In unspecialised code it would cost more to ask the array.
  private(set) var hasEffects = false
  private(set) var wakeAt: Milliseconds?
  /// The metrics that occurred, in order.
  private(set) var counted: [S.Metric] = []
  /// Headers of the current record that its outputs inherit.
  public private(set) var inheritedHeaders: [RecordHeaderField] = []
  /// The key of the current record. Outputs with the same key share its bytes.
  private var recordKey: [UInt8] = []
  /// The key of the last output whose key differs from the record's. All outputs for a person have the same key.
  private var lastKey: [UInt8] = []
  /// The span of the current record and its parent. Absent if its trace is not recorded.
  private(set) var trace: (span: TraceContext, parent: UInt64)?
  /// Whether spans are recorded. If so, outputs name the span of the record's processing as their parent.
  private let recordsSpans: Bool
  private let partitionCounts: [Topic: Int32]
  /// The generations of the task's inputs. An input that is absent has generation 0.
  private let generations: [Topic: InputGeneration]
  private let maxOutputBytes: Int
  private let effectBudget: EffectBudget
  /// The longest inherited header in bytes: a `traceparent` has 55 bytes, and a replay id is as long as an id may be.
  private let maxInheritedBytes = SchemaLimits.idBytes

  init(
    table: RowCache, timers: TimerQueue, partition: Int32, policy: S.Policy, topics: TopicNames, coder: RecordCoder,
    partitionCounts: [Topic: Int32], maxOutputBytes: Int, effectBudget: EffectBudget,
    recordsSpans: Bool = false, generations: [Topic: InputGeneration] = [:]
  ) {
    self.table = table
    self.timers = timers
    self.partition = partition
    self.policy = policy
    self.topics = topics
    self.coder = coder
    self.partitionCounts = partitionCounts
    self.maxOutputBytes = maxOutputBytes
    self.effectBudget = effectBudget
    self.recordsSpans = recordsSpans
    self.generations = generations
  }

  /// The origin of the records that a record of the task's inputs causes.
  public func origin(of record: InputRecord) -> Origin {
    Origin(record.position, generation: generations.isEmpty ? nil : generations[record.topic]?.at(record.offset))
  }

  // MARK: State

  /// A row of the task's state. Absent if there is no such row.
  /// - Throws: `StoreFailure`, which ends the thread. Do not catch it.
  public func row(_ key: RowKey) throws -> S.Row? {
    try table.glance(at: key)?._withUnsafeGuaranteedRef { Self.typed($0) }
  }

  /// Casts a row of the cache. All rows have the stage's type, because its decoder and `set` make no others.
  private static func typed(_ row: StoredRow) -> S.Row { unsafeDowncast(row, to: TypedRow<S.Row>.self).row }

  /// Sets a row.
  public func set(_ row: S.Row, for key: RowKey) throws { try table.set(TypedRow(row), for: key) }

  public func remove(_ key: RowKey) throws { try table.set(nil, for: key) }

  /// A page of the keys below a parent, of any number of parts, behind `key` in key order. It is for scans that go on in later steps.
  ///
  /// - Parameter limit: The approximate number of keys. Keys that the store does not have yet come in addition.
  /// - Returns: The keys, and the key behind which the next page begins, absent for the last page. A page may be empty if its rows were
  ///   removed and the store still has them.
  public func keys(
    below parent: RowKey, after key: RowKey? = nil, limit: Int
  ) throws -> (keys: [RowKey], next: RowKey?) {
    try table.keys(below: parent, after: key, limit: limit)
  }

  /// All rows whose keys are `parent` and one more part, in key order. Reads each of them.
  public func rows(below parent: RowKey) throws -> [(RowKey, S.Row)] {
    try table.rows(below: parent).map { ($0.0, Self.typed($0.1)) }
  }

  /// A page of the rows whose keys are `parent` and one more part, in key order. Rows in the store are decoded but not kept in memory.
  ///
  /// - Parameters:
  ///   - first: The key at which the page begins. Absent: the first row.
  ///   - end: The key before which the page ends. Absent: it may reach the last row.
  ///   - limit: The most rows read from the store. Rows that are not in the store yet come in addition.
  public func page(
    below parent: RowKey, from first: RowKey? = nil, before end: RowKey? = nil, limit: Int
  ) throws -> RowPage<S.Row> {
    let page = try table.page(below: parent, from: first, before: end, limit: limit)
    return RowPage(rows: page.rows.map { ($0.0, Self.typed($0.1)) }, next: page.next)
  }

  // MARK: Timers

  /// Sets a timer. When it is due, a `timer.fired` with its name comes through the stage's own input, exactly once.
  ///
  /// Name and time together identify a timer. Setting it again replaces its cause. The same name with another time is another timer.
  ///
  /// - Parameters:
  ///   - due: Milliseconds since the epoch. A past time fires at once.
  ///   - key: The key of `timer.fired`.
  ///   - eventId: The id of the event that causes the timer.
  ///   - origin: The current record.
  ///   - source: The chat or user event that started the chain.
  public func setTimer(
    _ name: String, due: Milliseconds, key: String, eventId: String, origin: Origin, source: RecordPosition
  ) throws {
    let row = TimerRow(key: key, eventId: eventId, origin: origin, source: source)
    timers.set(TimerKey(due: due, name: name).row, try coder.encode(row))
  }

  /// Cancels a timer, even if its `timer.fired` is in flight: the stage does not see that record.
  public func cancelTimer(_ name: String, due: Milliseconds) {
    timers.remove(TimerKey(due: due, name: name).row)
  }

  // MARK: Outputs

  /// The number of partitions of a topic the stage reads or writes.
  public func partitionCount(_ topic: Topic) -> Int32 { partitionCounts[topic] ?? 1 }

  /// The partition of a key on a topic, by murmur2 as in Java's default partitioner.
  public func partition(of key: String, on topic: Topic) -> Int32 {
    var key = key
    return key.withUTF8 { Murmur2.partition(of: UnsafeRawBufferPointer($0), count: partitionCount(topic)) }
  }

  /// Writes an event to its key's partition, or to the given partition. The event inherits the trace context and replay id of the current
  /// record.
  /// - Throws: a `Rejection` with `too_large` if the record exceeds the topic's limit.
  public func emit(
    _ event: some Encodable, to topic: Topic, key: String, partition: Int32? = nil, headers: [RecordHeaderField] = []
  ) throws {
    try emit(bytes: coder.encode(event), to: topic, key: key, partition: partition, headers: headers)
  }

  /// Writes a record with an already encoded value.
  public func emit(
    bytes: [UInt8]?, to topic: Topic, key: String, partition: Int32? = nil, headers: [RecordHeaderField] = []
  ) throws {
    let output = OutputRecord(
      topic: topic, partition: partition ?? self.partition(of: key, on: topic), key: self.bytes(ofKey: key),
      value: bytes,
      headers: inheritedHeaders.isEmpty ? headers : inheritedHeaders + headers)
    guard output.size <= maxOutputBytes else {
      throw Rejection(
        .tooLarge,
        "its output on \(topic.rawValue) would take \(output.size) bytes; at most \(maxOutputBytes) are allowed")
    }
    outputs.append(output)
  }

  /// The bytes of a key, shared with the record and with the previous output.
  private func bytes(ofKey key: String) -> [UInt8] {
    var key = key
    return key.withUTF8 { utf8 in
      if Self.isEqual(utf8, recordKey) { return recordKey }
      if !Self.isEqual(utf8, lastKey) { lastKey = Array(utf8) }
      return lastKey
    }
  }

  private static func isEqual(_ utf8: UnsafeBufferPointer<UInt8>, _ bytes: [UInt8]) -> Bool {
    guard utf8.count == bytes.count else { return false }
    return bytes.withUnsafeBytes { bytes in
      guard let a = utf8.baseAddress, let b = bytes.baseAddress, !bytes.isEmpty else { return true }
      return memcmp(a, b, bytes.count) == 0
    }
  }

  /// Writes outputs that another record than the current one causes: within `body` they inherit these headers.
  public func inheriting<Result>(_ headers: [RecordHeaderField], _ body: () throws -> Result) rethrows -> Result {
    let own = inheritedHeaders
    inheritedHeaders = headers
    defer { inheritedHeaders = own }
    return try body()
  }

  /// Counts an occurrence of a metric, once the step is committed. During a rebuild nothing is counted.
  public func count(_ metric: S.Metric) { counted.append(metric) }

  // MARK: Effects

  /// Requests an effect. It is performed once the thread can prove that it owns the task, perhaps before this step is committed. The reply
  /// goes to `Stage.receive`.
  public func perform(_ effect: S.Effect) {
    effects.append(effect)
    hasEffects = true
    effectBudget.add(S.group(of: effect))
  }

  /// Whether one more effect of this group may be requested. A group may have as many effects as are free for all groups, so that others go
  /// on while one is slow. After each reply there may be room again.
  public func hasRoom(forEffectsOf group: String) -> Bool { effectBudget.hasRoom(for: group) }

  /// Requests `Stage.wake` after a wait, in milliseconds by the steady clock. The earliest of several requests counts.
  public func wake(after wait: Milliseconds) {
    let (time, isBeyondRange) = steadyNow.addingReportingOverflow(max(wait, 0))
    if !isBeyondRange { wakeAt = min(wakeAt ?? .max, time) }
  }

  /// Requests `Stage.wake` at a time of the wall clock. Setting that clock later does not move the wake-up.
  public func wake(at time: Milliseconds) { wake(after: time.subtractingReportingOverflow(now).partialValue) }

  // MARK: Calls of the runtime

  /// The number of rows and timers changed since the last transaction was sealed.
  var openCount: Int { table.openCount + timers.openCount }

  /// Begins a step. The caller has taken the results of the previous step.
  func begin(now: Milliseconds, steadyNow: Milliseconds, record: InputRecord?, isRebuilding: Bool = false) {
    self.now = now
    self.steadyNow = steadyNow
    self.isRebuilding = isRebuilding
    outputs.removeAll(keepingCapacity: true)
    forgetEffects()
    trace = nil
    if !counted.isEmpty { counted.removeAll(keepingCapacity: true) }
    recordKey = record?.key ?? []
    if !inheritedHeaders.isEmpty { inheritedHeaders.removeAll(keepingCapacity: true) }
    if let record, !record.headers.isEmpty {
      for name in [RecordHeader.traceparent, RecordHeader.replayId] {
        // Outputs inherit these headers, so values longer than valid ones are ignored.
        if let value = record.header(name), value.count <= maxInheritedBytes {
          inheritedHeaders.append(RecordHeaderField(name, value))
        }
      }
      if recordsSpans { beginSpan(of: record) }
    }
    table.beginStep()
    timers.beginStep()
  }

  /// Begins the span of the record's processing, if its trace is sampled. The span's id derives from topic, partition and offset, so that
  /// a repeated step writes the same outputs.
  private func beginSpan(of record: InputRecord) {
    guard let first = inheritedHeaders.first, first.name == RecordHeader.traceparent,
      let parent = TraceContext(traceparent: String(decoding: first.value, as: UTF8.self)), parent.isSampled
    else { return }
    let span = parent.child(record.topicName, [Int64(record.partition), record.offset])
    trace = (span, parent.span)
    inheritedHeaders[0] = RecordHeaderField(RecordHeader.traceparent, span.traceparent)
  }

  /// Undoes the step.
  func undo() {
    table.undoStep()
    timers.undoStep()
    outputs.removeAll(keepingCapacity: true)
    returnEffects()
    counted.removeAll(keepingCapacity: true)
  }

  /// Drops the effects of this step.
  func returnEffects() {
    for effect in effects { effectBudget.remove(S.group(of: effect)) }
    forgetEffects()
  }

  private func forgetEffects() {
    guard hasEffects else { return }
    effects.removeAll(keepingCapacity: true)
    hasEffects = false
  }

  /// Takes the requested wake-up.
  func takeWake() -> Milliseconds? {
    defer { wakeAt = nil }
    return wakeAt
  }
}

/// A page of a scan.
public struct RowPage<Row> {
  /// The rows, in key order.
  public var rows: [(key: RowKey, row: Row)]
  /// The key at which the next page begins. Absent for the last page.
  public var next: RowKey?
}

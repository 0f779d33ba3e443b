import Kafka
public import NudgeSchema
import ServiceKit

/// What a stage has in its hands while it works on one record, reply or wake-up: time, state, and a place to leave what
/// is to be done. A step is all or nothing.
public final class Step<S: Stage> {
  /// The wall clock, in milliseconds since the epoch; while rebuilding, about when the record was written.
  public internal(set) var now: Milliseconds = 0
  /// Lost state is being rebuilt: the record was processed before, and what it caused then is done. Rows and timers are
  /// kept; outputs, effects, wake-ups and dead letters are dropped. A stage that is a function of its records alone needs
  /// not look; one that keeps what is still to be done must not note what was done already.
  public private(set) var isRebuilding = false
  /// The task's number, which is the partition of every topic it reads.
  public internal(set) var partition: Int32 = 0
  /// Full names of topics.
  public let topics: TopicNames
  /// Coders of this thread.
  public let coder: RecordCoder

  var table: RowCache
  var timers: TimerQueue
  private(set) var outputs: [OutputRecord] = []
  private(set) var effects: [S.Effect] = []
  /// Whether there are any: asking an array of an unknown type costs more.
  private(set) var hasEffects = false
  private(set) var wakeAt: Milliseconds?
  /// Places in the stage's tallies.
  private(set) var counted: [Int] = []
  /// Headers of the record at hand that go along with all it causes.
  public private(set) var inheritedHeaders: [RecordHeaderField] = []
  /// The key of the record at hand, whose bytes are shared with outputs of the same key.
  private var recordKey: [UInt8] = []
  /// The span of the record at hand, and the one that it is a child of; nil: nobody records its trace.
  private(set) var trace: (span: TraceContext, parent: UInt64)?
  /// Whether spans are recorded: what a record causes then names the span of its processing as its cause.
  private let recordsSpans: Bool
  private let partitionCounts: [Topic: Int32]
  private let maxOutputBytes: Int
  private let effectBudget: EffectBudget
  /// A `traceparent` has 55 bytes, a replay id at most as many as any id.
  private let maxInheritedBytes = SchemaLimits.idBytes

  init(
    table: RowCache, timers: TimerQueue, partition: Int32, topics: TopicNames, coder: RecordCoder,
    partitionCounts: [Topic: Int32], maxOutputBytes: Int, effectBudget: EffectBudget,
    recordsSpans: Bool = false
  ) {
    self.table = table
    self.timers = timers
    self.partition = partition
    self.topics = topics
    self.coder = coder
    self.partitionCounts = partitionCounts
    self.maxOutputBytes = maxOutputBytes
    self.effectBudget = effectBudget
    self.recordsSpans = recordsSpans
  }

  // MARK: State

  /// A row of the task's state; nil where there is none.
  public func row(_ key: RowKey) throws -> S.Row? {
    guard let row = try table.row(key) else { return nil }
    return Self.typed(row)
  }

  /// All rows of the table are of the stage's type: those of the store are made by the table's `decode`, the others come
  /// by `set`.
  private static func typed(_ row: StoredRow) -> S.Row { unsafeDowncast(row, to: TypedRow<S.Row>.self).row }

  /// Sets a row.
  public func set(_ row: S.Row, for key: RowKey) throws { try table.set(TypedRow(row), for: key) }

  /// Removes a row.
  public func remove(_ key: RowKey) throws { try table.set(nil, for: key) }

  /// All rows whose keys are `parent` and one part more, in key order. Costs a read of each.
  public func rows(below parent: RowKey) throws -> [(RowKey, S.Row)] {
    try table.rows(below: parent).map { ($0.0, Self.typed($0.1)) }
  }

  // MARK: Timers

  /// Sets a timer: at `due` (milliseconds since the epoch; at once where that is past) `timer.fired` with this name comes
  /// through the stage's own input, once, behind what is there already. A timer is its name and its time together: the
  /// same again replaces only what it says of its cause; another time is another timer.
  ///
  /// - Parameters:
  ///   - key: the key of `timer.fired`.
  ///   - eventId, origin, source: the event that is the reason, the record at hand, and where it all began.
  public func setTimer(
    _ name: String, due: Milliseconds, key: String, eventId: String, origin: Origin, source: RecordPosition
  ) throws {
    let row = TimerRow(key: key, eventId: eventId, origin: origin, source: source)
    timers.set(TimerKey(due: due, name: name).row, try coder.encode(row))
  }

  // MARK: Outputs

  /// The number of partitions of a topic the stage reads or writes.
  public func partitionCount(_ topic: Topic) -> Int32 { partitionCounts[topic] ?? 1 }

  /// The partition of a key on a topic, by murmur2 as Java's default partitioner.
  public func partition(of key: String, on topic: Topic) -> Int32 {
    var key = key
    return key.withUTF8 { Murmur2.partition(of: UnsafeRawBufferPointer($0), count: partitionCount(topic)) }
  }

  /// Writes an event. Its partition is that of the key unless given. Trace context and replay id of the record at hand
  /// go along. Throws a `Rejection` with `too_large` where the record would exceed what the topic takes.
  public func emit(
    _ event: some Encodable, to topic: Topic, key: String, partition: Int32? = nil, headers: [RecordHeaderField] = []
  ) throws {
    try emit(bytes: coder.encode(event), to: topic, key: key, partition: partition, headers: headers)
  }

  /// Writes a record whose value is encoded already.
  public func emit(
    bytes: [UInt8]?, to topic: Topic, key: String, partition: Int32? = nil, headers: [RecordHeaderField] = []
  ) throws {
    let keyBytes = key.utf8.elementsEqual(recordKey) ? recordKey : Array(key.utf8)
    let output = OutputRecord(
      topic: topic, partition: partition ?? self.partition(of: key, on: topic), key: keyBytes, value: bytes,
      headers: inheritedHeaders.isEmpty ? headers : inheritedHeaders + headers)
    guard output.size <= maxOutputBytes else {
      throw Rejection(
        .tooLarge,
        "its output on \(topic.rawValue) would take \(output.size) bytes; at most \(maxOutputBytes) are allowed")
    }
    outputs.append(output)
  }

  /// Writes, within `body`, what another record has caused than the one at hand: these headers of it go along.
  public func inheriting<Result>(_ headers: [RecordHeaderField], _ body: () throws -> Result) rethrows -> Result {
    let own = inheritedHeaders
    inheritedHeaders = headers
    defer { inheritedHeaders = own }
    return try body()
  }

  /// Counts one more of a tally, by its place in `Stage.tallies`; told with the commit, and not while rebuilding.
  public func count(_ tally: Int) { counted.append(tally) }

  // MARK: Effects

  /// Asks for something to be done outside. It is done once the thread can prove that it owns the task, perhaps before
  /// this step is committed; the reply comes to `Stage.receive`.
  public func perform(_ effect: S.Effect) {
    effects.append(effect)
    hasEffects = true
    effectBudget.add(S.group(of: effect))
  }

  /// Whether one more effect of this group may be asked for. A group may have as many effects as are free for all groups, so that
  /// others go on while one is slow. There may be room again after each reply.
  public func hasRoom(forEffectsOf group: String) -> Bool { effectBudget.hasRoom(for: group) }

  /// Asks for `Stage.wake` at a time; the earliest asked for counts.
  public func wake(at time: Milliseconds) { wakeAt = min(wakeAt ?? .max, time) }

  // MARK: The runtime's side

  /// Rows and timers that have changed since the last transaction was sealed.
  var openCount: Int { table.openCount + timers.openCount }

  /// Begins a step; what the last one left has been taken.
  func begin(now: Milliseconds, record: InputRecord?, isRebuilding: Bool = false) {
    self.now = now
    self.isRebuilding = isRebuilding
    outputs.removeAll(keepingCapacity: true)
    forgetEffects()
    trace = nil
    if !counted.isEmpty { counted.removeAll(keepingCapacity: true) }
    recordKey = record?.key ?? []
    if !inheritedHeaders.isEmpty { inheritedHeaders.removeAll(keepingCapacity: true) }
    if let record, !record.headers.isEmpty {
      for name in [RecordHeader.traceparent, RecordHeader.replayId] {
        // They go along with every output: what is longer than any that means something is not one.
        if let value = record.header(name), value.count <= maxInheritedBytes {
          inheritedHeaders.append(RecordHeaderField(name, value))
        }
      }
      if recordsSpans { beginSpan(of: record) }
    }
    table.beginStep()
    timers.beginStep()
  }

  /// Where the record's trace is recorded, what it causes is a child of the span that begins here. The span's id is made of
  /// the record's place: a step that is done again writes the same outputs.
  private func beginSpan(of record: InputRecord) {
    guard let first = inheritedHeaders.first, first.name == RecordHeader.traceparent,
      let parent = TraceContext(traceparent: String(decoding: first.value, as: UTF8.self)), parent.isSampled
    else { return }
    let span = parent.child(record.topicName, [Int64(record.partition), record.offset])
    trace = (span, parent.span)
    inheritedHeaders[0] = RecordHeaderField(RecordHeader.traceparent, span.traceparent)
  }

  /// Forgets what this step did.
  func undo() {
    table.undoStep()
    timers.undoStep()
    outputs.removeAll(keepingCapacity: true)
    returnEffects()
    counted.removeAll(keepingCapacity: true)
  }

  /// The effects of this step are not handed on.
  func returnEffects() {
    for effect in effects { effectBudget.remove(S.group(of: effect)) }
    forgetEffects()
  }

  private func forgetEffects() {
    guard hasEffects else { return }
    effects.removeAll(keepingCapacity: true)
    hasEffects = false
  }

  /// The wake-up asked for so far, which is then forgotten.
  func takeWake() -> Milliseconds? {
    defer { wakeAt = nil }
    return wakeAt
  }
}

import NudgeSchema

/// People whose messages wait for a catch-up, of the decisions that were read. A value.
struct OpenCatchUps: Sendable {
  /// When each is due, by task of the analyzer and person. A person has one at a time.
  private var due: [Int32: [UInt64: Milliseconds]] = [:]

  /// A message waits for its person's catch-up. Decisions of a person come in order: the last one's time holds.
  mutating func add(_ user: String, in task: Int32, due time: Milliseconds) {
    due[task, default: [:]][FNV1a.hash(user)] = time
  }

  /// A task has done what was due by this time. A catch-up whose messages were read meanwhile is made without a push.
  mutating func madeAll(of task: Int32, dueBy time: Milliseconds) {
    due[task] = due[task]?.filter { $0.value > time }
  }

  /// The tasks that are to make one.
  var tasks: [Int32] { due.keys.sorted() }

  private var times: [Milliseconds] { due.values.flatMap(\.values) }

  var count: Int { due.values.reduce(0) { $0 + $1.count } }

  /// When the next is due; nil: none is due later.
  func next(after now: Milliseconds) -> Milliseconds? { times.filter { $0 > now }.min() }

  /// How long ago the first of those was due that were not made; nil: none is late.
  func lateness(now: Milliseconds) -> Milliseconds? { times.min().flatMap { $0 < now ? now - $0 : nil } }
}

import NudgeSchema

/// Restores a stream thread's assigned tasks, and checks tasks that wait for an operator again and again.
final class TaskRestorer<IO: StreamIO> {
  /// A task whose restore is done.
  struct Done {
    var task: Int32
    var restored: RestoreBatch<IO.Store>.Restored
    /// The first and last offsets of its inputs.
    var inputs: [Topic: LogEnds]
    /// The present ids of its topics.
    var topicIDs: TopicIDs
    /// The handovers of former owners since the position.
    var handovers: [InputRecord]
    /// How long the restore took, in milliseconds.
    var took: Milliseconds
  }

  private let context: StreamContext<IO>
  private var io: IO { context.io }
  private let stage: StageDefinition
  private var batch: RestoreBatch<IO.Store>?
  /// The tasks that wait for an operator because their state or records of an input were lost, and the time of the next check.
  private var lostState: (tasks: [Int32], checkAt: Milliseconds)?
  /// When a long wait was last reported, by the steady clock.
  private var suspectedAt: Milliseconds?

  init(_ context: StreamContext<IO>, of stage: StageDefinition) {
    self.context = context
    self.stage = stage
  }

  /// Whether tasks are being restored.
  var isRestoring: Bool { batch != nil }

  /// Starts to restore these tasks, and drops all others.
  func begin(_ numbers: [Int32]) throws {
    lostState = nil
    batch = numbers.isEmpty ? nil : try makeBatch(numbers)
  }

  private func makeBatch(_ numbers: [Int32]) throws -> RestoreBatch<IO.Store> {
    var stores: [Int32: IO.Store] = [:]
    for number in numbers { stores[number] = try io.openStore(of: number) }
    return RestoreBatch(stores: stores, limits: context.limits, coder: context.coder, startedAt: io.steadyClock)
  }

  /// Ends the restore, because the tasks are no longer this thread's.
  func abandon() {
    batch?.abandon()
    batch = nil
    lostState = nil
  }

  /// Handles that the changelog consumer was used for other reads.
  func interrupted() { batch?.interrupted() }

  /// Does a bounded piece of work. Returns the tasks that are ready to run. Absent if no restore has ended.
  /// - Throws: As `RestoreBatch.advance`.
  func advance() throws -> [Done]? {
    if batch == nil, let waiting = lostState, io.steadyClock >= waiting.checkAt {
      lostState = nil
      batch = try makeBatch(waiting.tasks)
    }
    guard let batch else { return nil }
    let results = try batch.advance(on: io, observe: context.observe)
    guard !results.isEmpty else { return nil }
    // Everything is requested before any task starts, so that the next turn can retry a failed request. The ids are requested after the
    // records were read and before the inputs' ends: a topic that is replaced later is noticed when the task commits.
    let topicIDs = try io.topicIDs()
    var ends: [Int32: [Topic: LogEnds]] = [:]
    for (number, result) in results {
      guard case .restored = result else { continue }
      for topic in stage.inputs { ends[number, default: [:]][topic] = try io.inputEnds(of: topic, task: number) }
    }
    let handovers = try handovers(to: results, ends)
    // Finished tasks need not wait for the others.
    batch.take(results.keys)
    if batch.isOver {
      self.batch = nil
      try io.readChangelogs([:])
    }
    var done: [Done] = []
    var lost: [Int32] = []
    for (number, result) in results.sorted(by: { $0.key < $1.key }) {
      switch result {
      case .stateLost(let store):
        store.close()
        context.observe(.stateLost(task: number))
        lost.append(number)
      case .restored(let restored):
        let ends = ends[number] ?? [:]
        if let loss = loss(of: number, restored.position, ends, topicIDs) {
          restored.store.close()
          context.observe(loss)
          lost.append(number)
        } else {
          done.append(
            Done(
              task: number, restored: restored, inputs: ends, topicIDs: topicIDs,
              handovers: handovers.filter { $0.partition == number },
              took: io.steadyClock - batch.startedAt))
        }
      }
    }
    if !lost.isEmpty {
      lostState = ((lostState?.tasks ?? []) + lost, io.steadyClock + context.limits.stateLostRetry)
    }
    return done
  }

  /// Reads the handovers of restored tasks: those in unread records of the inputs, and those that the position keeps. Former owners write
  /// their handovers before they join the group again.
  private func handovers(
    to results: [Int32: RestoreBatch<IO.Store>.Result], _ ends: [Int32: [Topic: LogEnds]]
  ) throws -> [InputRecord] {
    guard stage.handsOver else { return [] }
    let topic = stage.inputs[0]
    var spans: [InputSpan] = []
    for (number, result) in results.sorted(by: { $0.key < $1.key }) {
      guard case .restored(let restored) = result, let log = ends[number]?[topic], log.start <= log.high else {
        continue
      }
      let records = log.start..<log.high
      let unread = max(restored.position?.next(topic) ?? log.start, log.start)..<Int64.max
      for offsets in HandoverRange.spans(restored.position?.handovers, unread) {
        let span = InputSpan(topic: topic, task: number, offsets: offsets.clamped(to: records))
        if !span.offsets.isEmpty { spans.append(span) }
      }
    }
    return spans.isEmpty ? [] : try io.handovers(in: spans)
  }

  /// The reason for which a task with a position cannot run. Absent if it can.
  ///
  /// There are three reasons. The changelog was replaced, and lacks the rows from before. An input was replaced, and its records begin
  /// anew. An input ends before the position: its leader lost records in an unclean election, or the topic was replaced and the position is
  /// of a release that did not know ids. Reading on from the position would then skip as many records as are there now or are written next.
  private func loss(
    of number: Int32, _ position: PositionRecord?, _ ends: [Topic: LogEnds], _ topicIDs: TopicIDs
  ) -> StreamEvent? {
    guard let position else { return nil }
    let replaced = position.topicIDs?.replaced(by: topicIDs) ?? []
    if replaced.contains(stage.changelog) {
      return .changelogReplaced(task: number, topic: context.topics(stage.changelog))
    }
    if let topic = stage.inputs.first(where: replaced.contains) {
      return .inputReplaced(task: number, topic: context.topics(topic), position: position.next(topic) ?? 0)
    }
    for topic in stage.inputs {
      guard let next = position.next(topic), let end = ends[topic]?.high, end < next else { continue }
      return .inputBehind(task: number, topic: context.topics(topic), position: next, end: end)
    }
    return nil
  }

  /// What a restore has waited for too long, once in a while. Absent if there is no such wait.
  func takeSuspicion() -> String? {
    guard let batch else { return nil }
    let since = max(batch.progressAt, suspectedAt ?? .min)
    guard io.steadyClock - since >= context.limits.markerPatience else { return nil }
    suspectedAt = io.steadyClock
    return batch.waitsFor
  }
}

import NudgeCodec
import NudgeSchema
public import StreamRuntime

/// The third stage: pushes in, requests to FCM out, and for every push and device exactly one outcome (P8).
///
/// Each device of a person has a lane: one request at a time, in order; what must be sent again waits there, in the state,
/// and holds up nobody else (P3). When a request is asked for, the lane's row already counts it and says when it may be
/// sent again should its answer be lost; so a crash resends only what was unanswered, and not at once (P7).
///
/// How a push ends: `sent`, `invalid_token`, `quarantined` and `rejected` are FCM's word (`FCMAnswer`). `expired`: past its
/// freshness before its first request. `gave_up`: past it after one, or the oldest of a lane that is full (error code
/// `lane_full`). `cancelled`: named by a `push.cancelled`, or, badge and read pushes only, overtaken by a later one that
/// says all it said (`superseded`) or the oldest of a full lane (`lane_full`).
///
/// A request FCM rejects ends as an outcome with its code, and goes to the dead letters.
public struct DispatcherStage: Stage {
  /// What its state is made of.
  public typealias Row = DispatcherRow
  /// A request to FCM.
  public typealias Effect = SendRequest
  /// What became of it.
  public typealias Reply = SendReply

  /// Reads pushes; writes outcomes, and tokens that are gone to their owner's timeline.
  public static let definition = StageDefinition(
    name: "dispatcher", inputs: [.pushes], outputs: [.outcomes, .timeline], changelog: .dispatcherState)

  private let rules: DispatcherRules
  private let codec = RecordCodec()
  private var tasks: [Int32: TaskLanes] = [:]
  /// Tasks opened so far: requests of different tenures of a task must not have the same number.
  private var tenures: UInt64 = 0

  /// A stage that decides by these rules.
  public init(rules: DispatcherRules) { self.rules = rules }

  /// Takes up what waits in the lanes.
  public mutating func open(in step: Step<Self>) throws {
    tasks[step.partition] = nil
    try work(in: step) { _ in }
  }

  /// A push, or the end of some.
  public mutating func process(_ record: InputRecord, in step: Step<Self>) throws {
    let event = try PushRecord.read(record, codec: codec)
    try work(in: step, on: record) { lanes in
      switch event.body {
      case .push(let push):
        for item in PushRecord.items(of: push, in: event, record) { try lanes.accept(item, in: step) }
      case .cancelled(let cancelled):
        try lanes.cancel(cancelled, cause: event.origin, in: step)
      }
    }
  }

  /// FCM's answer.
  public mutating func receive(_ reply: SendReply, in step: Step<Self>) throws {
    try work(in: step) { try $0.receive(reply, in: step) }
  }

  /// A request that is not made: the task is being given up.
  public mutating func forgo(_ effect: SendRequest, in step: Step<Self>) throws {
    try work(in: step) { try $0.forgo(effect, in: step) }
  }

  /// A wait is over.
  public mutating func wake(in step: Step<Self>) throws {
    try work(in: step) { try $0.wake(in: step) }
  }

  /// Forgets the task's lanes; their rows stay.
  public mutating func close(partition: Int32) { tasks[partition] = nil }

  /// Works on the task's lanes, which are made from its rows where they are not in memory.
  private mutating func work(
    in step: Step<Self>, on record: InputRecord? = nil, _ body: (inout TaskLanes) throws -> Void
  ) throws {
    do {
      if tasks[step.partition] == nil {
        tenures += 1
        tasks[step.partition] = TaskLanes(rules: rules, codec: codec, firstSend: tenures << 32)
        try tasks[step.partition]?.open(in: step)
      }
      tasks[step.partition]?.recordAtHand = record?.position
      if let index = tasks.index(forKey: step.partition) { try body(&tasks.values[index]) }
    } catch {
      // The rows are about to be as before this step, and memory is not: it is made again from them.
      tasks[step.partition] = nil
      throw error
    }
  }
}

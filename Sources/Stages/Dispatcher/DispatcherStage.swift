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
  private let monitor: LaneMonitor?
  /// Stands for the stage where the monitor tells stages apart.
  private final class Identity: Sendable {}
  private let identity = Identity()
  private var tasks: [Int32: TaskLanes] = [:]
  /// Of all tasks together, so that memory does not grow with partitions; lent to the one that works.
  private var deviceLimits: DeviceLimits
  /// The lanes have reached their bound: nothing more is read.
  public private(set) var holdsInput = false
  /// Tasks opened so far: requests of different tenures of a task must not have the same number.
  private var tenures: UInt64 = 0

  /// A stage that decides by these rules, and tells a monitor how its lanes stand.
  public init(rules: DispatcherRules, monitor: LaneMonitor? = nil) {
    self.rules = rules
    deviceLimits = DeviceLimits(perMinute: rules.deviceRequestsPerMinute, perHour: rules.deviceRequestsPerHour)
    self.monitor = monitor
  }

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
        for item in PushRecord.items(of: push, in: event, record, inherited: step.inheritedHeaders) {
          try lanes.accept(item, in: step)
        }
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
  public mutating func effectCancelled(_ effect: SendRequest, in step: Step<Self>) throws {
    try work(in: step) { try $0.forgo(effect, in: step) }
  }

  /// The push and the device a request is for.
  public static func ticket(for effect: SendRequest) -> EffectTicket? { effect.ticket }

  /// What FCM said of an earlier request for the same push and device, which left before the task was lost, as the answer to
  /// `effect`. Only a verdict on the push itself counts: after a refusal that passes, the request is made.
  public static func reply(_ reply: SendReply, to sent: EffectTicket, asReplyTo effect: SendRequest) -> SendReply? {
    switch reply.answer.verdict {
    case .sent, .invalidToken, .senderMismatch, .rejected: break
    case .projectRefused, .platformRefused, .quotaExceeded, .serverFailed, .unreachable: return nil
    }
    var reply = reply
    reply.id = effect.id
    // The lane counts this attempt; the one that left counted as `sent.attempt`.
    reply.requests += sent.attempt - effect.attempt
    return reply
  }

  /// A wait is over.
  public mutating func wake(in step: Step<Self>) throws {
    try work(in: step) { try $0.wake(in: step) }
  }

  /// Forgets the task's lanes; their rows stay.
  public mutating func close(partition: Int32) {
    tasks[partition] = nil
    monitor?.close(task: partition)
    holdOrGoOn()
  }

  /// Stops reading where the lanes are full, and goes on when a tenth of them is free.
  private mutating func holdOrGoOn() {
    let (waiting, bytes) = tasks.values.reduce((0, 0)) { ($0.0 + $1.waiting, $0.1 + $1.waitingBytes) }
    func reaches(_ value: Int, _ limit: Int) -> Bool {
      limit > 0 && (holdsInput ? value > limit - limit / 10 : value >= limit)
    }
    let holds = reaches(waiting, rules.maxWaiting) || reaches(bytes, rules.maxWaitingBytes)
    guard holds != holdsInput else { return }
    holdsInput = holds
    monitor?.setFull(
      holds, stage: ObjectIdentifier(identity),
      limit: "\(rules.maxWaiting) pushes or \(rules.maxWaitingBytes) bytes of a stream thread")
  }

  /// Works on the task's lanes, which are made from its rows where they are not in memory.
  private mutating func work(
    in step: Step<Self>, on record: InputRecord? = nil, _ body: (inout TaskLanes) throws -> Void
  ) throws {
    do {
      let isNew = tasks[step.partition] == nil
      if isNew {
        tenures += 1
        tasks[step.partition] = TaskLanes(rules: rules, codec: codec, firstSend: tenures << 32)
      }
      if let index = tasks.index(forKey: step.partition) {
        swap(&tasks.values[index].deviceLimits, &deviceLimits)
        defer { swap(&tasks.values[index].deviceLimits, &deviceLimits) }
        if isNew { try tasks.values[index].open(in: step) }
        tasks.values[index].recordAtHand = record?.position
        try body(&tasks.values[index])
        monitor?.report(
          tasks.values[index].statistics(now: step.now), task: step.partition, of: step.partitionCount(.pushes))
      }
      holdOrGoOn()
    } catch {
      // The rows are about to be as before this step, and memory is not: it is made again from them.
      tasks[step.partition] = nil
      throw error
    }
  }
}

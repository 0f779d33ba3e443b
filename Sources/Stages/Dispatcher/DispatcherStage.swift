import NudgeCodec
public import NudgeSchema
import ServiceKit
public import StreamRuntime

/// The third stage: reads pushes, sends requests to push services, and records exactly one outcome for each push and device (P8).
///
/// Each device of a person has a lane, which has one request at a time, in order. A push that must be sent again waits in its lane, in the
/// state, and delays no other device (P3). A step that requests a send already counts it in the lane's row, with the time at which it may
/// be repeated if its answer is lost. So a crash repeats only unanswered requests, and not at once (P7).
///
/// | result | when |
/// |---|---|
/// | `sent`, `invalid_token`, `quarantined`, `rejected` | The service answered so (`PushAnswer`). |
/// | `expired` | Freshness ended before the first request. |
/// | `gave_up` | Freshness or the time budget ended after a request, or the push was the oldest of a full lane (error code `lane_full`). |
/// | `cancelled` | A `push.cancelled` named it (`shown_live` if its device has shown the message through a stream). Or it shows nothing, and a later push makes it redundant (`superseded`) or its lane was full (`lane_full`). |
///
/// A push that FCM rejects is also written to the dead letters.
public struct DispatcherStage: Stage {
  /// A row of its state.
  public typealias Row = DispatcherRow
  /// A request to FCM.
  public typealias Effect = SendRequest
  public typealias Reply = SendReply
  public typealias Metric = DispatcherMetric
  public typealias Statistics = LaneStatistics

  /// Reads pushes. Writes outcomes, and invalid tokens to their owners' timelines.
  public static let definition = StageDefinition(
    name: "dispatcher", inputs: [.pushes], outputs: [.outcomes, .timeline], changelog: .dispatcherState,
    handsOver: true)

  private let rules: DispatcherRules
  private let codec = RecordCodec()
  private var tasks: [Int32: TaskLanes] = [:]
  private var leases: [Int32: SendLease] = [:]
  private var limits: SendLimits
  /// The partitions of `nudge.pushes`.
  private var partitionCount: Int32 = 1
  /// Whether the lanes are full, so that nothing more is read.
  public private(set) var holdsInput = false
  /// The number of times a task was opened. Requests of two epochs of a task must have different ids.
  private var epochs: UInt64 = 0

  /// A stage with these rules.
  public init(rules: DispatcherRules) {
    self.rules = rules
    limits = SendLimits(rules: rules)
  }

  /// Resumes the lanes.
  public mutating func open(in step: Step<Self>) throws {
    tasks[step.partition] = nil
    try withLanes(of: step) { _, _, _ in }
  }

  /// Adds a push to the lanes of its devices, or withdraws pushes from them.
  public mutating func process(_ record: InputRecord, in step: Step<Self>) throws {
    let event = try PushRecord.read(record, codec: codec)
    try withLanes(of: step, record) { lanes, context, limits in
      switch event.body {
      case .push(let push):
        for item in PushRecord.items(of: push, in: event, record, inherited: step.inheritedHeaders) {
          try lanes.accept(item, context, &limits)
        }
      case .cancelled(let cancelled):
        try lanes.cancel(cancelled, cause: event.origin, context, &limits)
        try cancelled.eraseDevices(in: step)
      // The runtime processes it before this, by its header.
      case .answered: break
      }
    }
  }

  /// Processes a service's answer.
  public mutating func receive(_ reply: SendReply, in step: Step<Self>) throws {
    try withLanes(of: step) { try $0.receive(reply, $1, &$2) }
  }

  /// Reverts a request that is not made, because the task is being given up.
  public mutating func effectCancelled(_ effect: SendRequest, in step: Step<Self>) throws {
    try withLanes(of: step) { lanes, context, _ in try lanes.effectCancelled(effect, context) }
  }

  /// Requests share the thread's effects by destination.
  public static func group(of effect: SendRequest) -> String? { effect.destination.group }

  /// The push and device of a request.
  public static func ticket(for effect: SendRequest) -> EffectTicket? { effect.ticket }

  /// Converts the answer to a request that left before the task was lost into the answer to `effect`, which is for the same push and
  /// device. Only a verdict on the push itself counts; otherwise the request is made.
  public static func reply(_ reply: SendReply, to sent: EffectTicket, asReplyTo effect: SendRequest) -> SendReply? {
    switch reply.answer.verdict {
    case .sent, .invalidToken, .senderMismatch, .rejected: break
    case .subscriptionRefused, .projectRefused, .platformRefused, .quotaExceeded, .serverFailed, .unreachable, .notSent:
      return nil
    }
    var reply = reply
    reply.id = effect.id
    // The lane counts this attempt. The request that left had the number `sent.attempt`.
    reply.requests += sent.attempt - effect.subject.attempt
    return reply
  }

  /// The lane whose request is answered continues at once.
  public mutating func replyIsHere(to effect: EffectTicket, in step: Step<Self>) throws {
    try withLanes(of: step) { try $0.replyIsHere(to: effect, $1, &$2) }
  }

  /// Sends what is due after a wait.
  public mutating func wake(in step: Step<Self>) throws {
    try withLanes(of: step) { try $0.wake($1, &$2) }
  }

  /// Drops the task's lanes from memory; their rows stay. Requests that have not left yet are not sent.
  public mutating func close(partition: Int32) {
    leases.removeValue(forKey: partition)?.revoke()
    tasks[partition] = nil
    shareQuotas()
    updateHold()
  }

  /// The state of the lanes of all tasks.
  public mutating func statistics(now: Milliseconds) -> LaneStatistics? {
    var sum = LaneStatistics()
    for index in tasks.values.indices { sum = sum + tasks.values[index].statistics(now: now) }
    sum.isFull = holdsInput
    return sum
  }

  /// Each stream thread uses a share of a quota that equals its share of the partitions.
  private mutating func shareQuotas() {
    limits.tasks = tasks.count
    // Without a task nothing is sent, so the last share stays until there is one.
    if !tasks.isEmpty { limits.quotas.setShare(Double(tasks.count) / Double(partitionCount)) }
  }

  /// Stops reading when the lanes are full, and continues when a tenth of them is free.
  private mutating func updateHold() {
    let (waiting, bytes) = tasks.values.reduce((0, 0)) { ($0.0 + $1.waiting, $0.1 + $1.waitingBytes) }
    func reaches(_ value: Int, _ limit: Int) -> Bool {
      limit > 0 && (holdsInput ? value > limit - limit / 10 : value >= limit)
    }
    holdsInput = reaches(waiting, rules.maxWaiting) || reaches(bytes, rules.maxWaitingBytes)
  }

  /// Runs `body` on the task's lanes. If they are not in memory, they are rebuilt from the rows.
  private mutating func withLanes(
    of step: Step<Self>, _ record: InputRecord? = nil,
    _ body: (inout TaskLanes, LaneContext, inout SendLimits) throws -> Void
  ) throws {
    do {
      let isNew = tasks[step.partition] == nil
      if isNew {
        epochs += 1
        let lease = leases[step.partition] ?? SendLease()
        leases[step.partition] = lease
        tasks[step.partition] = TaskLanes(rules: rules, codec: codec, firstRequest: epochs << 32, lease: lease)
        partitionCount = max(step.partitionCount(.pushes), 1)
        shareQuotas()
      }
      if let index = tasks.index(forKey: step.partition) {
        if isNew { try tasks.values[index].open(LaneContext(step: step), &limits) }
        try body(&tasks.values[index], LaneContext(step: step, record: record?.position), &limits)
      }
      updateHold()
    } catch {
      // The step and its rows are undone. The lanes in memory are rebuilt from the rows.
      tasks[step.partition] = nil
      throw error
    }
  }
}

/// An answer that comes after its task was lost goes to the task's next owner, as `push.answered` on `nudge.pushes`.
extension DispatcherStage {
  /// Writes the known answer of a request.
  public static func handover(
    of known: HandedOver<SendReply>, now: Milliseconds
  ) throws -> (key: [UInt8], value: [UInt8])? {
    guard let place = WaitingPush.EffectKey(known.ticket.effect) else { return nil }
    let body = PushAnswered(
      userId: place.userId, deviceId: place.deviceId, pushId: place.pushId, attempt: known.ticket.attempt,
      result: known.reply.map { .init($0.answer.verdict) } ?? .pending, httpStatus: known.reply?.answer.httpStatus,
      errorCode: known.reply?.answer.errorCode, fcmName: known.reply?.answer.name,
      requests: known.reply?.requests, startedAt: known.reply?.startedAt, finishedAt: known.reply?.finishedAt)
    let id = DispatcherRules.sha256(
      ["answered", place.userId, place.deviceId, place.pushId, "\(body.attempt)", body.result.rawValue]
        .joined(separator: "\u{1}"))
    let event = PushEvent(
      Envelope(eventId: id, occurredAt: known.reply?.finishedAt ?? now), origin: place.cause,
      source: place.cause.position, .answered(body))
    return (Array(place.userId.utf8), RecordCodec().encode(event))
  }

  /// Reads such a record.
  public static func handedOver(_ record: InputRecord) throws -> HandedOver<SendReply> {
    let event = try PushRecord.read(record, codec: RecordCodec())
    guard case .answered(let body) = event.body else {
      throw Rejection(.schemaViolation, "a record with the header \(RecordHeader.handover) is no push.answered")
    }
    let ticket = EffectTicket(
      WaitingPush.EffectKey(
        userId: body.userId, deviceId: body.deviceId, pushId: body.pushId, cause: event.origin
      ).rowKey, attempt: body.attempt)
    guard body.result != .pending else { return HandedOver(ticket, reply: nil) }
    let finishedAt = body.finishedAt ?? event.envelope.occurredAt
    return HandedOver(
      ticket,
      reply: SendReply(
        id: 0,
        answer: PushAnswer(body.verdict, httpStatus: body.httpStatus, errorCode: body.errorCode),
        requests: body.requests ?? 1, startedAt: body.startedAt ?? finishedAt, finishedAt: finishedAt),
      decides: body.result != .undecided)
  }
}

extension PushAnswered.Result {
  init(_ verdict: PushAnswer.Verdict) {
    switch verdict {
    case .sent: self = .sent
    case .invalidToken: self = .invalidToken
    case .senderMismatch: self = .senderMismatch
    case .rejected: self = .rejected
    case .subscriptionRefused, .projectRefused, .platformRefused, .quotaExceeded, .serverFailed, .unreachable, .notSent:
      self = .undecided
    }
  }
}

extension PushAnswered {
  fileprivate var verdict: PushAnswer.Verdict {
    switch result {
    case .sent: .sent(name: fcmName)
    case .invalidToken: .invalidToken
    case .senderMismatch: .senderMismatch
    case .rejected: .rejected
    case .pending, .undecided: .unreachable
    }
  }
}

/// The dispatcher's metrics.
public enum DispatcherMetric: StageMetric {
  /// The outcome of a push for a device.
  case outcome(OutcomeResult, Platform, isSilent: Bool)
  /// The outcome of an escalation to the webhook.
  case escalation(OutcomeResult)

  /// The metric of an outcome, by the kind of its push.
  init(_ result: OutcomeResult, _ platform: Platform, _ kind: Push.Kind) {
    self =
      kind == .escalation
      ? .escalation(result) : .outcome(result, platform, isSilent: kind != .message && kind != .digest)
  }

  public static let expected =
    OutcomeResult.allCases.flatMap { result in
      Platform.allCases.flatMap { platform in
        [false, true].map { Self.outcome(result, platform, isSilent: $0) }
      }
    } + OutcomeResult.allCases.map(Self.escalation)

  public var series: StageSeries {
    switch self {
    case .outcome(let result, let platform, let isSilent):
      StageSeries(
        "nudge_push_outcomes_total",
        help: "Outcomes, one a push and device, by result, platform and kind; silent: badges, reads, deletions.",
        labels: [
          "result": result.rawValue, "platform": platform.rawValue, "kind": isSilent ? "silent" : "message",
        ])
    case .escalation(let result):
      StageSeries(
        "nudge_escalation_outcomes_total", help: "Outcomes of escalations to the webhook, by result.",
        labels: ["result": result.rawValue])
    }
  }
}

/// The parameters of the dispatcher's decisions. Times are in milliseconds.
public struct DispatcherRules: Sendable {
  /// Represents a token in records and logs (T4): the first 32 hexadecimal digits of its SHA-256. It also shortens long ids.
  public var hash: @Sendable (String) -> String
  /// How long after it was requested a request counts as lost, if its process is gone: the request's time-out (15 s) and the time before it
  /// is made.
  public var unansweredAfter: Milliseconds = 25_000
  /// How long after its last check a request may leave this process. Later it is not sent, and the push is checked again.
  public var leaveWithin: Milliseconds = 1_000
  /// FCM projects that a push may name, the service account's own first; nil for any. A push to another project, which any app can invent,
  /// is rejected and nothing is kept for it.
  public var projects: [String]?
  /// Whether there is a webhook. Without one, escalations end as `cancelled`.
  public var hasWebhook = false
  /// Where pushes to Web Push subscriptions may go. Without a VAPID key it is nil, and they end as `cancelled`.
  var webPush: WebPushRules?
  /// Where a click on a notification leads on the web; nil to let the app's service worker decide.
  public var webLink: WebLink?
  /// Requests per minute to a project, which is FCM's quota; 0 for no limit. A stream thread uses its share of the partitions.
  public var requestsPerMinute = 0
  /// How long the rate of requests takes to rise to its full value (P5).
  public var rampUp: Milliseconds = 60_000
  /// Requests in flight of one task. Further lanes wait for their turn. The limit is above the runtime's limit of effects (2,000), so that
  /// a backlog stays on its topic instead of in the lanes. It applies when a task begins or a breaker closes.
  public var maxInFlight = 2_500
  /// The most lanes that one step takes from its queues, and the most rows that it loads. The next step continues.
  var lanesPerStep = 256
  /// How long a push is retried after the first request that failed because of FCM or the network (P3), unless freshness ends it earlier.
  /// Time with an open breaker does not count. A week is longer than any push is fresh.
  public var timeBudget: Milliseconds = 7 * 86_400_000
  /// The number of pushes in the lanes of a stream thread at which the stage stops reading. It continues at nine tenths; 0 for no limit.
  public var maxWaiting = 200_000
  /// The same limit for the approximate bytes of these pushes; 0 for no limit.
  public var maxWaitingBytes = 256 << 20
  /// Requests per minute to one Android device; 0 for no limit. FCM's own limit is 240.
  public var deviceRequestsPerMinute = 240
  /// Requests per hour to one Android device; 0 for no limit. FCM's own limit is 5,000.
  public var deviceRequestsPerHour = 5_000
  /// After this many unconfirmed pushes of an Android device, further pushes replace each other (P12); 0 turns this off. FCM stores 100,
  /// and discards all of them when another arrives.
  public var awayAfter = 60
  /// The most pushes that wait for one device. FCM stores as many for a device.
  public var maxLaneLength = 100
  /// The time from the opening of a breaker to its first probe. It doubles with each probe that fails.
  public var firstProbeAfter: Milliseconds = 5_000
  /// The longest wait between two probes, even if FCM asks for more.
  public var longestProbeInterval: Milliseconds = 300_000
  /// The number of a project's last answers that the breaker over invalid tokens considers.
  public var invalidTokenWindow = 200
  /// The breaker opens when the window is full and at least this share of it is invalid (T3).
  public var invalidTokenRatio = 0.5
  /// The number of consecutive probes that decide whether the breaker over invalid tokens closes.
  public var tokenTrialLength = 20

  /// The longest wait that a row may ask for. A later time in a row comes from a wall clock that was ahead.
  var longestStoredWait: Milliseconds { max(Backoff.longestWait, unansweredAfter) }

  public init(hash: @escaping @Sendable (String) -> String = DispatcherRules.sha256) { self.hash = hash }

  /// The error code of a push with a project that is not allowed.
  static let projectNotAllowed = "project_not_allowed"
  /// The error code of a push whose replay was stopped while it waited.
  static let replayStopped = "replay_stopped"
  /// The error code of an escalation if no webhook is configured.
  static let noWebhook = "no_webhook"
  /// The error code of a push whose ids alone exceed the service's limit.
  static let payloadTooLarge = "payload_too_large"
  /// The error code of a push to a subscription if no VAPID key is configured.
  static let noVAPIDKey = "no_vapid_key"
  /// The error code of a push to an endpoint that is unreadable or forbidden by the operator's rules.
  static let endpointNotAllowed = "endpoint_not_allowed"
  /// The error code of a push that shows nothing, to a browser whose app is not in the foreground.
  static let webInBackground = "web_in_background"

  /// Whether a push may go to a project; nil stands for the service account's own.
  func allows(project: String?) -> Bool {
    guard let projects else { return true }
    guard let project else { return !projects.isEmpty }
    return projects.contains { sameId($0, project) }
  }

  /// The first 32 hexadecimal digits of a text's SHA-256.
  public static let sha256: @Sendable (String) -> String = { TokenHash.of($0) }
}

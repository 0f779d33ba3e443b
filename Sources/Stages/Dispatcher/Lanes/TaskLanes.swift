import NudgeCodec
import NudgeSchema
import StreamRuntime

/// The lanes of one task: what is in memory of them, and every decision about them. The rows are the truth; all here can
/// be made again from them, but for pauses, which are found out again by asking.
struct TaskLanes {
  /// Where a lane with waiting work stands.
  private enum Place: Equatable {
    /// A request is in the air.
    case inFlight
    /// Its front is looked at when this time comes; 0: it is being looked at.
    case due(at: Milliseconds)
    /// It waits for one of the task's requests to be answered.
    case ready
    /// It waits for a pause to end.
    case parked(PauseScope)
  }

  private struct Flight {
    var device: DeviceKey
    /// The pauses this request is to find out about.
    var probes: [PauseScope]
  }

  private let rules: DispatcherRules
  private let codec: RecordCodec
  private var places: [DeviceKey: Place] = [:]
  /// Devices with waiting work, by person (as bytes).
  private var devices: [RowKey: [DeviceKey]] = [:]
  private var flights: [UInt64: Flight] = [:]
  private var due = DueQueue()
  private var ready = Fifo<DeviceKey>()
  private var parked: [PauseScope: Fifo<DeviceKey>] = [:]
  private var pauses: [PauseScope: Pause] = [:]
  private var tokenVerdicts: [PauseScope: TokenVerdicts] = [:]
  /// The request whose answer ended a scope's last pause: a refusal of an earlier one is older news.
  private var releasedBy: [PauseScope: UInt64] = [:]
  private var nextSend: UInt64
  private var zones = TimeZones()
  /// The stage's, while the task works.
  var deviceLimits = DeviceLimits(perMinute: 0, perHour: 0)
  /// When the first push of each lane that is not empty was decided.
  private var laneSince: [DeviceKey: Milliseconds] = [:]
  private var oldestSince: Milliseconds?
  private var oldestLookedAt: Milliseconds = 0
  /// Pushes in the lanes, and about their bytes.
  private(set) var waiting = 0
  private(set) var waitingBytes = 0
  /// The record that is being processed; nil while answers and times are.
  var recordAtHand: RecordPosition?

  /// Lanes whose requests are numbered from `firstSend`.
  init(rules: DispatcherRules, codec: RecordCodec, firstSend: UInt64) {
    self.rules = rules
    self.codec = codec
    nextSend = firstSend
  }

  // MARK: What happens

  /// The task begins: everything that waits is taken up again, what may be in the air not before its answer can no longer
  /// come.
  mutating func open(in step: Step<DispatcherStage>) throws {
    for (_, row) in try step.rows(below: DeviceKey.allLanes) {
      guard case .lane(let lane) = row.content, let first = lane.items.first else { continue }
      let key = DeviceKey(userId: first.push.userId, deviceId: first.target.deviceId)
      for item in try LaneQueue(key: key, step: step).all() { count(item, by: 1) }
      try advance(key, in: step)
    }
    askForWake(in: step)
  }

  /// Takes a push for one device.
  mutating func accept(_ item: WaitingPush, in step: Step<DispatcherStage>) throws {
    let key = DeviceKey(userId: item.push.userId, deviceId: item.target.deviceId)
    var device = try deviceRow(key, in: step)
    if let last = device.lastCause, last.topic == item.cause.topic, last.partition == item.cause.partition,
      item.cause.order <= last.order
    {
      return
    }
    device.lastCause = item.cause
    if let quarantine = device.quarantined, quarantine.version != item.target.version { device.quarantined = nil }
    if let revoked = device.revoked, revoked.version < item.target.version { device.revoked = nil }
    try step.set(DispatcherRow(.device(device)), for: key.device)
    // It was taken into a lane before the state was lost, and has been sent since or not: nobody knows. What is known is
    // that a repeat of it is one.
    if step.isRebuilding { return }
    guard rules.allows(project: item.target.projectId) else {
      var item = item
      item.errorCode = Self.projectNotAllowed
      count(item, by: 1)
      return try emitOutcome(item, .rejected, in: step)
    }

    let queue = LaneQueue(key: key, step: step)
    var item = item
    if let row = try queue.row() {
      if item.isQuiet {
        try withdraw(key, as: .superseded, in: step) { item.supersedes($0) }
      } else if item.push.replaces == true {
        let former = try withdraw(key, as: .superseded, in: step) { item.supersedes($0) }
        if let former = former.last { item.appear(as: former) }
      }
      if row.count >= rules.maxLaneLength { try makeRoom(in: queue) }
    }
    try queue.append(item)
    count(item, by: 1)
    if places[key] != .inFlight { try advance(key, in: step) }
    askForWake(in: step)
  }

  private mutating func count(_ item: WaitingPush, by sign: Int) {
    waiting += sign
    waitingBytes += sign * item.approximateBytes
  }

  /// How the lanes stand.
  mutating func statistics(now: Milliseconds) -> LaneStatistics {
    if now - oldestLookedAt >= 5_000 || now < oldestLookedAt {
      oldestLookedAt = now
      oldestSince = laneSince.values.min()
    }
    var statistics = LaneStatistics()
    statistics.waiting = waiting
    statistics.bytes = waitingBytes
    statistics.lanes = places.count
    statistics.inFlight = flights.count
    statistics.oldestSince = places.isEmpty ? nil : oldestSince
    for pause in pauses.values {
      statistics.pauses[pause.reason.label, default: 0] += 1
      if pause.tokenTrial != nil { statistics.openBreakers += 1 }
    }
    return statistics
  }

  /// Ends what waits and is named; what is in the air ends by its answer. What was decided after the cancellation is not
  /// meant by it.
  mutating func cancel(_ cancelled: PushCancelled, cause: Origin, in step: Step<DispatcherStage>) throws {
    func same(_ wanted: String?, _ id: String?) -> Bool {
      guard let wanted else { return true }
      return id.map { $0.utf8.elementsEqual(wanted.utf8) } ?? false
    }
    func isNamed(_ item: WaitingPush) -> Bool {
      guard same(cancelled.conversationId, item.push.conversationId),
        cancelled.kind.map({ $0 == item.push.kind }) ?? true
      else { return false }
      if cancelled.conversationId != nil || cancelled.messageId != nil {
        // What takes something off the screen goes on.
        if item.push.kind == .read || item.push.kind == .deleted { return false }
      }
      if cancelled.exceptMentions == true, item.push.mentioned == true { return false }
      guard cancelled.conversationId != nil, let sentUpTo = cancelled.sentUpTo else {
        return same(cancelled.messageId, item.push.messageId)
      }
      return item.sentAt < sentUpTo || item.sentAt == sentUpTo && same(cancelled.messageId, item.push.messageId)
    }
    if let deviceId = cancelled.deviceId, let tokenHash = cancelled.tokenHash, let version = cancelled.version {
      let key = DeviceKey(userId: cancelled.userId, deviceId: deviceId)
      var device = try deviceRow(key, in: step)
      device.revoked = .init(tokenHash: tokenHash, version: version)
      try step.set(DispatcherRow(.device(device)), for: key.device)
    }
    for key in devices[RowKey(cancelled.userId)] ?? [] {
      if same(cancelled.deviceId, key.deviceId) {
        try withdraw(key, as: .cancelled, in: step) {
          isNamed($0)
            && ($0.cause.topic != cause.topic || $0.cause.partition != cause.partition || $0.cause.order < cause.order)
        }
      }
      if let badge = cancelled.badge {
        let queue = LaneQueue(key: key, step: step)
        try queue.update(from: try queue.first()?.inAir == true ? 1 : 0) { item in
          defer { item.push.badge = badge }
          return item.push.badge != badge
        }
      }
      if places[key] != .inFlight { try advance(key, in: step) }
    }
    try fillFlights(in: step)
    askForWake(in: step)
  }

  /// An answer came.
  mutating func receive(_ reply: SendReply, in step: Step<DispatcherStage>) throws {
    // An unknown id is the answer to a request of an earlier owner of the task in this process: that push waits in its
    // lane and is sent again.
    guard let flight = flights.removeValue(forKey: reply.id) else { return }
    let queue = LaneQueue(key: flight.device, step: step)
    guard var item = try queue.first() else { return }
    item.attempts = max(0, item.attempts - 1 + reply.requests)
    item.firstAttemptAt = item.attempts == 0 ? nil : item.firstAttemptAt ?? reply.startedAt
    item.inAir = false
    item.httpStatus = reply.answer.httpStatus
    item.errorCode = reply.answer.errorCode
    places[flight.device] = .due(at: 0)

    let isDoubted = judgeTokens(reply, of: item.target, now: step.now)
    try settlePauses(after: reply, of: flight, target: item.target, in: step)
    switch reply.answer.verdict {
    // Not believed: it waits for the breaker, as all do.
    case _ where isDoubted: try retry(&item, after: 0, queue)
    case .sent(let name): try finish(item, .sent, fcmName: name, queue)
    case .invalidToken:
      try finish(item, .invalidToken, queue)
      try announceInvalid(item, code: reply.answer.errorCode ?? "INVALID_TOKEN", in: step)
    case .senderMismatch:
      var device = try deviceRow(flight.device, in: step)
      device.quarantined = .init(tokenHash: rules.hash(item.target.token), version: item.target.version)
      try step.set(DispatcherRow(.device(device)), for: flight.device.device)
      try finish(item, .quarantined, queue)
    case .rejected:
      try finish(item, .rejected, queue)
      try emitDeadLetter(item, in: step)
    case .projectRefused, .platformRefused, .quotaExceeded(.project):
      // The pause says when; the push itself could go at once.
      item.failingSince = nil
      try retry(&item, after: 0, queue)
    case .quotaExceeded(.device): try retry(&item, .quota, reply, queue)
    case .serverFailed: try retry(&item, .server, reply, queue)
    case .unreachable: try retry(&item, .connection, reply, queue)
    }
    try advance(flight.device, in: step)
    try fillFlights(in: step)
    askForWake(in: step)
  }

  /// A request was asked for and is not made: its push waits as before, for whoever owns the task next.
  mutating func forgo(_ request: SendRequest, in step: Step<DispatcherStage>) throws {
    guard let flight = flights.removeValue(forKey: request.id) else { return }
    for scope in flight.probes where pauses[scope]?.probe == request.id { pauses[scope]?.probe = nil }
    places[flight.device] = .ready
    ready.append(flight.device)
    let queue = LaneQueue(key: flight.device, step: step)
    guard var item = try queue.first() else { return }
    item.attempts = max(0, item.attempts - 1)
    if item.attempts == 0 { item.firstAttemptAt = nil }
    item.inAir = false
    item.notBefore = 0
    try queue.replaceFirst(item)
  }

  /// The time asked for has come.
  mutating func wake(in step: Step<DispatcherStage>) throws {
    while let key = due.pop(dueAt: step.now) {
      guard let place = places[key], place != .inFlight else { continue }
      try advance(key, in: step)
    }
    for scope in pauses.keys.sorted() { try probe(scope, in: step) }
    try fillFlights(in: step)
    askForWake(in: step)
  }

  // MARK: A lane's next move

  /// Brings a lane with nothing in the air as far as it can go: ends what is over, sends what may be sent, or notes what
  /// it waits for. Doing it once more than needed changes nothing.
  private mutating func advance(_ key: DeviceKey, in step: Step<DispatcherStage>) throws {
    let queue = LaneQueue(key: key, step: step)
    while let item = try queue.first() {
      if places[key] == nil {
        devices[RowKey(key.userId), default: []].append(key)
        places[key] = .due(at: 0)
        laneSince[key] = item.push.decidedAt
      }
      if item.notBefore > step.now {
        if places[key] != .due(at: item.notBefore) {
          places[key] = .due(at: item.notBefore)
          due.insert(key, at: item.notBefore)
        }
        return
      }
      if let ending = try ending(of: item, key, in: step) {
        var item = item
        if let code = ending.errorCode { item.errorCode = code }
        try finish(item, ending.result, queue)
        // Whatever it waited for, it was for the one that ended.
        places[key] = .due(at: 0)
      } else if let scope = blockingScope(item.target, now: step.now) {
        if item.failingSince != nil {
          // A pause does not count against the time budget.
          var item = item
          item.failingSince = nil
          try queue.replaceFirst(item)
        }
        if places[key] != .parked(scope) {
          places[key] = .parked(scope)
          parked[scope, default: Fifo()].append(key)
          due.insert(key, at: item.push.expiresAt + 1)
        }
        return
      } else if flights.count >= rules.maxInFlight {
        if places[key] != .ready {
          places[key] = .ready
          ready.append(key)
        }
        return
      } else if item.target.platform == .android, let wait = deviceLimits.take(key, at: step.now) {
        // What arrives meanwhile does not make the wait longer.
        if case .due(let time) = places[key], time > step.now, time <= step.now + wait { return }
        let time = min(step.now + wait, item.push.expiresAt + 1)
        places[key] = .due(at: time)
        due.insert(key, at: time)
        return
      } else if try send(item, queue) {
        return
      }
    }
    if places.removeValue(forKey: key) != nil {
      laneSince[key] = nil
      let user = RowKey(key.userId)
      devices[user]?.removeAll { $0 == key }
      if devices[user]?.isEmpty == true { devices[user] = nil }
    }
  }

  /// The last look before a request, at what may have changed while it waited; nil: it may be sent.
  private mutating func ending(
    of item: WaitingPush, _ key: DeviceKey, in step: Step<DispatcherStage>
  ) throws -> (result: OutcomeResult, errorCode: String?)? {
    if item.withdrawn != nil { return (.cancelled, nil) }
    if step.now > item.push.expiresAt { return (item.attempts == 0 ? .expired : .gaveUp, nil) }
    let device = try deviceRow(key, in: step)
    if let quarantine = device.quarantined, quarantine.version == item.target.version,
      quarantine.covers(item.target, hash: rules.hash)
    {
      return (.quarantined, nil)
    }
    if let revoked = device.revoked, revoked.covers(item.target, hash: rules.hash) {
      return (.cancelled, "token_revoked")
    }
    // A person sleeps when it is night, not when the message was decided (D11).
    if let hours = item.push.quietHours, let span = QuietSpan(hours),
      span.contains(QuietSpan.minuteOfDay(step.now, in: zones.zone(named: hours.timeZone) ?? TimeZones.utc))
    {
      return (.cancelled, "quiet_hours")
    }
    return nil
  }

  /// Lanes that waited for a free request go on, in their order.
  private mutating func fillFlights(in step: Step<DispatcherStage>) throws {
    while flights.count < rules.maxInFlight, let key = ready.popFirst() {
      guard places[key] == .ready else { continue }
      places[key] = .due(at: 0)
      try advance(key, in: step)
    }
  }

  /// The error code of a push that names a project it may not.
  private static let projectNotAllowed = "project_not_allowed"

  /// Asks for the front's request; false: it can never be sent, and has ended.
  private mutating func send(_ item: WaitingPush, _ queue: LaneQueue) throws -> Bool {
    var item = item
    let step = queue.step
    // It may wait since before the list of projects changed.
    guard rules.allows(project: item.target.projectId) else {
      item.errorCode = Self.projectNotAllowed
      try finish(item, .rejected, queue)
      return false
    }
    let message = FCMMessage(push: item.push, target: item.target, occurredAt: item.occurredAt, hash: rules.hash)
    guard let body = message.encoded() else {
      item.errorCode = "payload_too_large"
      try finish(item, .rejected, queue)
      try emitDeadLetter(item, in: step)
      return false
    }
    item.attempts += 1
    item.firstAttemptAt = item.firstAttemptAt ?? step.now
    item.notBefore = step.now + rules.unansweredAfter
    item.inAir = true
    try queue.replaceFirst(item)
    let id = nextSend
    nextSend += 1
    let probes = PauseScope.of(item.target).filter { pauses[$0] != nil }
    for scope in probes { pauses[scope]?.probe = id }
    flights[id] = Flight(device: queue.key, probes: probes)
    places[queue.key] = .inFlight
    step.perform(
      SendRequest(
        id: id, projectId: item.target.projectId, deviceId: item.target.deviceId, token: item.target.token,
        attempt: item.attempts, body: body,
        messageAt: item.push.kind == .message && item.replayId == nil ? item.occurredAt : nil,
        traceparent: item.traceparent, ticket: EffectTicket(item.effectKey, attempt: item.attempts)))
    return true
  }

  private mutating func retry(
    _ item: inout WaitingPush, _ backoff: Backoff, _ reply: SendReply, _ queue: LaneQueue
  ) throws {
    let jitter = Jitter.value(
      pushId: item.push.pushId, deviceId: item.target.deviceId, attempt: item.attempts)
    let wait = backoff.wait(after: item.attempts, retryAfter: reply.answer.retryAfter, jitter: jitter)
    let since = item.failingSince ?? reply.startedAt
    if item.withdrawn == nil, queue.step.now + wait > since + rules.timeBudget {
      return try finish(item, .gaveUp, queue)
    }
    item.failingSince = since
    try retry(&item, after: wait, queue)
  }

  /// Sends the front again after a wait, unless it is withdrawn or would be past its freshness by then.
  private mutating func retry(_ item: inout WaitingPush, after wait: Milliseconds, _ queue: LaneQueue) throws {
    item.notBefore = queue.step.now + wait
    if item.withdrawn != nil {
      try finish(item, .cancelled, queue)
      // What replaces it in the lane appears in its place.
      let former = item
      var found = false
      return try queue.update(from: 0) { later in
        guard !found, later.replaces(former) else { return false }
        found = true
        later.appear(as: former)
        return true
      }
    }
    if item.notBefore > item.push.expiresAt {
      return try finish(item, item.attempts == 0 ? .expired : .gaveUp, queue)
    }
    try queue.replaceFirst(item)
  }

  private func deviceRow(_ key: DeviceKey, in step: Step<DispatcherStage>) throws -> DeviceRow {
    guard case .device(let row)? = try step.row(key.device)?.content else { return DeviceRow() }
    return row
  }

  // MARK: Withdrawing

  /// Ends what waits and matches, and returns it. The front, where it is in the air, only learns that it is not to be sent
  /// again.
  @discardableResult
  private mutating func withdraw(
    _ key: DeviceKey, as withdrawal: WaitingPush.Withdrawal, in step: Step<DispatcherStage>,
    where matches: (WaitingPush) -> Bool
  ) throws -> [WaitingPush] {
    let queue = LaneQueue(key: key, step: step)
    guard var first = try queue.first() else { return [] }
    // After a crash too the front may still be in the air, for what anybody knows, until its time is up.
    if first.inAir, matches(first), first.withdrawn == nil {
      first.withdrawn = withdrawal
      try queue.replaceFirst(first)
    }
    let removed = try queue.remove(from: first.inAir ? 1 : 0, where: matches)
    for var item in removed {
      item.withdrawn = withdrawal
      try emitOutcome(item, .cancelled, in: step)
      if places[key] != .inFlight { places[key] = .due(at: 0) }
    }
    return removed
  }

  /// The lane is full: the oldest badge or read push ends as `cancelled`, else the oldest push as `gave_up`.
  private mutating func makeRoom(in queue: LaneQueue) throws {
    let start = try queue.first()?.inAir == true ? 1 : 0
    let items = try queue.all().dropFirst(start)
    guard items.count + start >= rules.maxLaneLength, let oldest = items.first else { return }
    let victim = items.first { $0.isQuiet } ?? oldest
    for var item in try queue.remove(from: start, where: { $0.cause == victim.cause }) {
      item.errorCode = "lane_full"
      try emitOutcome(item, victim.isQuiet ? .cancelled : .gaveUp, in: queue.step)
      if places[queue.key] != .inFlight { places[queue.key] = .due(at: 0) }
    }
  }

  // MARK: Pauses

  /// Whether a device's scope is paused and no try is due. A scope that is not paused any more blocks nothing.
  private func blockingScope(_ target: PushTarget, now: Milliseconds) -> PauseScope? {
    PauseScope.of(target).first { scope in
      guard let pause = pauses[scope] else { return false }
      return pause.probe != nil || pause.probeAt > now
    }
  }

  /// Sends the next in line, if a try is due.
  private mutating func probe(_ scope: PauseScope, in step: Step<DispatcherStage>) throws {
    while let pause = pauses[scope], pause.probe == nil, pause.probeAt <= step.now,
      let key = parked[scope]?.popFirst()
    {
      guard places[key] == .parked(scope) else { continue }
      places[key] = .due(at: 0)
      try advance(key, in: step)
    }
  }

  /// Learns from an answer whether a project or platform works: pauses, goes on pausing, or lets go.
  private mutating func settlePauses(
    after reply: SendReply, of flight: Flight, target: PushTarget, in step: Step<DispatcherStage>
  ) throws {
    let project = PauseScope(projectId: target.projectId)
    let platform = PauseScope(projectId: target.projectId, platform: target.platform)
    switch reply.answer.verdict {
    case .projectRefused: pause(project, .refused, reply, step.now)
    case .platformRefused:
      // Google took our credentials: the project works.
      release(project, after: reply)
      pause(platform, .refused, reply, step.now)
    case .quotaExceeded(.project): pause(project, .quota, reply, step.now)
    case .sent, .invalidToken, .senderMismatch:
      release(project, after: reply)
      release(platform, after: reply)
    case .rejected, .quotaExceeded(.device):
      // FCM looked at the request itself; nothing is known of the platform's key.
      release(project, after: reply)
    case .serverFailed, .unreachable: break
    }
    // Whatever is still paused after this try is tried again later; a breaker's trial goes on at once after a good answer,
    // where there are other tokens to try.
    for scope in flight.probes where pauses[scope]?.probe == reply.id {
      pauses[scope]?.probe = nil
      if let pause = pauses[scope], pause.probeAt <= step.now {
        if pause.tokenTrial != nil, reply.answer.isSent, parked[scope].map({ !$0.isEmpty }) ?? false {
          pauses[scope]?.interval = 2 * rules.firstProbeAfter
        } else {
          pauses[scope]?.probeAt = step.now + pause.interval
          pauses[scope]?.interval = min(pause.interval * 2, rules.longestProbeInterval)
        }
      }
    }
    for scope in flight.probes { try probe(scope, in: step) }
  }

  /// Begins or prolongs a pause.
  private mutating func pause(_ scope: PauseScope, _ reason: Pause.Reason, _ reply: SendReply, _ now: Milliseconds) {
    let answer = reply.answer
    let wait =
      reason == .quota
      ? Backoff.quota.wait(after: 1, retryAfter: answer.retryAfter, jitter: 0)
      : max(rules.firstProbeAfter, answer.retryAfter ?? 0)
    guard var pause = pauses[scope] else {
      // A refusal of what was sent before the request that ended the last pause is older than that one's answer. A quota
      // says how long to wait from now on.
      if reason != .quota, let last = releasedBy[scope], reply.id < last { return }
      pauses[scope] = Pause(
        reason: reason, errorCode: answer.errorCode, since: now, probeAt: now + wait,
        interval: min(2 * wait, max(wait, rules.longestProbeInterval)), firstTelling: nextSend)
      return
    }
    pause.errorCode = answer.errorCode
    // What was in the air when the pause began tells nothing new; a try that failed, or a quota, does.
    if reason == .quota {
      pause.reason = reason
      pause.probeAt = max(pause.probeAt, now + wait)
      pause.firstTelling = nextSend
    } else if reply.id >= pause.firstTelling {
      pause.reason = reason
      let next = max(pause.interval, answer.retryAfter ?? 0)
      pause.probeAt = max(pause.probeAt, now + next)
      pause.interval = min(pause.interval * 2, max(next, rules.longestProbeInterval))
      pause.firstTelling = nextSend
    }
    pauses[scope] = pause
  }

  /// The scope works, as the answer to a request sent after its pause began has shown: what was parked goes on, as far as
  /// there is room in the air. An open breaker over tokens stays open until its trial is passed.
  private mutating func release(_ scope: PauseScope, after reply: SendReply) {
    guard let pause = pauses[scope], reply.id >= pause.firstTelling else { return }
    if let trial = pause.tokenTrial {
      guard trial.result(of: rules.tokenTrialLength, ratio: rules.invalidTokenRatio) == .passed else {
        pauses[scope]?.reason = .invalidTokens
        return
      }
    }
    pauses[scope] = nil
    releasedBy[scope] = reply.id
    tokenVerdicts[scope] = nil
    guard var waiting = parked.removeValue(forKey: scope) else { return }
    while let key = waiting.popFirst() {
      guard places[key] == .parked(scope) else { continue }
      places[key] = .ready
      ready.append(key)
    }
  }

  /// Keeps the breaker over invalid tokens; true: it is open, and this answer is not to be believed.
  private mutating func judgeTokens(_ reply: SendReply, of target: PushTarget, now: Milliseconds) -> Bool {
    guard reply.answer.saysOfToken else { return false }
    let isInvalid = !reply.answer.isSent
    let scope = PauseScope(projectId: target.projectId)
    if var pause = pauses[scope], var trial = pause.tokenTrial {
      // What was in the air when it tripped is not believed either, and decides nothing.
      guard reply.id >= pause.firstTelling else { return isInvalid }
      if isInvalid { trial.invalid += 1 } else { trial.good += 1 }
      pause.tokenTrial = trial
      if trial.result(of: rules.tokenTrialLength, ratio: rules.invalidTokenRatio) == .failed {
        pause.tokenTrial = TokenTrial()
        pause.probeAt = max(pause.probeAt, now + pause.interval)
        pause.interval = min(pause.interval * 2, rules.longestProbeInterval)
      }
      pauses[scope] = pause
      return isInvalid
    }
    tokenVerdicts[scope, default: TokenVerdicts(window: rules.invalidTokenWindow)].record(invalid: isInvalid)
    guard isInvalid, let verdicts = tokenVerdicts[scope], verdicts.isFull,
      Double(verdicts.invalid) >= rules.invalidTokenRatio * Double(verdicts.window)
    else { return false }
    var pause =
      pauses[scope]
      ?? Pause(
        reason: .invalidTokens, since: now, probeAt: now + rules.firstProbeAfter, interval: 2 * rules.firstProbeAfter,
        firstTelling: nextSend)
    pause.tokenTrial = TokenTrial()
    pause.firstTelling = nextSend
    pauses[scope] = pause
    return true
  }

  // MARK: Endings

  /// The front ends: out of the lane, and its outcome.
  private mutating func finish(
    _ item: WaitingPush, _ result: OutcomeResult, fcmName: String? = nil, _ queue: LaneQueue
  ) throws {
    try queue.removeFirst()
    try emitOutcome(item, result, fcmName: fcmName, in: queue.step)
  }

  /// One push and device, one outcome (P8). Its event id is a function of both: a checker sees a second one at once.
  private mutating func emitOutcome(
    _ item: WaitingPush, _ result: OutcomeResult, fcmName: String? = nil, in step: Step<DispatcherStage>
  ) throws {
    count(item, by: -1)
    if waiting == 0 { waitingBytes = 0 }
    let body = OutcomeBody(
      pushId: item.push.pushId, userId: item.push.userId, deviceId: item.target.deviceId,
      tokenHash: rules.hash(item.target.token), result: result, httpStatus: item.httpStatus,
      errorCode: item.withdrawn == .superseded && result == .cancelled ? "superseded" : item.errorCode,
      fcmName: fcmName, attempts: item.attempts, firstAttemptAt: item.firstAttemptAt, finishedAt: step.now)
    let outcome = Outcome(
      Envelope(eventId: eventId(of: item, for: "outcome"), occurredAt: item.occurredAt), origin: item.origin,
      source: item.source, body)
    try step.emit(bytes: codec.encode(outcome), to: .outcomes, key: item.push.userId, headers: headers(of: item))
  }

  /// What can never be sent as it was built goes to the dead letters as well, so that somebody sees it: the push with the
  /// one device it failed on. Its own record, of which that is made, is where the headers say.
  private func emitDeadLetter(_ item: WaitingPush, in step: Step<DispatcherStage>) throws {
    var push = item.push
    push.targets = [item.target]
    let code = item.errorCode ?? "UNKNOWN"
    let reason =
      item.httpStatus.map { "FCM answered \($0) \(code)" }
      ?? "the payload is too large for FCM, however much of the text is cut"
    try step.emit(
      PushEvent(
        Envelope(eventId: eventId(of: item, for: "rejected"), occurredAt: item.occurredAt), origin: item.cause,
        source: item.source, .push(push)),
      to: .deadLetters, key: item.push.userId,
      headers: headers(of: item) + [
        RecordHeaderField(RecordHeader.errorCode, DeadLetterCode.fcmRejected.rawValue),
        RecordHeaderField(RecordHeader.errorMessage, reason),
        RecordHeaderField(RecordHeader.errorStage, DispatcherStage.definition.name),
        RecordHeaderField(RecordHeader.originTopic, item.origin.topic),
        RecordHeaderField(RecordHeader.originPartition, String(item.origin.partition)),
        RecordHeaderField(RecordHeader.originOffset, String(item.origin.offset)),
        // The record's own timestamp is not kept; it was written when the push was decided.
        RecordHeaderField(RecordHeader.originTimestamp, String(item.push.decidedAt)),
      ])
  }

  /// Tells the analyzer that the token is gone; it looks whether the device was registered again since (T3).
  private func announceInvalid(_ item: WaitingPush, code: String, in step: Step<DispatcherStage>) throws {
    let body = TimelineEventBody.deviceInvalidated(
      DeviceInvalidated(
        userId: item.push.userId, deviceId: item.target.deviceId, tokenHash: rules.hash(item.target.token),
        version: item.target.version, code: code))
    let event = TimelineEvent(
      Envelope(eventId: eventId(of: item, for: "invalidated"), occurredAt: step.now), origin: item.origin,
      source: item.source, body)
    try step.emit(bytes: codec.encode(event), to: .timeline, key: item.push.userId, headers: headers(of: item))
  }

  private func eventId(of item: WaitingPush, for purpose: String) -> String {
    rules.hash([purpose, item.push.userId, item.target.deviceId, item.push.pushId].joined(separator: "\u{1}"))
  }

  /// The headers of the push, which may have come long ago.
  private func headers(of item: WaitingPush) -> [RecordHeaderField] {
    // The step adds those of the record at hand itself.
    if item.origin.position == recordAtHand { return [] }
    var headers: [RecordHeaderField] = []
    if let value = item.traceparent { headers.append(RecordHeaderField(RecordHeader.traceparent, value)) }
    if let value = item.replayId { headers.append(RecordHeaderField(RecordHeader.replayId, value)) }
    return headers
  }

  /// The earliest time anything is to be looked at.
  private func askForWake(in step: Step<DispatcherStage>) {
    if let time = due.first { step.wake(at: time) }
    for (scope, pause) in pauses where pause.probe == nil {
      if let waiting = parked[scope], !waiting.isEmpty { step.wake(at: pause.probeAt) }
    }
  }
}

import NudgeCodec
import NudgeSchema
import StreamRuntime

/// The lanes of one task. Each entry point records an event of a lane; then `settle` sends what may be sent.
///
/// The rows are authoritative: memory is rebuilt from them. Breakers are not stored, because the next answers open them again.
struct TaskLanes {
  private typealias LaneID = LaneSchedule.LaneID

  private let rules: DispatcherRules
  private let events: DispatcherEvents
  private var schedule = LaneSchedule()
  private var breakers: CircuitBreakers
  /// The number of the last recovery that was applied.
  private var recoveries = 0
  private var flights: Flights
  private var nextRequest: UInt64
  private let lease: SendLease
  private var loader = LaneLoader()
  private var lastCheck: LastCheck
  private var oldestSince: Milliseconds?
  private var oldestReadAt: Milliseconds = 0
  /// How often a lane's rows were read.
  private var laneReads = 0

  /// Requests are numbered from `firstRequest`, and leave only while `lease` is valid.
  init(rules: DispatcherRules, codec: RecordCodec, firstRequest: UInt64, lease: SendLease) {
    self.rules = rules
    events = DispatcherEvents(codec: codec, hash: rules.hash)
    breakers = CircuitBreakers(rules: rules)
    lastCheck = LastCheck(rules: rules)
    nextRequest = firstRequest
    self.lease = lease
    flights = Flights(limit: rules.maxInFlight)
  }

  /// The number of pushes in the lanes.
  var waiting: Int { schedule.pushes }
  /// Their approximate bytes.
  var waitingBytes: Int { schedule.bytes }

  mutating func statistics(now: Milliseconds) -> LaneStatistics {
    if now - oldestReadAt >= 5_000 || now < oldestReadAt {
      oldestReadAt = now
      oldestSince = schedule.oldestSince
    }
    var statistics = LaneStatistics(of: schedule, inFlight: flights.count, laneReads: laneReads)
    statistics.oldestSince = schedule.count == 0 ? nil : oldestSince
    breakers.count(in: &statistics)
    return statistics
  }

  // MARK: Entry points

  /// The task begins: loads its lanes, one page of rows per step. A request that may be in flight is repeated only when its answer can no
  /// longer come.
  mutating func open(_ context: LaneContext, _ limits: inout SendLimits) throws {
    recoveries = limits.recoveries.count
    load(try loader.nextPage(context.step, limit: rules.lanesPerStep), context)
    try settle(context, &limits)
  }

  /// Adds a push for one device to its lane.
  mutating func accept(_ item: WaitingPush, _ context: LaneContext, _ limits: inout SendLimits) throws {
    let step = context.step
    let key = DeviceKey(userId: item.push.userId, deviceId: item.target.deviceId)
    var device = try step.deviceRow(key)
    if device.hasTaken(item.cause) { return }
    device.take(item.cause, item.target)
    device.recordSign(by: item.target, rules)
    try step.set(DispatcherRow(.device(device)), for: key.device)
    // After a loss of state it is unknown whether an older push was sent. Only its repeats can be recognised.
    if step.isRebuilding { return }
    if let refusal = Destination(of: item, rules).refusal(of: item, rules) {
      var item = item
      item.errorCode = refusal.errorCode
      return try events.emitOutcome(item, refusal.result, context)
    }

    let queue = LaneQueue(key: key, step: step)
    var item = item
    item.target.seenAt = nil
    (item.notBefore, item.target.notBefore) = (item.target.notBefore ?? 0, nil)
    if let row = try queue.row() {
      try WaitingChanges.followRegistration(of: item, row.items.first, in: queue)
      let id = schedule.id(of: key) ?? load(row, key, context)
      if item.isQuiet {
        try end(Withdrawals.withdraw(from: queue, as: .superseded) { item.supersedes($0) }, .cancelled, id, context)
      } else if item.push.replaces == true {
        let former = try Withdrawals.withdraw(from: queue, as: .superseded) { item.supersedes($0) }
        try end(former, .cancelled, id, context)
        if let former = former.removed.last { item.appear(as: former) }
      }
      if item.notBefore == 0, !item.isQuiet, try Withdrawals.endAnswerWaits(of: row, in: queue) { schedule.setIdle(id) }
      if row.count >= rules.maxLaneLength {
        let full = try Withdrawals.makeRoom(in: queue, limit: rules.maxLaneLength)
        try end(full, full.removed.first?.isQuiet == true ? .cancelled : .gaveUp, id, context)
      }
    }
    try queue.append(item)
    let id = schedule.id(of: key) ?? schedule.add(key, since: item.push.decidedAt)
    schedule.count(id, pushes: 1, bytes: item.approximateBytes)
    try advance(id, isNext: false, context, &limits)
    try settle(context, &limits)
  }

  /// Ends the pushes that a `push.cancelled` names. A push in flight ends with its answer.
  mutating func cancel(
    _ cancelled: PushCancelled, cause: Origin, _ context: LaneContext, _ limits: inout SendLimits
  ) throws {
    let step = context.step
    if let deviceId = cancelled.deviceId, let tokenHash = cancelled.tokenHash, let version = cancelled.version {
      let key = DeviceKey(userId: cancelled.userId, deviceId: deviceId)
      var device = try step.deviceRow(key)
      device.revoked = .init(tokenHash: tokenHash, version: version)
      try step.set(DispatcherRow(.device(device)), for: key.device)
    }
    load(try loader.lanes(of: cancelled.userId, step), context)
    for id in schedule.lanes(of: cancelled.userId) {
      let queue = LaneQueue(key: schedule.key(id), step: step)
      if Withdrawals.endsPushes(cancelled), Withdrawals.matches(cancelled.deviceId, queue.key.deviceId) {
        let named = try Withdrawals.withdraw(from: queue, as: .cancelled, Withdrawals.errorCode(of: cancelled)) {
          Withdrawals.names(cancelled, cause: cause, $0)
        }
        try end(named, .cancelled, id, context)
      }
      try WaitingChanges(cancelled).apply(to: queue, cause: cause)
      try advance(id, isNext: false, context, &limits)
    }
    try settle(context, &limits)
  }

  /// Processes a service's answer to a request.
  mutating func receive(_ reply: SendReply, _ context: LaneContext, _ limits: inout SendLimits) throws {
    // An unknown id belongs to an earlier epoch. The runtime keeps that answer until the lane requests the same push again.
    if let flight = flights.end(reply.id) { try receive(reply, of: flight, context, &limits) }
    try settle(context, &limits)
  }

  private mutating func receive(
    _ reply: SendReply, of flight: Flight, _ context: LaneContext, _ limits: inout SendLimits
  ) throws {
    let queue = LaneQueue(key: schedule.key(flight.lane), step: context.step)
    guard var item = try queue.first() else { return }
    item.attempts = max(0, item.attempts - 1 + reply.requests)
    item.firstAttemptAt = item.attempts == 0 ? nil : item.firstAttemptAt ?? reply.startedAt
    item.inAir = false
    if reply.answer.verdict != .notSent {
      item.httpStatus = reply.answer.httpStatus
      item.errorCode = reply.answer.errorCode
    }
    schedule.setIdle(flight.lane)

    let isDoubted = learn(from: reply, of: flight, context, &limits)
    let now = context.now
    // A verdict on the device's former token says nothing about its present one.
    let isOfFormerToken = reply.answer.isAboutToken && flight.target.address != item.target.address
    let decision = RetryPolicy.decide(
      item, after: reply, isDoubted: isDoubted || isOfFormerToken, now: now, rules: rules)
    if case .end = decision { item.target = flight.target }
    switch decision {
    case .end(let result):
      try finish(item, result, fcmName: reply.answer.name, flight.lane, queue, context)
      if case .invalidToken = result {
        try events.emitInvalidated(item, code: reply.answer.errorCode ?? "INVALID_TOKEN", context)
      } else if case .quarantined = result {
        // Without a row the person was erased meanwhile.
        if case .device(var device)? = try context.step.row(queue.key.device)?.content {
          device.quarantined = .init(tokenHash: rules.hash(item.target.address), version: item.target.version)
          try context.step.set(DispatcherRow(.device(device)), for: queue.key.device)
        }
      } else if case .rejected = result {
        try events.emitDeadLetter(item, context)
      }
    case .endWithdrawn:
      try finish(item, .cancelled, flight.lane, queue, context)
      try Withdrawals.passAppearance(of: item, in: queue)
    case .sendAgain(let wait, let failingSince):
      item.failingSince = failingSince
      item.notBefore = now + wait
      try queue.replaceFirst(item)
      let scope = DeliveryScope(of: item, rules)
      if wait > 0 { schedule.wait(flight.lane, in: scope, after: wait, reply, now: context.steadyNow) }
    }
    try advance(flight.lane, isNext: false, context, &limits)
  }

  /// Updates breakers, quota and window after an answer. Returns whether the answer is not believed.
  private mutating func learn(
    from reply: SendReply, of flight: Flight, _ context: LaneContext, _ limits: inout SendLimits
  ) -> Bool {
    let scope = flight.scope
    if case .notSent = reply.answer.verdict {
      breakers.cancelled(reply.id, probing: flight.probes)
      flights.shrink(scope.destination, now: context.steadyNow)
      return false
    }
    flights.grow(scope.destination)
    if case .quotaExceeded(.project) = reply.answer.verdict {
      limits.quotas.halve(scope.destination, at: context.steadyNow)
    }
    let judgesAgain = limits.failing.learn(from: reply, of: scope, now: context.steadyNow)
    if judgesAgain { limits.recoveries.record(scope.project, .judges) }
    let queued = schedule
    let isDoubted = breakers.record(
      reply, to: scope, probing: flight.probes, nextRequest: nextRequest, now: context.steadyNow,
      hasQueued: { queued.hasQueued($0) })
    for scope in breakers.takeClosed() { limits.recoveries.record(scope, .takes) }
    return isDoubted
  }

  /// Reverts a request that was not made. Its push waits as before, for the task's next owner. No other request takes its place.
  mutating func effectCancelled(_ request: SendRequest, _ context: LaneContext) throws {
    guard let flight = flights.end(request.id) else { return }
    breakers.cancelled(request.id, probing: flight.probes)
    let queue = LaneQueue(key: schedule.key(flight.lane), step: context.step)
    schedule.setIdle(flight.lane)
    guard var item = try queue.first() else { return }
    item.attempts = max(0, item.attempts - 1)
    if item.attempts == 0 { item.firstAttemptAt = nil }
    item.inAir = false
    item.notBefore = 0
    try queue.replaceFirst(item)
    enqueue(flight.lane, item, context)
  }

  /// The answer to a request of a former epoch is here, and ends its push. The lane asks for the request again at once, and gets the answer.
  mutating func replyIsHere(to effect: EffectTicket, _ context: LaneContext, _ limits: inout SendLimits) throws {
    guard let place = WaitingPush.EffectKey(effect.effect) else { return }
    load(try loader.lanes(of: place.userId, context.step), context)
    let queue = LaneQueue(key: place.device, step: context.step)
    if let id = schedule.id(of: queue.key), !schedule.isInFlight(id), try queue.endWait(forReplyTo: effect) {
      schedule.setIdle(id)
      try advance(id, isNext: false, context, &limits)
    }
    try settle(context, &limits)
  }

  /// The time asked for has come.
  mutating func wake(_ context: LaneContext, _ limits: inout SendLimits) throws {
    load(try loader.nextPage(context.step, limit: rules.lanesPerStep), context)
    try settle(context, &limits)
  }

  // MARK: Sending

  /// Checks the lanes that are due or next in a queue, at most `lanesPerStep` of them, and asks to be woken for the rest.
  private mutating func settle(_ context: LaneContext, _ limits: inout SendLimits) throws {
    limits.recoveries.apply(
      since: recoveries, to: &schedule, &breakers, nextRequest: nextRequest, now: context.steadyNow)
    recoveries = limits.recoveries.count
    limits.failing.tryDue(in: &schedule, now: context.steadyNow)
    var budget = rules.lanesPerStep
    while true {
      let action = schedule.next(
        now: context.steadyNow, hasRoom: { [flights] in flights.hasRoom($0.destination) }, breakers: breakers,
        quotas: limits.quotas, hasEffects: { context.hasRoom(for: $0) }, budget: &budget)
      switch action {
      case .check(let id): try advance(id, isNext: false, context, &limits)
      case .send(let id): try advance(id, isNext: true, context, &limits)
      case .wait(let time):
        if !loader.isDone { return context.step.wake(after: 0) }
        let check = limits.nextCheck(
          hasRetries: schedule.retries > 0, hasBreakers: breakers.areOpen, now: context.steadyNow)
        if let time = [time, check].compactMap({ $0 }).min() {
          context.step.wake(after: max(0, time - context.steadyNow))
        }
        return
      }
    }
  }

  /// Advances a lane as far as possible: ends pushes that may no longer be sent, then sends the front or queues it. `isNext` says whether
  /// the lane is the next in its scope's queue.
  private mutating func advance(
    _ id: LaneID, isNext: Bool, _ context: LaneContext, _ limits: inout SendLimits
  ) throws {
    let (step, now) = (context.step, context.steadyNow)
    if schedule.isWaiting(id, now: now) { return }
    laneReads += 1
    let queue = LaneQueue(key: schedule.key(id), step: step)
    var isNext = isNext
    while let item = try queue.first() {
      schedule.setSince(id, item.push.decidedAt)
      if let ending = lastCheck.ending(of: item, try step.deviceRow(queue.key), now: step.now) {
        var item = item
        if let code = ending.errorCode { item.errorCode = code }
        try finish(item, ending.result, id, queue, context)
        // The next push may belong to another scope.
        schedule.setIdle(id)
        isNext = false
        continue
      }
      if let wait = item.answerWait(at: step.now) { return schedule.wait(id, until: now + wait) }
      let scope = DeliveryScope(of: item, rules)
      guard flights.hasRoom(scope.destination), isNext || !schedule.hasQueued(scope),
        breakers.gate(scope, now: now) == .open,
        limits.quotas.wait(scope.destination, at: now) == nil, context.hasRoom(for: scope)
      else { return enqueue(id, item, context) }
      if scope.destination.isFCM, item.target.platform == .android, let wait = limits.devices.take(queue.key, at: now) {
        return schedule.wait(id, until: now + min(wait, item.push.expiresAt + 1 - step.now))
      }
      if try send(item, id, scope, queue, context, &limits) { return }
    }
    schedule.remove(id)
  }

  /// Adds the lane to the queue of the front's scope. When freshness ends, the push is checked even if its turn has not come.
  private mutating func enqueue(_ id: LaneID, _ item: WaitingPush, _ context: LaneContext) {
    schedule.enqueue(
      id, in: DeliveryScope(of: item, rules), now: context.steadyNow,
      checkAt: context.steadyNow + (item.push.expiresAt + 1 - context.now))
  }

  /// Requests to send the front. Returns false if the push can never be sent and has ended.
  private mutating func send(
    _ item: WaitingPush, _ id: LaneID, _ scope: DeliveryScope, _ queue: LaneQueue, _ context: LaneContext,
    _ limits: inout SendLimits
  ) throws -> Bool {
    var item = item
    let step = context.step
    try item.countAsUnconfirmed(queue.key, step, rules)
    guard let body = scope.destination.body(for: item, rules) else {
      item.errorCode = DispatcherRules.payloadTooLarge
      try finish(item, .rejected, id, queue, context)
      try events.emitDeadLetter(item, context)
      return false
    }
    // An open breaker does not count against the time budget.
    if item.failingSince != nil, breakers.wereOpen(scope, since: schedule.queuedSince(id) ?? context.steadyNow) {
      item.failingSince = nil
    }
    item.attempts += 1
    item.firstAttemptAt = item.firstAttemptAt ?? step.now
    item.notBefore = step.now + rules.unansweredAfter
    item.inAir = true
    try queue.replaceFirst(item)
    let request = nextRequest
    nextRequest += 1
    let probes = breakers.sent(request, to: scope)
    flights.begin(request, Flight(lane: id, scope: scope, target: item.target, probes: probes))
    schedule.setInFlight(id)
    limits.quotas.take(scope.destination, at: context.steadyNow)
    step.perform(
      SendRequest(
        id: request, destination: scope.destination,
        subject: .init(
          userId: item.push.userId, deviceId: item.target.deviceId, pushId: item.push.pushId, attempt: item.attempts),
        token: item.target.address, body: body, leaveBy: context.steadyNow + rules.leaveWithin, lease: lease,
        messageAt: item.push.kind == .message && item.replayId == nil ? item.occurredAt : nil,
        priority: item.push.priority, traceparent: item.traceparent,
        ticket: EffectTicket(item.effectKey, attempt: item.attempts),
        webPush: WebPushDelivery(item, rules, now: step.now), sealed: SealedData(item, rules, in: body)))
    return true
  }

  // MARK: Lanes and their rows

  private mutating func load(_ found: [LaneLoader.Found], _ context: LaneContext) {
    for (key, row) in found where schedule.id(of: key) == nil { load(row, key, context) }
  }

  /// Loads a lane from its row. Its overflow rows are not read: their pushes are counted, and their bytes estimated.
  @discardableResult
  private mutating func load(_ row: LaneRow, _ key: DeviceKey, _ context: LaneContext) -> LaneID {
    let id = schedule.add(key, since: row.items.first?.push.decidedAt ?? context.now)
    schedule.count(id, pushes: row.count, bytes: row.approximateBytes)
    guard let first = row.items.first else { return id }
    if first.notBefore > context.now {
      let until = context.steadyNow + min(first.notBefore - context.now, rules.longestStoredWait)
      schedule.wait(id, first, in: DeliveryScope(of: first, rules), until: until, now: context.steadyNow)
    } else {
      enqueue(id, first, context)
    }
    return id
  }

  /// Removes the front from its lane and emits its outcome.
  private mutating func finish(
    _ item: WaitingPush, _ result: OutcomeResult, fcmName: String? = nil, _ id: LaneID, _ queue: LaneQueue,
    _ context: LaneContext
  ) throws {
    try queue.removeFirst()
    schedule.count(id, pushes: -1, bytes: -item.approximateBytes)
    try events.emitOutcome(item, result, fcmName: fcmName, context)
  }

  /// Emits the outcomes of pushes that a withdrawal removed.
  private mutating func end(
    _ withdrawal: Withdrawals.Result, _ result: OutcomeResult, _ id: LaneID, _ context: LaneContext
  ) throws {
    for item in withdrawal.removed {
      schedule.count(id, pushes: -1, bytes: -item.approximateBytes)
      try events.emitOutcome(item, result, context)
    }
    if withdrawal.hasNewFront, !schedule.isInFlight(id) { schedule.setIdle(id) }
  }
}

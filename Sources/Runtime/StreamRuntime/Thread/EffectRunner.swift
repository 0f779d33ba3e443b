import NudgeSchema
import Synchronization

/// Hands the effects of a thread's tasks to the performer while ownership is proven, and runs their replies as steps.
///
/// A task may be lost and returned while requests are in flight. `OutlivingEffects` keeps their replies: when the task requests the same
/// effect again, it gets that reply, and the effect is not performed a second time. The task's effects wait until the task has read as far
/// as before: a record that it reads again may withdraw them, or may have effects whose requests were already sent.
final class EffectRunner<S: Stage, IO: StreamIO> {
  private struct Flight {
    var task: Int32
    var epoch: Int
    var effect: S.Effect
    /// The earlier request for this effect, if an earlier epoch of the task sent one.
    var sent: EffectTicket?
  }

  /// Effects of lost tasks, to be written for the tasks' next owners.
  private var handovers: [(task: Int32, known: HandedOver<S.Reply>)] = []
  /// When handing over may be tried again, by the steady clock.
  private var handOverAt: Milliseconds = .min
  private static var handOverRetry: Milliseconds { 250 }
  /// The most records of one attempt.
  private static var handOverBatch: Int { 1000 }
  /// The flights that wait for a former owner's handover, and the time until which they wait.
  private var awaited: [Int: Milliseconds] = [:]

  private let context: StreamContext<IO>
  private let tasks: TaskManager<S, IO>
  private let performer: (any EffectPerformer<S.Effect, S.Reply>)?
  private let replies: ReplyQueue<S.Reply>
  /// Replies for running tasks that wait for room in a transaction.
  private var heldReplies: [ReplyQueue<S.Reply>.Entry] = []
  private let outliving: OutlivingEffects<S.Reply>
  /// The flights, by the number of their request.
  private var flights: [Int: Flight] = [:]
  private var lastRequest = 0
  /// Whether the stage has effects.
  let isEnabled = S.Effect.self != Never.self

  init(
    _ context: StreamContext<IO>, _ tasks: TaskManager<S, IO>,
    performer: (any EffectPerformer<S.Effect, S.Reply>)?, outliving: OutlivingEffects<S.Reply>,
    wake: @escaping @Sendable () -> Void
  ) {
    self.context = context
    self.tasks = tasks
    self.performer = performer
    self.outliving = outliving
    replies = ReplyQueue(wake: wake)
  }

  /// The number of effects that wait or are in flight, of all tasks.
  var count: Int {
    assert(
      tasks.effectBudget.total == tasks.all.reduce(0) { $0 + $1.waitingEffects.count + $1.effectsInFlight },
      "an effect was not returned to its group")
    return tasks.effectBudget.total
  }

  /// Whether replies are outstanding.
  var hasInFlight: Bool { isEnabled && tasks.all.contains { $0.effectsInFlight > 0 } }

  /// Processes the replies that have come. The caller has checked that replies may be taken.
  func takeReplies() throws {
    guard isEnabled else { return }
    takeLateReplies()
    endWaits()
    guard !heldReplies.isEmpty else { return }
    let entries = heldReplies
    heldReplies.removeAll(keepingCapacity: true)
    let now = context.io.wallClock
    for (index, entry) in entries.enumerated() {
      guard let flight = flights.removeValue(forKey: entry.request), let task = tasks[flight.task] else { continue }
      awaited[entry.request] = nil
      let known = known(of: flight, entry.reply)
      task.effectsInFlight -= 1
      var reply = entry.reply
      if let sent = flight.sent {
        guard let adopted = S.reply(reply, to: sent, asReplyTo: flight.effect) else {
          // The earlier request has decided nothing, so the effect is performed after all.
          task.waitingEffects.append(flight.effect)
          continue
        }
        reply = adopted
      }
      tasks.effectBudget.remove(S.group(of: flight.effect))
      do {
        try tasks.run(task, record: nil, now: now) { try $0.receive(reply, in: $1) }
      } catch {
        // The thread is about to end. The other replies are kept for its last commit.
        heldReplies = Array(entries[(index + 1)...])
        throw error
      }
      guard let known else { continue }
      task.handovers.remove(known.ticket.effect, decides: known.decides)
      // Kept until the step is committed: if the task is lost before that, its next epoch requests the effect again.
      if task.isDirty { task.openReplies.append(known) }
    }
  }

  /// Keeps and hands over replies for tasks that are given up, even while a full transaction holds the other replies back.
  func takeLateReplies() {
    let entries = heldReplies + replies.takeAll()
    heldReplies.removeAll(keepingCapacity: true)
    for entry in entries {
      guard let flight = flights[entry.request] else { continue }
      if let task = tasks[flight.task], task.epoch == flight.epoch {
        heldReplies.append(entry)
      } else {
        flights[entry.request] = nil
        awaited[entry.request] = nil
        guard let known = known(of: flight, entry.reply) else { continue }
        keep(known, of: flight.task)
        if tasks[flight.task] == nil { hand(over: [(flight.task, known)]) }
      }
    }
  }

  /// A reply and the request that it answers. Absent if the effect has no ticket.
  private func known(of flight: Flight, _ reply: S.Reply) -> HandedOver<S.Reply>? {
    guard let ticket = flight.sent ?? S.ticket(for: flight.effect) else { return nil }
    return HandedOver(
      ticket, reply: reply, decides: S.reply(reply, to: ticket, asReplyTo: flight.effect) != nil)
  }

  /// Lets returned tasks go on once they have read as far as before. The stage gets their effects back, is woken, and requests those that
  /// still apply. After `catchUpPatience` a task goes on in any case.
  func catchUp() throws {
    guard isEnabled else { return }
    let places = outliving.places
    guard !places.isEmpty else { return }
    let (now, steady) = (context.io.wallClock, context.io.steadyClock)
    for task in tasks.all where task.rebuild == nil {
      guard let place = places[task.number] else { continue }
      let since = task.catchingUpSince ?? steady
      task.catchingUpSince = since
      let isBehind = place.contains { task.next[$0.key] ?? 0 < $0.value }
      if isBehind, steady - since < context.limits.catchUpPatience { continue }
      outliving.forgetPlace(of: task.number)
      try giveBackWaiting(of: task, now: now)
      try tasks.run(task, record: nil, now: now) { try $0.wake(in: $1) }
    }
  }

  private func giveBackWaiting(of task: StreamTask<S, IO.Store>, now: Milliseconds) throws {
    let effects = task.waitingEffects
    task.waitingEffects.removeAll()
    for effect in effects { tasks.effectBudget.remove(S.group(of: effect)) }
    for effect in effects { try tasks.run(task, record: nil, now: now) { try $0.effectCancelled(effect, in: $1) } }
  }

  private func keep(_ known: HandedOver<S.Reply>, of task: Int32) {
    guard let reply = known.reply else { return }
    outliving.answered(known.ticket, of: task, with: reply, decides: known.decides, now: context.io.steadyClock)
  }

  /// Hands waiting effects to the performer while this thread can prove that it owns its tasks.
  func perform(_ proof: OwnershipProof) {
    guard isEnabled, let performer else { return }
    guard tasks.all.contains(where: { !$0.waitingEffects.isEmpty }) else { return }
    guard proof.holds(at: context.io.steadyClock) else {
      context.observe(.effectsHeld(count: tasks.all.reduce(0) { $0 + $1.waitingEffects.count }))
      return
    }
    let mayHaveLeft = outliving.count > 0
    let places = outliving.places
    for task in tasks.all where places[task.number] == nil {
      for effect in task.waitingEffects {
        lastRequest += 1
        task.effectsInFlight += 1
        let request = lastRequest
        flights[request] = Flight(task: task.number, epoch: task.epoch, effect: effect)
        if mayHaveLeft, hasLeft(effect, of: task.number, as: request) { continue }
        performer.perform(effect) { [replies] in replies.post(.init(request: request, reply: $0)) }
      }
      task.waitingEffects.removeAll(keepingCapacity: true)
    }
  }

  /// Whether an earlier epoch of the task has sent a request for this effect, so that its reply serves.
  private func hasLeft(_ effect: S.Effect, of task: Int32, as request: Int) -> Bool {
    guard let ticket = S.ticket(for: effect),
      let found = outliving.take(ticket, of: task, replyTo: replies, as: request, now: context.io.steadyClock)
    else { return false }
    if let reply = found.reply {
      guard S.reply(reply, to: found.sent, asReplyTo: effect) != nil else { return false }
      replies.post(.init(request: request, reply: reply))
    }
    flights[request]?.sent = found.sent
    if let until = found.waitsUntil { awaited[request] = until }
    return true
  }

  /// Calls the stage for each effect that is not performed because its task is given up, including effects that a reply has just caused.
  func cancelWaiting() throws {
    guard isEnabled else { return }
    let now = context.io.wallClock
    for task in tasks.all { try giveBackWaiting(of: task, now: now) }
  }

  /// Keeps requests in flight, and replies that are not committed, of tasks that are about to be closed, for the tasks' next epochs here.
  func leave(_ numbers: [Int32]) {
    guard isEnabled else { return }
    let now = context.io.steadyClock
    for (request, flight) in flights
    where numbers.contains(flight.task) && tasks[flight.task]?.epoch == flight.epoch {
      tasks.effectBudget.remove(S.group(of: flight.effect))
      if let ticket = flight.sent ?? S.ticket(for: flight.effect) {
        outliving.leave(ticket, of: flight.task, believedUntil: awaited[request], now: now)
      }
    }
    for task in numbers.compactMap({ tasks[$0] }) {
      for effect in task.waitingEffects { tasks.effectBudget.remove(S.group(of: effect)) }
      for known in task.sealedReplies + task.openReplies { keep(known, of: task.number) }
      outliving.leave(task.number, at: task.next)
    }
    hand(over: outliving.kept(of: numbers))
  }

  // MARK: Handover

  private func hand(over known: [(task: Int32, known: HandedOver<S.Reply>)]) {
    guard S.definition.handsOver else { return }
    handovers += known
    if handovers.count > context.limits.maxOutlivingEffects {
      handovers.removeFirst(handovers.count - context.limits.maxOutlivingEffects)
    }
  }

  /// Writes the handovers for the tasks' next owners. Returns whether none is left.
  func handOver() throws -> Bool {
    takeLateReplies()
    while !handovers.isEmpty, context.io.steadyClock >= handOverAt {
      let batch = handovers.prefix(Self.handOverBatch)
      let now = context.io.wallClock
      let records = try batch.compactMap { task, known in
        try S.handover(of: known, now: now).map { record in
          OutputRecord(
            topic: S.definition.inputs[0], partition: task, key: record.key, value: record.value,
            headers: [RecordHeaderField(RecordHeader.handover, outliving.id)])
        }
      }
      do throws(IOFailure) {
        try context.io.handOver(records)
        handovers.removeFirst(batch.count)
      } catch {
        // Without the right to write, the next owner repeats requests that it does not know of.
        if !error.isRetriable { handovers.removeAll() }
        handOverAt = context.io.steadyClock + Self.handOverRetry
        context.observe(.retrying(reason: error.description))
      }
    }
    return handovers.isEmpty
  }

  /// Whether a former owner of the task hands over an effect with this record.
  func isHandover(_ record: InputRecord) -> Bool { isEnabled && record.header(RecordHeader.handover) != nil }

  /// Takes a former owner's handover, and keeps it until the task has used it and committed that.
  /// - Returns: the effect, where its reply is here and ends it.
  func take(handedOver record: InputRecord, of task: StreamTask<S, IO.Store>) throws -> EffectTicket? {
    let (known, limits) = (try S.handedOver(record), context.limits)
    let isEnded = known.reply != nil && known.decides
    // This process knows more about its own requests. Another process, which may get the task next, does not.
    if record.header(RecordHeader.handover) != Array(outliving.id.utf8) {
      outliving.handedOver(known, of: task.number, patience: limits.handoverPatience, now: context.io.steadyClock)
    }
    let patience = known.reply == nil ? limits.handoverPatience : limits.replyRetention
    task.handovers.add(
      known.ticket.effect, at: record.offset, until: record.timestamp + patience,
      decides: isEnded)
    return isEnded ? known.ticket : nil
  }

  /// Performs effects for whose replies the wait for a former owner's handover is over.
  private func endWaits() {
    guard !awaited.isEmpty else { return }
    let now = context.io.steadyClock
    for (request, until) in awaited where until <= now {
      awaited[request] = nil
      guard let flight = flights.removeValue(forKey: request) else { continue }
      if let sent = flight.sent { outliving.giveUp(sent, of: flight.task) }
      guard let task = tasks[flight.task], task.epoch == flight.epoch else { continue }
      task.effectsInFlight -= 1
      task.waitingEffects.append(flight.effect)
    }
  }
}

/// Replies to effects, posted by any thread for the stream thread that waits for them.
final class ReplyQueue<Reply: Sendable>: Sendable {
  /// A reply and the number of the request it answers.
  struct Entry: Sendable {
    var request: Int
    var reply: Reply
  }

  private let entries = Mutex<[Entry]>([])
  private let wake: @Sendable () -> Void

  /// - Parameter wake: Ends the stream thread's wait in a poll.
  init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

  func post(_ entry: Entry) {
    let wasEmpty = entries.withLock { entries in
      defer { entries.append(entry) }
      return entries.isEmpty
    }
    if wasEmpty { wake() }
  }

  func takeAll() -> [Entry] {
    entries.withLock { entries in
      defer { entries.removeAll(keepingCapacity: true) }
      return entries
    }
  }
}

/// The proof that this thread owns its tasks, without which it may not cause effects outside.
///
/// The proof is a transaction with the group's metadata that the broker has committed: at its start nobody else owned the tasks. It holds
/// for less than half a session time-out from that start, on a clock that runs while the machine sleeps. A stopped process that wakes up
/// has therefore lost it before the group can have given its tasks away.
struct OwnershipProof {
  private var provenAt: Milliseconds?
  private let validity: Milliseconds

  init(sessionTimeout: Milliseconds) { validity = sessionTimeout / 2 }

  /// Takes a committed transaction that began at this time of the steady clock.
  mutating func proven(at start: Milliseconds) { provenAt = max(provenAt ?? start, start) }

  /// Drops the proof, because it is about a former assignment.
  mutating func forget() { provenAt = nil }

  func holds(at now: Milliseconds) -> Bool {
    guard let provenAt else { return false }
    return now - provenAt < validity
  }

  /// Milliseconds since the proof. Absent without a proof.
  func age(at now: Milliseconds) -> Milliseconds? { provenAt.map { now - $0 } }
}

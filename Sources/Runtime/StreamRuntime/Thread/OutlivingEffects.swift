import NudgeSchema
import Synchronization

/// Effects that outlive the assignment of their task: their requests had been sent when the task was given up, and their outcomes are in no
/// committed transaction.
///
/// librdkafka gives partitions up by itself when the broker is away for a session time-out, and often gets the same ones back. The task's
/// state then requests the same effect again. It gets the reply to the first request in place of a second one, whether that reply has come
/// already or comes later. The stream threads of a process share one instance, because a task may return to another thread.
final class OutlivingEffects<Reply: Sendable>: Sendable {
  /// The result of `take`.
  struct Found {
    /// The request that was sent.
    var sent: EffectTicket
    /// The reply. Absent if it has not come yet: it will be posted to the queue given to `take`.
    var reply: Reply?
    /// When the wait for the reply ends, by the steady clock, because a former owner may have died. Absent for this process's own request.
    var waitsUntil: Milliseconds?
  }

  private struct Key: Hashable {
    var task: Int32
    var effect: RowKey
  }

  private struct Waiter {
    var queue: ReplyQueue<Reply>
    var request: Int
  }

  private struct Effect {
    var sent: EffectTicket
    var reply: Reply?
    /// Whether the reply ends the effect, whatever is requested after it.
    var decides = false
    /// When the reply came, by the steady clock. Absent until it comes.
    var answeredAt: Milliseconds?
    /// The flight that gets the reply if the task requests the effect again before the reply comes.
    var waiter: Waiter?
    /// Whether a former owner in another process has handed it over. Tickets of two processes may be equal although their requests differ.
    var isForeign = false
    /// Until when another process's request is taken to be in flight, by the steady clock.
    var believedUntil: Milliseconds?

    /// Whether this replaces what is kept of the effect.
    func replaces(_ kept: Effect) -> Bool {
      if kept.decides || decides { return !kept.decides }
      // The next attempt may be in flight before the reply to the former one is committed. The later attempt counts.
      if kept.sent.attempt != sent.attempt { return kept.sent.attempt < sent.attempt }
      if kept.isForeign == isForeign { return true }
      // Our own request is answered here. A request of another process that is in flight may still be accepted.
      return isForeign ? kept.answeredAt != nil && answeredAt == nil : answeredAt == nil || kept.answeredAt != nil
    }

    /// Whether this is the answer that the flights waiting for `kept` wait for.
    func answers(_ kept: Effect) -> Bool {
      answeredAt != nil && (decides || (kept.sent == sent && kept.isForeign == isForeign))
    }
  }

  private struct State {
    var effects: [Key: Effect] = [:]
    /// The keys in the order in which they were added. Some may be gone from `effects`.
    var order: [Key] = []
    /// How far tasks had read when they were given up, for tasks with kept effects.
    var places: [Int32: [Topic: Int64]] = [:]
  }

  /// The name of this process in its handovers.
  let id = String(UInt64.random(in: .min ... .max), radix: 36)
  private let limit: Int
  private let retention: Milliseconds
  private let state = Mutex(State())

  /// - Parameters:
  ///   - limit: The most effects. Beyond it, the oldest are dropped.
  ///   - retention: How long a reply is kept, in milliseconds by the steady clock.
  init(limit: Int, retention: Milliseconds) {
    self.limit = limit
    self.retention = retention
  }

  /// The number of kept effects.
  var count: Int { state.withLock { $0.effects.count } }

  /// Records how far a task with kept effects had read when it was given up.
  func leave(_ task: Int32, at next: [Topic: Int64]) {
    state.withLock { state in
      guard state.places[task] != nil || state.effects.keys.contains(where: { $0.task == task }) else { return }
      state.places[task, default: [:]].merge(next) { max($0, $1) }
    }
  }

  /// How far each task must read to be where it was when it was given up. A task is missing once it has read as far, or if none of its
  /// effects were kept.
  var places: [Int32: [Topic: Int64]] { state.withLock { $0.places } }

  /// Forgets how far a task must read: it has read as far, or no longer waits for that.
  func forgetPlace(of task: Int32) { state.withLock { $0.places[task] = nil } }

  /// Keeps a request that was in flight when its task was given up.
  /// - Parameter until: Until when another process's request is taken to be in flight. Absent for this process's own.
  func leave(_ ticket: EffectTicket, of task: Int32, believedUntil until: Milliseconds? = nil, now: Milliseconds) {
    add(
      Effect(sent: ticket, isForeign: until != nil, believedUntil: until),
      at: Key(task: task, effect: ticket.effect), now: now)
  }

  /// Keeps a reply for a task that is given up: it has just come, or was not committed.
  /// - Parameter decides: Whether the reply ends the effect.
  func answered(_ ticket: EffectTicket, of task: Int32, with reply: Reply, decides: Bool, now: Milliseconds) {
    add(
      Effect(sent: ticket, reply: reply, decides: decides, answeredAt: now), at: Key(task: task, effect: ticket.effect),
      now: now)
  }

  /// Takes a handover of a former owner of the task.
  /// - Parameter patience: How long the former owner's request is taken to be in flight, in milliseconds.
  func handedOver(_ known: HandedOver<Reply>, of task: Int32, patience: Milliseconds, now: Milliseconds) {
    let isInFlight = known.reply == nil
    add(
      Effect(
        sent: known.ticket, reply: known.reply, decides: !isInFlight && known.decides,
        answeredAt: isInFlight ? nil : now, isForeign: true, believedUntil: isInFlight ? now + patience : nil),
      at: Key(task: task, effect: known.ticket.effect), now: now)
  }

  /// The kept effects of tasks, for the tasks' next owners.
  func kept(of tasks: [Int32]) -> [(task: Int32, known: HandedOver<Reply>)] {
    state.withLock { state in
      state.order.compactMap { key in
        // Knowledge of other processes is in the input already.
        guard tasks.contains(key.task), let effect = state.effects[key], !effect.isForeign else { return nil }
        return (key.task, HandedOver(effect.sent, reply: effect.reply, decides: effect.decides))
      }
    }
  }

  /// Ends the wait for a reply that a former owner was to hand over.
  func giveUp(_ ticket: EffectTicket, of task: Int32) {
    state.withLock { state in
      let key = Key(task: task, effect: ticket.effect)
      if state.effects[key]?.sent == ticket, state.effects[key]?.answeredAt == nil { state.effects[key] = nil }
    }
  }

  /// Looks up an effect that the task requests again. Returns its reply, or posts it to `queue` as the reply to `request` when it comes.
  func take(
    _ ticket: EffectTicket, of task: Int32, replyTo queue: ReplyQueue<Reply>, as request: Int, now: Milliseconds
  ) -> Found? {
    state.withLock { state in
      let key = Key(task: task, effect: ticket.effect)
      guard let effect = state.effects[key] else { return nil }
      guard let answeredAt = effect.answeredAt else {
        if let until = effect.believedUntil, until <= now {
          state.effects[key] = nil
          return nil
        }
        state.effects[key]?.waiter = Waiter(queue: queue, request: request)
        return Found(sent: effect.sent, waitsUntil: effect.believedUntil)
      }
      state.effects[key] = nil
      return now - answeredAt <= retention ? Found(sent: effect.sent, reply: effect.reply) : nil
    }
  }

  private func add(_ effect: Effect, at key: Key, now: Milliseconds) {
    let waiter: Waiter? = state.withLock { state in
      if let kept = state.effects[key] {
        if let waiter = kept.waiter, effect.answers(kept) {
          state.effects[key] = nil
          return waiter
        }
        if !effect.replaces(kept) { return nil }
      }
      if state.effects.updateValue(effect, forKey: key) == nil { state.order.append(key) }
      // The oldest entries come first. Dropped are those that are gone, were answered long ago, or are too many.
      var dropped = 0
      while dropped < state.order.count {
        let oldest = state.order[dropped]
        if let kept = state.effects[oldest] {
          let isExpired = (kept.answeredAt ?? kept.believedUntil).map { now - $0 > retention } ?? false
          guard isExpired || state.effects.count > limit else { break }
          state.effects[oldest] = nil
        }
        dropped += 1
      }
      state.order.removeFirst(dropped)
      return nil
    }
    if let waiter, let reply = effect.reply { waiter.queue.post(.init(request: waiter.request, reply: reply)) }
  }
}

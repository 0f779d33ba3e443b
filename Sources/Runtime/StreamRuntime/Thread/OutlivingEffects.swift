import NudgeSchema
import Synchronization

/// Effects that outlive the assignment of their task: their requests had left this process when the task was given up, and their
/// outcomes are in no committed transaction.
///
/// librdkafka gives partitions up by itself when the broker is away for a session time-out, and often gets the same ones back.
/// The task's state then asks for the same effect again. Instead of a second request it gets the reply to the first, whether that
/// has come already or not. The stream threads of a process share one instance, because a task may return to another thread.
final class OutlivingEffects<Reply: Sendable>: Sendable {
  /// What `take` found.
  struct Found {
    /// Identifies the request that left.
    var sent: EffectTicket
    /// nil: the reply has not come yet. It will be posted to the queue given to `take`.
    var reply: Reply?
    /// When the wait for the reply ends, by the steady clock, because a former owner may have died; nil: the request is this process's own.
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
    /// Whether the reply ends the effect, whatever is asked after it.
    var decides = false
    /// When the reply came, by the steady clock; nil: it has not.
    var answeredAt: Milliseconds?
    /// The flight that gets the reply, if the task asks again before it comes.
    var waiter: Waiter?
    /// A former owner in another process knows it. Tickets of two processes may be equal, and their requests are not the same one.
    var isForeign = false
    /// How long a request in flight of another process is believed in, by the steady clock.
    var believedUntil: Milliseconds?

    /// Whether what this says takes the place of what is kept.
    func replaces(_ kept: Effect) -> Bool {
      if kept.decides || decides { return !kept.decides }
      // The reply to an attempt may be in no committed transaction when the next attempt is in flight already. The later one counts.
      if kept.sent.attempt != sent.attempt { return kept.sent.attempt < sent.attempt }
      if kept.isForeign == isForeign { return true }
      // The own request is answered here; a foreign one that is in flight may still be accepted.
      return isForeign ? kept.answeredAt != nil && answeredAt == nil : answeredAt == nil || kept.answeredAt != nil
    }

    /// Whether this is the answer that whoever waits for `kept` waits for.
    func answers(_ kept: Effect) -> Bool {
      answeredAt != nil && (decides || (kept.sent == sent && kept.isForeign == isForeign))
    }
  }

  private struct State {
    var effects: [Key: Effect] = [:]
    /// Keys in the order they were added. May hold keys that are gone.
    var order: [Key] = []
    /// How far tasks had read when they were given up with effects that are kept here.
    var places: [Int32: [Topic: Int64]] = [:]
  }

  /// Names this process in what it hands over.
  let id = String(UInt64.random(in: .min ... .max), radix: 36)
  private let limit: Int
  private let retention: Milliseconds
  private let state = Mutex(State())

  /// - Parameters:
  ///   - limit: the oldest effects are dropped beyond this number.
  ///   - retention: how long a reply is kept, in milliseconds by the steady clock.
  init(limit: Int, retention: Milliseconds) {
    self.limit = limit
    self.retention = retention
  }

  /// How many are kept.
  var count: Int { state.withLock { $0.effects.count } }

  /// A task whose effects are kept was given up, and had read up to these offsets.
  func leave(_ task: Int32, at next: [Topic: Int64]) {
    state.withLock { state in
      guard state.places[task] != nil || state.effects.keys.contains(where: { $0.task == task }) else { return }
      state.places[task, default: [:]].merge(next) { max($0, $1) }
    }
  }

  /// By task, how far it must read to be where it was when it was given up. A task is missing where it has, or where none of its effects
  /// were kept.
  var places: [Int32: [Topic: Int64]] { state.withLock { $0.places } }

  /// The task has read as far, or does not wait for it any longer.
  func forgetPlace(of task: Int32) { state.withLock { $0.places[task] = nil } }

  /// A task was given up while the request was in flight.
  /// - Parameter until: another process has it in flight; until when that is believed.
  func leave(_ ticket: EffectTicket, of task: Int32, believedUntil until: Milliseconds? = nil, now: Milliseconds) {
    add(
      Effect(sent: ticket, isForeign: until != nil, believedUntil: until),
      at: Key(task: task, effect: ticket.effect), now: now)
  }

  /// A reply came for a task that is given up, or had come and was not committed.
  /// - Parameter decides: whether it ends the effect.
  func answered(_ ticket: EffectTicket, of task: Int32, with reply: Reply, decides: Bool, now: Milliseconds) {
    add(
      Effect(sent: ticket, reply: reply, decides: decides, answeredAt: now), at: Key(task: task, effect: ticket.effect),
      now: now)
  }

  /// A former owner of the task hands over what it knows.
  /// - Parameter patience: how long its request in flight is believed in, in milliseconds.
  func handedOver(_ known: HandedOver<Reply>, of task: Int32, patience: Milliseconds, now: Milliseconds) {
    let isInFlight = known.reply == nil
    add(
      Effect(
        sent: known.ticket, reply: known.reply, decides: !isInFlight && known.decides,
        answeredAt: isInFlight ? nil : now, isForeign: true, believedUntil: isInFlight ? now + patience : nil),
      at: Key(task: task, effect: known.ticket.effect), now: now)
  }

  /// What is kept of tasks, for their next owners.
  func kept(of tasks: [Int32]) -> [(task: Int32, known: HandedOver<Reply>)] {
    state.withLock { state in
      state.order.compactMap { key in
        // What others know is in the input already.
        guard tasks.contains(key.task), let effect = state.effects[key], !effect.isForeign else { return nil }
        return (key.task, HandedOver(effect.sent, reply: effect.reply, decides: effect.decides))
      }
    }
  }

  /// A reply that a former owner was to hand over is not waited for any longer.
  func giveUp(_ ticket: EffectTicket, of task: Int32) {
    state.withLock { state in
      let key = Key(task: task, effect: ticket.effect)
      if state.effects[key]?.sent == ticket, state.effects[key]?.answeredAt == nil { state.effects[key] = nil }
    }
  }

  /// The task asks for the effect again. Returns its reply, or posts it to `queue` as the reply to `request` once it comes.
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
      // The oldest come first: those that are gone, have been answered for too long, or are too many.
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

import Dispatch
import NudgeSchema
import Synchronization

/// Holds requests back that are above the rate, in order, and lets them go as the rate allows (P5).
final class SendPacer: Sendable {
  /// Called once: with true when the request may be sent, with false when the pacer stops before that.
  struct Turn: Sendable {
    let run: @Sendable (_ maySend: Bool) -> Void
  }

  private struct State {
    var rate: SendRate
    var waiting = Fifo<Turn>()
    var isTicking = false
    var isStopped = false
  }

  /// How often those who wait are looked after, in milliseconds.
  private static let tick = 5
  private let state: Mutex<State>
  /// Monotonic: a wall clock that is set must neither stop nor flood FCM.
  private let now: @Sendable () -> Milliseconds
  private let queue = DispatchQueue(label: "nudge.fcm.pacer")

  init(
    perMinute: Int, rampUp: Milliseconds = 60_000,
    now: @escaping @Sendable () -> Milliseconds = { Milliseconds(DispatchTime.now().uptimeNanoseconds / 1_000_000) }
  ) {
    self.now = now
    state = Mutex(State(rate: SendRate(perMinute: perMinute, rampUp: rampUp, start: now())))
  }

  /// Calls `turn` once: now where the rate allows and nobody waits, else later on a thread of the pacer's.
  func enqueue(_ turn: @escaping @Sendable (_ maySend: Bool) -> Void) {
    enum Outcome { case send, refuse, wait(startTicking: Bool) }
    let outcome = state.withLock { state -> Outcome in
      if state.isStopped { return .refuse }
      if state.waiting.isEmpty, state.rate.take(at: now()) { return .send }
      state.waiting.append(Turn(run: turn))
      defer { state.isTicking = true }
      return .wait(startTicking: !state.isTicking)
    }
    switch outcome {
    case .send: turn(true)
    case .refuse: turn(false)
    case .wait(let startTicking): if startTicking { scheduleTick() }
    }
  }

  /// The instance has this part of the partitions: it may use this part of the quota.
  func setShare(_ share: Double) { state.withLock { $0.rate.setShare(share) } }

  /// FCM said that the project has had too much: half the rate from now on, raised slowly.
  func halve() { state.withLock { $0.rate.halve(at: now()) } }

  /// Ends it: who waits, and who comes later, may not send.
  func stop() {
    var waiting = state.withLock { state in
      state.isStopped = true
      defer { state.waiting = Fifo() }
      return state.waiting
    }
    while let turn = waiting.popFirst() { turn.run(false) }
  }

  private func scheduleTick() {
    queue.asyncAfter(deadline: .now() + .milliseconds(Self.tick)) { [weak self] in self?.release() }
  }

  private func release() {
    var turns: [Turn] = []
    let goesOn = state.withLock { state in
      while !state.waiting.isEmpty, state.rate.take(at: now()), let turn = state.waiting.popFirst() {
        turns.append(turn)
      }
      state.isTicking = !state.waiting.isEmpty
      return state.isTicking
    }
    if goesOn { scheduleTick() }
    for turn in turns { turn.run(true) }
  }
}

import Foundation
import Kafka
import NudgeSchema
import ServiceKit
import Synchronization

/// Publishes a load on a thread of its own: first everybody's devices and preferences, and once it is told to, the
/// messages, at their pace.
final class LoadRun: Sendable {
  /// What is published.
  struct Plan: Sendable {
    /// Where the messages come from.
    var source: ChatLogSource
    /// Everybody in them.
    var cast: LoadCast
    /// Messages a second, as time goes by.
    var shape: LoadShape
    /// Members of a conversation at most.
    var members: Int
    /// Makes people and their doings.
    var seed: UInt64
    /// Stands in the ids of this run.
    var run: String
    /// Put before the ids of people and conversations: where others use the cluster, this run's are told by it.
    var prefix = ""
    /// Everybody signs out of their devices in the end, once `retire` is called.
    var retiresPeople = false
  }

  /// How far the load is.
  enum Phase: Sendable, Equatable {
    /// Devices and preferences are being published.
    case introducing
    /// Those are acknowledged; waits to be told.
    case introduced
    /// Messages are being published.
    case playing
    /// All is published and acknowledged, or has failed.
    case finished
    /// Everybody has signed out of their devices.
    case retired
    /// Something is wrong with the log or the client.
    case failed(String)
  }

  private struct State {
    var phase = Phase.introducing
    var isToldToPlay = false
    var isToldToStop = false
    var isToldToRetire = false
    var started: ContinuousClock.Instant?
    var ended: ContinuousClock.Instant?
  }

  private let plan: Plan
  private let publisher: EventPublisher
  private let state = Mutex(State())

  /// A load that has not begun.
  init(_ plan: Plan, publisher: EventPublisher) {
    self.plan = plan
    self.publisher = publisher
  }

  /// Starts the thread.
  func start() {
    let thread = Thread { [self] in run() }
    thread.name = "nudge-load"
    thread.start()
  }

  /// How far it is.
  var phase: Phase { state.withLock { $0.phase } }

  /// How long messages have been published, or were.
  var playedFor: Duration {
    state.withLock { state in
      state.started.map { $0.duration(to: state.ended ?? .now) } ?? .zero
    }
  }

  /// Begins with the messages. To be called when everybody's devices have gone where the messages will.
  func play() { state.withLock { $0.isToldToPlay = true } }

  /// Signs everybody out, where the plan says so. To be called once all is accounted for.
  func retire() { state.withLock { $0.isToldToRetire = true } }

  /// Publishes no further message.
  func stop() { state.withLock { $0.isToldToStop = true } }

  private func run() {
    do {
      var script = LoadScript(
        run: plan.run, members: plan.members, seed: plan.seed, prefix: plan.prefix)
      for person in plan.cast.people {
        let now = SystemClock.milliseconds()
        for event in try script.introduce(person, at: now) { try publisher.publish(event, at: now) }
      }
      publisher.finish(timeout: .seconds(30))
      enter(.introduced)
      while !state.withLock({ $0.isToldToPlay || $0.isToldToStop }) {
        publisher.wait(until: .now + .milliseconds(5))
      }
      try play(&script)
      publisher.finish(timeout: .seconds(30))
      enter(.finished)
      guard plan.retiresPeople else { return }
      while !state.withLock({ $0.isToldToRetire }) { publisher.wait(until: .now + .milliseconds(5)) }
      for person in plan.cast.people {
        let now = SystemClock.milliseconds()
        for event in try script.retire(person, at: now) { try publisher.publish(event, at: now) }
      }
      publisher.finish(timeout: .seconds(30))
      enter(.retired)
    } catch {
      enter(.failed("\(error)"))
    }
  }

  private func play(_ script: inout LoadScript) throws {
    var log = try plan.source.open()
    let pace = Pace(plan.shape, start: .now)
    enter(.playing)
    for number in 0..<plan.cast.messages {
      guard let message = try log.next() else { break }
      publisher.wait(until: pace.due(number))
      if state.withLock({ $0.isToldToStop }) { return }
      let now = SystemClock.milliseconds()
      for event in try script.events(for: message, at: now) { try publisher.publish(event, at: now) }
    }
    // The last message is followed by as much time as the others.
    publisher.wait(until: pace.due(plan.cast.messages))
  }

  private func enter(_ phase: Phase) {
    state.withLock { state in
      state.phase = phase
      switch phase {
      case .playing: state.started = .now
      case .finished, .retired, .failed: state.ended = state.ended ?? .now
      case .introducing, .introduced: break
      }
    }
  }
}

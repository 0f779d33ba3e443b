import Foundation
import Kafka
import NudgeSchema
import ServiceKit
import Synchronization

/// Publishes a load on its own thread: devices and preferences first; after `play`, the messages at their pace.
final class LoadRun: Sendable {
  struct Plan: Sendable {
    var source: ChatLogSource
    /// The authors of the messages.
    var cast: LoadCast
    /// The rate over time.
    var shape: LoadShape
    /// The most members of a conversation.
    var members: Int
    /// Seed of the people and their actions.
    var seed: UInt64
    /// Part of this run's ids.
    var run: String
    /// Prefix of user and conversation ids; marks this run's records on a shared cluster.
    var prefix = ""
    /// After `retire`, everybody signs out of their devices.
    var retiresPeople = false
  }

  enum Phase: Sendable, Equatable {
    /// Publishes devices and preferences.
    case introducing
    /// Those are acknowledged; waits for `play`.
    case introduced
    /// Publishes messages.
    case playing
    /// Every event is acknowledged or has failed.
    case finished
    /// Everybody has signed out.
    case retired
    /// The log or the client has failed.
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

  init(_ plan: Plan, publisher: EventPublisher) {
    self.plan = plan
    self.publisher = publisher
  }

  func start() {
    let thread = Thread { [self] in run() }
    thread.name = "nudge-load"
    thread.start()
  }

  var phase: Phase { state.withLock { $0.phase } }

  /// How long messages have been published.
  var playedFor: Duration {
    state.withLock { state in
      state.started.map { $0.duration(to: state.ended ?? .now) } ?? .zero
    }
  }

  /// Starts the messages. Call it once devices have reached the timeline.
  func play() { state.withLock { $0.isToldToPlay = true } }

  /// Signs everybody out if the plan says so. Call it once everything is accounted for.
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
    // The last message takes as much time as the others.
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

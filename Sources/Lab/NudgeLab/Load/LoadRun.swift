import Foundation
import Kafka
import NudgeSchema
import ServiceKit
import Synchronization

/// Publishes a load on its own thread: devices and preferences first, and after `play` the messages at their pace.
final class LoadRun: Sendable {
  struct Plan: Sendable {
    var source: ChatLogSource
    /// The authors of the messages.
    var cast: LoadCast
    /// The rate over time.
    var shape: LoadShape
    /// The most members of a conversation.
    var members: Int
    /// The seed of the people and their actions.
    var seed: UInt64
    /// The part that this run's ids have.
    var run: String
    /// The prefix of user and conversation ids, which marks this run's records on a shared cluster.
    var prefix = ""
    /// Whether everybody signs out of their devices after `retire`.
    var retiresPeople = false
  }

  enum Phase: Sendable, Equatable {
    /// Publishes devices and preferences.
    case introducing
    /// Devices and preferences are acknowledged. The run waits for `play`.
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

/// The times at which messages are due. They are fixed at the start, so that a late message delays no other.
struct Pace: Sendable {
  /// The rate over time.
  let shape: LoadShape
  private let start: ContinuousClock.Instant

  /// The first message is due at `start`.
  init(_ shape: LoadShape, start: ContinuousClock.Instant) {
    self.shape = shape
    self.start = start
  }

  /// When a message, counted from 0, is due.
  func due(_ message: Int) -> ContinuousClock.Instant { start + .seconds(shape.due(message)) }
}

/// A load's rate over time: a ramp, then a constant rate, with optional bursts. A value.
struct LoadShape: Sendable, Equatable {
  /// A part of each period with a higher rate.
  struct Burst: Sendable, Equatable {
    /// Seconds from the start of one burst to the next.
    var every: Double
    /// Seconds that a burst lasts. Less than `every`.
    var lasting: Double
    /// The factor by which the rate rises.
    var factor: Double
  }

  /// Messages a second, after the ramp and between bursts.
  let rate: Double
  /// Seconds of the linear ramp to `rate`.
  let ramp: Double
  /// The burst at the end of each period after the ramp. Absent: no bursts.
  let burst: Burst?

  /// `rate` must be above 0.
  init(rate: Double, ramp: Double = 0, burst: Burst? = nil) {
    self.rate = rate
    self.ramp = max(0, ramp)
    self.burst = burst
  }

  /// Messages due in the first `seconds`.
  func messages(in seconds: Double) -> Double {
    let rising = min(seconds, ramp)
    let risen = ramp > 0 ? rate * rising * rising / (2 * ramp) : 0
    let rest = max(0, seconds - ramp)
    guard let burst else { return risen + rate * rest }
    let periods = (rest / burst.every).rounded(.down)
    let inPeriod = rest - periods * burst.every
    let quiet = burst.every - burst.lasting
    return risen + periods * messagesAPeriod(burst) + rate * min(inPeriod, quiet)
      + rate * burst.factor * max(0, inPeriod - quiet)
  }

  /// When a message, counted from 0, is due, in seconds from the start.
  func due(_ message: Int) -> Double {
    let number = Double(message)
    let rising = rate * ramp / 2
    guard number >= rising else { return (2 * ramp * number / rate).squareRoot() }
    let rest = number - rising
    guard let burst else { return ramp + rest / rate }
    let aPeriod = messagesAPeriod(burst)
    let periods = (rest / aPeriod).rounded(.down)
    let inPeriod = rest - periods * aPeriod
    let quiet = burst.every - burst.lasting
    let fromQuiet = min(inPeriod, rate * quiet)
    return ramp + periods * burst.every + fromQuiet / rate + (inPeriod - fromQuiet) / (rate * burst.factor)
  }

  private func messagesAPeriod(_ burst: Burst) -> Double {
    rate * (burst.every - burst.lasting) + rate * burst.factor * burst.lasting
  }
}

extension LoadShape.Burst: SettingValue {
  /// Parses `10x5s/1m`: ten times the rate for 5 seconds of every minute.
  static func parse(_ text: String) throws(SettingValueError) -> LoadShape.Burst {
    let wrong = SettingValueError(
      allowed: "a factor, a duration and a longer period, such as 10x5s/1m")
    let parts = text.split(separator: "x", maxSplits: 1)
    guard parts.count == 2, let factor = Double(parts[0]), factor >= 1, factor <= 1_000 else { throw wrong }
    let times = parts[1].split(separator: "/", maxSplits: 1).map(String.init)
    guard times.count == 2 else { throw wrong }
    let lasting = try Duration.parse(times[0]).seconds
    let every = try Duration.parse(times[1]).seconds
    guard lasting > 0, lasting < every else { throw wrong }
    return LoadShape.Burst(every: every, lasting: lasting, factor: factor)
  }

  var settingText: String {
    "\(factor.settingText)x\(Duration.seconds(lasting).settingText)/\(Duration.seconds(every).settingText)"
  }

  static var placeholder: String { "NxDURATION/PERIOD" }
}

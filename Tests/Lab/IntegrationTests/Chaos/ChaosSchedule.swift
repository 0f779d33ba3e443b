@testable import NudgeCommands

/// What is done to a pipeline, and when: a value made of a seed alone, so that the same seed does the same again.
struct ChaosSchedule: Equatable, Sendable {
  /// The session time-out of the services' groups, in milliseconds: stops and cuts last longer than it.
  static let sessionTimeout = 8_000

  /// One of a service's instances.
  struct Target: Hashable, Sendable, CustomStringConvertible {
    var service: DemoProgram
    /// From 1.
    var slot: Int
    var description: String { "\(service.shortName) \(slot)" }
  }

  /// One thing that is done at one time.
  enum Action: Equatable, Sendable {
    /// SIGKILL; the supervisor starts it again.
    case kill(Target, losingState: Bool)
    /// SIGSTOP.
    case suspend(Target)
    /// SIGCONT.
    case resume(Target)
    /// SIGTERM or SIGKILL.
    case stopBroker(cleanly: Bool)
    case startBroker
    /// SIGSTOP, for longer than a transaction may be open.
    case pauseBroker
    /// SIGCONT.
    case resumeBroker
    /// Nobody may write to a topic of this service's outputs any more.
    case revokeRights(DemoProgram)
    case giveBackRights(DemoProgram)
    /// A second producer publishes huge and hostile records.
    case publishHostile
    /// SIGTERM to one instance after the other; the next when the one before is ready again.
    case rollingRestart(DemoProgram)
    case fillDisk(Target)
    case emptyDisk(Target)
    /// Kills it and lets it come back to a store it cannot write.
    case protectStore(Target)
    case unprotectStore(Target)
    /// Starts instances, or ends those too many with SIGTERM.
    case scale(DemoProgram, to: Int)
    /// Every byte between it and the broker takes so many milliseconds more each way.
    case delay(Target, milliseconds: Int)
    /// Nothing gets through between it and the broker.
    case cut(Target)
    /// The requests that only a coordinator answers do not get through; all others do.
    case cutCoordinator(Target, KafkaCoordinator)
    /// Ends a delay or a cut. What was under way arrives after all, or its connections are closed.
    case mend(Target, dropping: Bool)
  }

  struct Entry: Equatable, Sendable {
    /// Milliseconds since the load began.
    var at: Int
    var action: Action
  }

  /// What can go wrong; each is one action or several.
  enum Fault: String, CaseIterable, Sendable {
    case kill, killLosingState, suspend, brokerRestart, brokerKill, rollingRestart, diskFull, readOnlyStore, scale,
      delay
    case cut, coordinatorAway, brokerPause, rightsRevoked, hostileRecords
  }

  /// How long a broker is paused, in milliseconds: longer than a transaction may be open (5 s).
  static let pause = 8_000

  /// In the order of their times.
  let entries: [Entry]
  /// How often each fault occurs.
  let faults: [Fault: Int]

  /// Draws a schedule.
  ///
  /// - Parameters:
  ///   - duration: when everything is healed, in milliseconds.
  ///   - instances: of each service, from 2. The first of them has the proxy, the others a disk of their own to fill.
  init(seed: UInt64, duration: Int, instances: Int) {
    var draft = Draft(random: SeededRandom(seed: seed), duration: duration, instances: instances)
    draft.draw()
    entries = draft.entries.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
      .map(\.element)
    faults = draft.faults
  }
}

extension ChaosSchedule: CustomStringConvertible {
  var description: String {
    entries.map { "\(Double($0.at) / 1_000) s \($0.action)" }.joined(separator: "\n")
  }
}

extension ChaosSchedule.Action: CustomStringConvertible {
  var description: String {
    switch self {
    case .kill(let target, let losingState): "kill \(target)\(losingState ? ", its state is lost" : "")"
    case .suspend(let target): "suspend \(target)"
    case .resume(let target): "resume \(target)"
    case .stopBroker(let cleanly): cleanly ? "stop the broker" : "kill the broker"
    case .startBroker: "start the broker"
    case .pauseBroker: "pause the broker"
    case .resumeBroker: "resume the broker"
    case .revokeRights(let service): "take the right to write from \(service.shortName)"
    case .giveBackRights(let service): "give the right to write back to \(service.shortName)"
    case .publishHostile: "publish huge and hostile records"
    case .rollingRestart(let service): "rolling restart of \(service.shortName)"
    case .fillDisk(let target): "fill the disk of \(target)"
    case .emptyDisk(let target): "empty the disk of \(target)"
    case .protectStore(let target): "make the store of \(target) read-only"
    case .unprotectStore(let target): "make the store of \(target) writable"
    case .scale(let service, let count): "scale \(service.shortName) to \(count)"
    case .delay(let target, let milliseconds): "delay \(target) by \(milliseconds) ms"
    case .cut(let target): "cut \(target) off"
    case .cutCoordinator(let target, let coordinator): "cut \(target) off from its coordinator of \(coordinator)"
    case .mend(let target, let dropping): "mend \(target), \(dropping ? "dropping" : "delivering") what was under way"
    }
  }
}

/// A schedule while it is drawn.
private struct Draft {
  typealias Target = ChaosSchedule.Target
  typealias Fault = ChaosSchedule.Fault

  private enum Resource: Hashable {
    case instance(Target)
    case broker
  }

  var random: SeededRandom
  let duration: Int
  /// How long before the end the broker serves for good, in milliseconds: 10 s in runs of minutes.
  var catchingUp: Int { min(10_000, duration / 10) }
  let instances: Int
  var entries: [ChaosSchedule.Entry] = []
  var faults: [Fault: Int] = [:]
  private var busyUntil: [Resource: Int] = [:]

  init(random: SeededRandom, duration: Int, instances: Int) {
    self.random = random
    self.duration = duration
    self.instances = instances
  }

  /// Faults begin a few seconds apart and overlap, but for those of one instance, and of the broker.
  mutating func draw() {
    var time = 1_500
    var bag: [Fault] = []
    while time < duration {
      // Each occurs before any does so again.
      if bag.isEmpty { bag = Fault.allCases.shuffled(using: &random) }
      if let index = bag.firstIndex(where: { place($0, at: time) }) {
        faults[bag.remove(at: index), default: 0] += 1
      }
      time += Int.random(in: 1_500...4_500, using: &random)
    }
  }

  private mutating func any(_ slots: ClosedRange<Int>) -> Target {
    Target(
      service: DemoProgram.services.randomElement(using: &random) ?? .ingest, slot: .random(in: slots, using: &random))
  }

  private func all(of service: DemoProgram) -> [Resource] {
    (1...instances).map { .instance(Target(service: service, slot: $0)) }
  }

  private mutating func add(_ time: Int, _ action: ChaosSchedule.Action) {
    entries.append(.init(at: time, action: action))
  }

  /// Takes resources for a time; false where one of them is taken or the time is too long.
  private mutating func take(_ resources: [Resource], from start: Int, until end: Int) -> Bool {
    guard end <= duration, resources.allSatisfy({ busyUntil[$0, default: 0] <= start }) else { return false }
    for resource in resources { busyUntil[resource] = end }
    return true
  }

  private mutating func place(_ fault: Fault, at time: Int) -> Bool {
    let session = ChaosSchedule.sessionTimeout
    switch fault {
    case .kill, .killLosingState:
      let target = any(1...instances)
      guard take([.instance(target)], from: time, until: time + 4_000) else { return false }
      add(time, .kill(target, losingState: fault == .killLosingState))
    case .suspend:
      let target = any(1...instances)
      let end = time + session + .random(in: 500...8_000, using: &random)
      guard take([.instance(target)], from: time, until: end) else { return false }
      add(time, .suspend(target))
      add(end, .resume(target))
    case .brokerRestart, .brokerKill:
      let start = time + .random(in: 0...6_000, using: &random)
      // It takes up to 13 s until it serves again; and what was to be published meanwhile is to come within the time, too.
      let end = start + 13_000
      guard end <= duration - catchingUp, take([.broker], from: time, until: end) else { return false }
      add(time, .stopBroker(cleanly: fault == .brokerRestart))
      add(start, .startBroker)
    case .rollingRestart:
      let target = any(1...1)
      guard take(all(of: target.service), from: time, until: time + instances * 5_000) else { return false }
      add(time, .rollingRestart(target.service))
    case .diskFull, .readOnlyStore:
      let target = any(2...instances)
      let end = time + .random(in: 4_000...9_000, using: &random)
      guard take([.instance(target)], from: time, until: end) else { return false }
      add(time, fault == .diskFull ? .fillDisk(target) : .protectStore(target))
      add(end, fault == .diskFull ? .emptyDisk(target) : .unprotectStore(target))
    case .scale:
      let service = any(1...1).service
      let step = Int.random(in: 4_000...6_000, using: &random)
      guard take(all(of: service), from: time, until: time + 4 * step) else { return false }
      for (index, count) in [1, 3, 1, instances].enumerated() { add(time + index * step, .scale(service, to: count)) }
    case .delay:
      let target = any(1...1)
      let end = time + .random(in: 4_000...9_000, using: &random)
      guard take([.instance(target)], from: time, until: end) else { return false }
      add(time, .delay(target, milliseconds: .random(in: 20...400, using: &random)))
      add(end, .mend(target, dropping: false))
    case .cut:
      let target = any(1...1)
      let end = time + session + .random(in: 500...6_000, using: &random)
      guard take([.instance(target)], from: time, until: end) else { return false }
      add(time, .cut(target))
      add(end, .mend(target, dropping: .random(using: &random)))
    case .coordinatorAway:
      let target = any(1...1)
      let end = time + session + .random(in: 500...8_000, using: &random)
      guard take([.instance(target)], from: time, until: end) else { return false }
      add(time, .cutCoordinator(target, .random(using: &random) ? .transactions : .group))
      add(end, .mend(target, dropping: .random(using: &random)))
    case .brokerPause:
      let end = time + ChaosSchedule.pause
      guard end <= duration - catchingUp, take([.broker], from: time, until: end + 2_000) else { return false }
      add(time, .pauseBroker)
      add(end, .resumeBroker)
    case .rightsRevoked:
      let service = any(1...1).service
      let end = time + .random(in: 6_000...9_000, using: &random)
      // Kafka's tool takes seconds to say it to the broker, both times.
      guard end + 5_000 <= duration - catchingUp, take([.broker], from: time, until: end + 5_000) else { return false }
      add(time, .revokeRights(service))
      add(end, .giveBackRights(service))
    case .hostileRecords:
      add(time, .publishHostile)
    }
    return true
  }
}

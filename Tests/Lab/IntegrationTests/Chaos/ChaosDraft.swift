@testable import NudgeLab

/// Draws a schedule of chaos.
struct ChaosDraft {
  typealias Target = ChaosSchedule.Target
  typealias Fault = ChaosSchedule.Fault

  private enum Resource: Hashable {
    case instance(Target)
    case broker
  }

  private var random: SeededRandom
  private let duration: Int
  /// The broker's last fault ends this many milliseconds before the run does: 10 s in runs of minutes.
  private var catchingUp: Int { min(10_000, duration / 10) }
  private let instances: Int
  private let kinds: [Fault]
  private(set) var entries: [ChaosSchedule.Entry] = []
  private(set) var faults: [Fault: Int] = [:]
  private var busyUntil: [Resource: Int] = [:]
  private var builds: [DemoProgram: ChaosSchedule.Build] = [:]

  init(seed: UInt64, duration: Int, instances: Int, only kinds: [Fault]) {
    random = SeededRandom(seed: seed)
    self.duration = duration
    self.instances = instances
    self.kinds = kinds.isEmpty ? Fault.allCases : kinds
  }

  /// Faults begin a few seconds apart and overlap, except those of one instance and those of the broker.
  mutating func draw() {
    var time = 1_500
    var bag: [Fault] = []
    while time < duration {
      // Each occurs before any occurs again.
      if bag.isEmpty { bag = shuffledFaults() }
      if let index = bag.firstIndex(where: { place($0, at: time) }) {
        faults[bag.remove(at: index), default: 0] += 1
      }
      time += Int.random(in: 1_000...3_500, using: &random)
    }
  }

  /// The longest of the broker's faults comes first: it finds no room later.
  private mutating func shuffledFaults() -> [Fault] {
    kinds.filter { $0 == .brokerAway } + kinds.filter { $0 != .brokerAway }.shuffled(using: &random)
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

  /// Takes resources for a time. False where one is taken, or the time ends too late.
  private mutating func take(_ resources: [Resource], from start: Int, until end: Int) -> Bool {
    guard end <= duration, resources.allSatisfy({ busyUntil[$0, default: 0] <= start }) else { return false }
    for resource in resources { busyUntil[resource] = end }
    return true
  }

  /// Takes the broker for a time that ends early enough for what waited to catch up.
  private mutating func takeBroker(from start: Int, until end: Int) -> Bool {
    end <= duration - catchingUp && take([.broker], from: start, until: end)
  }

  private mutating func place(_ fault: Fault, at time: Int) -> Bool {
    switch fault {
    case .kill, .killLosingState, .storeDamaged, .suspend, .diskFull, .readOnlyStore, .clockJump:
      placeOnInstance(fault, at: time)
    case .delay, .cut, .cutOneWay, .cutFromOne, .connectionsDie, .coordinatorAway: placeOnConnection(fault, at: time)
    case .rollingRestart, .rollingUpgrade, .rollback, .scale: placeOnService(fault, at: time)
    case .brokerRestart, .brokerKill, .brokerAway, .brokerPause, .brokerQuota, .topicRemade, .rightsRevoked:
      placeOnBroker(fault, at: time)
    case .hostileRecords: publishHostile(at: time)
    }
  }

  private mutating func publishHostile(at time: Int) -> Bool {
    add(time, .publishHostile)
    return true
  }

  private mutating func placeOnInstance(_ fault: Fault, at time: Int) -> Bool {
    switch fault {
    case .suspend:
      let target = any(1...instances)
      let end = time + ChaosSchedule.sessionTimeout + .random(in: 500...8_000, using: &random)
      guard take([.instance(target)], from: time, until: end) else { return false }
      add(time, .suspend(target))
      add(end, .resume(target))
    case .diskFull, .readOnlyStore:
      let target = any(2...instances)
      let end = time + .random(in: 4_000...9_000, using: &random)
      guard take([.instance(target)], from: time, until: end) else { return false }
      add(time, fault == .diskFull ? .fillDisk(target) : .protectStore(target))
      add(end, fault == .diskFull ? .emptyDisk(target) : .unprotectStore(target))
    case .clockJump:
      let target = any(2...2)
      let end = time + .random(in: 4_000...12_000, using: &random)
      guard take([.instance(target)], from: time, until: end) else { return false }
      // Below the five minutes by which an event may be from the future.
      let seconds = Int.random(in: 20...200, using: &random)
      add(time, .setClock(target, ahead: .random(using: &random) ? seconds : -seconds))
      add(end, .setClock(target, ahead: 0))
    default:
      let target = any(1...instances)
      guard take([.instance(target)], from: time, until: time + 4_000) else { return false }
      add(time, fault == .storeDamaged ? .damageStore(target) : .kill(target, losingState: fault == .killLosingState))
    }
    return true
  }

  private mutating func placeOnConnection(_ fault: Fault, at time: Int) -> Bool {
    let session = ChaosSchedule.sessionTimeout
    let target = any(1...1)
    switch fault {
    case .cut:
      let end = time + session + .random(in: 500...6_000, using: &random)
      guard take([.instance(target)], from: time, until: end) else { return false }
      add(time, .cut(target))
      add(end, .mend(target, dropping: .random(using: &random)))
    case .cutOneWay, .cutFromOne:
      let end = time + .random(in: 2_000...(session + 6_000), using: &random)
      guard take([.instance(target)], from: time, until: end) else { return false }
      add(
        time,
        fault == .cutOneWay
          ? .cutOneWay(target, without: .random(using: &random) ? .requests : .answers)
          : .cutFromOne(target, broker: .random(in: 0..<9, using: &random)))
      add(end, .mend(target, dropping: .random(using: &random)))
    case .connectionsDie:
      // By then it must go on over new ones.
      let end = time + ChaosSchedule.silence
      guard take([.instance(target)], from: time, until: end) else { return false }
      add(time, .silence(target))
      add(end, .mend(target, dropping: false))
    case .coordinatorAway:
      let end = time + session + .random(in: 500...8_000, using: &random)
      guard take([.instance(target)], from: time, until: end) else { return false }
      add(time, .cutCoordinator(target, .random(using: &random) ? .transactions : .group))
      add(end, .mend(target, dropping: .random(using: &random)))
    default:
      let end = time + .random(in: 4_000...9_000, using: &random)
      guard take([.instance(target)], from: time, until: end) else { return false }
      add(time, .delay(target, milliseconds: .random(in: 20...400, using: &random)))
      add(end, .mend(target, dropping: false))
    }
    return true
  }

  private mutating func placeOnService(_ fault: Fault, at time: Int) -> Bool {
    let service = any(1...1).service
    let build = builds[service, default: .first]
    switch fault {
    case .rollingUpgrade:
      guard take(all(of: service), from: time, until: time + instances * 5_000) else { return false }
      add(time, .roll(service, to: build.other))
      builds[service] = build.other
    case .rollback:
      // The first instance has come back as the other build when the rollback begins.
      let turn = time + .random(in: 2_000...5_000, using: &random)
      guard take(all(of: service), from: time, until: turn + instances * 5_000) else { return false }
      add(time, .roll(service, to: build.other))
      add(turn, .roll(service, to: build))
    case .scale:
      let step = Int.random(in: 4_000...6_000, using: &random)
      guard take(all(of: service), from: time, until: time + 4 * step) else { return false }
      for (index, count) in [1, 3, 1, instances].enumerated() { add(time + index * step, .scale(service, to: count)) }
    default:
      guard take(all(of: service), from: time, until: time + instances * 5_000) else { return false }
      add(time, .rollingRestart(service))
    }
    return true
  }

  /// Kafka's tools take up to 5 s until the broker knows of a change.
  private mutating func placeOnBroker(_ fault: Fault, at time: Int) -> Bool {
    switch fault {
    case .brokerPause:
      let end = time + ChaosSchedule.pause
      guard takeBroker(from: time, until: end + 2_000) else { return false }
      add(time, .pauseBroker)
      add(end, .resumeBroker)
    case .brokerQuota:
      let end = time + .random(in: 8_000...14_000, using: &random)
      guard takeBroker(from: time, until: end + 5_000) else { return false }
      add(time, .setQuota(bytesPerSecond: .random(in: 20_000...100_000, using: &random)))
      add(end, .setQuota(bytesPerSecond: nil))
    case .topicRemade:
      guard takeBroker(from: time, until: time + 6_000) else { return false }
      add(time, .remakeTopic)
    case .rightsRevoked:
      let service = any(1...1).service
      let end = time + .random(in: 6_000...9_000, using: &random)
      guard takeBroker(from: time, until: end + 5_000) else { return false }
      add(time, .revokeRights(service))
      add(end, .giveBackRights(service))
    default:
      let start =
        time + (fault == .brokerAway ? ChaosSchedule.absence : .random(in: 0...6_000, using: &random))
      guard takeBroker(from: time, until: start + ChaosSchedule.brokerStart) else { return false }
      add(time, .stopBroker(cleanly: fault == .brokerRestart || (fault == .brokerAway && .random(using: &random))))
      add(start, .startBroker)
    }
    return true
  }
}

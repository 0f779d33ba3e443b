import Testing

@testable import NudgeLab

@Suite("A schedule of chaos")
struct ChaosScheduleTests {
  private static let minutes = 180_000

  private func schedule(_ seed: UInt64) -> ChaosSchedule {
    ChaosSchedule(seed: seed, duration: Self.minutes, instances: 2)
  }

  @Test("one seed makes one schedule, another seed another")
  func deterministic() {
    #expect(schedule(7) == schedule(7))
    #expect(schedule(7) != schedule(8))
  }

  @Test("in three minutes every fault occurs, and more than thirty of them", arguments: 1...50 as ClosedRange<UInt64>)
  func complete(_ seed: UInt64) {
    let faults = schedule(seed).faults
    #expect(Set(faults.keys) == Set(ChaosSchedule.Fault.allCases))
    #expect(faults.values.reduce(0, +) > 30)
  }

  @Test("what is stopped, cut, filled or scaled is healed by the end", arguments: 1...200 as ClosedRange<UInt64>)
  func healed(_ seed: UInt64) {
    let entries = schedule(seed).entries
    #expect(entries.map(\.at) == entries.map(\.at).sorted())
    #expect(entries.allSatisfy { (0...Self.minutes).contains($0.at) })
    var (suspended, full, protected, disturbed) = (Set<String>(), Set<String>(), Set<String>(), Set<String>())
    var isBrokerUp = true
    var since = 0
    var counts: [DemoProgram: Int] = [:]
    var skewed = Set<String>()
    for entry in entries {
      switch entry.action {
      case .suspend(let target): #expect(suspended.insert("\(target)").inserted)
      case .resume(let target): #expect(suspended.remove("\(target)") != nil)
      case .fillDisk(let target): #expect(full.insert("\(target)").inserted && target.slot > 1)
      case .emptyDisk(let target): #expect(full.remove("\(target)") != nil)
      case .protectStore(let target): #expect(protected.insert("\(target)").inserted && target.slot > 1)
      case .unprotectStore(let target): #expect(protected.remove("\(target)") != nil)
      case .delay(let target, _), .cut(let target), .silence(let target), .cutCoordinator(let target, _),
        .cutOneWay(let target, _), .cutFromOne(let target, _):
        #expect(disturbed.insert("\(target)").inserted && target.slot == 1)
      case .mend(let target, _): #expect(disturbed.remove("\(target)") != nil)
      // One thing at a time is done to the broker.
      case .stopBroker, .pauseBroker, .revokeRights, .setQuota(.some):
        #expect(isBrokerUp)
        isBrokerUp = false
        since = entry.at
      case .resumeBroker, .giveBackRights, .setQuota(nil):
        #expect(!isBrokerUp)
        isBrokerUp = true
        if case .resumeBroker = entry.action { #expect(entry.at - since == 8_000) }
      case .startBroker:
        #expect(!isBrokerUp)
        isBrokerUp = true
        // It takes 13 s to serve, and what waited for it is to come within the time, too.
        #expect(entry.at + 13_000 + 10_000 <= Self.minutes)
      case .scale(let service, let count): counts[service] = count
      case .setClock(let target, 0): #expect(skewed.remove("\(target)") != nil)
      case .setClock(let target, let seconds):
        #expect(skewed.insert("\(target)").inserted && target.slot == 2 && abs(seconds) < 300)
      case .remakeTopic: #expect(isBrokerUp)
      case .kill, .damageStore, .rollingRestart, .roll, .publishHostile: break
      }
    }
    #expect(suspended.isEmpty && full.isEmpty && protected.isEmpty && disturbed.isEmpty && skewed.isEmpty)
    #expect(isBrokerUp)
    #expect(counts.values.allSatisfy { $0 == 2 })
  }

  @Test("a broker is away for 35 s once in three minutes", arguments: 1...20 as ClosedRange<UInt64>)
  func absence(_ seed: UInt64) {
    var since = 0
    var longest = 0
    for entry in schedule(seed).entries {
      if case .stopBroker = entry.action { since = entry.at }
      if entry.action == .startBroker { longest = max(longest, entry.at - since) }
    }
    #expect(longest == 35_000)
  }

  @Test("a rollback ends at the build it began with, before the service's next upgrade")
  func builds() {
    for seed in UInt64(1)...50 {
      var builds: [DemoProgram: ChaosSchedule.Build] = [:]
      for case .roll(let service, let build) in schedule(seed).entries.map(\.action) {
        // Each one changes the build: an upgrade, or its way back.
        #expect(builds[service, default: .first] != build)
        builds[service] = build
      }
    }
  }

  @Test("stops and cuts outlast the session")
  func outlasting() {
    for seed in UInt64(1)...50 {
      var since: [String: Int] = [:]
      for entry in schedule(seed).entries {
        switch entry.action {
        case .suspend(let target), .cut(let target), .cutCoordinator(let target, _): since["\(target)"] = entry.at
        case .resume(let target), .mend(let target, _):
          guard let start = since.removeValue(forKey: "\(target)") else { continue }
          #expect(entry.at - start > ChaosSchedule.sessionTimeout)
        default: break
        }
      }
    }
  }
}

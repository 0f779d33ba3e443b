import Foundation
import Testing

@testable import StreamRuntime

@Suite("Simulation: exactly once, whatever dies")
struct SimulationTests {
  /// `SEEDS` schedules from seed `SEED`; a fixed set where neither is given.
  private static let environment = ProcessInfo.processInfo.environment
  private static let first = UInt64(environment["SEED"] ?? "") ?? 1
  private static let count = UInt64(environment["SEEDS"] ?? "") ?? 3000

  @Test("no schedule loses, doubles or disorders anything, and no store leads")
  func schedules() {
    let started = Date()
    for seed in Self.first..<(Self.first + Self.count) {
      let world = SimulatedWorld(seed: seed)
      world.run()
      if !world.violations.isEmpty {
        Issue.record("seed \(seed): \(world.violations.prefix(3)) (again with: make simulate SEEDS=1 SEED=\(seed))")
        if Self.count == 1 { for line in traced(seed) { print(line) } }
        return
      }
      if (seed - Self.first + 1) % 100_000 == 0 {
        print("\(seed - Self.first + 1) schedules, \(Int(Date().timeIntervalSince(started))) s")
      }
    }
  }

  private func traced(_ seed: UInt64) -> [String] {
    let world = SimulatedWorld(seed: seed)
    world.isTracing = true
    world.run()
    return world.trace
  }

  @Test("each defect put in on purpose is found", arguments: Mutation.allCases)
  func mutations(_ mutation: Mutation) {
    for seed in 1...UInt64(3000) {
      let world = SimulatedWorld(seed: seed, mutation: mutation)
      world.run()
      if !world.violations.isEmpty {
        print("\(mutation.rawValue): found by seed \(seed): \(world.violations[0])")
        return
      }
    }
    Issue.record("3000 schedules with the defect \(mutation.rawValue) looked right")
  }
}

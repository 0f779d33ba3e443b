import Foundation
import TestSupport
import Testing

@testable import NudgeLab

/// Faults of processes, disks, clocks, networks and brokers under load. Afterwards the topics must balance as without them.
@Suite("Chaos on a real Kafka", .serialized, .enabled(if: RealKafka.missing == nil, "\(RealKafka.missing ?? "")"))
struct ChaosTests {
  private static let minutes: Double? = runParameter("MINUTES")
  private static let firstSeed: UInt64 = runParameter("SEED") ?? 1
  private static let brokers: Int = runParameter("BROKERS") ?? 1
  /// Kinds of trouble, separated by commas; all where none is named.
  private static let faults = (ProcessInfo.processInfo.environment["FAULTS"] ?? "").split(separator: ",")
    .map(String.init)
  private static let browsers: Int = runParameter("WEB_PUSH") ?? 0
  private static let rate: Double? = runParameter("RATE")
  private static let otherPrograms = ProcessInfo.processInfo.environment["OLDER"].flatMap {
    $0.isEmpty ? nil : URL(fileURLWithPath: $0)
  }
  private static let seeds = firstSeed..<firstSeed + (runParameter("SEEDS") ?? 1)

  /// Runs a plan and judges it.
  private func check(_ plan: ChaosRun.Plan) throws -> ChaosRun.Report {
    let run = try ChaosRun(plan)
    let story = "again: \(plan.again)\nlogs in \(run.directory.path)\nschedule:\n\(run.schedule)"
    do {
      let report = try run.run()
      print(report.figures)
      #expect(report.violations.isEmpty, "\(report.figures)\n\(story)")
      #expect(report.failures.isEmpty, "\(report.figures)\n\(story)")
      return report
    } catch {
      Issue.record("seed \(plan.seed): \(error)\n\(story)")
      throw error
    }
  }

  @Test("a short run of a fixed seed, for every build: faults of many kinds and a small load; everything balances")
  func short() throws {
    _ = try check(
      ChaosRun.Plan(
        seed: 5, seconds: 40, rate: 40, clocksJump: false, limitsAttention: false, browsers: 50,
        again: "swift test --filter ChaosTests/short"))
  }

  @Test(
    "O4, P7: minutes of chaos, at 300 messages a second where there is one broker, for each seed; everything balances",
    .enabled(if: minutes != nil, "Tests/trial chaos SEED=1 MINUTES=3 runs it"), arguments: seeds)
  func long(_ seed: UInt64) throws {
    let (minutes, brokers) = (Self.minutes ?? 3, Self.brokers)
    // Several brokers on one machine have the work of each several times.
    let rate = Self.rate ?? (brokers == 1 ? 300.0 : 50)
    let faults = try Self.faults.map { name in
      try #require(ChaosSchedule.Fault(rawValue: name), "FAULTS: \(ChaosSchedule.Fault.allCases.map(\.rawValue))")
    }
    let report = try check(
      ChaosRun.Plan(
        seed: seed, seconds: Int(minutes * 60), rate: rate + 10, brokers: brokers, faults: faults,
        browsers: Self.browsers, otherPrograms: Self.otherPrograms,
        again: "Tests/trial chaos SEED=\(seed) MINUTES=\(minutes) BROKERS=\(brokers) RATE=\(rate)"
          + " WEB_PUSH=\(Self.browsers) FAULTS=\(Self.faults.joined(separator: ","))"))
    #expect(report.rate >= rate, "a load that the machine does not carry proves less")
  }
}

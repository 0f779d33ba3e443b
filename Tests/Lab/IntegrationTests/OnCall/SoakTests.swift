import Foundation
import Testing

@testable import NudgeLab

@Suite("A soak", .enabled(if: RealKafka.missing == nil, "\(RealKafka.missing ?? "")"))
struct SoakTests {
  /// What `Tests/trial soak MINUTES=30` proves at length: no process ends, memory, files and threads stay flat, the account balances. It
  /// lasts until the services have been woken often enough, which takes longer on a busy machine.
  @Test("of the three services as processes: 48 seconds of load or more, 5,000 wake-ups, everything accounted for")
  func short() throws {
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../../Soak/soak.py").standardizedFileURL
    let (status, output) = try RealKafka.run(
      script,
      [
        "--programs", DemoProgram.directoryOfThisProgram().path, "--minutes", "0.8", "--rate", "60", "--threads", "4",
        "--partitions", "8", "--all-wake-ups", "5000",
        // Within half a minute a backlog of a busy machine takes 6 MB of a debug program, and the leak that a longer run finds none.
        "--memory", "16",
      ])
    #expect(status == 0, "\(output)")
    #expect(output.contains("ok: targets of pushes = outcomes"), "\(output)")
  }
}

import Foundation
import TestSupport
import Testing

@testable import NudgeLab

/// The suites on the shared pipeline with the embedded broker: one test at a time.
@Suite(
  "The pipeline on the embedded broker", .serialized, .timeLimit(.minutes(5)),
  .enabled(if: SharedWorld.missing == nil, "\(SharedWorld.missing ?? "")"))
enum EmbeddedPipelineTests {}

extension EmbeddedPipelineTests {
  @Suite("Virtual phones on the whole pipeline, embedded broker")
  struct PhoneScenarioTests {
    @Test(arguments: PhoneScenario.allCases)
    func plays(_ scenario: PhoneScenario) throws {
      try SharedWorld.play(scenario, in: try SharedWorld.embedded.get())
    }

    @Test("nudge device --count: 60 phones under a random load, and each shows what it must")
    func load() throws {
      let world = try SharedWorld.embedded.get()
      let (status, output) = try RealKafka.run(
        DemoProgram.directoryOfThisProgram().appendingPathComponent("nudge"),
        [
          "device", "--count", "60", "--duration", "6s", "--rate", "20", "--emulator", world.emulatorURL,
          "--bootstrap-servers", world.bootstrapServers,
        ])
      print(output)
      #expect(status == 0, "\(output)")
      #expect(output.contains("no expectation violated"))
    }

    @Test(
      "Google's description has each field of all that the scenarios before this test sent",
      .enabled(if: FCMDescription.isInstalled, "\(FCMDescription.missing)"))
    func described() throws {
      let world = try SharedWorld.embedded.get()
      // The ids of a scenario's messages are fixed, so it is played once.
      if try !world.requests().contains("messages:send") { try SharedWorld.play(PhoneScenario.allCases[0], in: world) }
      let (status, output) = try FCMDescription.judge(
        lines: try world.requests().split(separator: "\n").map(String.init))
      #expect(status == 0, "\(output)")
    }
  }
}

extension PipelineTests {
  @Suite("Virtual phones on the whole pipeline")
  struct PhoneScenarioTests {
    @Test(arguments: PhoneScenario.allCases)
    func plays(_ scenario: PhoneScenario) throws {
      try SharedWorld.play(scenario, in: try SharedWorld.kafka.get())
    }
  }
}

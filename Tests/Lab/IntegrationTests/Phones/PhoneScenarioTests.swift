import Foundation
import Kafka
import Testing
import VirtualPhone

@testable import NudgeCommands

/// The pipelines of the scenarios, each started with the first of them and ended with the process.
private enum SharedWorld {
  // Safe: each is used by one suite alone, which runs its tests one after another, and in the end by `atexit`.
  nonisolated(unsafe) static let embedded = Result { try opened(.embedded) }
  nonisolated(unsafe) static let kafka = Result { try opened(.kafka) }
  /// Scenarios that were begun and not ended: where there are some, logs and state stay.
  private nonisolated(unsafe) static var open = 0

  private static func opened(_ kind: PhoneWorld.Kind) throws -> PhoneWorld {
    let world = try PhoneWorld(kind)
    switch kind {
    case .embedded: atexit { SharedWorld.end(SharedWorld.embedded) }
    case .kafka: atexit { SharedWorld.end(SharedWorld.kafka) }
    }
    return world
  }

  private static func end(_ world: Result<PhoneWorld, any Error>) {
    guard case .success(let world) = world else { return }
    world.close()
    guard open == 0 else { return }
    try? FileManager.default.removeItem(at: world.directory)
    // Fails, as it should, where another test has left something.
    rmdir(RealKafka.directory.path)
  }

  static let missing: String? = {
    do {
      _ = try DemoProgram.find(in: DemoProgram.directoryOfThisProgram())
      return nil
    } catch {
      return "\(error)"
    }
  }()

  static func play(_ scenario: PhoneScenario, in world: PhoneWorld) throws {
    let before = world.fleet.phones.count
    open += 1
    let phone = try scenario.play(in: world)
    if let phone { world.printTimeline(of: phone, scenario.rawValue) }
    for phone in before..<world.fleet.phones.count {
      for (_, note) in world.notes[phone] ?? [] {
        if case .fault(let fault) = note { Issue.record("\(fault)") }
      }
    }
    open -= 1
  }
}

@Suite(
  "Virtual phones on the whole pipeline, embedded broker", .serialized, .timeLimit(.minutes(5)),
  .enabled(if: SharedWorld.missing == nil, "\(SharedWorld.missing ?? "")"))
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

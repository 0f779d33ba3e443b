import Foundation
import Testing
import VirtualPhone

@testable import NudgeLab
@testable import NudgeLab

/// A story of people with phones. Each story has people of its own.
protocol Scenario: Sendable {
  var title: String { get }
  /// Plays the story. Returns the phone whose observations are worth printing.
  func play(in world: PhoneWorld) throws -> Int?
}

/// A pipeline for each kind of broker, shared by all scenarios. It starts with the first scenario and ends with the process.
enum SharedWorld {
  // Safe: the suites that use them are serialized, and `atexit` runs last.
  nonisolated(unsafe) static let embedded = Result { try opened(.embedded) }
  nonisolated(unsafe) static let kafka = Result { try opened(.kafka) }
  /// Scenarios that began and did not end. If there are any, logs and state stay.
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
    // Fails if another test left something, as it should.
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

  /// Plays a scenario, prints what its phone saw, and fails for each push that contradicts itself.
  static func play(_ scenario: some Scenario, in world: PhoneWorld) throws {
    let before = world.fleet.phones.count
    open += 1
    let phone = try scenario.play(in: world)
    if let phone { world.printTimeline(of: phone, scenario.title) }
    for phone in before..<world.fleet.phones.count {
      for (_, note) in world.notes[phone] ?? [] {
        if case .fault(let fault) = note { Issue.record("\(fault)") }
      }
    }
    open -= 1
  }
}

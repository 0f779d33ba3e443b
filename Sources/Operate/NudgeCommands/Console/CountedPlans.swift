import NudgeConsole
import Synchronization

/// A plan that the console has counted for a person, who may then carry it out. An action names what was counted, and does that or nothing.
final class CountedPlans: Sendable {
  enum Plan: Sendable, Equatable {
    case deadLetters(DeadLetterSelection, [DeadLetterSelection.Place])
    /// With the identities of the records that it writes.
    case replay(ReplaySelection, Set<String>)
  }

  /// The latest of them can be done; a person looks at one at a time.
  private static let most = 32

  private let plans = Mutex<[(id: String, plan: Plan)]>([])

  /// Keeps a plan, and returns its name.
  func keep(_ plan: Plan) -> String {
    let id = ConsoleSecret.make()
    plans.withLock { plans in
      plans.append((id, plan))
      plans.removeFirst(max(0, plans.count - Self.most))
    }
    return id
  }

  /// The plan that an action names. It is done once.
  func take(_ question: ConsoleQuestion) throws -> Plan {
    let found = plans.withLock { plans -> Plan? in
      guard let index = plans.firstIndex(where: { $0.id == question["counted"] }) else { return nil }
      return plans.remove(at: index).plan
    }
    guard let found else { throw CommandError("count it first: nothing that was counted has this name, or no longer") }
    return found
  }

  static let hasChanged = CommandError("it is no longer what was counted: nothing was written. Count again")
}

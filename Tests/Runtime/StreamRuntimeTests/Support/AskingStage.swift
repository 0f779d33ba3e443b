import NudgeSchema
import Synchronization

@testable import StreamRuntime

/// Asks for an effect with each record, whose offset it is.
struct AskingStage: Stage {
  typealias Row = CountingStage.Row
  typealias Effect = Int
  typealias Reply = Int
  static let definition = StageDefinition(
    name: "asking", inputs: [.pushes], outputs: [.outcomes], changelog: .dispatcherState)

  /// Whether each reply is written to `nudge.outcomes`.
  var writesReplies = false

  func process(_ record: InputRecord, in step: Step<Self>) throws { step.perform(Int(record.offset)) }
  func receive(_ reply: Int, in step: Step<Self>) throws {
    guard writesReplies else { return }
    try step.emit(bytes: Array("\(reply)".utf8), to: .outcomes, key: "reply", partition: 0)
  }
  func effectCancelled(_ effect: Int, in step: Step<Self>) throws {}
}

/// Counts effects, and replies to each with itself when a test says so.
final class HeldReplies: EffectPerformer {
  private struct Open: Sendable {
    let reply: @Sendable () -> Void
  }
  private let open = Mutex<[Open]>([])
  private let asked = Mutex(0)

  /// Effects so far.
  var count: Int { asked.withLock { $0 } }

  func perform(_ effect: Int, reply: @escaping @Sendable (Int) -> Void) {
    asked.withLock { $0 += 1 }
    open.withLock { $0.append(Open { reply(effect) }) }
  }

  /// Replies to the oldest effects without a reply.
  func answer(_ count: Int = .max) {
    let replies = open.withLock { open in
      defer { open.removeFirst(min(count, open.count)) }
      return Array(open.prefix(count))
    }
    for open in replies { open.reply() }
  }

  func stop() {}
}

import NudgeSchema
import TestSupport

@testable import StreamRuntime

/// The outside, as one process reaches it: answers come after a while, some when the task has long been given up, and none
/// once the process is dead.
///
/// `@unchecked`: everything of a simulation is on one thread, and nothing here leaves it.
final class ModelPerformer: EffectPerformer, @unchecked Sendable {
  private struct Answer {
    var at: Milliseconds
    var reply: SendingReply
    var post: @Sendable (SendingReply) -> Void
  }

  private unowned let world: SimulatedWorld
  private let process: String
  /// By time.
  private var answers: [Answer] = []
  /// The last way back into each task.
  private var newest: [Int32: @Sendable (SendingReply) -> Void] = [:]

  init(_ process: String, _ world: SimulatedWorld) {
    self.process = process
    self.world = world
  }

  func perform(_ effect: SendingRequest, reply: @escaping @Sendable (SendingReply) -> Void) {
    let now = world.broker.now
    guard let number = world.performed(effect, by: process) else { return }
    // From the request itself: the order in which a thread goes through its tasks is not the schedule's.
    var fate = SeededGenerator(
      seed: world.seed &+ UInt64(effect.origin) << 32 &+ UInt64(effect.task) << 16 &+ UInt64(effect.attempt))
    let wait =
      fate.oneIn(12) ? fate.below(60_000) : fate.oneIn(4) ? fate.below(5000) : fate.below(120)
    let answer = Answer(
      at: now + Milliseconds(wait),
      reply: SendingReply(number: number, request: effect, isAccepted: !fate.oneIn(6)), post: reply)
    newest[effect.task] = reply
    let place = answers.firstIndex { ($0.at, $0.reply.request.task) > (answer.at, effect.task) } ?? answers.endIndex
    answers.insert(answer, at: place)
  }

  func stop() {}

  /// Hands on the answers that have come. Called where the process runs: a stopped one takes none.
  func deliver() {
    while let answer = answers.first, answer.at <= world.broker.now {
      answers.removeFirst()
      world.delivered(answer.reply, to: process)
      if world.mutation == .formerLivesAccepted {
        newest[answer.reply.request.task]?(answer.reply)
      } else {
        answer.post(answer.reply)
      }
    }
  }
}

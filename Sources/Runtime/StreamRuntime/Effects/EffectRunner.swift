import NudgeSchema

/// The effects of a stream thread's tasks: handed on while ownership is proven, and their replies brought back as steps.
final class EffectRunner<S: Stage, IO: StreamIO> {
  private let context: StreamContext<IO>
  private let tasks: TaskManager<S, IO>
  private let performer: (any EffectPerformer<S.Effect, S.Reply>)?
  private let replies: ReplyBox<S.Reply>
  /// Whether the stage has any.
  let areThere = S.Effect.self != Never.self

  init(
    _ context: StreamContext<IO>, _ tasks: TaskManager<S, IO>,
    performer: (any EffectPerformer<S.Effect, S.Reply>)?, wake: @escaping @Sendable () -> Void
  ) {
    self.context = context
    self.tasks = tasks
    self.performer = performer
    replies = ReplyBox(wake: wake)
  }

  /// Effects that wait or are under way, of all tasks.
  var count: Int {
    guard areThere else { return 0 }
    var count = 0
    for task in tasks.all { count += task.waitingEffects.count + task.effectsUnderWay }
    return count
  }

  /// Effects whose replies have not come.
  var areUnderWay: Bool { areThere && tasks.all.contains { $0.effectsUnderWay > 0 } }

  /// Brings replies back, until so much is open that a transaction must be sealed first.
  func takeReplies() throws {
    guard areThere, !tasks.isFull else { return }
    let letters = replies.takeAll()
    guard !letters.isEmpty else { return }
    let now = context.io.wallClock
    for letter in letters {
      // The reply to a former life of the task: its new owner, perhaps this thread, has the lane and its "not before".
      guard let task = tasks[letter.task], task.life == letter.life else { continue }
      task.effectsUnderWay -= 1
      try tasks.run(task, record: nil, now: now) { try $0.receive(letter.reply, in: $1) }
    }
  }

  /// Hands on what waits, while this thread can prove that it owns its tasks.
  func perform(_ proof: OwnershipProof) {
    guard areThere, let performer else { return }
    guard tasks.all.contains(where: { !$0.waitingEffects.isEmpty }) else { return }
    guard proof.holds(at: context.io.steadyClock) else {
      context.observe(.effectsHeld(count: tasks.all.reduce(0) { $0 + $1.waitingEffects.count }))
      return
    }
    for task in tasks.all {
      let (number, life, box) = (task.number, task.life, replies)
      for effect in task.waitingEffects {
        task.effectsUnderWay += 1
        performer.perform(effect) { box.post(.init(task: number, life: life, reply: $0)) }
      }
      task.waitingEffects.removeAll(keepingCapacity: true)
    }
  }

  /// Gives back to the stage what it asked for and nobody will do: also what a reply has just made it ask for.
  func forgo() throws {
    guard areThere else { return }
    let now = context.io.wallClock
    for task in tasks.all {
      let effects = task.waitingEffects
      task.waitingEffects.removeAll()
      for effect in effects { try tasks.run(task, record: nil, now: now) { try $0.forgo(effect, in: $1) } }
    }
  }
}

import NudgeSchema

/// The group gives tasks and takes them.
extension StreamThread {
  /// Answers a change of the group.
  func take(_ change: GroupChange) throws {
    switch change {
    case .assigned(let numbers):
      try lose()
      context.observe(.assigned(tasks: numbers))
      tasks.assignedCount = numbers.count
      // Nothing is fetched until the state is whole.
      try assign([])
      try restorer.begin(numbers)
      if !numbers.isEmpty && commits.needsFirstProducer { try commits.openProducer() }
    case .revoked:
      restorer.abandon()
      try settle(until: io.steadyClock + context.limits.revokeDrain)
      close(tasks.numbers, lost: false)
      try assign([])
    case .lost:
      restorer.abandon()
      try lose()
      try assign([])
    }
  }

  /// All tasks are somebody else's already: nothing of them is committed any more, but what is on its way comes to its end.
  private func lose() throws {
    defer { close(tasks.numbers, lost: true) }
    try commits.awaitOutcome()
  }

  /// Starts nothing new, waits for replies, and commits what there is; gives up at the deadline.
  func settle(until deadline: Milliseconds) throws {
    while true {
      try commits.awaitOutcome()
      let late = io.steadyClock >= deadline
      // After a failed commit, or with enough for a transaction, no reply is taken before that is committed: it comes first,
      // or the answers that have come would be waited for in vain until the deadline, and forgotten.
      if !isFull {
        try effects.takeReplies()
        try effects.cancelWaiting()
      }
      if !isFull {
        if effects.hasInFlight && !late {
          io.idle(atMost: min(deadline - io.steadyClock, context.limits.maxPollWait))
          continue
        }
        if commits.isSettled { return }
      }
      do {
        try release(commits.commit())
        try commits.awaitOutcome()
        if commits.isSettled { continue }
      } catch let failure as IOFailure where failure.isRetriable {
        // Tried again while there is time; what is given up must be answered to the group all the same.
        context.observe(.retrying(reason: failure.description))
        if !late { io.idle(atMost: context.limits.maxPollWait) }
      }
      // Nobody polls here, so who is out of the group stays out: what there is will be done again by its next owner.
      if late || commits.isOutOfGroup { return }
      if let next = commits.nextAttempt(steadyNow: io.steadyClock), next > io.steadyClock {
        io.idle(atMost: next - io.steadyClock)
      }
    }
  }

  /// Tasks have turned out to be another owner's; the rest go on.
  func release(_ lost: [Int32]) throws {
    guard !lost.isEmpty else { return }
    close(lost, lost: true)
    try assignRunning()
  }

  /// Closes tasks.
  func close(_ numbers: [Int32], lost: Bool) {
    guard !numbers.isEmpty else { return }
    effects.leave(numbers)
    tasks.release(numbers, lost: lost)
    commits.forget(numbers)
    context.observe(.released(tasks: numbers.sorted(), lost: lost))
  }

  /// Consumes the inputs of the running tasks from where they stand.
  func assignRunning() throws {
    try assign(
      tasks.ordered.flatMap { task in
        S.definition.inputs.filter(task.consumes).map {
          InputPosition(topic: $0, task: task.number, offset: task.next[$0] ?? 0)
        }
      })
  }
}

import NudgeSchema

/// Rebalances.
extension StreamThread {
  /// Handles a rebalance.
  /// - Throws: Errors that end the thread. Retriable failures of a commit are retried until the deadline. After it, the work is dropped.
  func take(_ change: GroupChange) throws {
    switch change {
    case .assigned(let numbers):
      try lose()
      context.observe(.assigned(tasks: numbers))
      tasks.assignedCount = numbers.count
      // Nothing is fetched until the state is restored.
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
      lossSince = io.steadyClock
      try handOver()
    }
  }

  /// Hands over the effects of lost tasks, and then answers the loss. If the broker was away from all members, the group's next generation
  /// waits for this answer and begins with the handovers.
  func handOver() throws {
    guard effects.isEnabled else { return try answerLoss() }
    let isDone = try effects.handOver()
    if let lossSince, isDone || io.steadyClock - lossSince >= context.limits.handoverDelay { try answerLoss() }
  }

  private func answerLoss() throws {
    guard lossSince != nil else { return }
    try assign([])
    lossSince = nil
  }

  /// Closes all tasks, which other members may own. Waits for the commit in flight, and commits nothing more.
  private func lose() throws {
    defer { close(tasks.numbers, lost: true) }
    try commits.awaitOutcome()
  }

  /// Waits for replies and commits all work, without starting new effects. Gives up at the deadline.
  func settle(until deadline: Milliseconds) throws {
    while true {
      try commits.awaitOutcome()
      let late = io.steadyClock >= deadline
      // A failed or full transaction is committed before further replies are taken.
      if !intake.isClosed {
        try effects.takeReplies()
        try effects.cancelWaiting()
      }
      if !intake.isClosed {
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
        // Retried until the deadline. The rebalance is answered in any case.
        context.observe(.retrying(reason: failure.description))
        if !late { io.idle(atMost: context.limits.maxPollWait) }
      }
      // This loop does not poll, so the member cannot rejoin. The next owner processes uncommitted work again.
      if late || commits.isOutOfGroup { return }
      if let next = commits.nextAttempt(steadyNow: io.steadyClock), next > io.steadyClock {
        io.idle(atMost: next - io.steadyClock)
      }
    }
  }

  /// Closes tasks that another member owns, and continues with the others.
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

  /// Assigns the inputs of the running tasks from their next offsets.
  func assignRunning() throws {
    try assign(
      tasks.ordered.flatMap { task in
        S.definition.inputs.filter(task.consumes).map {
          InputPosition(topic: $0, task: task.number, offset: task.next[$0] ?? 0)
        }
      })
  }
}

import NudgeSchema

extension TaskManager {
  /// Takes over the policy in force, for the steps of a turn.
  func refreshPolicy() {
    guard let current = surroundings.policy?() else { return }
    policy = current
    for task in all { task.step.policy = current }
  }

  /// Shows the state of the stage's memory.
  func showStatistics() {
    guard let show = surroundings.show, let statistics = stage.statistics(now: context.io.wallClock) else { return }
    show(statistics)
  }

  /// Reports that a task runs.
  func tellRunning(_ task: Task, rows: Int, took: Milliseconds) {
    context.observe(
      .running(
        task: task.number, sequence: task.position.sequence,
        next: Dictionary(uniqueKeysWithValues: task.next.map { ($0.key.rawValue, $0.value) }), rows: rows,
        milliseconds: took))
  }
}

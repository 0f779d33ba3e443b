/// When the tasks of a stage committed, and who did: under a steady load a task's pauses show.
struct CommitTimes: Equatable {
  private struct Commit: Equatable {
    var time: Int64
    var writer: String
  }

  /// A task without a commit for a while. Times in milliseconds.
  struct Pause: Equatable {
    var task: Int32
    var start: Int64
    var end: Int64
    var length: Int64 { end - start }
  }

  private var commits: [Int32: [Commit]] = [:]

  /// A task has committed. The writer is as in its position record: `INSTANCE-THREAD/LIFE`.
  mutating func note(_ task: Int32, at time: Int64, by writer: String) {
    commits[task, default: []].append(Commit(time: time, writer: writer))
  }

  /// The instance that committed last, by task.
  var owners: [Int32: String] {
    commits.compactMapValues {
      $0.last.map { String($0.writer.prefix { $0 != "/" }.split(separator: "-").dropLast().joined(separator: "-")) }
    }
  }

  /// When each task committed last.
  var latest: [Int32: Int64] { commits.compactMapValues { $0.last?.time } }

  /// The longest pause of any task that touches this time. Commits before and after it count too; a task that never commits
  /// again pauses until `end`.
  func longestPause(from start: Int64, to end: Int64) -> Pause? {
    commits.flatMap { task, commits -> [Pause] in
      let times = commits.map(\.time).filter { $0 <= end } + [commits.map(\.time).first { $0 > end } ?? end]
      return zip(times, times.dropFirst()).filter { $1 >= start }.map { Pause(task: task, start: $0, end: $1) }
    }
    .max { ($0.length, $1.task) < ($1.length, $0.task) }
  }
}

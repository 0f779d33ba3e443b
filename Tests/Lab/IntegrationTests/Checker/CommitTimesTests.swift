import Testing

@Suite("Pauses of tasks")
struct CommitTimesTests {
  private func times(_ commits: [(Int32, Int64, String)]) -> CommitTimes {
    var times = CommitTimes()
    for (task, time, writer) in commits { times.note(task, at: time, by: writer) }
    return times
  }

  @Test("the longest pause is the longest of any task, and may begin before the time that is looked at")
  func longest() {
    let times = times([
      (0, 100, "a-0/x"), (1, 100, "b-0/x"), (0, 200, "a-0/x"), (1, 900, "a-0/x"), (0, 950, "a-0/x"), (1, 1000, "a-0/x"),
    ])
    #expect(times.longestPause(from: 500, to: 990) == .init(task: 1, start: 100, end: 900))
    #expect(times.longestPause(from: 910, to: 990) == .init(task: 0, start: 200, end: 950))
    #expect(times.longestPause(from: 0, to: 50) == nil, "nothing was committed yet")
  }

  @Test("a task that never commits again pauses to the end")
  func silent() {
    let times = times([(0, 100, "a-0/x"), (1, 100, "a-0/x"), (0, 5000, "a-0/x")])
    #expect(times.longestPause(from: 200, to: 6000)?.task == 1)
    #expect(times.longestPause(from: 200, to: 6000)?.length == 5900)
  }

  @Test("a task's owner is the instance that committed last, whatever its name and thread")
  func owners() {
    let times = times([(0, 1, "a-0/x"), (1, 1, "pod-2-0/y"), (0, 2, "b-11/z")])
    #expect(times.owners == [0: "b", 1: "pod-2"])
    #expect(times.latest == [0: 2, 1: 1])
  }
}

import NudgeSchema
import StreamRuntime
import Testing

@testable import Dispatcher

@Suite("FCM projects that pushes name")
struct ProjectTests {
  private func push(_ id: String, device: String, project: String?) -> Push {
    var push = DispatcherBench.push(id, devices: [device])
    push.targets[0].projectId = project
    return push
  }

  @Test("a push to a project that is not configured is rejected with a reason and leaves no state")
  func invented() throws {
    let bench = DispatcherBench { $0.projects = ["own", "second"] }
    for number in 0..<500 {
      try bench.send(push("p\(number)", device: "d\(number)", project: "invented-\(number)"))
    }
    #expect(bench.air.isEmpty && bench.wakeAt == nil)
    #expect(bench.outcomes.count == 500)
    #expect(bench.outcomes.allSatisfy { $0.result == .rejected && $0.errorCode == "project_not_allowed" })
    #expect(bench.outcomes.allSatisfy { $0.attempts == 0 })
    for number in 0..<500 { #expect(try bench.lane("d\(number)") == nil) }
    // Allowed projects are sent to meanwhile.
    try bench.send(push("a", device: "a", project: nil))
    try bench.send(push("b", device: "b", project: "own"))
    try bench.send(push("c", device: "c", project: "second"))
    #expect(bench.air.map(\.pushId) == ["a", "b", "c"])
  }

  @Test("ids of projects are compared by their bytes")
  func bytes() throws {
    let bench = DispatcherBench { $0.projects = ["caf\u{e9}"] }
    try bench.send(push("a", device: "a", project: "cafe\u{301}"))
    #expect(bench.outcomes.map(\.errorCode) == ["project_not_allowed"])
  }
}

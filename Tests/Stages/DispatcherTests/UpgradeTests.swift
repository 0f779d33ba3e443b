import NudgeSchema
import StreamRuntime
import TestSupport
import Testing

@testable import Dispatcher

@Suite("Upgrade: pushes of the release before levels")
struct UpgradeTests {
  @Test("each waiting push is sent once, in the way its record says")
  func pushes() throws {
    let bench = DispatcherBench()
    var sent: [String] = []
    var pushes: [String] = []
    for bytes in try FormerRelease().pushes {
      switch try RecordCoder().decode(PushEvent.self, from: bytes).body {
      case .push(let push):
        pushes.append(push.pushId)
        bench.now = push.decidedAt
        try bench.send(push)
        while let request = bench.air.first {
          sent.append(try #require(request.pushId))
          let body = String(decoding: request.body, as: UTF8.self)
          let presentation = push.kind == .message ? push.presentation.rawValue : "badge"
          #expect(body.contains(#""presentation":"\#(presentation)""#), "\(body)")
          try bench.answer(.sent)
        }
      case .cancelled(let cancelled): _ = try bench.send(.cancelled(cancelled), user: cancelled.userId, cause: nil)
      case .answered: Issue.record("that release hands nothing over")
      }
    }
    #expect(bench.rejections.isEmpty && sent == pushes && pushes.count > 10)
  }
}

import ServiceKit
import StreamRuntime
import Synchronization
import Testing

@testable import Dispatcher

@Suite("What the dispatcher says of its requests to FCM")
struct ObservedSendsTests {
  /// Answers each request with the next of its answers.
  private final class Script: EffectPerformer {
    private let answers: Mutex<[FCMAnswer]>
    private let isStopped = Atomic<Bool>(false)
    init(_ answers: [FCMAnswer]) { self.answers = Mutex(answers) }
    var stopped: Bool { isStopped.load(ordering: .relaxed) }
    func perform(_ effect: SendRequest, reply: @escaping @Sendable (SendReply) -> Void) {
      let answer = answers.withLock { $0.removeFirst() }
      reply(SendReply(id: effect.id, answer: answer, startedAt: 1_000, finishedAt: 1_250))
    }
    func stop() { isStopped.store(true, ordering: .relaxed) }
  }

  private let health = HealthState()
  private let metrics = MetricsRegistry()

  private func sends(_ answers: [FCMAnswer]) -> (ObservedSends<Script>, Script) {
    let script = Script(answers)
    return (ObservedSends(script, projectId: "home", metrics: metrics, readiness: health.readiness), script)
  }

  private func send(_ sends: ObservedSends<Script>, project: String? = nil) -> SendReply? {
    let received = Mutex<SendReply?>(nil)
    sends.perform(SendRequest(id: 1, projectId: project, deviceId: "d", token: "t", attempt: 1, body: [])) { reply in
      received.withLock { $0 = reply }
    }
    return received.withLock { $0 }
  }

  @Test(
    "P6: refused credentials are a reason not to be ready until FCM takes a request again; trouble of FCM's is none")
  func readiness() throws {
    let refused = FCMAnswer(.projectRefused, httpStatus: 403, errorCode: "PERMISSION_DENIED")
    let (sends, _) = sends([
      FCMAnswer(.serverFailed, httpStatus: 503), refused, FCMAnswer(.unreachable), FCMAnswer(.invalidToken),
    ])
    _ = send(sends)
    #expect(health.readiness.isReady)
    _ = send(sends)
    let reason = try #require(health.readiness.reasons["fcm"])
    #expect(reason.contains("PERMISSION_DENIED") && reason.contains("home") && reason.contains("--fcm-credentials"))
    _ = send(sends)
    #expect(!health.readiness.isReady, "no answer says nothing of credentials")
    _ = send(sends)
    #expect(health.readiness.isReady, "FCM looked at the token, so it took the credentials")
  }

  @Test("a project that only a device named is counted, and leaves the service ready")
  func otherProject() {
    let (sends, _) = sends([FCMAnswer(.projectRefused, httpStatus: 404), FCMAnswer(.sent(name: "n"), httpStatus: 200)])
    _ = send(sends, project: "made-up")
    #expect(health.readiness.isReady)
    #expect(metrics.exposition().contains("nudge_fcm_refused_projects 1"))
    _ = send(sends, project: "made-up")
    #expect(metrics.exposition().contains("nudge_fcm_refused_projects 0"))
  }

  @Test("every answer is counted by its meaning and handed on as it came; stop is handed on")
  func counts() throws {
    let answers = [
      FCMAnswer(.sent(name: "n"), httpStatus: 200), FCMAnswer(.quotaExceeded(.project), httpStatus: 429),
      FCMAnswer(.rejected, httpStatus: 418, isUnknown: true),
    ]
    let (sends, script) = sends(answers)
    for answer in answers { #expect(try #require(send(sends)).answer == answer) }
    let text = metrics.exposition()
    #expect(text.contains(#"nudge_fcm_answers_total{result="sent"} 1"#))
    #expect(text.contains(#"nudge_fcm_answers_total{result="project_quota"} 1"#))
    #expect(text.contains(#"nudge_fcm_answers_total{result="rejected"} 1"#))
    #expect(text.contains("nudge_fcm_unknown_answers_total 1"))
    #expect(text.contains("nudge_fcm_send_seconds_sum 0.75"))
    sends.stop()
    #expect(script.stopped)
  }
}

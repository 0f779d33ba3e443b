import NudgeSchema
import ServiceKit
import Synchronization
import TestSupport
import Testing

@testable import StreamRuntime

@Suite("Watchdog")
struct WatchdogTests {
  @Test("a stuck thread makes the process not alive, until it turns again or ends")
  func stuck() {
    let time = Mutex<Milliseconds>(0)
    let health = HealthState()
    let capture = LogCapture()
    let watchdog = Watchdog(
      logger: Logger(label: "test", sink: capture.sink), liveness: health.liveness, now: { time.withLock { $0 } })
    watchdog.turned(0)
    watchdog.turned(1)
    time.withLock { $0 = Watchdog.longestTurn }
    watchdog.check()
    #expect(health.liveness.isReady)
    time.withLock { $0 += 1 }
    watchdog.turned(1)
    watchdog.check()
    #expect(health.liveness.reasons.keys.sorted() == ["stream-0"])
    #expect(capture.entries.contains { $0.level == .error })
    watchdog.turned(0)
    watchdog.check()
    #expect(health.liveness.isReady)
    time.withLock { $0 += 10 * Watchdog.longestTurn }
    watchdog.ended(0)
    watchdog.ended(1)
    watchdog.check()
    #expect(health.liveness.isReady)
  }
}

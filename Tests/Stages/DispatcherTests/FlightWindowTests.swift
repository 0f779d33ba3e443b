import NudgeSchema
import Testing

@testable import Dispatcher

@Suite("FlightWindow: requests in flight")
struct FlightWindowTests {
  /// Twelve tasks with more pushes than FCM takes, and a process that has `slots` requests on the wire, each for `latency`.
  /// Returns the requests that were sent, and those that waited for longer than a second, both after `warmUp` seconds.
  private func run(slots: Int, latency: Milliseconds, warmUp: Milliseconds, seconds: Milliseconds) -> (
    sent: Int, withheld: Int
  ) {
    var windows = Array(repeating: FlightWindow(limit: 1_000), count: 12)
    var inFlight = Array(repeating: 0, count: windows.count)
    var queue: ArraySlice<(task: Int, since: Milliseconds)> = []
    var wire: ArraySlice<(task: Int, until: Milliseconds)> = []
    var result = (sent: 0, withheld: 0)
    for now in 0..<(warmUp + seconds) * 1_000 {
      if now == warmUp * 1_000 { result = (0, 0) }
      while let first = wire.first, first.until <= now {
        wire.removeFirst()
        inFlight[first.task] -= 1
        windows[first.task].grow()
        result.sent += 1
      }
      while wire.count < slots, let first = queue.popFirst() {
        if now - first.since <= 1_000 {
          wire.append((first.task, now + latency))
        } else {
          inFlight[first.task] -= 1
          windows[first.task].shrink(inFlight: inFlight[first.task], now: now)
          result.withheld += 1
        }
      }
      for task in windows.indices {
        while inFlight[task] < windows[task].size {
          inFlight[task] += 1
          queue.append((task, now))
        }
      }
    }
    return result
  }

  /// At 2 s a request the queue of a second is half a round of answers, so the windows overshoot it further.
  @Test(
    "where FCM is slow, few requests wait in vain, and the connections stay busy",
    arguments: [(50, 0.01), (320, 0.05), (2_000, 0.33)])
  func slow(latency: Milliseconds, withheld: Double) {
    let slots = 200
    let result = run(slots: slots, latency: latency, warmUp: 60, seconds: 120)
    #expect(result.sent > slots * 120_000 / Int(latency) * 9 / 10)
    #expect(Double(result.withheld) < Double(result.sent) * withheld)
  }

  @Test("the window returns to its limit once FCM is fast again")
  func fastAgain() {
    var window = FlightWindow(limit: 100)
    for second in 0..<20 { window.shrink(inFlight: window.size, now: Milliseconds(second) * 2_000) }
    #expect(window.size == FlightWindow.least)
    // A round of answers for each size between.
    for _ in 0..<(FlightWindow.least..<100).reduce(0, +) { window.grow() }
    #expect(window.size == 100)
    window.grow()
    #expect(window.size == 100)
  }

  @Test("requests that wait too long together shrink the window once")
  func group() {
    var window = FlightWindow(limit: 1_000)
    for _ in 0..<50 { window.shrink(inFlight: 1_000, now: 5_000) }
    #expect(window.size == 700)
  }
}

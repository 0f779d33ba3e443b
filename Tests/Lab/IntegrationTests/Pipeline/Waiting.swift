import Foundation
import Testing

/// A condition did not hold in time. It ends the test, whose later steps would fail too.
struct StillWaiting: Error, CustomStringConvertible {
  var description: String
}

/// Waits for a condition. Throws at the deadline, with the text of `state`.
///
/// The pause after a look is as long as two looks, within limits: the checker looks at all that was read, and a wait without pauses
/// takes the processor from the services it waits for.
func waitUntil(
  _ what: String, atMost seconds: Double = 60, state: () -> String = { "" }, _ condition: () throws -> Bool
) throws {
  let deadline = Date(timeIntervalSinceNow: seconds)
  let pause = DispatchSemaphore(value: 0)
  var began = ContinuousClock.now
  while try !condition() {
    guard Date() < deadline else {
      throw StillWaiting(description: "still waiting after \(seconds) s until \(what). \(state())")
    }
    let look = Int(began.duration(to: .now) / .milliseconds(1))
    _ = pause.wait(timeout: .now() + .milliseconds(min(max(10, 2 * look), 100)))
    began = .now
  }
}

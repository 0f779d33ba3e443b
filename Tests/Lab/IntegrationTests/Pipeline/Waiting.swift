import Foundation
import Testing

/// A condition did not hold in time. It ends the test, whose later steps would fail too.
struct StillWaiting: Error, CustomStringConvertible {
  var description: String
}

/// Waits for a condition. Throws at the deadline, with the text of `state`.
func waitUntil(
  _ what: String, atMost seconds: Double = 60, state: () -> String = { "" }, _ condition: () throws -> Bool
) throws {
  let deadline = Date(timeIntervalSinceNow: seconds)
  let pause = DispatchSemaphore(value: 0)
  while try !condition() {
    guard Date() < deadline else {
      throw StillWaiting(description: "still waiting after \(seconds) s until \(what). \(state())")
    }
    _ = pause.wait(timeout: .now() + .milliseconds(10))
  }
}

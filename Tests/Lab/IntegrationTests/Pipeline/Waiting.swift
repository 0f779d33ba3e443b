import Foundation
import Testing

/// A condition did not come about in time; ends the test, whose later steps would only repeat it.
struct StillWaiting: Error, CustomStringConvertible {
  var description: String
}

/// Waits for a condition; throws at the deadline, with what `state` says then.
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

import Foundation
import Testing

/// Waits for a condition; fails the test at the deadline.
func wait(
  for what: String, atMost seconds: Double = 60, sourceLocation: SourceLocation = #_sourceLocation,
  until condition: () throws -> Bool
) rethrows {
  let deadline = Date(timeIntervalSinceNow: seconds)
  let pause = DispatchSemaphore(value: 0)
  while try !condition() {
    guard Date() < deadline else {
      Issue.record("still waiting after \(seconds) s for \(what)", sourceLocation: sourceLocation)
      return
    }
    _ = pause.wait(timeout: .now() + .milliseconds(10))
  }
}

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

/// A folder of its own for a test, removed with the object.
final class TemporaryDirectory {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("nudge-test-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

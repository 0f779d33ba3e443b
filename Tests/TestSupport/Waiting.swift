// A static build of all targets, as the image's, has no Testing.
#if canImport(Testing)
  import Foundation
  public import Testing

  /// Waits for a condition; fails the test at the deadline. For what comes about in other threads and processes.
  public func wait(
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
#endif

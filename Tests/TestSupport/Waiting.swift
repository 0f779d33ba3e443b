// A static build of all targets, such as the image's, has no Testing.
#if canImport(Testing)
  import Foundation
  public import Testing

  /// Waits for a condition of another thread or process; fails the test at the deadline.
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

/// Waits without blocking a thread until a condition holds; false if it does not within the limit.
public func eventually(within limit: Duration = .seconds(20), _ condition: @Sendable () -> Bool) async throws -> Bool {
  let deadline = ContinuousClock.now + limit
  while !condition() {
    if ContinuousClock.now > deadline { return false }
    try await Task.sleep(for: .milliseconds(2))
  }
  return true
}

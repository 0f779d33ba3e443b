// A static build of all targets, such as the image's, has no Testing.
#if canImport(Testing)
  import Dispatch
  public import Testing

  /// Runs each test on its own thread. Such tests block in librdkafka, and Swift's thread pool is small.
  public struct OwnThread: SuiteTrait, TestTrait, TestScoping {
    /// Applies to all tests of a suite.
    public var isRecursive: Bool { true }

    /// Runs the test on a new serial queue.
    public func provideScope(
      for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
      try await withTaskExecutorPreference(Executor(), operation: function)
    }

    private final class Executor: TaskExecutor {
      private let queue = DispatchQueue(label: "test")

      func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
      }
    }
  }

  extension Trait where Self == OwnThread {
    /// Runs each test on its own thread.
    public static var ownThread: Self { OwnThread() }
  }
#endif

import Dispatch
import Synchronization

/// Runs something again and again, on a queue of its own, from `start` to `stop`. A run that takes longer than the pause delays the next one.
public final class RepeatingTimer: Sendable {
  private let label: String
  private let pause: DispatchTimeInterval
  private let source = Mutex<(any DispatchSourceTimer)?>(nil)

  /// - Parameters:
  ///   - label: The name of the queue, as debuggers show it.
  ///   - pause: From `start` to the first run, and from each run to the next.
  public init(_ label: String, every pause: Duration) {
    self.label = label
    self.pause = .milliseconds(Int(pause.milliseconds))
  }

  /// Takes the place of what ran before.
  public func start(_ run: @escaping @Sendable () -> Void) {
    source.withLock { source in
      source?.cancel()
      let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: label))
      timer.schedule(deadline: .now() + pause, repeating: pause)
      timer.setEventHandler(handler: run)
      timer.activate()
      source = timer
    }
  }

  public func stop() { source.withLock { $0.take()?.cancel() } }
}

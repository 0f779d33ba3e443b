public import ServiceKit
import Synchronization

/// Keeps log entries.
public final class LogCapture: Sendable {
  /// Write to this sink.
  public let sink: LogSink
  private let kept: KeptEntries

  /// A sink that keeps everything from `level` up. `wallClock` returns milliseconds since the epoch.
  public init(level: LogLevel = .trace, wallClock: @escaping @Sendable () -> Int64 = { SystemClock.milliseconds() }) {
    let kept = KeptEntries()
    self.kept = kept
    sink = LogSink(level: level, wallClock: wallClock) { entry, _ in kept.entries.withLock { $0.append(entry) } }
  }

  /// The entries so far, in order.
  public var entries: [LogEntry] { kept.entries.withLock { $0 } }

  private final class KeptEntries: Sendable {
    let entries = Mutex<[LogEntry]>([])
  }
}

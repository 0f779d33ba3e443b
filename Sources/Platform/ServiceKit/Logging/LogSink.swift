import Glibc
import Synchronization

/// One thing logged, before it is written.
public struct LogEntry: Sendable, Equatable {
  /// Milliseconds since the epoch.
  public let time: Int64
  /// How much it matters.
  public let level: LogLevel
  /// Who said it.
  public let label: String
  /// What was said.
  public let message: String
  /// What goes with it.
  public let metadata: [String: LogValue]
}

/// Where loggers write, with the level and format they share. Both may be changed at any time, from any thread.
public final class LogSink: Sendable {
  /// The process's sink: JSON lines on standard error, from `info` up, until a program's settings say otherwise.
  public static let standard = LogSink()

  private let currentLevel: Atomic<Int>
  private let textual: Atomic<Bool>
  private let wallClock: @Sendable () -> Int64
  private let write: @Sendable (LogEntry, LogFormat) -> Void
  let repeats: LogRepeats

  /// A sink that writes each entry as one line, with one `write(2)`, to a file descriptor that stays open (2 is standard error).
  public convenience init(level: LogLevel = .info, format: LogFormat = .json, descriptor: Int32 = 2) {
    self.init(level: level, format: format, wallClock: { SystemClock.milliseconds() }) { entry, format in
      LogSink.writeLine(LogLine.bytes(of: entry, as: format), to: descriptor)
    }
  }

  /// A sink with a clock (milliseconds since the epoch) and a destination of one's own. Intervals of `Logger.limited` are measured by the same clock.
  public init(
    level: LogLevel, format: LogFormat = .json, wallClock: @escaping @Sendable () -> Int64,
    write: @escaping @Sendable (LogEntry, LogFormat) -> Void
  ) {
    currentLevel = Atomic(level.rank)
    textual = Atomic(format == .text)
    self.wallClock = wallClock
    self.write = write
    repeats = LogRepeats(clock: wallClock)
  }

  /// What is below this is not written.
  public var level: LogLevel {
    get { LogLevel(rank: currentLevel.load(ordering: .relaxed)) }
    set { currentLevel.store(newValue.rank, ordering: .relaxed) }
  }

  /// How lines are written.
  public var format: LogFormat {
    get { textual.load(ordering: .relaxed) ? .text : .json }
    set { textual.store(newValue == .text, ordering: .relaxed) }
  }

  func emit(level: LogLevel, label: String, message: String, metadata: [String: LogValue]) {
    let entry = LogEntry(time: wallClock(), level: level, label: label, message: message, metadata: metadata)
    write(entry, format)
  }

  /// One write(2) a line, so that lines of several threads do not mix; only what the kernel did not take is written again.
  /// A log that cannot be written has nowhere to say so: the line is dropped and the service goes on.
  private static func writeLine(_ line: [UInt8], to descriptor: Int32) {
    line.withUnsafeBytes { buffer in
      var rest = buffer[...]
      while !rest.isEmpty {
        let written = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if written > 0 {
          rest = rest.dropFirst(written)
        } else if errno != EINTR {
          return
        }
      }
    }
  }
}

/// Keeps what is logged, for tests.
public final class LogCapture: Sendable {
  /// The sink that fills this.
  public let sink: LogSink
  private let kept: KeptEntries

  /// A sink that keeps everything from `level` up; `wallClock` gives milliseconds since the epoch.
  public init(level: LogLevel = .trace, wallClock: @escaping @Sendable () -> Int64 = { SystemClock.milliseconds() }) {
    let kept = KeptEntries()
    self.kept = kept
    sink = LogSink(level: level, wallClock: wallClock) { entry, _ in kept.entries.withLock { $0.append(entry) } }
  }

  /// What was logged so far, in order.
  public var entries: [LogEntry] { kept.entries.withLock { $0 } }

  private final class KeptEntries: Sendable {
    let entries = Mutex<[LogEntry]>([])
  }
}

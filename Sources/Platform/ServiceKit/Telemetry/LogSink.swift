import Glibc
import Synchronization

/// A log line before it is formatted.
public struct LogEntry: Sendable, Equatable {
  /// Milliseconds since the epoch.
  public let time: Int64
  public let level: LogLevel
  public let label: String
  /// The message, without metadata.
  public let message: String
  /// The metadata of the logger and of the line.
  public let metadata: [String: LogValue]
}

/// The destination of loggers, with their common level and format. Any thread may change level and format at any time.
public final class LogSink: Sendable {
  /// The process's sink: JSON lines on standard error from `info` up, unless the program's settings change that.
  public static let standard = LogSink()

  private let currentLevel: Atomic<Int>
  private let textual: Atomic<Bool>
  private let wallClock: @Sendable () -> Int64
  private let write: @Sendable (LogEntry, LogFormat) -> Void
  private let copy = Mutex<Receiver?>(nil)
  let repeats: LogRepeats

  /// A sink that writes each entry as one line, with one `write(2)`, to a file descriptor that stays open (2 is
  /// standard error).
  public convenience init(level: LogLevel = .info, format: LogFormat = .json, descriptor: Int32 = 2) {
    self.init(level: level, format: format, wallClock: { SystemClock.milliseconds() }) { entry, format in
      LogSink.writeLine(LogLine.bytes(of: entry, as: format), to: descriptor)
    }
  }

  /// A sink with its own clock (milliseconds since the epoch) and destination. The clock also measures the intervals of
  /// `Logger.limited`.
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

  /// Lines below this level are dropped.
  public var level: LogLevel {
    get { LogLevel(rank: currentLevel.load(ordering: .relaxed)) }
    set { currentLevel.store(newValue.rank, ordering: .relaxed) }
  }

  /// The format of the lines.
  public var format: LogFormat {
    get { textual.load(ordering: .relaxed) ? .text : .json }
    set { textual.store(newValue == .text, ordering: .relaxed) }
  }

  func emit(level: LogLevel, label: String, message: String, metadata: [String: LogValue]) {
    let entry = LogEntry(time: wallClock(), level: level, label: label, message: message, metadata: metadata)
    write(entry, format)
    copy.withLock { $0 }?.take(entry)
  }

  /// See `Logger.copyLines`.
  func copyLines(to receiver: (@Sendable (LogEntry) -> Void)?) {
    copy.withLock { $0 = receiver.map { Receiver(take: $0) } }
  }

  /// The function that receives a copy of each line.
  private struct Receiver: Sendable {
    let take: @Sendable (LogEntry) -> Void
  }

  /// Writes a line with one write(2), so that lines of several threads do not mix. It repeats the call only for bytes
  /// that the kernel did not accept. A line that cannot be written is dropped, because there is nowhere to report it.
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

/// Keeps when each rate-limited line was last written.
final class LogRepeats: Sendable {
  /// Keys are constants in the code, so there are few. The limit protects against a key that contains data by mistake.
  private static let mostKeys = 1_024

  private struct Key {
    var admitted: Int64
    var heldBack: Int
  }

  private let keys = Mutex<[String: Key]>([:])
  private let clock: @Sendable () -> Int64

  init(clock: @escaping @Sendable () -> Int64) { self.clock = clock }

  /// The number of lines suppressed since the last one was written; nil if this line must be suppressed too.
  func admit(_ key: String, every interval: Duration) -> Int? {
    let now = clock()
    let pause = interval.milliseconds
    return keys.withLock { keys in
      guard let last = keys[key] else {
        if keys.count >= Self.mostKeys { keys.removeAll() }
        keys[key] = Key(admitted: now, heldBack: 0)
        return 0
      }
      // If the clock was set back, a line must not stay silent for longer than its interval.
      guard now - last.admitted >= pause || now < last.admitted else {
        keys[key]?.heldBack += 1
        return nil
      }
      keys[key] = Key(admitted: now, heldBack: 0)
      return last.heldBack
    }
  }
}

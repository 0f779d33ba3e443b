/// Writes log lines with a label and common metadata. Adding metadata makes a copy and does not change the original.
public struct Logger: Sendable {
  /// The part of the program that logs, such as `ingest` or `kafka.consumer`.
  public let label: String
  /// Added to every line. A line's own metadata overrides it by name.
  public var metadata: [String: LogValue]

  private let sink: LogSink
  private var ownLevel: LogLevel?

  /// A logger that writes to `sink`, by default the process's standard error.
  public init(label: String, metadata: [String: LogValue] = [:], sink: LogSink = .standard) {
    self.label = label
    self.metadata = metadata
    self.sink = sink
  }

  /// Lines below this level are not written, and their messages are not evaluated. Default: the sink's level, which may change at run time.
  public var level: LogLevel {
    get { ownLevel ?? sink.level }
    set { ownLevel = newValue }
  }

  /// A copy under another label, with metadata added.
  public func with(label: String? = nil, _ added: [String: LogValue] = [:]) -> Logger {
    var copy = Logger(label: label ?? self.label, metadata: metadata, sink: sink)
    copy.metadata.merge(added) { _, new in new }
    copy.ownLevel = ownLevel
    return copy
  }

  /// A copy whose lines name a trace and the span that they belong to, by OpenTelemetry's fields; nil: this logger.
  public func with(_ trace: TraceContext?) -> Logger {
    trace.map { with(["trace_id": .string($0.traceID), "span_id": .string($0.spanID)]) } ?? self
  }

  /// This logger if nothing was logged under `key` (of this label) within `interval`, else nil: `logger.limited("slow", every: .seconds(10))?.warning("…")`.
  /// The line's `repeated` is the number of lines suppressed before it.
  public func limited(_ key: String, every interval: Duration) -> Logger? {
    guard let heldBack = sink.repeats.admit("\(label)\u{0}\(key)", every: interval) else { return nil }
    return heldBack == 0 ? self : with(["repeated": .int(heldBack)])
  }

  /// From now on a receiver has each line of this logger's sink too, after it is written; nil: none has. It must not block, and is called
  /// by the thread that logs.
  public func copyLines(to receiver: (@Sendable (LogEntry) -> Void)?) { sink.copyLines(to: receiver) }

  /// Writes a line at `level`, if that level is on.
  public func log(
    _ level: LogLevel, _ message: @autoclosure () -> String, _ metadata: @autoclosure () -> [String: LogValue] = [:]
  ) {
    guard level >= self.level else { return }
    var all = self.metadata
    all.merge(metadata()) { _, new in new }
    sink.emit(level: level, label: label, message: message(), metadata: all)
  }

  /// Writes a line at `trace`.
  public func trace(
    _ message: @autoclosure () -> String, _ metadata: @autoclosure () -> [String: LogValue] = [:]
  ) { log(.trace, message(), metadata()) }

  /// Writes a line at `debug`.
  public func debug(
    _ message: @autoclosure () -> String, _ metadata: @autoclosure () -> [String: LogValue] = [:]
  ) { log(.debug, message(), metadata()) }

  /// Writes a line at `info`.
  public func info(
    _ message: @autoclosure () -> String, _ metadata: @autoclosure () -> [String: LogValue] = [:]
  ) { log(.info, message(), metadata()) }

  /// Writes a line at `notice`.
  public func notice(
    _ message: @autoclosure () -> String, _ metadata: @autoclosure () -> [String: LogValue] = [:]
  ) { log(.notice, message(), metadata()) }

  /// Writes a line at `warning`.
  public func warning(
    _ message: @autoclosure () -> String, _ metadata: @autoclosure () -> [String: LogValue] = [:]
  ) { log(.warning, message(), metadata()) }

  /// Writes a line at `error`.
  public func error(
    _ message: @autoclosure () -> String, _ metadata: @autoclosure () -> [String: LogValue] = [:]
  ) { log(.error, message(), metadata()) }
}

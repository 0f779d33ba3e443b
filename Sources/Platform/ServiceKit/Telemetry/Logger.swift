/// Writes log lines with a label and common metadata. Adding metadata returns a copy and does not change the original.
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

  /// Lines below this level are not written, and their messages are not evaluated. By default it is the sink's level,
  /// which may change at run time.
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

  /// A copy whose lines name a trace and its span, with OpenTelemetry's field names. For nil, this logger.
  public func with(_ trace: TraceContext?) -> Logger {
    trace.map { with(["trace_id": .string($0.traceID), "span_id": .string($0.spanID)]) } ?? self
  }

  /// This logger if nothing was logged under `key` (for this label) within `interval`; nil otherwise. Use:
  /// `logger.limited("slow", every: .seconds(10))?.warning("…")`. The line's `repeated` is the number of lines
  /// suppressed before it.
  public func limited(_ key: String, every interval: Duration) -> Logger? {
    guard let heldBack = sink.repeats.admit("\(label)\u{0}\(key)", every: interval) else { return nil }
    return heldBack == 0 ? self : with(["repeated": .int(heldBack)])
  }

  /// Also passes each line of this logger's sink to a receiver after it is written; nil removes the receiver. The
  /// receiver is called on the logging thread and must not block.
  public func copyLines(to receiver: (@Sendable (LogEntry) -> Void)?) { sink.copyLines(to: receiver) }

  /// Writes a line at `level` if that level is enabled.
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

/// The severity of a log line, in swift-log's order.
public enum LogLevel: String, Sendable, Comparable, CaseIterable {
  /// Every step, for debugging the code itself.
  case trace
  /// Details for following one request or record.
  case debug
  /// Normal operation.
  case info
  /// Normal, but notable: a rebalance, a changed setting.
  case notice
  /// A failure that the program handled.
  case warning
  /// A failure that needs a person.
  case error

  /// The position in the order, 0 for `trace`.
  var rank: Int {
    switch self {
    case .trace: 0
    case .debug: 1
    case .info: 2
    case .notice: 3
    case .warning: 4
    case .error: 5
    }
  }

  /// The level at a position in the order; `error` for a position out of range.
  init(rank: Int) {
    self = Self.allCases.indices.contains(rank) ? Self.allCases[rank] : .error
  }

  /// Orders by severity.
  public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }
}

/// The format of log lines.
public enum LogFormat: String, Sendable, CaseIterable {
  /// One JSON object per line, for machines.
  case json
  /// `time LEVEL label: message key=value …`, for people.
  case text
}

/// A value of a log line's metadata. Literals and string interpolations convert implicitly: `["partition": 3, "topic": "\(name)"]`.
public enum LogValue: Sendable, Equatable {
  /// Text. It must not be a token, a secret or the text of a message; log a hash of those.
  case string(String)
  case int(Int)
  /// A number. Infinities and NaN are written as text, because JSON has none.
  case double(Double)
  case bool(Bool)
}

extension LogValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral
{
  /// A string literal or interpolation.
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int) { self = .int(value) }
  /// A floating-point literal.
  public init(floatLiteral value: Double) { self = .double(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension LogValue: CustomStringConvertible {
  /// The value as plain text.
  public var description: String {
    switch self {
    case .string(let text): text
    case .int(let number): String(number)
    case .double(let number): String(number)
    case .bool(let flag): String(flag)
    }
  }
}

/// The bytes of a log line, including its newline.
enum LogLine {
  /// Names of a line's own fields. Metadata with the same name gets the prefix `_`.
  private static let reserved: Set<String> = ["time", "level", "label", "message"]

  static func bytes(of entry: LogEntry, as format: LogFormat) -> [UInt8] {
    switch format {
    case .json: json(entry)
    case .text: text(entry)
    }
  }

  private static func json(_ entry: LogEntry) -> [UInt8] {
    var line = "{\"time\":\"\(Timestamp.format(entry.time))\",\"level\":\"\(entry.level.rawValue)\",\"label\":"
    line += JSONText.quoted(entry.label)
    line += ",\"message\":"
    line += JSONText.quoted(entry.message)
    for (name, value) in entry.metadata.sorted(by: { $0.key < $1.key }) {
      line += ","
      line += JSONText.quoted(reserved.contains(name) ? "_" + name : name)
      line += ":"
      switch value {
      case .string(let text): line += JSONText.quoted(text)
      case .int(let number): line += String(number)
      case .double(let number): line += number.isFinite ? String(number) : JSONText.quoted(String(number))
      case .bool(let flag): line += flag ? "true" : "false"
      }
    }
    line += "}\n"
    return Array(line.utf8)
  }

  private static func text(_ entry: LogEntry) -> [UInt8] {
    let level = entry.level.rawValue.uppercased()
    let padding = String(repeating: " ", count: max(0, 7 - level.count))
    var line = "\(Timestamp.format(entry.time)) \(level)\(padding) \(entry.label): \(oneLine(entry.message))"
    for (name, value) in entry.metadata.sorted(by: { $0.key < $1.key }) {
      let text = value.description
      let plain = !text.isEmpty && text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0 != "\"" && $0 != "=" }
      line += " \(name)=\(plain ? text : JSONText.quoted(text))"
    }
    line += "\n"
    return Array(line.utf8)
  }

  /// A message with a newline must not look like two lines.
  private static func oneLine(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 < 0x20 }) else { return text }
    return String(JSONText.quoted(text).dropFirst().dropLast())
  }
}

/// Text as a JSON string literal.
enum JSONText {
  static func quoted(_ text: String) -> String {
    var quoted = "\""
    quoted.reserveCapacity(text.utf8.count + 2)
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case "\r": quoted += "\\r"
      case "\t": quoted += "\\t"
      case let control where control.value < 0x20 || control.value == 0x7f:
        let hexadecimal = String(control.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - hexadecimal.count) + hexadecimal
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    quoted += "\""
    return quoted
  }
}

/// RFC 3339 in UTC with milliseconds, without Foundation's formatters, which cost more than the rest of a log line.
enum Timestamp {
  /// `2026-01-31T23:59:59.123Z` of milliseconds since the epoch.
  static func format(_ milliseconds: Int64) -> String {
    let (days, inDay) = floorDivide(milliseconds, 86_400_000)
    let (year, month, day) = civil(days)
    let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    let hours = padded(inDay / 3_600_000, 2)
    let minutes = padded(inDay / 60_000 % 60, 2)
    let seconds = padded(inDay / 1_000 % 60, 2)
    return "\(date)T\(hours):\(minutes):\(seconds).\(padded(inDay % 1_000, 3))Z"
  }

  /// The Gregorian date of a day counted from 1970-01-01. It counts in eras of 400 years and in years that begin in
  /// March, so that the leap day is the last.
  private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (era, dayOfEra) = floorDivide(days + 719_468, 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
  }

  private static func floorDivide(_ value: Int64, _ by: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = value.quotientAndRemainder(dividingBy: by)
    return remainder < 0 ? (quotient - 1, remainder + by) : (quotient, remainder)
  }

  private static func padded(_ value: Int64, _ width: Int) -> String {
    let digits = String(value)
    return digits.count >= width ? digits : String(repeating: "0", count: width - digits.count) + digits
  }
}

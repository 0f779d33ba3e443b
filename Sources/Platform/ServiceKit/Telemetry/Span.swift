/// Receives the spans of a process. Never blocks its caller.
public protocol SpanRecorder: Sendable {
  /// The wall clock in nanoseconds since the epoch, for a span's times.
  func now() -> UInt64
  /// Accepts a finished span, or drops it and counts the loss.
  func record(_ span: Span)
}

/// A finished operation of a trace. Its name and attributes contain no message texts, tokens or names of people (T4),
/// only topics, offsets, ids that may be logged, and words from a fixed set.
public struct Span: Sendable, Equatable {
  /// OpenTelemetry's span kind, with its numbers.
  public enum Kind: Int, Sendable {
    /// A request that this process answered.
    case server = 2
    /// A request that this process sent.
    case client = 3
    /// The processing of a record from a topic, until its results are committed.
    case consumer = 5
  }

  /// A value of an attribute.
  public enum Value: Sendable, Equatable {
    /// A text of at most some hundred bytes.
    case string(String)
    case int(Int64)
  }

  /// The trace, and the span's own id.
  public var context: TraceContext
  /// The id of the span that caused it.
  public var parent: UInt64
  /// A name from a small set, such as `process nudge.timeline`.
  public var name: String
  /// OpenTelemetry's span kind.
  public var kind: Kind
  /// When it began, in nanoseconds since the epoch.
  public var start: UInt64
  /// When it ended; not earlier than `start`.
  public var end: UInt64
  /// Attributes with OpenTelemetry's names, or with the prefix `nudge.`.
  public var attributes: [(name: String, value: Value)]
  /// The code of the failure, such as a dead letter's; nil if it succeeded.
  public var failure: String?

  public init(
    _ context: TraceContext, parent: UInt64, name: String, kind: Kind, start: UInt64, end: UInt64,
    attributes: [(name: String, value: Value)] = [], failure: String? = nil
  ) {
    self.context = context
    self.parent = parent
    self.name = name
    self.kind = kind
    self.start = start
    self.end = max(start, end)
    self.attributes = attributes
    self.failure = failure
  }

  public static func == (left: Span, right: Span) -> Bool {
    left.context == right.context && left.parent == right.parent && left.name == right.name && left.kind == right.kind
      && left.start == right.start && left.end == right.end && left.failure == right.failure
      && left.attributes.elementsEqual(right.attributes) { $0.name == $1.name && $0.value == $1.value }
  }
}

/// The position of a record or request in a trace, as in the W3C's `traceparent`.
public struct TraceContext: Sendable, Hashable {
  /// The upper half of the trace id. The two halves are never both zero.
  public let traceHigh: UInt64
  /// The lower half of the trace id.
  public let traceLow: UInt64
  /// The id of the parent span; never zero.
  public let span: UInt64
  /// Bit 0: the trace is recorded.
  public let flags: UInt8

  /// A new trace with a first span.
  public init(sampled: Bool = true, using random: inout some RandomNumberGenerator) {
    traceHigh = random.next()
    traceLow = UInt64.random(in: 1 ... .max, using: &random)
    span = UInt64.random(in: 1 ... .max, using: &random)
    flags = sampled ? 1 : 0
  }

  /// Reads a `traceparent`: version 00 exactly, later versions by their first four fields. Nil for values that the
  /// W3C's recommendation says to ignore: upper case, wrong lengths, zero ids, version ff.
  public init?(traceparent: String) {
    let bytes = Array(traceparent.utf8)
    guard bytes.count >= 55, bytes[2] == 0x2d, bytes[35] == 0x2d, bytes[52] == 0x2d,
      let version = Self.hexadecimal(bytes[0..<2]), version != 0xff,
      bytes.count == 55 || (version > 0 && bytes[55] == 0x2d),
      let traceHigh = Self.hexadecimal(bytes[3..<19]), let traceLow = Self.hexadecimal(bytes[19..<35]),
      traceHigh != 0 || traceLow != 0,
      let span = Self.hexadecimal(bytes[36..<52]), span != 0,
      let flags = Self.hexadecimal(bytes[53..<55])
    else { return nil }
    self.init(traceHigh: traceHigh, traceLow: traceLow, span: span, flags: UInt8(flags))
  }

  private init(traceHigh: UInt64, traceLow: UInt64, span: UInt64, flags: UInt8) {
    self.traceHigh = traceHigh
    self.traceLow = traceLow
    self.span = span
    self.flags = flags
  }

  /// A child span in the same trace.
  public func child(using random: inout some RandomNumberGenerator) -> TraceContext {
    TraceContext(
      traceHigh: traceHigh, traceLow: traceLow, span: UInt64.random(in: 1 ... .max, using: &random), flags: flags)
  }

  /// The same trace with a span id derived from the parent's id, a name and numbers. Work that is repeated after a
  /// crash or a rebalance therefore gets the same id.
  public func child(_ name: String, _ numbers: [Int64]) -> TraceContext {
    var state = Self.mixed(traceLow ^ Self.mixed(span))
    for byte in name.utf8 { state = Self.mixed(state ^ UInt64(byte)) }
    for number in numbers { state = Self.mixed(state ^ UInt64(bitPattern: number)) }
    return TraceContext(traceHigh: traceHigh, traceLow: traceLow, span: max(1, state), flags: flags)
  }

  /// SplitMix64's step: every bit of the result depends on every bit of the number.
  private static func mixed(_ number: UInt64) -> UInt64 {
    var z = number &+ 0x9e37_79b9_7f4a_7c15
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }

  /// Whether the trace's spans are exported.
  public var isSampled: Bool { flags & 1 == 1 }

  /// The span's id as 16 hexadecimal digits.
  public var spanID: String { Self.spanID(span) }

  /// The id of a span as 16 hexadecimal digits.
  public static func spanID(_ span: UInt64) -> String { digits(span, 16) }

  /// The trace id as 32 hexadecimal digits, for logs and decisions.
  public var traceID: String { Self.digits(traceHigh, 16) + Self.digits(traceLow, 16) }

  /// The header's value in version 00. Only the flag that version 00 defines is passed on.
  public var traceparent: String {
    "00-\(traceID)-\(Self.digits(span, 16))-\(Self.digits(UInt64(flags & 1), 2))"
  }

  private static func hexadecimal(_ digits: ArraySlice<UInt8>) -> UInt64? {
    var value: UInt64 = 0
    for digit in digits {
      switch digit {
      case 48...57: value = value << 4 | UInt64(digit - 48)
      case 97...102: value = value << 4 | UInt64(digit - 87)
      default: return nil
      }
    }
    return value
  }

  private static func digits(_ value: UInt64, _ width: Int) -> String {
    String(unsafeUninitializedCapacity: width) { bytes in
      for place in 0..<width {
        let digit = UInt8(truncatingIfNeeded: value >> UInt64(4 * (width - 1 - place)) & 15)
        bytes[place] = digit < 10 ? 48 + digit : 87 + digit
      }
      return width
    }
  }
}

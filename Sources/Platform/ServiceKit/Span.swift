/// Receives the spans of a process. Never blocks its caller.
public protocol SpanRecorder: Sendable {
  /// The wall clock in nanoseconds since the epoch, for a span's times.
  func now() -> UInt64
  /// Accepts a finished span, or drops it and counts the loss.
  func record(_ span: Span)
}

/// A finished operation of a trace. Its name and attributes hold no texts, tokens or names of people (T4):
/// topics, offsets, ids that logs may have, and words from a fixed set.
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
  /// When it ended; not before it began.
  public var end: UInt64
  /// Named by OpenTelemetry's conventions, or with the prefix `nudge.`.
  public var attributes: [(name: String, value: Value)]
  /// The code of the failure, such as a dead letter's; nil if there was none.
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

/// Where the parts of a process leave their spans; whoever takes them never makes a caller wait.
public protocol SpanRecorder: Sendable {
  /// The wall clock in nanoseconds since the epoch, for a span's times.
  func now() -> UInt64
  /// Takes a span that has ended, or drops it and counts that.
  func record(_ span: Span)
}

/// A piece of work in a trace, once it has ended. Its name and attributes hold no texts, tokens or names of people (T4):
/// topics, offsets, ids that logs may have, and words from a fixed set.
public struct Span: Sendable, Equatable {
  /// Who asked whom, in OpenTelemetry's terms and by its numbers.
  public enum Kind: Int, Sendable {
    /// A request that was answered.
    case server = 2
    /// A request over the network.
    case client = 3
    /// A record that was taken from a topic, and all it caused until that was committed.
    case consumer = 5
  }

  /// A value of an attribute.
  public enum Value: Sendable, Equatable {
    /// A text of at most some hundred bytes.
    case string(String)
    /// A number.
    case int(Int64)
  }

  /// The trace, and the span's own id.
  public var context: TraceContext
  /// The id of the span that caused it.
  public var parent: UInt64
  /// A name from a small set, such as `process nudge.timeline`.
  public var name: String
  /// Who asked whom.
  public var kind: Kind
  /// When it began, in nanoseconds since the epoch.
  public var start: UInt64
  /// When it ended; not before it began.
  public var end: UInt64
  /// By OpenTelemetry's names where it has one, else with `nudge.` before.
  public var attributes: [(name: String, value: Value)]
  /// Why it failed, as a code such as a dead letter's; nil: it did not.
  public var failure: String?

  /// A span.
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

  /// All of them equal.
  public static func == (left: Span, right: Span) -> Bool {
    left.context == right.context && left.parent == right.parent && left.name == right.name && left.kind == right.kind
      && left.start == right.start && left.end == right.end && left.failure == right.failure
      && left.attributes.elementsEqual(right.attributes) { $0.name == $1.name && $0.value == $1.value }
  }
}

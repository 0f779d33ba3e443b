/// Something that a stage counts: an occurrence, as a value of the stage's own type. It counts once its step is committed.
///
/// ```swift
/// enum CounterMetric: StageMetric {
///   case message(isLong: Bool)
///
///   static let expected = [false, true].map(Self.message)
///   var series: StageSeries {
///     switch self {
///     case .message(let isLong):
///       StageSeries("messages_total", help: "Messages, by length.", labels: ["length": isLong ? "long" : "short"])
///     }
///   }
/// }
/// ```
public protocol StageMetric: Hashable, Sendable {
  /// Those whose series are there before they occur: Prometheus sees no increase in the first value of a series.
  static var expected: [Self] { get }

  /// Where it is counted. Any thread may ask.
  var series: StageSeries { get }

  /// The value of its label that an app or its user chooses; nil: it has no such label.
  var openLabel: StageOpenLabel? { get }

  /// The same with another value of its open label, and of no source.
  func labeled(_ value: String) -> Self
}

extension StageMetric {
  /// There is no such label.
  public var openLabel: StageOpenLabel? { nil }
  public func labeled(_ value: String) -> Self { self }
}

extension Never: StageMetric {
  public static var expected: [Never] { [] }
  public var series: StageSeries { switch self {} }
}

/// The value of a label that anybody may choose, such as the version of an app. Only the first values that a process sees have series of
/// their own; others are counted together.
public struct StageOpenLabel: Sendable {
  /// The value.
  public var value: String
  /// The id of the chooser, such as a person's. One source has few values, so that nobody uses the series up alone.
  public var source: String

  /// A value and its source.
  public init(_ value: String, from source: String) {
    self.value = value
    self.source = source
  }
}

/// A series of a Prometheus counter, or an observation of a histogram.
public struct StageSeries: Sendable, Equatable {
  /// The metric's name.
  public var metric: String
  /// The metric's help text; the same for all series of a metric.
  public var help: String
  /// The labels, each with few values.
  public var labels: [String: String]
  /// The value observed each time; nil: the metric is a counter.
  public var observation: Observation?

  /// A value of a histogram.
  public struct Observation: Sendable, Equatable {
    /// The value.
    public var value: Double
    /// The upper bounds of the histogram's buckets, ascending.
    public var bounds: [Double]

    /// A value and the bounds of its histogram.
    public init(value: Double, bounds: [Double]) {
      self.value = value
      self.bounds = bounds
    }
  }

  /// A series.
  public init(_ metric: String, help: String, labels: [String: String], observation: Observation? = nil) {
    self.metric = metric
    self.help = help
    self.labels = labels
    self.observation = observation
  }
}

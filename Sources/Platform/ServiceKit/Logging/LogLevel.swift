/// The severity of a log line, in swift-log's order.
public enum LogLevel: String, Sendable, Comparable, CaseIterable {
  /// Every step, for debugging the code that logs it.
  case trace
  /// Details that help to follow one request or record.
  case debug
  /// Normal operation.
  case info
  /// Normal, but worth attention: a rebalance, a changed setting.
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

  /// The level at a position in the order; out of range: `error`.
  init(rank: Int) {
    self = Self.allCases.indices.contains(rank) ? Self.allCases[rank] : .error
  }

  /// Orders by severity.
  public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }
}

/// The format of log lines.
public enum LogFormat: String, Sendable, CaseIterable {
  /// One JSON object a line, for machines.
  case json
  /// `time LEVEL label: message key=value …`, for people.
  case text
}

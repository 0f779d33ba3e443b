/// How much a log line matters; the order is that of swift-log.
public enum LogLevel: String, Sendable, Comparable, CaseIterable, SettingValue {
  /// Every step, for the one who debugs this very code.
  case trace
  /// What helps to follow one request or record.
  case debug
  /// What an operator wants to see in normal running.
  case info
  /// Normal, but worth attention: a rebalance, a changed setting.
  case notice
  /// Something failed and was dealt with.
  case warning
  /// Something failed and needs a person.
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

  /// Whether the left level matters less than the right one.
  public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }
}

/// How a log line is written.
public enum LogFormat: String, Sendable, CaseIterable, SettingValue {
  /// One JSON object a line, for machines.
  case json
  /// `time LEVEL label: message key=value …`, for people.
  case text
}

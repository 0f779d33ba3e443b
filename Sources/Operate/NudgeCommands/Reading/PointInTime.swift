import Kafka
import NudgeSchema
import ServiceKit

/// A time on a command line: `2026-11-22T10:30:00Z`, or a duration before now, such as `1h30m`.
enum PointInTime: SettingValue, Equatable {
  /// This long before now.
  case ago(Duration)
  /// Milliseconds since the epoch.
  case at(Milliseconds)

  /// Milliseconds since the epoch.
  func milliseconds(now: Milliseconds) -> Milliseconds {
    switch self {
    case .ago(let duration): now - duration.milliseconds
    case .at(let time): time
    }
  }

  static func parse(_ text: String) throws(SettingValueError) -> PointInTime {
    if let time = RFC3339.milliseconds(text) { return .at(time) }
    do throws(SettingValueError) {
      return .ago(try Duration.parse(text))
    } catch {
      throw SettingValueError(
        allowed: "a duration before now such as 30m or 1d, or a time such as 2026-11-22T10:30:00Z")
    }
  }

  var settingText: String {
    switch self {
    case .ago(let duration): duration.settingText
    case .at(let time): RFC3339.text(time)
    }
  }

  static var placeholder: String { "TIME" }
}

/// The time span whose records a command reads.
enum TimeSpan {
  /// The flag `--since`.
  /// - Parameters:
  ///   - what: The kind of records, such as `Decisions`.
  ///   - ago: How long before now the span begins without the flag.
  static func since(_ what: String, default ago: Duration) -> Setting<PointInTime> {
    Setting<PointInTime>(
      "since", environment: .none, default: .ago(ago),
      help: "\(what) since then: a duration (1h) or a time (2026-11-22T10:30:00Z).")
  }

  /// The flag `--until`.
  /// - Parameter what: The kind of records, such as `Decisions`.
  static func until(_ what: String) -> Setting<PointInTime?> {
    Setting<PointInTime?>("until", environment: .none, default: nil, help: "\(what) before then. Default: now.")
  }

  /// Both ends in milliseconds since the epoch; nil for an end that was not given.
  /// - Throws: `SettingsError` if the span ends before it begins.
  static func of(
    since: PointInTime?, until: PointInTime?, now: Milliseconds
  ) throws(SettingsError) -> (from: Milliseconds?, to: Milliseconds?) {
    let (from, to) = (since?.milliseconds(now: now), until?.milliseconds(now: now))
    if let from, from >= to ?? now { throw SettingsError("--since must be before --until") }
    return (from, to)
  }
}

/// A range of offsets in a partition, `from` inclusive, `to` exclusive.
struct PartitionRange: Sendable, Equatable {
  var place: TopicPartition
  var from: Int64
  var to: Int64

  /// The number of offsets, which is not that of records, because transaction markers take offsets too.
  var count: Int64 { max(0, to - from) }

  /// The range in pieces, the last one first. The pieces are small at first, so that a search for the latest records finds some quickly,
  /// and then grow, so that few requests are needed.
  func backwards(first: Int64 = 20_000, most: Int64 = 320_000) -> [PartitionRange] {
    var pieces: [PartitionRange] = []
    var (end, size) = (to, first)
    while end > from {
      let start = max(from, end - size)
      pieces.append(PartitionRange(place: place, from: start, to: end))
      end = start
      size = min(most, 2 * size)
    }
    return pieces
  }
}

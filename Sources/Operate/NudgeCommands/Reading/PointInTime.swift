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

import NudgeSchema

/// The last alert of a conversation for one person, and what was shown without one since.
///
/// Twenty messages in a minute are one alert, and silent entries after it. A message that mentions, answers or names the
/// person, or comes from a starred sender, always alerts, and so does one that matters more than the message that alerted. Bursts go by the messages' own times, so that a replay decides the
/// same.
struct Burst: Codable, Sendable, Equatable {
  /// The time of the message that alerted.
  var alertedAt: Milliseconds
  /// Messages since then that would have alerted too.
  var heldBack = 0
  /// What that message mattered, from 0 to 3; absent in rows of releases that did not keep it.
  var rank: Int?

  /// Whether a message comes so soon after the alert, or so shortly before it, that it is shown without one.
  func holds(_ time: Milliseconds, for length: Milliseconds) -> Bool {
    length > 0 && abs(time &- alertedAt) < length
  }
}

extension Burst {
  /// A message is to alert. Returns the burst it belongs to where its alert is held back; nil: it alerts.
  ///
  /// - Parameters:
  ///   - last: The conversation's last alert before the message, and after it.
  ///   - time: The message's.
  ///   - rank: What it matters, from 0 to 3.
  ///   - isPersonal: It alerts whatever came before.
  ///   - isAnew: The message was decided before, and is decided again: its own alert does not hold it back.
  ///   - length: How long an alert stands for what comes after it; 0: not at all.
  static func alert(
    after last: inout Burst?, at time: Milliseconds, rank: Int, isPersonal: Bool, isAnew: Bool,
    length: Milliseconds
  ) -> Burst? {
    guard length > 0 else {
      last = nil
      return nil
    }
    if isAnew, last?.alertedAt == time { return nil }
    if !isPersonal, var current = last, current.holds(time, for: length), rank <= current.rank ?? 2 {
      current.heldBack += 1
      last = current
      return current
    }
    // A message that comes late never makes an alert look older than it is.
    last = Burst(alertedAt: max(time, last?.alertedAt ?? time), rank: rank)
    return nil
  }
}

import NudgeSchema
import ServiceKit

/// A replay's plan and result.
struct ReplayReport: Encodable {
  /// nil: a dry run.
  var replayId: String?
  var mode: String
  var selection: [String: String]
  /// Selected pairs of a person and a message.
  var selected: Int
  /// How old messages may be in this replay, where that is more than their freshness, in milliseconds.
  var maxAge: Milliseconds?
  /// Those that are not decided again, by standing: `already_sent`, `already_notified`, `undecided`, `expired`.
  var standings: [String: Int] = [:]
  /// Dead letters that are written to `chat.events` again, where `rederive` finds their conversation now.
  var deadLetters: Int?
  /// Those that would be refused again.
  var refusedAgain: Int?
  /// Notifications that would be made, by the analyzer's code on a copy of the state.
  var wouldSend = 0
  /// Suppressed ones by reason.
  var suppressed: [String: Int] = [:]
  /// After a run: decisions by reason, outcomes by result.
  var decisions: [String: Int]?
  var outcomes: [String: Int]?
  /// `completed` or `stopped`.
  var result: String?
  /// Why it stopped.
  var stoppedBecause: String?

  /// The counts for the audit.
  var counts: [String: Int] {
    var counts = standings
    counts["would_send"] = wouldSend
    counts["dead_letters"] = deadLetters
    for (reason, count) in suppressed { counts["suppressed_\(reason)"] = count }
    return counts
  }

  var text: String {
    var lines = [
      "\(mode): \(selected.counted("notification is", "notifications are")) selected (a person and a message each), "
        + selection.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    ]
    if let maxAge {
      lines.append(
        "    messages up to \(Duration.milliseconds(maxAge).settingText) old are sent: that is beyond their freshness")
    }
    let meanings = [
      ("already_sent", "already sent: a push service has taken a push of it"),
      ("already_notified", "already notified: its push waits, or its outcome says why it was not sent"),
      ("undecided", "not decided yet: the analyzer will"), ("expired", "expired: past its freshness"),
      ("decided", "decided when the message came"),
      ("withdrawn", "taken back: the message or the conversation was deleted, or the person left"),
      ("erased", "the person was deleted after the message"),
      ("joined_later", "became members after the message: --members current decides for them, too"),
    ]
    for (name, meaning) in meanings {
      if let count = standings[name], count > 0 { lines.append("    \(count)  \(meaning)") }
    }
    for (reason, count) in suppressed.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
      lines.append("    \(count)  would be suppressed: \(reason)")
    }
    lines.append("    \(wouldSend)  would be sent")
    if let deadLetters, deadLetters > 0 {
      lines.append("    \(deadLetters)  dead letters whose conversation is known now: written to chat.events again")
    }
    if let refusedAgain, refusedAgain > 0 {
      lines.append("    \(refusedAgain)  dead letters would be refused again: the membership is still missing")
    }
    guard let replayId, let result else {
      if wouldSend > 0 || deadLetters ?? 0 > 0 { lines.append("Nothing was written. Add --yes --why TEXT to do it.") }
      return lines.joined(separator: "\n")
    }
    lines.append("replay \(replayId) \(result)\(stoppedBecause.map { ": \($0)" } ?? "")")
    func list(_ counts: [String: Int]?) -> String {
      (counts ?? [:]).sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }
    lines.append("    decided: \(list(decisions))")
    lines.append("    outcomes so far: \(list(outcomes))")
    if result == ReplayEnded.Result.stopped.rawValue {
      lines.append("Once the cause is fixed: nudge replay resume \(replayId) --yes --why TEXT")
    }
    return lines.joined(separator: "\n")
  }
}

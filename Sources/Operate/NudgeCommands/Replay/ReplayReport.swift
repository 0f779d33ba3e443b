import NudgeSchema
import ServiceKit

/// A replay's plan and result.
struct ReplayReport: Encodable {
  /// The replay's id; nil for a dry run.
  var replayId: String?
  var mode: String
  var selection: [String: String]
  /// The number of selected pairs of a person and a message.
  var selected: Int
  /// The greatest age of messages in this replay, if it exceeds their freshness, in milliseconds.
  var maxAge: Milliseconds?
  /// The number of pairs that are not decided again, by state: `already_sent`, `already_notified`, `undecided`, `expired`.
  var standings: [String: Int] = [:]
  /// The number of dead letters that are republished to `chat.events`, because `rederive` now finds their conversation.
  var deadLetters: Int?
  /// The number of dead letters that would be refused again.
  var refusedAgain: Int?
  /// The number of notifications that would be made, by the analyzer's code on a copy of the state.
  var wouldSend = 0
  /// The number of suppressed ones, by reason.
  var suppressed: [String: Int] = [:]
  /// After a run: decisions by reason, and outcomes by result.
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

/// The replays on `nudge.audit`.
struct ReplayHistory: Encodable {
  struct Replay: Encodable {
    enum Condition: String, Encodable {
      /// It is running, or its process was killed.
      case open
      /// Everything selected was written.
      case completed
      /// It stopped because of errors or lag; it can be resumed.
      case interrupted
      /// An operator stopped it; it cannot be resumed.
      case stopped
    }
    var replayId: String
    var startedAt: Milliseconds
    var started: ReplayStarted
    /// The position of its first record.
    var position: RecordPosition
    var progress: ReplayProgressed?
    var condition: Condition
    /// Why it stopped, and who stopped it.
    var note: String?
  }

  private(set) var replays: [Replay] = []

  /// Groups the trail by replay.
  init(_ trail: AuditTrail) {
    var places: [String: Int] = [:]
    for entry in trail.entries {
      let id = entry.event.body.replayId
      switch entry.event.body {
      case .started(let fields):
        if let place = places[id] {
          if replays[place].condition != .stopped { replays[place].condition = .open }
        } else {
          places[id] = replays.count
          replays.append(
            Replay(
              replayId: id, startedAt: entry.event.envelope.occurredAt, started: fields, position: entry.position,
              condition: .open))
        }
      case .progressed(let fields): if let place = places[id] { replays[place].progress = fields }
      case .ended(let fields):
        guard let place = places[id], replays[place].condition != .stopped else { continue }
        replays[place].condition = fields.result == .completed ? .completed : .interrupted
        replays[place].note = fields.reason
      case .stopped(let fields):
        guard let place = places[id] else { continue }
        replays[place].condition = .stopped
        replays[place].note = "\(fields.who): \(fields.why)"
      case .deadLettersHandled, .commandExecuted: continue
      }
    }
    replays.sort { $0.startedAt < $1.startedAt }
  }

  /// One line per replay.
  var text: String {
    guard !replays.isEmpty else { return "No replays." }
    return replays.map { replay in
      let flags = replay.started.selection.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
      return
        "\(replay.replayId)  \(replay.started.mode.rawValue)  \(replay.condition.rawValue)"
        + "\(replay.note.map { " (\($0))" } ?? "")  \(replay.progress?.recipients ?? 0) written\n"
        + "    by \(replay.started.who): \(replay.started.why)\n    \(flags.joined(separator: ", "))"
    }.joined(separator: "\n")
  }
}

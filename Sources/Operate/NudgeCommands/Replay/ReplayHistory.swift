import NudgeSchema

/// The replays on `nudge.audit`.
struct ReplayHistory: Encodable {
  struct Replay: Encodable {
    enum Condition: String, Encodable {
      /// Running, or its process was killed.
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
    /// Why it stopped, and by whom.
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

  /// One line a replay.
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

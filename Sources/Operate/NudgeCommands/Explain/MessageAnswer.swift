import NudgeSchema

/// The answer to "whom was this message for, how did they get it, and who did not?"
struct MessageAnswer: Encodable {
  /// How a message appeared to people.
  enum Shape: String, Encodable, CaseIterable {
    case alert, silent, badge
    /// It waits, and a final decision follows.
    case held
    /// Nothing was shown.
    case none
    /// It is on their timeline, and no decision is recorded.
    case undecided

    /// The shape in an operator's words: what was decided. Whether a push of it waits, left or arrived is said apart.
    var words: String {
      switch self {
      case .alert: "ALERT"
      case .silent: "SILENT"
      case .badge: "BADGE ONLY"
      case .held: "HELD"
      case .none: "NOT SHOWN"
      case .undecided: "NOT DECIDED"
      }
    }
  }

  /// People for whom the same was decided for the same reason.
  struct Group: Encodable {
    var shape: Shape
    /// The decisions' reason; of undecided ones `not_decided`.
    var reason: String
    /// The same in words.
    var because: String
    /// Some of them, in alphabetical order.
    var people: [String]
    /// How many more there are.
    var more: Int
    /// The outcomes of their pushes by result, a device each.
    var results: [Result]
    /// Their pushes by how far each got, a device each; one without an outcome counts once.
    var ends: [End]
    /// From the message's own time until the push service took the push; nil: none was sent.
    var latencyMs: Latency?
    /// From the message's own time, or from that of a later push of it, until a device had it; nil: none reported one.
    var arrivalMs: Latency?
    /// The pushes of the people that are named, a device each.
    var deliveries: [Delivery]

    var count: Int { people.count + more }
  }

  struct Result: Encodable, Equatable {
    var result: String
    var count: Int
  }

  struct End: Encodable, Equatable {
    var state: PushEndState
    var count: Int
  }

  /// How far a person's push got on a device.
  struct Delivery: Encodable, Equatable {
    var userId: String
    /// nil: no device has an outcome yet.
    var deviceId: String?
    var state: PushEndState
  }

  /// In milliseconds.
  struct Latency: Encodable, Equatable {
    var p50: Milliseconds
    var max: Milliseconds

    /// nil: there is none.
    init?(_ latencies: [Milliseconds]) {
      let sorted = latencies.sorted()
      guard let last = sorted.last else { return nil }
      p50 = sorted[(sorted.count - 1) / 2]
      max = last
    }
  }

  var messageId: String
  /// nil: neither event nor decision was found.
  var conversationId: String?
  /// nil: deleted by retention, or never written.
  var event: PlacedRecord?
  /// Its edits and its deletion.
  var edits: [PlacedRecord] = []
  /// Those who were shown most first, then the largest.
  var groups: [Group] = []
  /// A warning, where the counts alone would mislead.
  var note: String?

  var people: Int { groups.reduce(0) { $0 + $1.count } }

  /// For a person.
  var text: String {
    var lines: [String] = []
    let place = conversationId.map { " in \($0)" } ?? ""
    if let event {
      let at = RFC3339.text(event.record["occurredAt"]?.integer ?? event.timestamp)
      lines.append("message \(messageId)\(place), \(at) by \(event.record["senderId"]?.string ?? "?")  \(event.place)")
      if let text = event.record["text"]?.string { lines.append("  text \(text)") }
    } else {
      lines.append("message \(messageId)\(place): its event is not on chat.events, or no longer")
    }
    for edit in edits {
      let what = edit.record["type"]?.string == "message.deleted" ? "deleted" : "edited"
      lines.append("  \(what) \(RFC3339.text(edit.record["occurredAt"]?.integer ?? edit.timestamp))  \(edit.place)")
    }
    lines.append(people.counted("person", "people"))
    for group in groups {
      lines.append(
        "  \(group.count)  \(group.shape == .undecided ? "" : "decided: ")\(group.shape.words), \(group.reason): \(group.because)"
      )
      if !group.results.isEmpty {
        let results = group.results.map { "\($0.count) \($0.result)" }.joined(separator: ", ")
        let latency = group.latencyMs.map { "; half within \($0.p50) ms, all within \($0.max) ms" } ?? ""
        lines.append("      on their devices: \(results)\(latency)")
      }
      if !group.ends.isEmpty {
        let ends = group.ends.map { "\($0.count) \($0.state.words)" }.joined(separator: ", ")
        let arrival =
          group.arrivalMs.map { "; half arrived within \($0.p50) ms, all that did within \($0.max) ms" } ?? ""
        lines.append("      how far they got: \(ends)\(arrival)")
      }
      lines.append("      " + group.people.joined(separator: ", ") + (group.more > 0 ? ", and \(group.more) more" : ""))
    }
    if let note { lines.append(note) }
    lines.append("One person's story: nudge explain --user USER --message \(messageId)")
    return lines.joined(separator: "\n")
  }
}

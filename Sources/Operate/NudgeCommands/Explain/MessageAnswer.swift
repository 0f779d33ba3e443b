import NudgeSchema

/// The answer to "whom was this message for, how did they get it, and who did not?"
struct MessageAnswer: Encodable {
  /// How a message appeared to people.
  enum Shape: String, Encodable, CaseIterable {
    case alert, silent, badge
    /// Nothing was shown.
    case none
    /// It is on their timeline, and no decision is recorded.
    case undecided
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
    /// What became of their pushes, a device each.
    var results: [Result]
    /// From the message's own time until FCM took the push; nil: none was sent.
    var latencyMs: Latency?

    var count: Int { people.count + more }
  }

  struct Result: Encodable, Equatable {
    var result: String
    var count: Int
  }

  /// In milliseconds.
  struct Latency: Encodable, Equatable {
    var p50: Milliseconds
    var max: Milliseconds
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
  /// What a reader would otherwise get wrong.
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
    lines.append("\(people) \(people == 1 ? "person" : "people")")
    for group in groups {
      lines.append("  \(group.count)  \(Self.shown(group.shape)), \(group.reason): \(group.because)")
      if !group.results.isEmpty {
        let results = group.results.map { "\($0.count) \($0.result)" }.joined(separator: ", ")
        let latency = group.latencyMs.map { "; half within \($0.p50) ms, all within \($0.max) ms" } ?? ""
        lines.append("      on their devices: \(results)\(latency)")
      }
      lines.append("      " + group.people.joined(separator: ", ") + (group.more > 0 ? ", and \(group.more) more" : ""))
    }
    if let note { lines.append(note) }
    lines.append("One person's story: nudge explain --user USER --message \(messageId)")
    return lines.joined(separator: "\n")
  }

  private static func shown(_ shape: Shape) -> String {
    switch shape {
    case .alert: "ALERTED"
    case .silent: "SILENT"
    case .badge: "BADGE ONLY"
    case .none: "NOT SHOWN"
    case .undecided: "NOT DECIDED"
    }
  }
}

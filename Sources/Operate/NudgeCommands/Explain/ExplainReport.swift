import Analyzer
import Dispatcher
import NudgeSchema

/// An answer as text.
struct ExplainReport {
  let answer: ExplainAnswer

  init(_ answer: ExplainAnswer) { self.answer = answer }

  var text: String {
    var sections: [String] = []
    if answer.older > 0 {
      sections.append("\(answer.older) older decisions are not shown: --limit shows more, --message one message.")
    }
    sections += answer.stories.map { StoryText($0).text }
    if let missing = answer.missing { sections.append(missingText(missing)) }
    if answer.stories.isEmpty, answer.missing == nil {
      let since = answer.since.map { " since \(RFC3339.text($0))" } ?? ""
      sections.append(
        "No decision for \(answer.userId)\(since): no message reached them. --since looks further back, --message follows "
          + "one message from its event on.")
    }
    sections += [devicesText, preferencesText]
    return sections.filter { !$0.isEmpty }.joined(separator: "\n\n")
  }

  private func missingText(_ missing: MissingDecision) -> String {
    var lines = ["No decision for \(answer.userId): \(missing.text)."]
    if let event = missing.event {
      lines.append(
        "  event       \(RFC3339.text(event.record["occurredAt"]?.integer ?? event.timestamp))  \(event.place)")
    }
    if let candidate = missing.candidate {
      lines.append("  candidate   \(RFC3339.text(candidate.timestamp))  \(candidate.place)")
    }
    return lines.joined(separator: "\n")
  }

  private var devicesText: String {
    guard let devices = answer.devices else { return "" }
    let badge = answer.badge.map { ", badge \($0)" } ?? ""
    guard !devices.isEmpty else { return "Devices of \(answer.userId): none was ever registered\(badge)" }
    let lines = devices.map { device in
      var line = "  \(device.deviceId)  \(device.platform.rawValue)"
      if let version = device.appVersion { line += " \(version)" }
      line += "  registered \(RFC3339.text(device.registeredAt)), last seen \(RFC3339.text(device.lastSeenAt))"
      if let host = device.pushHost { line += ", Web Push by \(host)" }
      line += ", token hash \(device.tokenHash)"
      if !device.isReachable { line += ", CANNOT BE REACHED: signed out, or its token is gone" }
      if answer.quarantined.contains(device.deviceId) {
        line += ", QUARANTINED: FCM says the token is another sender's"
      }
      return line
    }
    return (["Devices of \(answer.userId)\(badge)"] + lines).joined(separator: "\n")
  }
}

extension ExplainReport {
  /// The meaning of a preference that was set to null.
  private static let unset = ["dailyAlerts": "the operator's number", "digestTimes": "when quiet hours end"]

  /// One line per preference, with the time at which it was set. For a list that is the time of its last change.
  private var preferencesText: String {
    var fields = answer.preferences?.fields ?? [:]
    let elements = fields.removeValue(forKey: "elements")?.elements ?? []
    guard !fields.isEmpty else { return "" }
    let lines = fields.sorted { $0.key < $1.key }.map { name, field in
      let stamps = [field["stamp"]] + elements.filter { $0["list"]?.string == name }.map { $0["stamp"] }
      let at = stamps.compactMap { $0?["occurredAt"]?.integer }.max().map { ", set \(RFC3339.text($0))" } ?? ""
      let value = field.fields["value"].map { $0 == .null ? Self.unset[name] ?? "none" : $0.shown }
      return "  \(name): \(value ?? field.shown)\(at)"
    }
    return (["Preferences of \(answer.userId)"] + lines).joined(separator: "\n")
  }
}

struct StoryText {
  let story: MessageStory

  init(_ story: MessageStory) { self.story = story }

  var text: String {
    var lines = ["\(story.userId): message \(story.messageId) in \(story.conversationId)"]
    lines += event + candidate
    for decision in story.decisions { lines += self.decision(decision) }
    if !story.pushes.isEmpty || story.decisions.contains(where: { $0.record["pushId"] != nil }) { lines += pushes }
    lines += escalations + catchUps + later
    lines += story.devices.map { "  now         \($0.deviceId): \($0.text)" }
    if let standing = story.standing {
      let read = standing.isRead ? "read" : "not read"
      let held = standing.heldUntil.map { ", held until \(time($0))" } ?? ""
      lines.append(
        "  now         \(read), \(standing.countsOnBadge ? "counts" : "does not count") on the badge\(held)")
      if story.waitsForCatchUp, let catchUp = Self.catchUp(standing) { lines.append("  now         \(catchUp)") }
    }
    return lines.joined(separator: "\n")
  }

  /// The fate of a message that was left to the catch-up; nil if a push shows it.
  private static func catchUp(_ standing: PersonView.MessageStanding) -> String? {
    if standing.waitsForCatchUp {
      return "waits for the person's catch-up, "
        + (standing.catchUpAt.map { "due at \(RFC3339.text($0))" } ?? "which waits for a device")
    }
    let isDone = standing.isRead || standing.isWithdrawn || standing.wasNotified || standing.wasToldByCatchUp
    return isDone
      ? nil
      : "in no catch-up: its sender or conversation was muted, or set to level none, or notifications were turned off, while it waited"
  }

  private func time(_ time: Milliseconds) -> String { RFC3339.text(time) }

  private var event: [String] {
    guard let event = story.event else { return ["  event       no longer kept"] }
    let record = event.record
    var lines = [
      "  event       \(time(record["occurredAt"]?.integer ?? event.timestamp))  \(record["type"]?.string ?? "?") by "
        + "\(record["senderId"]?.string ?? "?")  \(event.place)"
    ]
    if let text = record["text"]?.string { lines.append("              text \(text)") }
    if let trace = event.traceparent { lines.append("              trace \(trace)") }
    return lines
  }

  private var candidate: [String] {
    guard let candidate = story.candidate else { return ["  candidate   no longer kept"] }
    let record = candidate.record
    let count = record["recipientCount"]?.integer ?? 1
    var lines = [
      "  candidate   \(time(candidate.timestamp))  \(record["conversation"]?["kind"]?.string ?? "?"), "
        + "\(count.counted("recipient")) on this partition  \(candidate.place)"
    ]
    let context = record["recipients"]?.elements.first?["context"]?.fields ?? [:]
    let told = context.filter { $0.value != .bool(false) && $0.value != .integer(0) && $0.value != .null }
      .sorted { $0.key < $1.key }
      .map { name, value in
        if value == .bool(true) { return name }
        return name.hasSuffix("At")
          ? "\(name) \(value.integer.map { time($0) } ?? value.shown)" : "\(name) \(value.shown)"
      }
    if !told.isEmpty { lines.append("              for this person: \(told.joined(separator: ", "))") }
    if record["possibleRepeat"]?.bool == true { lines.append("              may be a repeat: notifies nobody") }
    return lines
  }

  private func decision(_ decision: PlacedRecord) -> [String] {
    let record = decision.record
    var lines = [
      "  decision    \(time(record["decidedAt"]?.integer ?? decision.timestamp))  \(DecisionWords.outcome(record)), "
        + "\(record["reason"]?.string ?? "?"): \(DecisionWords.reason(record))  \(decision.place)"
    ]
    if let text = record["text"]?.string { lines.append("              to the person: \(text)") }
    if let until = record["heldUntil"]?.integer { lines.append("              decided by \(time(until))") }
    if let policy = record["policy"]?.string { lines.append("              by the policy \(policy)") }
    if let replay = record["replayId"]?.string { lines.append("              by replay \(replay)") }
    if record["mode"]?.string == "catching_up" {
      lines.append("              while catching up: it came to the analyzer more than a minute after it was written")
    }
    let checks = CheckWords.all(of: record)
    let width = checks.map(\.name.count).max() ?? 0
    for check in checks {
      lines.append("    \(check.suppresses ? "✗" : "✓") \(check.name.padded(to: width))  \(check.text)")
    }
    // A signal's contribution to the log-odds of the score. For simple rules it is the score itself.
    let signals = (record["signals"]?.elements ?? []).map { signal in
      "\(signal["name"]?.string ?? "?") \(signal["weight"]?.shown ?? "?")"
    }
    if !signals.isEmpty {
      lines.append("    score       \(record["score"]?.shown ?? "?"), from \(signals.joined(separator: ", "))")
    }
    if let badge = record["badge"]?.integer { lines.append("    badge       \(badge)") }
    return lines
  }

  private var pushes: [String] {
    guard !story.pushes.isEmpty else {
      return ["  push        no longer kept, or not written yet"] + story.outcomes.map { outcomeLine($0) }
    }
    let decided = story.decisions.map { $0.record["pushId"] }
    var lines: [String] = []
    for push in story.pushes {
      let targets = push.record["targets"]?.elements ?? []
      lines.append(
        "  push        \(time(push.record["decidedAt"]?.integer ?? push.timestamp))  \(push.record["pushId"]?.string ?? "?"), "
          + "\(push.record["presentation"]?.string ?? "?"), \(push.record["priority"]?.string ?? "?") priority  \(push.place)"
      )
      if push.record["replaces"]?.bool == true {
        lines.append("              after an edit: it replaces the notification")
      } else if story.waitsForCatchUp, !decided.contains(push.record["pushId"]) {
        lines.append("              the catch-up, in which no other message waited")
      }
      if let first = push.record["escalation"]?["pushedAt"]?.integer {
        lines.append("              said again: it had neither arrived nor been read since \(time(first))")
      }
      if let title = push.record["title"]?.string { lines.append("              title \(title)") }
      if let body = push.record["body"]?.string { lines.append("              body \(body)") }
      for target in targets {
        let device = target["deviceId"]?.string ?? "?"
        let ended = story.outcomes.filter {
          $0.record["pushId"] == push.record["pushId"] && $0.record["deviceId"]?.string == device
        }
        let name = "    → \(device) (\(target["platform"]?.string ?? "?"))"
        if ended.isEmpty {
          let item = story.waiting.first { $0.deviceId == device && $0.pushId == push.record["pushId"]?.string }
          lines.append("\(name)  no outcome yet: \(item.map { MessageStory.words($0) } ?? "it waits in no lane")")
        }
        lines += ended.map { "\(name)  \(OutcomeWords.of($0.record))  \($0.place)" }
        if let end = story.ends.first(where: {
          $0.pushId == push.record["pushId"]?.string && $0.deviceId == device && !$0.reached.isEmpty
        }) {
          lines.append("        \(end.text)")
        }
      }
    }
    for cancelled in story.cancellations {
      let what =
        [
          ("messageId", "of the message"), ("deviceId", "for a device"), ("senderId", "of the sender, who was muted"),
          ("conversationId", "of the conversation"), ("conversationKind", "at a level that shows less now"),
          ("replayId", "of a replay that was stopped"), ("erased", "for the person, who was deleted"),
        ].first { cancelled.record[$0.0] != nil }?.1 ?? "for the person"
      lines.append("  cancelled   \(time(cancelled.timestamp))  what waited \(what)  \(cancelled.place)")
    }
    return lines
  }

  private var escalations: [String] {
    story.escalations.flatMap { push -> [String] in
      let id = push.record["pushId"]
      let again =
        push.record["escalation"]?["pushedAgainAt"]?.integer.map { "pushed again at \(time($0))" }
        ?? "no device could be reached"
      let ended = story.outcomes.filter { $0.record["pushId"] == id }
      let waits = story.waiting.first { $0.pushId == id?.string }.map { MessageStory.words($0) }
      return [
        "  escalated   \(time(push.record["decidedAt"]?.integer ?? push.timestamp))  \(again), and it still neither "
          + "arrived nor was read: \(id?.string ?? "?")  \(push.place)"
      ]
        + (ended.isEmpty ? ["    → the webhook  no outcome yet: \(waits ?? "it waits in no lane")"] : [])
        + ended.map { "    → the webhook  \(OutcomeWords.of($0.record, by: "the webhook"))  \($0.place)" }
    }
  }

  private var catchUps: [String] {
    story.catchUps.flatMap { push -> [String] in
      let digest = push.record["digest"]
      let counts =
        (digest?["messages"]?.integer ?? 0).counted("message") + " in "
        + (digest?["conversations"]?.integer ?? 0).counted("conversation")
      return [
        "  catch-up    \(time(push.record["decidedAt"]?.integer ?? push.timestamp))  told of it, with "
          + "\(counts): \(push.record["pushId"]?.string ?? "?")  \(push.place)"
      ] + story.catchUpOutcomes.map { outcomeLine($0) }
    }
  }

  private func outcomeLine(_ outcome: PlacedRecord) -> String {
    "    → \(outcome.record["deviceId"]?.string ?? "?")  \(OutcomeWords.of(outcome.record))  \(outcome.place)"
  }

  private var later: [String] {
    story.later.map { event in
      let at = time(event.record["occurredAt"]?.integer ?? event.timestamp)
      let device = event.record["deviceId"]?.string.map { " on \($0)" } ?? ""
      return "  later       \(at)  \(LaterWords.of(event.record))\(device)  \(event.place)"
    }
  }
}

/// Words for the events after a decision.
enum LaterWords {
  static func of(_ event: JSONValue) -> String {
    let type = event["type"]?.string ?? "?"
    switch type {
    case "message.read":
      return event["messageId"]?.string.map { "the conversation was read up to \($0)" } ?? "the conversation was read"
    case "message.withdrawn":
      switch event["cause"]?.string {
      case "edited": return "the message was edited"
      case "deleted": return "the message was deleted"
      case "conversation_deleted": return "the conversation was deleted"
      default: return "the person left the conversation"
      }
    case "feedback.submitted": return "feedback: \(event["feedback"]?.string ?? "?")"
    default: return type
    }
  }
}

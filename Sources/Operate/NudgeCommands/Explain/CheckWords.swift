import NudgeSchema

/// A check of a decision in words, from its record alone. Unknown names and inputs are shown unchanged.
struct CheckWords {
  let name: String
  let suppresses: Bool
  let text: String

  /// An element of `checks` in words, together with the decision's own fields about it.
  init(_ check: JSONValue, of decision: JSONValue = .null) {
    // A passed check without inputs is recorded only by its name.
    name = check.string ?? check["check"]?.string ?? "?"
    suppresses = check["result"]?.string == "suppress"
    var inputs = check["inputs"]?.fields ?? [:]
    switch name {
    case "analysis_limit": inputs.merge(decision["analysis"]?.fields ?? [:]) { own, _ in own }
    case "level": inputs["level"] = inputs["level"] ?? decision["level"]
    case "priority":
      for field in ["priority", "score"] { inputs[field] = inputs[field] ?? decision[field] }
      let fallback = decision["analysis"]?["fallback"]?.string
      let method = decision["rules"] != nil ? "simple_rules" : decision["model"] != nil ? "analysis" : "addressed"
      inputs["method"] = inputs["method"] ?? .string(fallback ?? method)
    default: break
    }
    text = Inputs(inputs).words(for: name, suppresses: suppresses)
  }

  /// All checks of a decision in words, in order, including those that passed and are not in its record.
  static func all(of decision: JSONValue) -> [CheckWords] {
    let written = decision["checks"]?.elements ?? []
    let facts = CheckOrder.Facts(
      isReplay: decision["replayId"] != nil, hasAnalysis: decision["analysis"] != nil,
      hasPriority: decision["priority"] != nil)
    let made = CheckOrder.made(
      written.map {
        CheckOrder.Written(
          name: $0.string ?? $0["check"]?.string ?? "?",
          isPlain: $0.string != nil || $0["result"]?.string == "pass",
          suppresses: $0["result"]?.string == "suppress")
      }, facts)
    return made.map { made in
      switch made {
      case .written(let place): CheckWords(written[place], of: decision)
      case .passed(let name): CheckWords(.string(name), of: decision)
      }
    }
  }
}

/// The inputs of a check. A sentence takes the inputs that it uses; the rest is appended.
private struct Inputs {
  private var fields: [String: JSONValue]

  init(_ fields: [String: JSONValue]) { self.fields = fields }

  private mutating func take(_ name: String) -> JSONValue? { fields.removeValue(forKey: name) }

  private mutating func time(_ name: String) -> String? { take(name)?.integer.map { RFC3339.text($0) } }

  func words(for name: String, suppresses: Bool) -> String {
    var rest = self
    let sentence = rest.sentence(for: name, suppresses: suppresses)
    let left = rest.fields.sorted { $0.key < $1.key }.map { "\($0.key): \(Self.shown($0.key, $0.value))" }
      .joined(separator: ", ")
    guard !left.isEmpty else { return sentence }
    return sentence.isEmpty ? left : "\(sentence) (\(left))"
  }

  /// Shows an unknown field as a time if its name is that of a time in our records.
  private static func shown(_ name: String, _ value: JSONValue) -> String {
    let isTime =
      name.hasSuffix("At") || name.hasSuffix("Since") || name == "until" || name == "now" || name == "readUpTo"
    if isTime, let time = value.integer, time > 1_000_000_000_000 { return RFC3339.text(time) }
    return value.shown
  }

  private mutating func sentence(for name: String, suppresses: Bool) -> String {
    switch DecisionReason(rawValue: name) {
    case .duplicate:
      if take("seenBefore") != nil {
        return suppresses ? "the message was decided for this person before" : "decided for the first time"
      }
      if take("forced") != nil { return "by force: whether the person was notified before does not count" }
      if let push = take("failedPush")?.shown {
        return suppresses ? "push \(push) failed, and was made again before" : "push \(push) failed, and is made again"
      }
      if let until = time("heldUntil") { return "deferred: its own decision comes by \(until)" }
      if let since = time("knownSince") {
        return "whether the person was notified before is no longer known (since \(since))"
      }
      if let before = take("notifiedBefore") {
        if before.string == "unknown" { return "whether the person was notified before is no longer known" }
        return suppresses ? "the person was notified of it before" : "the person was not notified of it before"
      }
      return suppresses ? "decided, or notified, before" : "not before"
    case .replayStopped: return suppresses ? "the replay was stopped" : "the replay goes on"
    case .replayLimit:
      let limit = take("limit")?.shown ?? "?"
      if let forced = take("forcedBefore")?.shown {
        return "notified by force \(forced == "1" ? "once" : "\(forced) times") in this partition, of at most \(limit)"
      }
      let before = take("notifiedBefore")?.shown ?? "?"
      return "notified \(before == "1" ? "once" : "\(before) times") by this replay, of at most \(limit)"
    case .withdrawn:
      _ = take("withdrawn")
      return suppresses ? "taken back, or the person left" : "not taken back"
    case .notificationsDisabled:
      _ = take("enabled")
      return suppresses ? "the person turned notifications off" : "notifications are on"
    case .conversationMuted: return muted(suppresses)
    case .alreadyRead:
      let sent = time("sentAt").map { "sent \($0), " } ?? ""
      let read = time("readUpTo").map { "read up to \($0)" } ?? "nothing read yet"
      return sent + read
    case .history:
      let sent = time("sentAt").map { "sent \($0), " } ?? ""
      return sent + "long before it arrived" + (time("arrivedAt").map { " at \($0)" } ?? "")
    case .mutedSender: return "the person muted its sender"
    case .expired:
      if take("possibleRepeat")?.bool == true {
        _ = take("sentAt")
        return "so late that it may be a repeat of an event that is no longer remembered"
      }
      let sent = time("sentAt").map { "sent \($0), " } ?? ""
      let now = time("now").map { ", decided \($0)" } ?? ""
      guard fields["expiresAt"] != nil else { return sent + (suppresses ? "too old" : "fresh") + now }
      return sent + (time("expiresAt").map { "fresh until \($0)" } ?? "") + now
    case .activeConversation: return active(suppresses)
    case .activeElsewhere:
      let reported = time("reportedAt").map { ", as it said at \($0)" } ?? ""
      return "the app is open on \(take("deviceId")?.string ?? "another device")\(reported): the alert waits"
    case .level: return level()
    case .analysisLimit: return limit()
    case .quietHours: return quiet(suppresses)
    case .noDevice:
      let count = take("devices")?.integer ?? (suppresses ? 0 : 1)
      return "\(count.counted("device")) can be reached"
    default: break
    }
    if name == "burst" {
      let since = time("alertedAt").map { "an alert at \($0)" } ?? "an alert before"
      return
        "shown without an alert: \(since) stands for this one\(take("heldBack").map { ", number \($0.shown) since" } ?? "")"
    }
    if name == "budget" { return budget() }
    if name == "catch_up" { return "waits for the person's catch-up\(time("dueAt").map { " at \($0)" } ?? "")" }
    if name == "escalation" {
      return "pushed once more\(time("dueAt").map { " at \($0)" } ?? "") unless it arrives or is read before"
    }
    if name == "live" {
      let count = take("devices")?.integer ?? 1
      let until = time("waitsUntil").map { " until \($0)" } ?? ""
      return "the push to \(count.counted("device")) waits\(until) for the app to show the message by its live stream"
    }
    guard name == "priority" else { return suppresses ? "suppresses" : "" }
    let method =
      switch take("method")?.string {
      case "analysis": "smart analysis"
      case "simple_rules": "simple rules"
      case "addressed": "for the person, or urgent, by rule"
      case "notify_all": "the fallback that notifies of everything"
      case let other: other ?? "?"
      }
    let score = take("score").map { ", score \($0.shown)" } ?? ""
    return "\(method): \(take("priority")?.shown ?? "?")\(score)"
  }

  private mutating func muted(_ suppresses: Bool) -> String {
    guard take("muted")?.bool ?? (suppresses || fields["exceptMentions"] != nil) else {
      return "the conversation is not muted"
    }
    let until = time("until").map { " until \($0)" } ?? ""
    let (mentioned, answered) = (take("mentioned")?.bool ?? false, take("answered")?.bool ?? false)
    guard take("exceptMentions")?.bool == true else { return "the conversation is muted\(until)" }
    let person = mentioned ? "is mentioned" : answered ? "is answered" : "is neither"
    return "the conversation is muted\(until) except for mentions of the person and answers to them, who \(person)"
  }

  private mutating func active(_ suppresses: Bool) -> String {
    _ = time("sentAt")
    if let since = time("heldSince") { return "held since \(since), and nothing proved that it was read" }
    if let held = take("held") {
      let messages = held.integer?.counted("later message") ?? "\(held.shown) later messages"
      return "\(messages) \(held.integer == 1 ? "was" : "were") held: it counts on the badge alone"
    }
    if take("confirmed") != nil {
      return "held, and \(take("deviceId")?.string ?? "a device") reported the conversation open again"
    }
    let horizon = take("horizon")?.integer.map { " (a report counts for \($0 / 1_000) s)" } ?? ""
    if let device = take("deviceId")?.string {
      let reported = time("reportedAt").map { ", as it said at \($0)" } ?? ""
      return "open on \(device)\(reported)\(horizon)"
    }
    // Decisions of earlier releases have this input.
    if let wrote = time("wroteAt") { return "the person wrote there at \(wrote)\(horizon)" }
    return suppresses ? "the conversation was open\(horizon)" : "the conversation was not open\(horizon)"
  }

  private mutating func level() -> String {
    let level = take("level")?.string ?? "?"
    let source =
      switch take("from")?.string {
      case "conversation": "the person's for this conversation"
      case "preferences": "the person's default"
      case "policy": "the operator's default"
      case "muted_sender": "the person muted the sender in groups"
      case let other: other ?? "?"
      }
    return "\(level), \(source)"
  }

  private mutating func budget() -> String {
    let (used, limit) = (take("used")?.integer ?? 0, take("limit")?.integer)
    func share(_ name: String) -> String? { take(name)?.integer.map { String(Double($0) / 1_000) } }
    let (value, threshold) = (share("value") ?? "?", share("threshold"))
    guard take("silent")?.bool == true else {
      return "alert \(used + 1) of \(limit.map(String.init) ?? "?") that day, worth \(value)"
    }
    guard let threshold else {
      let spent =
        switch limit {
        case 0: "no alert a day is allowed"
        case 1: "the only alert of the day is spent"
        default: "all \(limit.map(String.init) ?? "?") alerts of the day are spent"
        }
      return "shown without a sound: \(spent)"
    }
    let spent = "\(used) of \(limit?.counted("alert") ?? "? alerts") \(used == 1 ? "is" : "are") spent"
    return
      "shown without a sound: \(spent), the next is for a message worth \(threshold), and this one is worth \(value)"
  }

  private mutating func limit() -> String {
    guard fields["limit"] != nil else { return "not asked for: only the level smart needs analysis" }
    let used = take("used")?.shown ?? "?"
    let limit = take("limit")
    let analyses =
      limit?.integer?.counted("smart analysis", "smart analyses") ?? "\(limit?.shown ?? "?") smart analyses"
    let since = time("windowStartedAt").map { " since \($0)" } ?? ""
    let fallback = take("fallback")?.string.map { "; past it: \($0)" } ?? ""
    return "\(used) of \(analyses) an hour used\(since)\(fallback)"
  }

  private mutating func quiet(_ suppresses: Bool) -> String {
    if take("quietHours") != nil { return "none are set" }
    let priority = take("priority")?.string
    guard let start = take("start")?.string, let end = take("end")?.string else {
      return suppresses ? "quiet hours" : "no quiet hours"
    }
    let zone = take("timeZone")?.string ?? "UTC"
    let local = take("localTime")?.string.map { "; it was \($0) there" } ?? ""
    let importance = priority.map { ", priority \($0)\($0 == "high" ? " passes" : "")" } ?? ""
    return "\(start) to \(end) (\(zone))\(local)\(importance)"
  }
}

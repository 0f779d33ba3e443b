import Foundation
import Kafka
import NudgeConsole
import NudgeSchema
import ServiceKit

/// The page Dead letters, with the answers and actions of `nudge dead-letters`.
extension CommandAnswers {
  private func selection(_ question: ConsoleQuestion) throws -> DeadLetterSelection {
    let now = SystemClock.milliseconds()
    return DeadLetterSelection(
      places: try question["place"].map { [try place($0)] } ?? [], reason: question["reason"], stage: question["stage"],
      topic: question["topic"], key: question["key"], producer: question["producer"],
      since: try Self.time(question["since"], now: now) ?? now - 7 * 86_400_000,
      includesHandled: question["handled"] == "yes")
  }

  private func place(_ text: String) throws -> DeadLetterSelection.Place {
    guard let place = DeadLetterSelection.Place(text) else {
      throw CommandError("\(text) is no place of a dead letter: use PARTITION@OFFSET, such as 2@17")
    }
    return place
  }

  func deadLetters(_ question: ConsoleQuestion, _ job: ConsoleJob) throws {
    let selection = try selection(question)
    try reading(for: job) { browser in
      var groups = DeadLetterGroups()
      try selection.read(browser) { letter, _ in
        groups.add(letter)
        return true
      }
      try job.write(fields: ["row": "groups", "answer": groups])
    }
  }

  /// The latest dead letters of a selection.
  func deadLetterList(_ question: ConsoleQuestion, _ job: ConsoleJob) throws {
    let selection = try selection(question)
    let limit = Self.number(question["limit"], 1...1_000, default: 100)
    try reading(for: job) { browser in
      let handled = try AuditTrail(browser).handledDeadLetters
      var letters: [DeadLetterFacts] = []
      var more = 0
      try selection.read(browser) { letter, _ in
        letters.append(letter)
        // The partitions are read one after the other, so the latest are known only at the end.
        if letters.count >= 4 * limit {
          letters.sort { $0.timestamp > $1.timestamp }
          more += letters.count - limit
          letters.removeLast(letters.count - limit)
        }
        return true
      }
      letters.sort { $0.timestamp > $1.timestamp }
      for letter in letters.prefix(limit) {
        let isHandled = handled[letter.position.partition]?.contains(letter.position.offset) == true
        try job.write(fields: ["row": "letter", "letter": letter, "isHandled": isHandled])
      }
      // The number of earlier ones that are not listed.
      try job.write(fields: ["row": "end", "more": more + max(0, letters.count - limit)])
    }
  }

  func deadLetter(_ question: ConsoleQuestion, _ job: ConsoleJob) throws {
    let wanted = try place(question["place"] ?? "")
    let redaction = Redaction(showsTexts: options.showsTexts)
    let replay = DeadLetterReplay(topics: cluster.topics)
    try reading(for: job) { browser in
      let handled = try AuditTrail(browser).handledDeadLetters
      try DeadLetterSelection(places: [wanted], includesHandled: true).read(browser) { letter, record in
        // The topic to which a replay writes it, or why a replay leaves it out.
        var (written, left): (String?, String?) = (nil, nil)
        switch replay.fate(of: letter) {
        case .written(let topic): written = cluster.topics(topic)
        case .left(let why): left = why
        }
        let fate: JSONObject = [
          "written": written, "left": left,
          "editable": (try? DeadLetterEdits.topic(of: letter, cluster.topics)) != nil,
          "likelyRefusedAgain": DeadLetterReplay.isLikelyRefusedAgain(letter),
        ]
        let value = record.value.flatMap { try? JSONValue($0) }
        try job.write(fields: [
          "row": "letter", "letter": letter, "value": value.map { redaction.apply(to: $0, of: .deadLetters) },
          "isHandled": handled[wanted.partition]?.contains(wanted.offset) == true, "fate": fate,
        ])
        return false
      }
    }
  }

  /// Counts what replaying or discarding would do. As an action, does what was counted.
  func handleDeadLetters(
    _ question: ConsoleQuestion, _ action: DeadLettersHandled.Action, writes: Bool, _ job: ConsoleJob
  ) throws {
    guard writes else {
      var selection = try selection(question)
      selection.includesHandled = false
      return try reading(for: job) { browser in
        let planned = try DeadLettersCommand.plan(selection, action, topics: cluster.topics, browser)
        let name = counted.keep(.deadLetters(selection, planned.chosen))
        try job.write(fields: ["row": "summary", "answer": planned.summary, "counted": name])
      }
    }
    let why = try reason(question)
    let rate = Double(Self.number(question["rate"], 1...10_000, default: 100))
    guard case .deadLetters(let selection, let chosen) = try counted.take(question) else {
      throw CountedPlans.hasChanged
    }
    try reading(for: job) { browser in
      // Dead letters that arrived since then stay. One that was handled since would be handled twice.
      var planned = try DeadLettersCommand.plan(selection, action, topics: cluster.topics, only: Set(chosen), browser)
      guard planned.chosen.count == chosen.count else { throw CountedPlans.hasChanged }
      if !chosen.isEmpty {
        planned.summary.replayId = try DeadLettersCommand.carryOut(
          planned.chosen, action, why: why, pace: action == .replayed ? rate : .infinity, cluster, browser)
      }
      try job.write(fields: ["row": "summary", "answer": planned.summary])
    }
  }

  /// Checks a correction and, as an action, publishes it. `set` is an object of paths and JSON texts, `remove` a list of paths.
  func editDeadLetter(_ question: ConsoleQuestion, writes: Bool, _ job: ConsoleJob) throws {
    let wanted = try place(question["place"] ?? "")
    let why = try writes ? reason(question) : ""
    let decoder = JSONDecoder()
    let edit = DeadLetterEdit(
      set: try decoder.decode([String: String].self, from: Data((question["set"] ?? "{}").utf8)),
      remove: try decoder.decode([String].self, from: Data((question["remove"] ?? "[]").utf8)))
    let now = SystemClock.milliseconds()
    try reading(for: job) { browser in
      var summary = DeadLetterEdits(topics: cluster.topics, now: now)
      try DeadLetterSelection(places: [wanted], includesHandled: true).read(browser) { letter, record in
        try summary.add(letter, record) { bytes in
          guard let before = try? JSONValue(bytes) else { throw EditedEvent.Refusal(reason: "its value is not JSON") }
          return try edit.apply(to: before)
        }
        return false
      }
      if writes, !summary.events.isEmpty {
        try DeadLettersCommand.write(summary.events, why: why, pace: 100, cluster, browser) { summary.replayId = $0 }
      }
      try job.write(fields: ["row": "edit", "answer": summary])
    }
  }

  /// The reason of an action, for the audit.
  func reason(_ question: ConsoleQuestion) throws -> String {
    guard let why = question["why"] else { throw CommandError("give the reason, for the audit") }
    return why
  }
}

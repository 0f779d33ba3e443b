import Kafka
import NudgeSchema

/// Finds what was decided about a message, for everybody it was for.
struct MessageSearch {
  struct Question: Sendable {
    var messageId: String
    /// The message's conversation, if known.
    var conversationId: String?
    var showsTexts: Bool
    /// The most people to name in a group.
    var peopleShown: Int
    /// The wall clock.
    var now: Milliseconds
  }

  /// How much older than the event the timestamps of its records may be: hosts' clocks differ.
  private static let clockSlack: Milliseconds = 5_000
  /// Decisions and candidates follow their message within this time, but for a backlog.
  private static let usualDelay: Milliseconds = 600_000

  let question: Question
  let browser: TopicBrowser
  private let redaction: Redaction

  /// A person's latest decision, and all of their pushes.
  private struct Person {
    var shape = MessageAnswer.Shape.undecided
    var reason = "not_decided"
    var because = "it is on their timeline, and the analyzer has decided nothing yet"
    var pushIds: Set<String> = []
  }

  private struct Fate {
    var results: [String: Int] = [:]
    var latencies: [Milliseconds] = []
  }

  init(_ question: Question, browser: TopicBrowser) {
    self.question = question
    self.browser = browser
    redaction = Redaction(showsTexts: question.showsTexts)
  }

  /// The answer. `partial` gets it as it grows.
  func answer(partial: (MessageAnswer) throws -> Void = { _ in }) throws -> MessageAnswer {
    try browser.find([.chatEvents, .timeline, .decisions, .outcomes])
    var answer = MessageAnswer(messageId: question.messageId, conversationId: question.conversationId)
    let events = EventSearch(
      browser: browser, redaction: redaction, now: question.now, conversationId: question.conversationId)
    answer.event = try events.find(question.messageId)
    answer.conversationId = answer.conversationId ?? answer.event?.record["conversationId"]?.string
    try partial(answer)
    var people: [String: Person] = [:]
    var foreign = 0
    var first: Milliseconds?
    for (from, until) in try windows(of: answer.event) {
      try readDecisions(from, until, &answer.conversationId, &people, &foreign, &first)
      answer.groups = groups(people, [:])
      try partial(answer)
    }
    if let event = answer.event {
      try readCandidates(of: event, answer.conversationId, &people)
      answer.edits = try events.changes(of: event)
    }
    let fates = try readOutcomes(of: people, from: first)
    answer.groups = groups(people, fates)
    if foreign > 0 {
      answer.note =
        "Another conversation has a message with this id, too (\(foreign) decisions): --conversation says which is meant."
    }
    return answer
  }

  /// Pieces of time to read decisions in. Where the event is gone, backwards from now.
  private func windows(of event: PlacedRecord?) throws -> [(from: Milliseconds?, until: Milliseconds?)] {
    guard let event else { return [(nil, nil)] }
    let from = event.timestamp - Self.clockSlack
    let split = event.timestamp + Self.usualDelay
    // A replay may decide much later.
    guard split < question.now, browser.findsByTime else { return [(from, nil)] }
    return [(from, split), (split, nil)]
  }

  private func readDecisions(
    _ from: Milliseconds?, _ until: Milliseconds?, _ conversationId: inout String?, _ people: inout [String: Person],
    _ foreign: inout Int, _ first: inout Milliseconds?
  ) throws {
    let needle = browser.coder.needle(question.messageId)
    var conversation = conversationId
    let ranges = try browser.ranges(of: .decisions, from: from, until: until)
    try browser.read(ranges, "reading \(browser.names(.decisions))") { record in
      guard record.valueContains(needle), let decision = PlacedRecord(record, of: .decisions, redaction: redaction),
        decision.record["messageId"]?.string == question.messageId, let userId = decision.record["userId"]?.string,
        let own = decision.record["conversationId"]?.string
      else { return true }
      if conversation == nil { conversation = own }
      guard own == conversation else {
        foreign += 1
        return true
      }
      first = min(first ?? decision.timestamp, decision.timestamp)
      var person = people[userId] ?? Person()
      person.shape = Self.shape(of: decision.record)
      person.reason = decision.record["reason"]?.string ?? "unknown"
      person.because = DecisionWords.reason(decision.record)
      if let pushId = decision.record["pushId"]?.string { person.pushIds.insert(pushId) }
      people[userId] = person
      return true
    }
    conversationId = conversation
  }

  private static func shape(of decision: JSONValue) -> MessageAnswer.Shape {
    switch DecisionWords.outcome(decision) {
    case "ALERTED": .alert
    case "SILENT": .silent
    case "BADGE ONLY": .badge
    default: .none
    }
  }

  /// Adds recipients without a decision.
  private func readCandidates(
    of event: PlacedRecord, _ conversationId: String?, _ people: inout [String: Person]
  ) throws {
    guard let conversationId else { return }
    let key = Array(conversationId.utf8)
    let needle = browser.coder.needle(question.messageId)
    let ranges = try browser.ranges(
      of: .timeline, from: event.timestamp - Self.clockSlack,
      until: browser.findsByTime ? event.timestamp + Self.usualDelay : nil)
    try browser.read(ranges, "reading \(browser.names(.timeline))") { record in
      guard record.hasKey(key), record.valueContains(needle),
        let candidate = PlacedRecord(record, of: .timeline, redaction: redaction),
        candidate.record["type"]?.string == "message.candidate",
        candidate.record["messageId"]?.string == question.messageId
      else { return true }
      for recipient in candidate.record["recipients"]?.elements ?? [] {
        if let userId = recipient["userId"]?.string, people[userId] == nil { people[userId] = Person() }
      }
      return true
    }
  }

  /// What became of the people's pushes.
  private func readOutcomes(of people: [String: Person], from: Milliseconds?) throws -> [String: Fate] {
    guard let from else { return [:] }
    let notified = people.filter { !$0.value.pushIds.isEmpty }
    guard !notified.isEmpty else { return [:] }
    let partitions = Set(try notified.keys.map { try browser.partition(of: $0, on: .outcomes) })
    var fates: [String: Fate] = [:]
    let ranges = try browser.ranges(of: .outcomes, partitions: partitions.sorted(), from: from - Self.clockSlack)
    try browser.read(ranges, "reading \(browser.names(.outcomes))") { record in
      guard let key = record.key, let value = record.value else { return true }
      let userId = String(decoding: key, as: UTF8.self)
      guard let person = notified[userId],
        let outcome = try? browser.coder.decode(OutcomeGlance.self, from: value),
        person.pushIds.contains(outcome.pushId)
      else { return true }
      fates[userId, default: Fate()].results[outcome.result.rawValue, default: 0] += 1
      if outcome.result == .sent {
        fates[userId, default: Fate()].latencies.append(max(0, outcome.finishedAt - outcome.occurredAt))
      }
      return true
    }
    return fates
  }

  private struct Name: Hashable {
    let shape: MessageAnswer.Shape
    let reason: String
    let because: String
  }

  private func groups(_ people: [String: Person], _ fates: [String: Fate]) -> [MessageAnswer.Group] {
    var members: [Name: [String]] = [:]
    for (userId, person) in people {
      members[Name(shape: person.shape, reason: person.reason, because: person.because), default: []].append(userId)
    }
    let order = MessageAnswer.Shape.allCases
    return members.map { name, users in
      var fate = Fate()
      for user in users {
        guard let own = fates[user] else { continue }
        fate.results.merge(own.results) { $0 + $1 }
        fate.latencies += own.latencies
      }
      let latencies = fate.latencies.sorted()
      return MessageAnswer.Group(
        shape: name.shape, reason: name.reason, because: name.because,
        people: Array(users.sorted().prefix(question.peopleShown)), more: max(0, users.count - question.peopleShown),
        results: fate.results.map { MessageAnswer.Result(result: $0.key, count: $0.value) }
          .sorted { ($1.count, $0.result) < ($0.count, $1.result) },
        latencyMs: latencies.last.map { .init(p50: latencies[(latencies.count - 1) / 2], max: $0) })
    }.sorted { left, right in
      let (a, b) = (order.firstIndex(of: left.shape) ?? 0, order.firstIndex(of: right.shape) ?? 0)
      return (a, right.count, left.reason, left.because) < (b, left.count, right.reason, right.because)
    }
  }
}

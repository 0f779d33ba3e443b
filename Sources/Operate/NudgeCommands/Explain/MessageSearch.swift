import Kafka
import NudgeSchema

/// Finds the decisions about a message for all recipients.
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

  /// Decisions and candidates follow their message within this time, except after a backlog.
  private static let usualDelay: Milliseconds = 600_000

  let question: Question
  let browser: TopicBrowser
  private let redaction: Redaction

  /// A person's latest decision and all of their pushes.
  private struct Person {
    var shape = MessageAnswer.Shape.undecided
    var reason = "not_decided"
    var because = "it is on their timeline, and the analyzer has decided nothing yet"
    var pushIds: Set<String> = []
    /// Whether a decision left it to the person's catch-up.
    var waitsForCatchUp = false
  }

  /// The outcomes and receipts of a person's pushes.
  private struct Fate {
    struct Place: Hashable { let pushId, deviceId: String }
    var deliveries: [Place: DeliveryGlance] = [:]
    var latencies: [Milliseconds] = []
    var arrivals: [Milliseconds] = []

    mutating func take(_ record: OutcomesGlance) {
      switch record {
      case .outcome(let outcome):
        deliveries[Place(pushId: outcome.pushId, deviceId: outcome.deviceId), default: DeliveryGlance()]
          .end(outcome.result, errorCode: outcome.errorCode)
        if outcome.result == .sent { latencies.append(max(0, outcome.finishedAt - outcome.occurredAt)) }
      case .receipt(let receipt):
        deliveries[Place(pushId: receipt.pushId, deviceId: receipt.deviceId), default: DeliveryGlance()]
          .reach(receipt.state)
        if receipt.state == .arrived { arrivals.append(max(0, receipt.occurredAt - receipt.sentAt)) }
      }
    }

    /// The deliveries in the order of devices. A push without an outcome occurs once, without a device.
    func deliveries(of userId: String, pushIds: Set<String>) -> [MessageAnswer.Delivery] {
      let known = deliveries.sorted { ($0.key.deviceId, $0.key.pushId) < ($1.key.deviceId, $1.key.pushId) }
        .map { MessageAnswer.Delivery(userId: userId, deviceId: $0.key.deviceId, state: $0.value.state) }
      let waiting = pushIds.subtracting(deliveries.keys.map(\.pushId))
      return known + waiting.map { _ in MessageAnswer.Delivery(userId: userId, deviceId: nil, state: .waiting) }
    }
  }

  init(_ question: Question, browser: TopicBrowser) {
    self.question = question
    self.browser = browser
    redaction = Redaction(showsTexts: question.showsTexts)
  }

  /// The answer. `partial` receives it as it grows.
  func answer(partial: (MessageAnswer) throws -> Void = { _ in }) throws -> MessageAnswer {
    try browser.find([.chatEvents, .timeline, .decisions, .pushes, .outcomes])
    var answer = MessageAnswer(messageId: question.messageId, conversationId: question.conversationId)
    let events = EventSearch(
      browser: browser, redaction: redaction, now: question.now, conversationId: question.conversationId)
    let found = try events.find(question.messageId)
    answer.event = found?.event
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
    try readCatchUps(answer.conversationId, &people, from: first)
    let fates = try readOutcomes(of: people, from: first)
    answer.groups = groups(people, fates)
    var notes: [String] = []
    if people.isEmpty, let event = answer.event, let letter = try events.deadLetter(of: event) {
      notes.append(letter.refusal)
    }
    if let text = found?.textOfOthers {
      notes.append(text)
    } else if foreign > 0 {
      notes.append(
        "another conversation has a message with this id, too (\(foreign.counted("decision"))): --conversation says which is meant"
      )
    }
    if !notes.isEmpty { answer.note = notes.joined(separator: "; ") }
    return answer
  }

  /// The time windows in which decisions are read. If the event is gone, they go backwards from now.
  private func windows(of event: PlacedRecord?) throws -> [(from: Milliseconds?, until: Milliseconds?)] {
    guard let event else { return [(nil, nil)] }
    let from = event.timestamp - ExplainSearch.clockSlack
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
      person.shape = DecisionWords.shape(of: decision.record) ?? MessageAnswer.Shape.none
      person.reason = decision.record["reason"]?.string ?? "unknown"
      person.because = DecisionWords.reason(decision.record)
      if let pushId = decision.record["pushId"]?.string { person.pushIds.insert(pushId) }
      if decision.leavesToCatchUp { person.waitsForCatchUp = true }
      people[userId] = person
      return true
    }
    conversationId = conversation
  }

  /// Adds recipients without a decision.
  private func readCandidates(
    of event: PlacedRecord, _ conversationId: String?, _ people: inout [String: Person]
  ) throws {
    guard let conversationId else { return }
    let key = Array(conversationId.utf8)
    let needle = browser.coder.needle(question.messageId)
    let ranges = try browser.ranges(
      of: .timeline, from: event.timestamp - ExplainSearch.clockSlack,
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

  /// Adds the pushes of catch-ups that told people of the message.
  private func readCatchUps(
    _ conversationId: String?, _ people: inout [String: Person], from: Milliseconds?
  ) throws {
    let waiting = people.filter(\.value.waitsForCatchUp).keys
    guard let from, !waiting.isEmpty else { return }
    let partitions = Set(try waiting.map { try browser.partition(of: $0, on: .pushes) })
    let (id, key) = (browser.coder.needle(question.messageId), browser.coder.needle(Digest.key(question.messageId)))
    let ranges = try browser.ranges(of: .pushes, partitions: partitions.sorted(), from: from - ExplainSearch.clockSlack)
    try browser.read(ranges, "reading \(browser.names(.pushes))") { record in
      guard record.valueContains(id) || record.valueContains(key),
        let push = PlacedRecord(record, of: .pushes, redaction: redaction)?.record,
        let userId = push["userId"]?.string, people[userId]?.waitsForCatchUp == true,
        let pushId = push["pushId"]?.string,
        // The push of an edit or of a repeat is no catch-up.
        MessageStory.isPush(push, of: question.messageId, in: conversationId) && push["replaces"] == nil
          && push["escalation"] == nil || MessageStory.isCatchUp(push, of: question.messageId, in: conversationId)
      else { return true }
      people[userId]?.pushIds.insert(pushId)
      return true
    }
  }

  /// The outcomes and receipts of the people's pushes, by person.
  private func readOutcomes(of people: [String: Person], from: Milliseconds?) throws -> [String: Fate] {
    guard let from else { return [:] }
    let notified = people.filter { !$0.value.pushIds.isEmpty }
    guard !notified.isEmpty else { return [:] }
    let partitions = Set(try notified.keys.map { try browser.partition(of: $0, on: .outcomes) })
    var fates: [String: Fate] = [:]
    let ranges = try browser.ranges(
      of: .outcomes, partitions: partitions.sorted(), from: from - ExplainSearch.clockSlack)
    try browser.read(ranges, "reading \(browser.names(.outcomes))") { record in
      guard let key = record.key, let value = record.value else { return true }
      let userId = String(decoding: key, as: UTF8.self)
      guard let person = notified[userId], let glance = try? browser.coder.decode(OutcomesGlance.self, from: value),
        person.pushIds.contains(glance.pushId)
      else { return true }
      fates[userId, default: Fate()].take(glance)
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
      let users = users.sorted()
      var results: [String: Int] = [:]
      var ends: [PushEndState: Int] = [:]
      var (latencies, arrivals): ([Milliseconds], [Milliseconds]) = ([], [])
      var deliveries: [MessageAnswer.Delivery] = []
      for (index, user) in users.enumerated() {
        let fate = fates[user] ?? Fate()
        for glance in fate.deliveries.values {
          if let result = glance.result { results[result.rawValue, default: 0] += 1 }
        }
        latencies += fate.latencies
        arrivals += fate.arrivals
        let own = fate.deliveries(of: user, pushIds: people[user]?.pushIds ?? [])
        for delivery in own { ends[delivery.state, default: 0] += 1 }
        if index < question.peopleShown { deliveries += own }
      }
      return MessageAnswer.Group(
        shape: name.shape, reason: name.reason, because: name.because,
        people: Array(users.prefix(question.peopleShown)), more: max(0, users.count - question.peopleShown),
        results: results.map { MessageAnswer.Result(result: $0.key, count: $0.value) }
          .sorted { ($1.count, $0.result) < ($0.count, $1.result) },
        ends: PushEndState.allCases.compactMap { state in ends[state].map { .init(state: state, count: $0) } },
        latencyMs: .init(latencies), arrivalMs: .init(arrivals), deliveries: deliveries)
    }.sorted { left, right in
      let (a, b) = (order.firstIndex(of: left.shape) ?? 0, order.firstIndex(of: right.shape) ?? 0)
      return (a, right.count, left.reason, left.because) < (b, left.count, right.reason, right.because)
    }
  }
}

/// A record with its position, without secrets.
struct PlacedRecord: Sendable, Encodable, Equatable {
  var position: RecordPosition
  /// Milliseconds since the epoch.
  var timestamp: Milliseconds
  var traceparent: String?
  var replayId: String?
  var record: JSONValue

  /// The position as text, such as `nudge.decisions-3@17`.
  var place: String { "\(position.topic)-\(position.partition)@\(position.offset)" }
}

extension PlacedRecord {
  /// Redacts a record; nil if its value is not JSON.
  init?(_ record: ConsumerRecord, of topic: Topic, redaction: Redaction) {
    guard let value = record.value, let json = try? JSONValue(value) else { return nil }
    self.init(
      position: RecordPosition(topic: record.topic, partition: record.partition, offset: record.offset),
      timestamp: record.timestamp, traceparent: record.header(RecordHeader.traceparent).map(Self.text),
      replayId: record.header(RecordHeader.replayId).map(Self.text), record: redaction.apply(to: json, of: topic))
  }

  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

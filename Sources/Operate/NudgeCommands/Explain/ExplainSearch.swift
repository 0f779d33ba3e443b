import Analyzer
import Dispatcher
import Kafka
import NudgeSchema
import StreamRuntime

/// Finds the records of an answer by partition and time, without reading whole topics.
struct ExplainSearch {
  struct Question: Sendable {
    var userId: String
    /// One message; nil for all messages since `since`.
    var messageId: String?
    /// The message's conversation, if known.
    var conversationId: String?
    /// Decisions since this time; nil, with a message, for all in the topics.
    var since: Milliseconds?
    /// Decisions before this time; nil for no limit.
    var until: Milliseconds?
    /// The most messages. The latest are kept.
    var limit: Int
    var showsTexts: Bool
    /// Whether to read the state for devices, badge and lanes.
    var readsState: Bool
    /// The wall clock.
    var now: Milliseconds
  }

  /// The tolerance for clock differences: by how much a decision's records may be older than the decision.
  static let clockSlack: Milliseconds = 5_000

  let question: Question
  let browser: TopicBrowser
  let cluster: ClusterSettings
  /// Receives the decisions of the answer when they are found, the latest first.
  var found: (PlacedRecord) throws -> Void = { _ in }
  let redaction: Redaction

  init(_ question: Question, browser: TopicBrowser, cluster: ClusterSettings) {
    self.question = question
    self.browser = browser
    self.cluster = cluster
    redaction = Redaction(showsTexts: question.showsTexts)
  }

  func answer() throws -> ExplainAnswer {
    try browser.find([.chatEvents, .timeline, .decisions, .pushes, .outcomes, .analyzerState, .dispatcherState])
    var answer = ExplainAnswer(userId: question.userId, since: question.since)
    var decisions: [PlacedRecord] = []
    if let since = question.since {
      (decisions, answer.older) = try recentDecisions(since: since)
    } else {
      try TopicBrowser.searchBack(now: question.now) { from, until in
        let found = try readDecisions(decisionRange(from: from, until: until), atMost: question.limit)
        // If the broker cannot find times, each piece is the whole partition.
        decisions = found.decisions.filter { !decisions.contains($0) } + decisions
        answer.older += found.older
        // Another decision preceded a replay's decision.
        return decisions.contains { $0.replayId == nil }
      }
    }
    answer.stories = stories(decisions)
    try addCauses(to: &answer.stories)
    let reads = try addPushes(to: &answer.stories)
    let person = try readState(into: &answer)
    try addLater(to: &answer.stories)
    for index in answer.stories.indices {
      let story = answer.stories[index]
      answer.stories[index].standing = person?.standing(of: story.messageId, in: story.conversationId)
      let own = reads.pushes.filter { $0.record["conversationId"]?.string == story.conversationId }
      answer.stories[index].concludeDevices(readPushes: own, readOutcomes: reads.outcomes)
    }
    if answer.stories.isEmpty, let messageId = question.messageId { answer.missing = try missing(messageId) }
    return answer
  }

  // MARK: Decisions and their causes

  /// Decisions since a time. They are read backwards in pieces, so that the latest are found first.
  private func recentDecisions(since: Milliseconds) throws -> (decisions: [PlacedRecord], older: Int) {
    var decisions: [PlacedRecord] = []
    var older = 0
    for piece in try decisionRange(from: since, until: question.until).backwards() {
      let found = try readDecisions(
        piece, since: browser.findsByTime ? nil : since, atMost: question.limit - decisions.count)
      decisions = found.decisions + decisions
      older += found.older
    }
    return (decisions, older)
  }

  /// The topic's number of partitions never changes.
  private func decisionRange(from: Milliseconds?, until: Milliseconds?) throws -> PartitionRange {
    let partition = try browser.partition(of: question.userId, on: .decisions)
    return try browser.ranges(of: .decisions, partitions: [partition], from: from, until: until)[0]
  }

  /// The latest decisions of a range, in order, and how many earlier ones there are.
  private func readDecisions(
    _ range: PartitionRange, since: Milliseconds? = nil, atMost limit: Int
  ) throws -> (decisions: [PlacedRecord], older: Int) {
    var found: [PlacedRecord] = []
    var older = 0
    let own = Array(question.userId.utf8)
    let needle = question.messageId.map { browser.coder.needle($0) } ?? []
    try browser.read([range], "reading \(browser.names(.decisions))") { record in
      guard record.hasKey(own), since.map({ record.timestamp >= $0 }) ?? true,
        question.until.map({ record.timestamp < $0 }) ?? true, record.valueContains(needle),
        let decision = placed(record, .decisions)
      else { return true }
      if let wanted = question.messageId, decision.record["messageId"]?.string != wanted { return true }
      if let wanted = question.conversationId, decision.record["conversationId"]?.string != wanted { return true }
      found.append(decision)
      if found.count > limit {
        found.removeFirst()
        older += 1
      }
      return true
    }
    for decision in found.reversed() { try self.found(decision) }
    return (found, older)
  }

  private func stories(_ decisions: [PlacedRecord]) -> [MessageStory] {
    struct Name: Hashable { let conversationId, messageId: String }
    var places: [Name: Int] = [:]
    var stories: [MessageStory] = []
    for decision in decisions {
      let name = Name(
        conversationId: decision.record["conversationId"]?.string ?? "",
        messageId: decision.record["messageId"]?.string ?? "")
      let place = places[name] ?? stories.count
      if place == stories.count {
        places[name] = place
        stories.append(
          MessageStory(userId: question.userId, conversationId: name.conversationId, messageId: name.messageId))
      }
      stories[place].decisions.append(decision)
    }
    return stories
  }

  /// Adds candidates and events. The decisions contain their positions.
  private func addCauses(to stories: inout [MessageStory]) throws {
    for index in stories.indices {
      guard let first = stories[index].decisions.first else { continue }
      if let origin = Self.position(first.record["origin"]) {
        stories[index].candidate = try browser.withRecord(at: origin) { placed($0, .timeline) }?
          .map { Self.onlyRecipient(question.userId, of: $0) }
      }
      if let source = Self.position(first.record["source"]) {
        stories[index].event = try browser.withRecord(at: source) { placed($0, .chatEvents) } ?? nil
      }
    }
  }

  static func position(_ value: JSONValue?) -> RecordPosition? {
    guard let topic = value?["topic"]?.string, let partition = value?["partition"]?.integer,
      let offset = value?["offset"]?.integer
    else { return nil }
    return RecordPosition(topic: topic, partition: Int32(clamping: partition), offset: offset)
  }

  /// Removes the other recipients, because a story is about one person.
  static func onlyRecipient(_ userId: String, of candidate: PlacedRecord) -> PlacedRecord {
    guard case .object(var fields) = candidate.record, let recipients = fields["recipients"]?.elements else {
      return candidate
    }
    fields["recipients"] = .array(recipients.filter { $0["userId"]?.string == userId })
    fields["recipientCount"] = .integer(Int64(recipients.count))
    var candidate = candidate
    candidate.record = .object(fields)
    return candidate
  }

  // MARK: Pushes and outcomes

  /// Adds pushes, cancellations and outcomes. Returns the conversation's read pushes, with their outcomes.
  private func addPushes(to stories: inout [MessageStory]) throws -> (pushes: [PlacedRecord], outcomes: [PlacedRecord])
  {
    guard let first = stories.flatMap(\.decisions).map(\.timestamp).min() else { return ([], []) }
    let from = first - Self.clockSlack
    var owners: [String: Int] = [:]
    for (index, story) in stories.enumerated() { for id in story.pushIds { owners[id] = index } }
    var reads: (pushes: [PlacedRecord], outcomes: [PlacedRecord]) = ([], [])
    var readIds: Set<String> = []
    var catchUps: [String: [Int]] = [:]
    if !owners.isEmpty || stories.contains(where: \.waitsForCatchUp) {
      try browser.records(of: .pushes, key: question.userId, from: from) { record in
        guard let push = placed(record, .pushes) else { return true }
        // An answer that a dispatcher hands over adds nothing to the outcome.
        if push.record["type"]?.string == EventType.pushAnswered.rawValue { return true }
        if push.record["type"]?.string == "push.cancelled" {
          for index in stories.indices where Self.concerns(push, stories[index]) {
            stories[index].cancellations.append(push)
          }
        } else if let id = push.record["pushId"]?.string, let index = owners[id] {
          stories[index].pushes.append(push)
        } else if let id = push.record["pushId"]?.string,
          let index = stories.firstIndex(where: {
            MessageStory.isPush(push.record, of: $0.messageId, in: $0.conversationId)
          })
        {
          owners[id] = index
          if push.record["kind"]?.string == Push.Kind.escalation.rawValue {
            stories[index].escalations.append(push)
          } else {
            stories[index].pushes.append(push)
          }
        } else if push.record["kind"]?.string == Push.Kind.digest.rawValue, let id = push.record["pushId"]?.string {
          let told = stories.indices.filter { stories[$0].isTold(by: push.record) }
          for index in told { stories[index].catchUps.append(push) }
          if !told.isEmpty { catchUps[id] = told }
        } else if push.record["kind"]?.string == "read", let id = push.record["pushId"]?.string {
          reads.pushes.append(push)
          readIds.insert(id)
        }
        return true
      }
      try browser.records(of: .outcomes, key: question.userId, from: from) { record in
        guard let outcome = placed(record, .outcomes), let id = outcome.record["pushId"]?.string else { return true }
        if outcome.record["type"]?.string == EventType.receipt.rawValue {
          if let index = owners[id] { stories[index].receipts.append(outcome) }
          return true
        }
        if let index = owners[id] { stories[index].outcomes.append(outcome) }
        for index in catchUps[id] ?? [] { stories[index].catchUpOutcomes.append(outcome) }
        if readIds.contains(id) { reads.outcomes.append(outcome) }
        return true
      }
    }
    return reads
  }

  /// Whether a `push.cancelled` names a part of the story, follows its first decision, and cancels anything. With
  /// `showPreviews`, `quietHours` or `target` it changes what waits.
  private static func concerns(_ push: PlacedRecord, _ story: MessageStory) -> Bool {
    let cancelled = push.record
    guard !story.pushIds.isEmpty,
      ["showPreviews", "quietHours", "target"].allSatisfy({ cancelled[$0] == nil }),
      isLater(position(cancelled["origin"]), push.timestamp, story),
      story.pushes.isEmpty || story.pushes.contains(where: { !spares(cancelled, $0.record, in: story) })
    else { return false }
    if let message = cancelled["messageId"]?.string, message != story.messageId { return false }
    if let conversation = cancelled["conversationId"]?.string, conversation != story.conversationId { return false }
    if let device = cancelled["deviceId"]?.string {
      return story.pushes.contains { push in
        (push.record["targets"]?.elements ?? []).contains { $0["deviceId"]?.string == device }
      }
    }
    return true
  }

  /// Whether a `push.cancelled` leaves a push of the story alone, as the dispatcher does.
  private static func spares(_ cancelled: JSONValue, _ push: JSONValue, in story: MessageStory) -> Bool {
    if let sender = cancelled["senderId"]?.string, push["senderId"]?.string != sender { return true }
    if let kind = cancelled["conversationKind"]?.string, push["conversation"]?["kind"]?.string != kind { return true }
    let excepted = cancelled["exceptConversations"]?.elements ?? []
    if excepted.contains(where: { $0.string == Digest.key(story.conversationId) }) { return true }
    let isMeant = push["mentioned"]?.bool == true || push["answered"]?.bool == true
    return cancelled["exceptMentions"]?.bool == true && isMeant
      || cancelled["exceptAddressed"]?.bool == true && (isMeant || push["priority"]?.string == "high")
  }

  // MARK: Afterwards

  /// Adds later events: of the person, of apps, edits and deletions.
  private func addLater(to stories: inout [MessageStory]) throws {
    let origins = stories.compactMap { Self.position($0.decisions.first?.record["origin"]) }
    guard let start = origins.map(\.offset).min() else { return }
    let own = Array(question.userId.utf8)
    let conversations = Set(stories.map(\.conversationId)).map { Array($0.utf8) }
    let withdrawn = Array("message.withdrawn".utf8)
    let needle = browser.coder.needle(question.userId)
    let partitions = try browser.partitions(of: question.userId, on: .timeline)
    let first = stories.flatMap(\.decisions).map(\.timestamp).min().map { $0 - Self.clockSlack }
    var ranges = try browser.ranges(of: .timeline, partitions: partitions, from: partitions.count == 1 ? nil : first)
    for index in ranges.indices where origins.allSatisfy({ $0.partition == ranges[index].place.partition }) {
      ranges[index].from = max(ranges[index].from, start)
    }
    for range in ranges.reversed() {
      try browser.read([range], "reading \(browser.names(.timeline))") { record in
        let isOwn = record.hasKey(own)
        guard
          isOwn
            || (conversations.contains { record.hasKey($0) } && record.valueContains(withdrawn)
              && record.valueContains(needle)),
          let event = placed(record, .timeline)
        else { return true }
        for index in stories.indices where Self.isLater(event, stories[index]) { stories[index].later.append(event) }
        return true
      }
    }
  }

  /// Whether a place of the timeline is behind the message of a story. After a repartition the person's timeline
  /// continues on another partition; then the time decides.
  private static func isLater(_ place: RecordPosition?, _ time: Milliseconds, _ story: MessageStory) -> Bool {
    guard let decision = story.decisions.first else { return false }
    guard let place, let origin = position(decision.record["origin"]), place.partition == origin.partition else {
      return time >= decision.timestamp
    }
    return place.offset > origin.offset
  }

  private static func isLater(_ event: PlacedRecord, _ story: MessageStory) -> Bool {
    guard isLater(event.position, event.timestamp, story) else { return false }
    let type = event.record["type"]?.string ?? ""
    switch type {
    case "notification.received", "notification.opened", "notification.dismissed":
      return event.record["pushId"]?.string.map { story.pushIds.contains($0) } ?? false
    case "feedback.submitted":
      return event.record["messageId"]?.string == story.messageId
        && event.record["conversationId"]?.string == story.conversationId
    case "message.read":
      return event.record["conversationId"]?.string == story.conversationId
    case "message.withdrawn":
      return event.record["conversationId"]?.string == story.conversationId
        && (event.record["messageId"]?.string.map { $0 == story.messageId } ?? true)
    default: return false
    }
  }

  // MARK: State

  /// Adds devices, badge and the message's standing from the analyzer's state, and waiting pushes from the dispatcher's.
  private func readState(into answer: inout ExplainAnswer) throws -> PersonView? {
    guard question.readsState else { return nil }
    var person = PersonView(userId: question.userId)
    try rows(of: .analyzerState, taskOf: .timeline) { key, value in
      if person.concerns(key) { try person.take(key, value, coder: browser.coder) }
    }
    answer.devices = person.devices
    answer.preferences = redaction.apply(
      to: try JSONValue(person.preferencesJSON(coder: browser.coder)), of: .analyzerState)
    answer.badge = person.isKnown ? person.badge : nil
    var lanes = LaneView(userId: question.userId)
    try rows(of: .dispatcherState, taskOf: .pushes) { key, value in
      if lanes.concerns(key) { try lanes.take(key, value, coder: browser.coder) }
    }
    answer.quarantined = lanes.quarantined
    for index in answer.stories.indices {
      let ids = answer.stories[index].pushIds
      answer.stories[index].waiting = lanes.waiting.filter { ids.contains($0.pushId) }
    }
    return person
  }

  /// The rows of the person's task, in changelog order.
  private func rows(of changelog: Topic, taskOf input: Topic, _ body: (RowKey, UnsafeRawBufferPointer?) throws -> Void)
    throws
  {
    let task = try browser.partition(of: question.userId, on: input)
    guard try browser.partitionCount(of: changelog) > task else { return }
    let needle = Array(question.userId.utf8)
    try browser.read(try browser.ranges(of: changelog, partitions: [task]), "reading \(browser.names(changelog))") {
      record in
      // Every row of a person has their id in its key.
      guard let key = record.key, key.count > needle.count, let first = key.first,
        first >= UInt8(ascii: "a"), first <= UInt8(ascii: "z")
      else { return true }
      let rowKey = RowKey(bytes: [UInt8](key))
      try body(rowKey, record.value)
      return true
    }
  }

  func placed(_ record: ConsumerRecord, _ topic: Topic) -> PlacedRecord? {
    PlacedRecord(record, of: topic, redaction: redaction)
  }
}

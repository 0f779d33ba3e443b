import Ingest
import Kafka
import NudgeCodec
import NudgeSchema
import StreamRuntime

/// The members for whom a message is decided.
enum RederivedMembers: String, CaseIterable, Sendable {
  /// Members whose membership began before the message.
  case then
  /// All present members, for an import that came too late and has its own time.
  case current
}

/// Makes the plan of `rederive`: messages on `chat.events`, with the people who are recipients by present membership but had no decision.
struct RederivePlanning {
  let selection: ReplaySelection
  /// The longest age of a message, in milliseconds.
  let freshness: Milliseconds
  /// The wall clock, in milliseconds since the epoch.
  let now: Milliseconds
  let browser: TopicBrowser

  private typealias Pair = ReplayPlanning.Pair

  /// A message to decide again.
  private struct Message {
    var position: RecordPosition
    var timestamp: Milliseconds
    var key: [UInt8]
    var value: [UInt8]
    /// Whether it came with a user's own token.
    var byUser: Bool
    /// The conversation and the message.
    var id: String
    var conversationId: String
    /// By the sender's clock.
    var sentAt: Milliseconds
    /// The dead letter that it became; nil if ingest accepted it.
    var deadLetter: DeadLetterSelection.Place?
  }

  /// The last change of a message.
  private struct Change {
    var stamp: EventStamp
    /// The new text; absent if it was deleted.
    var text: String?
  }

  /// Codes of dead letters that may be due to a membership that came late.
  private static let codes: Set<String> = [
    DeadLetterCode.unknownConversation.rawValue, DeadLetterCode.senderNotMember.rawValue,
  ]

  private var longestAge: Milliseconds { selection.maxAge ?? freshness }

  func plan() throws -> ReplayPlan {
    try browser.find([.chatEvents, .ingestState, .timeline, .decisions, .deadLetters, .audit])
    let count = try browser.partitionCount(of: .timeline)
    guard try browser.partitionCount(of: .chatEvents) == count else {
      throw CommandError("\(browser.names(.chatEvents)) and \(browser.names(.timeline)) differ in partitions")
    }
    var (messages, changes, ended) = try readMessages()
    let letters = try readDeadLetters()
    // Refused messages are on chat.events too.
    let refused = Set(letters.map { "\($0.position.partition)@\($0.position.offset)" })
    messages.removeAll { refused.contains("\($0.position.partition)@\($0.position.offset)") }
    messages = (messages + letters).sorted {
      ($0.position.partition, $0.position.offset) < ($1.position.partition, $1.position.offset)
    }

    let derivation = Rederivation(partitions: count, now: now)
    for (partition, rows) in try rows(of: messages) { derivation.load(rows, partition: partition) }
    let known = try readKnown()
    var plan = ReplayPlan()
    for message in messages {
      var text: String?
      if ended[message.conversationId].map({ message.sentAt <= $0 }) ?? false { continue }
      if let change = changes[message.id] {
        guard let edited = change.text else { continue }
        text = edited
      }
      guard
        let result = derivation.derive(
          value: message.value, text: text, key: message.key, at: message.position, timestamp: message.timestamp,
          byUser: message.byUser)
      else { continue }
      if let letter = message.deadLetter {
        if result.refusal != nil { plan.refusedAgain += 1 } else { plan.deadLetters.append(letter) }
        continue
      }
      add(result, of: message, derivation, known, to: &plan)
    }
    return plan
  }

  private func add(
    _ result: Rederivation.Result, of message: Message, _ derivation: Rederivation, _ known: Known,
    to plan: inout ReplayPlan
  ) {
    for (target, candidate) in result.candidates {
      var fields = candidate
      let sentAt = min(result.envelope.occurredAt, result.takenAt ?? .max)
      fields.recipients = fields.recipients.filter { recipient in
        if let user = selection.user, !recipient.userId.utf8.elementsEqual(user.utf8) { return false }
        let pair = Pair(recipient.userId, fields.conversationId, fields.messageId)
        let standing: ReplayPlan.Standing
        if known.decided.contains(pair) {
          standing = .decided
        } else if known.candidates.contains(pair) {
          standing = .undecided
        } else if now > sentAt + longestAge {
          standing = .expired
        } else if selection.members == .then,
          derivation.memberSince(
            recipient.userId, of: fields.conversationId, partition: message.position.partition) ?? .max > sentAt
        {
          standing = .joinedLater
        } else {
          standing = .missing
        }
        plan.standings[standing, default: 0] += 1
        return standing == .missing
      }
      guard !fields.recipients.isEmpty else { continue }
      fields.rederived = true
      if longestAge > freshness { fields.maxAgeSeconds = Int(longestAge / 1_000) }
      plan.items.append(
        ReplayPlan.Item(
          position: message.position, source: message.position, occurredAt: result.envelope.occurredAt,
          takenAt: result.takenAt, fields: fields, target: .init(partition: target, number: plan.items.count)))
    }
  }

  // MARK: Reading

  private func isSelected(_ position: RecordPosition, conversationId: String, messageId: String) -> Bool {
    selection.contains(
      candidateAt: position, source: position, conversationId: conversationId, messageId: messageId)
  }

  private static func id(_ conversationId: String, _ messageId: String) -> String {
    "\(conversationId)\u{0}\(messageId)"
  }

  /// The messages of the time, what happened to them later, and when conversations were deleted.
  private func readMessages() throws -> (
    messages: [Message], changes: [String: Change], ended: [String: Milliseconds]
  ) {
    var messages: [Message] = []
    var changes: [String: Change] = [:]
    var ended: [String: Milliseconds] = [:]
    let partitions = try selection.conversation.map { try browser.partitions(of: $0, on: .chatEvents) }
    let ranges = try browser.ranges(of: .chatEvents, partitions: partitions, from: selection.since)
    let ends = Dictionary(
      uniqueKeysWithValues: try browser.ranges(
        of: .chatEvents, partitions: partitions, from: selection.since, until: selection.until
      ).map { ($0.place.partition, $0.to) })
    let type = Array("\"message.".utf8)
    let end = Array("\"\(EventType.conversationDeleted.rawValue)\"".utf8)
    try browser.read(ranges, "reading \(browser.names(.chatEvents))") { record in
      guard record.valueContains(type) || record.valueContains(end), let value = record.valueBytes(),
        let key = record.keyBytes(),
        let event = try? browser.codec.decode(ChatEvent.self, from: value)
      else { return true }
      let position = RecordPosition(topic: record.topic, partition: record.partition, offset: record.offset)
      switch event.body {
      case .messageCreated(let fields):
        guard record.offset < ends[record.partition] ?? 0,
          isSelected(position, conversationId: fields.conversationId, messageId: fields.messageId)
        else { return true }
        guard messages.count < Self.maxMessages else {
          throw CommandError("more than \(Self.maxMessages) messages are selected: narrow the selection")
        }
        messages.append(
          Message(
            position: position, timestamp: record.timestamp, key: key, value: value,
            byUser: record.header(RecordHeader.caller) != nil,
            id: Self.id(fields.conversationId, fields.messageId), conversationId: fields.conversationId,
            sentAt: event.envelope.occurredAt))
      case .messageEdited(let fields):
        guard let text = fields.text else { return true }
        let id = Self.id(fields.conversationId, fields.messageId)
        let stamp = EventStamp(event.envelope, takenAt: record.timestamp)
        if let known = changes[id], known.text == nil || stamp <= known.stamp { return true }
        changes[id] = Change(stamp: stamp, text: text)
      case .messageDeleted(let fields):
        changes[Self.id(fields.conversationId, fields.messageId)] = Change(
          stamp: EventStamp(event.envelope, takenAt: record.timestamp), text: nil)
      case .conversationDeleted(let fields):
        ended[fields.conversationId] = max(ended[fields.conversationId] ?? 0, event.envelope.occurredAt)
      default: break
      }
      return true
    }
    return (messages, changes, ended)
  }

  /// The most messages held in memory.
  private static let maxMessages = 100_000

  /// Dead letters of messages of the time that were refused because of a missing membership.
  private func readDeadLetters() throws -> [Message] {
    var messages: [Message] = []
    let replay = DeadLetterReplay(topics: browser.names)
    try DeadLetterSelection(topic: browser.names(.chatEvents), key: selection.conversation, since: selection.since)
      .read(browser) { letter, record in
        guard Self.codes.contains(letter.code), case .written(.chatEvents) = replay.fate(of: letter),
          let origin = letter.origin, let sent = letter.originTimestamp, sent >= selection.since,
          sent < selection.until, let value = record.valueBytes(), let key = record.keyBytes(),
          let event = try? browser.codec.decode(ChatEvent.self, from: value),
          case .messageCreated(let fields) = event.body,
          isSelected(origin, conversationId: fields.conversationId, messageId: fields.messageId)
        else { return true }
        messages.append(
          Message(
            position: origin, timestamp: sent, key: key, value: value,
            byUser: record.header(RecordHeader.caller) != nil,
            id: Self.id(fields.conversationId, fields.messageId), conversationId: fields.conversationId,
            sentAt: event.envelope.occurredAt,
            deadLetter: .init(partition: letter.position.partition, offset: letter.position.offset)))
        return true
      }
    return messages
  }

  /// The rows of the messages' conversations, by task.
  private func rows(of messages: [Message]) throws -> [Int32: [(key: RowKey, bytes: [UInt8]?)]] {
    var wanted: [Int32: Set<[UInt8]>] = [:]
    for message in messages { wanted[message.position.partition, default: []].insert(message.key) }
    var rows: [Int32: [(key: RowKey, bytes: [UInt8]?)]] = [:]
    let ranges = try browser.ranges(of: .ingestState, partitions: wanted.keys.sorted())
    try browser.read(ranges, "reading \(browser.names(.ingestState))") { record in
      guard let bytes = record.keyBytes(), bytes.first == UInt8(ascii: "c") else { return true }
      let key = RowKey(bytes: bytes)
      guard let id = Rederivation.conversation(of: key), wanted[record.partition]?.contains(Array(id.utf8)) == true
      else {
        return true
      }
      rows[record.partition, default: []].append((key, record.valueBytes()))
      return true
    }
    return rows
  }

  /// The pairs that the pipeline already knows.
  private struct Known {
    /// Pairs with a decision, other than one due to a replay's own limit.
    var decided: Set<Pair> = []
    /// Pairs on the timeline.
    var candidates: Set<Pair> = []
  }

  private func readKnown() throws -> Known {
    var known = Known()
    let since = selection.since - ReplayPlanning.clockSlack
    func partitions(_ topic: Topic) throws -> [Int32]? {
      try selection.user.map { try browser.partitions(of: $0, on: topic) }
    }
    let decisions = try browser.ranges(of: .decisions, partitions: try partitions(.decisions), from: since)
    try browser.read(decisions, "reading \(browser.names(.decisions))") { record in
      guard let value = record.value, let it = try? browser.coder.decode(DecisionGlance.self, from: value) else {
        return true
      }
      if it.reason != .replayStopped, it.reason != .replayLimit {
        known.decided.insert(Pair(it.userId, it.conversationId ?? "", it.messageId))
      }
      guard known.decided.count <= ReplayPlanning.maxDecisions else {
        throw CommandError("more than \(ReplayPlanning.maxDecisions) decisions are selected: narrow the selection")
      }
      return true
    }
    let type = Array("\"message.candidate\"".utf8)
    let timeline = try browser.ranges(of: .timeline, partitions: try partitions(.timeline), from: since)
    try browser.read(timeline, "reading \(browser.names(.timeline))") { record in
      guard record.valueContains(type), let value = record.valueBytes(),
        let event = try? browser.codec.decode(TimelineEvent.self, from: value), case .candidate(let fields) = event.body
      else { return true }
      for recipient in fields.recipients {
        let pair = Pair(recipient.userId, fields.conversationId, fields.messageId)
        if !known.decided.contains(pair) { known.candidates.insert(pair) }
      }
      return true
    }
    return known
  }
}

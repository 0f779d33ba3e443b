import Kafka
import NudgeSchema

/// What a replay would write, and how what is selected stands now.
struct ReplayPlan {
  /// A candidate with those of its recipients that are to be decided again.
  struct Item: Equatable {
    /// Where the candidate is on the timeline.
    var position: RecordPosition
    var source: RecordPosition
    var occurredAt: Milliseconds
    var takenAt: Milliseconds?
    var fields: MessageCandidate
  }

  /// How a selected person and message stand.
  enum Standing: String, CaseIterable {
    /// FCM has taken a push of it.
    case alreadySent = "already_sent"
    /// A push was made and was not sent, or not yet: its outcome says why, or it waits. It is never made again.
    case alreadyNotified = "already_notified"
    /// Nothing was decided yet: the analyzer will.
    case undecided
    /// It is past its freshness.
    case expired
    /// Nobody was notified, and it is still fresh.
    case missing
  }

  /// Pairs of a person and a message by how they stand.
  var standings: [Standing: Int] = [:]
  /// What would be written, in the order of the timeline.
  var items: [Item] = []

  /// Recipients of all items.
  var recipients: Int { items.reduce(0) { $0 + $1.fields.recipients.count } }
  /// People and messages that are selected.
  var selected: Int { standings.values.reduce(0, +) }
}

/// Makes a plan from the topics. Memory holds the decisions of the selected time.
struct ReplayPlanning {
  /// Decisions that are held at most.
  static let maxDecisions = 1_000_000
  /// A decision comes after its candidate; clocks of hosts may say otherwise by so much.
  private static let clockSlack: Milliseconds = 5_000

  let selection: ReplaySelection
  let mode: ReplayMode
  /// How old a message may be, in milliseconds.
  let freshness: Milliseconds
  /// The wall clock, in milliseconds since the epoch.
  let now: Milliseconds
  let browser: TopicBrowser

  /// A person and a message, in bytes.
  struct Pair: Hashable {
    private let bytes: [UInt8]

    init(_ userId: String, _ conversationId: String, _ messageId: String) {
      bytes = Array("\(userId)\u{0}\(conversationId)\u{0}\(messageId)".utf8)
    }
  }

  /// What was decided of a pair.
  struct Decided {
    var firstReason: DecisionReason
    /// The pushes that were made.
    var pushIds: [String] = []
  }

  /// The plan: of each partition of the timeline, what is at or behind `next` where that is told.
  func plan(resumingAt next: [Int32: Int64] = [:]) throws -> ReplayPlan {
    try browser.find([.timeline, .decisions, .outcomes])
    let decisions = try readDecisions()
    let sent = try readSent(Set(decisions.values.flatMap(\.pushIds)))
    var plan = ReplayPlan()
    var ranges = try browser.ranges(
      of: .timeline, partitions: try partitions(of: .timeline), from: selection.since, until: selection.until)
    for index in ranges.indices {
      if let offset = next[ranges[index].place.partition] { ranges[index].from = max(ranges[index].from, offset) }
    }
    let type = Array("\"message.candidate\"".utf8)
    try browser.read(ranges, "reading \(browser.names(.timeline))") { record in
      guard record.valueContains(type), let value = record.value,
        let event = try? browser.coder.decode(TimelineEvent.self, from: value),
        case .candidate(var fields) = event.body
      else { return true }
      let position = RecordPosition(topic: record.topic, partition: record.partition, offset: record.offset)
      guard selection.contains(candidateAt: position, source: event.source, fields: fields) else { return true }
      fields.recipients = fields.recipients.filter { recipient in
        if let user = selection.user, !recipient.userId.utf8.elementsEqual(user.utf8) { return false }
        let decided = decisions[Pair(recipient.userId, fields.conversationId, fields.messageId)]
        if let reason = selection.reason, decided?.firstReason != reason { return false }
        let standing = standing(decided, sent: sent, occurredAt: event.envelope.occurredAt)
        plan.standings[standing, default: 0] += 1
        return isWritten(standing)
      }
      guard !fields.recipients.isEmpty else { return true }
      plan.items.append(
        ReplayPlan.Item(
          position: position, source: event.source, occurredAt: event.envelope.occurredAt, takenAt: event.takenAt,
          fields: fields))
      return true
    }
    plan.items.sort { ($0.position.partition, $0.position.offset) < ($1.position.partition, $1.position.offset) }
    return plan
  }

  private func isWritten(_ standing: ReplayPlan.Standing) -> Bool {
    switch standing {
    case .missing: true
    case .alreadySent, .alreadyNotified: mode == .force
    case .undecided, .expired: false
    }
  }

  private func standing(_ decided: Decided?, sent: Set<String>, occurredAt: Milliseconds) -> ReplayPlan.Standing {
    guard let decided else { return .undecided }
    // Age comes first: whatever became of it, nobody is told of it any more.
    if mode == .force, now > occurredAt + freshness { return .expired }
    if decided.pushIds.contains(where: { sent.contains($0) }) { return .alreadySent }
    if !decided.pushIds.isEmpty { return .alreadyNotified }
    return now > occurredAt + freshness ? .expired : .missing
  }

  private func partitions(of topic: Topic) throws -> [Int32]? {
    if topic == .timeline, selection.topic == .timeline, let partition = selection.partition { return [partition] }
    return try selection.user.map { [try browser.partition(of: $0, on: topic)] }
  }

  /// What was decided since the selected time began.
  func readDecisions() throws -> [Pair: Decided] {
    var decisions: [Pair: Decided] = [:]
    let user = selection.user.map { Array($0.utf8) }
    let ranges = try browser.ranges(
      of: .decisions, partitions: try partitions(of: .decisions), from: selection.since - Self.clockSlack)
    try browser.read(ranges, "reading \(browser.names(.decisions))") { record in
      if let user, !record.hasKey(user) { return true }
      guard let value = record.value, let it = try? browser.coder.decode(DecisionGlance.self, from: value) else {
        return true
      }
      let pair = Pair(it.userId, it.conversationId ?? "", it.messageId)
      var decided = decisions[pair] ?? Decided(firstReason: it.reason)
      if let pushId = it.pushId { decided.pushIds.append(pushId) }
      decisions[pair] = decided
      guard decisions.count <= Self.maxDecisions else {
        throw ReadingError(
          "more than \(Self.maxDecisions) decisions are selected: narrow the selection, by --until or --conversation")
      }
      return true
    }
    return decisions
  }

  /// Which of some pushes FCM has taken, on one device or more.
  private func readSent(_ pushIds: Set<String>) throws -> Set<String> {
    guard !pushIds.isEmpty else { return [] }
    var sent: Set<String> = []
    let ranges = try browser.ranges(
      of: .outcomes, partitions: try partitions(of: .outcomes), from: selection.since - Self.clockSlack)
    try browser.read(ranges, "reading \(browser.names(.outcomes))") { record in
      guard let value = record.value, let it = try? browser.coder.decode(OutcomeGlance.self, from: value) else {
        return true
      }
      if it.result == .sent, pushIds.contains(it.pushId) { sent.insert(it.pushId) }
      return true
    }
    return sent
  }
}

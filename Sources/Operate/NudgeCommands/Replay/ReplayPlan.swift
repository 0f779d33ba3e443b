import Kafka
import NudgeCodec
import NudgeSchema

/// The records that a replay would write, and the present state of everything selected.
struct ReplayPlan {
  /// A candidate with the recipients for whom to decide again.
  struct Item: Equatable {
    /// The candidate's position on the timeline.
    var position: RecordPosition
    var source: RecordPosition
    var occurredAt: Milliseconds
    var takenAt: Milliseconds?
    var fields: MessageCandidate
    /// The record's position, if the item is not a candidate on the timeline.
    var target: Target?

    /// A position on the timeline for a new record.
    struct Target: Equatable {
      var partition: Int32
      /// Distinguishes the records of one message.
      var number: Int
    }

    /// The record's partition of the timeline.
    var partition: Int32 { target?.partition ?? position.partition }
  }

  /// The present state of a person and a message.
  enum Standing: String, CaseIterable {
    /// A push service has accepted a push.
    case alreadySent = "already_sent"
    /// A push exists but was not sent, or not yet; its outcome or its lane shows why. No second push is made.
    case alreadyNotified = "already_notified"
    /// The analyzer has not decided yet, but will.
    case undecided
    /// The message is past its freshness.
    case expired
    /// Nobody was notified, and the message is still fresh.
    case missing
    /// The push failed on a device that does not have the message.
    case failed
    /// There was a decision.
    case decided
    /// The person became a member after the message.
    case joinedLater = "joined_later"
    /// The message was deleted, or the person left, or the conversation was deleted.
    case withdrawn
    /// The person was deleted.
    case erased
  }

  /// The number of pairs of a person and a message, by state.
  var standings: [Standing: Int] = [:]
  /// The records to write, in timeline order.
  var items: [Item] = []
  /// Dead letters to republish.
  var deadLetters: [DeadLetterSelection.Place] = []
  /// The number of dead letters that ingest would refuse again.
  var refusedAgain = 0

  var recipients: Int { items.reduce(0) { $0 + $1.fields.recipients.count } }
  /// The number of selected pairs.
  var selected: Int { standings.values.reduce(0, +) }
}

/// Makes a plan from the topics. It holds the decisions of the selected time in memory.
struct ReplayPlanning {
  /// The most decisions held in memory.
  static let maxDecisions = 1_000_000
  /// The tolerance for clock differences: by how much a decision may be older than its candidate.
  static let clockSlack: Milliseconds = 5_000

  let selection: ReplaySelection
  let mode: ReplayMode
  /// The longest age of a message, in milliseconds.
  let freshness: Milliseconds
  /// The wall clock, in milliseconds since the epoch.
  let now: Milliseconds
  let browser: TopicBrowser

  struct Pair: Hashable {
    private let bytes: [UInt8]

    init(_ userId: String, _ conversationId: String, _ messageId: String) {
      bytes = Array("\(userId)\u{0}\(conversationId)\u{0}\(messageId)".utf8)
    }

    /// The pair in the form used by catch-ups.
    fileprivate var message: ReplayedMessage { ReplayedMessage(bytes) }
  }

  /// A person and a message, which is identified by `Digest.key`.
  fileprivate struct ReplayedMessage: Hashable {
    private let bytes: [UInt8]

    init(_ userId: String, _ conversationId: String, _ key: String) {
      bytes = Array("\(userId)\u{0}\(conversationId)\u{0}\(key)".utf8)
    }

    init(_ pair: [UInt8]) {
      let message = pair.lastIndex(of: 0).map { $0 + 1 } ?? 0
      bytes = Array(pair[..<message]) + Digest.key(String(decoding: pair[message...], as: UTF8.self)).utf8
    }
  }

  /// A pair's decision.
  struct Decided {
    /// The reason of the first final decision.
    var firstReason: DecisionReason
    var pushIds: [String] = []
    /// How the last push appeared.
    var presentation: Presentation?
    /// Whether a catch-up contained the message.
    var isInCatchUp = false
  }

  /// The plan. `next` has the offsets at which to resume, by timeline partition.
  func plan(resumingAt next: [Int32: Int64] = [:]) throws -> ReplayPlan {
    try browser.find([.timeline, .decisions, .outcomes])
    var decisions = try readDecisions()
    if mode != .force { try addPushes(to: &decisions) }
    let fates = try readFates(of: decisions)
    let changes = try readChanges()
    var plan = ReplayPlan()
    var ranges = try browser.ranges(
      of: .timeline, partitions: try partitions(of: .timeline), from: selection.since, until: selection.until)
    for index in ranges.indices {
      if let offset = next[ranges[index].place.partition] { ranges[index].from = max(ranges[index].from, offset) }
    }
    let type = Array("\"message.candidate\"".utf8)
    try browser.read(ranges, "reading \(browser.names(.timeline))") { record in
      guard record.valueContains(type), let value = record.valueBytes(),
        let event = try? browser.codec.decode(TimelineEvent.self, from: value),
        case .candidate(var fields) = event.body
      else { return true }
      let position = RecordPosition(topic: record.topic, partition: record.partition, offset: record.offset)
      guard selection.contains(candidateAt: position, source: event.source, fields: fields) else { return true }
      var failedPushes: [FailedPush] = []
      fields.recipients = fields.recipients.filter { recipient in
        if let user = selection.user, !sameId(recipient.userId, user) { return false }
        let decided = decisions[Pair(recipient.userId, fields.conversationId, fields.messageId)]
        if let reason = selection.reason, decided?.firstReason != reason { return false }
        if mode == .resendFailed, decided?.pushIds.isEmpty ?? true { return false }
        let standing =
          changes.standing(of: recipient.userId, fields, sentAt: event.cappedAt)
          ?? standing(decided, fates, occurredAt: event.envelope.occurredAt)
        if standing == .failed, let decided, let pushId = decided.pushIds.last,
          case .failed(let devices) = fates.standing(of: decided.pushIds)
        {
          failedPushes.append(
            FailedPush(
              userId: recipient.userId, pushId: pushId, devices: devices, presentation: decided.presentation))
        }
        plan.standings[standing, default: 0] += 1
        return isWritten(standing)
      }
      guard !fields.recipients.isEmpty else { return true }
      changes.apply(to: &fields)
      if mode == .resendFailed { fields.failedPushes = failedPushes }
      if longestAge > freshness { fields.maxAgeSeconds = Int(longestAge / 1_000) }
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
    case .missing: mode == .resendMissing || mode == .force
    case .failed: mode == .resendFailed
    case .alreadySent, .alreadyNotified: mode == .force
    case .undecided, .expired, .decided, .joinedLater, .withdrawn, .erased: false
    }
  }

  /// The greatest age at which a message is sent.
  private var longestAge: Milliseconds { selection.maxAge ?? freshness }

  private func standing(_ decided: Decided?, _ fates: PushFates, occurredAt: Milliseconds) -> ReplayPlan.Standing {
    guard let decided else { return .undecided }
    if mode != .force, decided.isInCatchUp { return .alreadyNotified }
    if mode == .resendFailed {
      switch fates.standing(of: decided.pushIds) {
      case .delivered: return .alreadySent
      case .other: return .alreadyNotified
      case .failed: return now > occurredAt + longestAge ? .expired : .failed
      }
    }
    // The age is checked first, because an expired message notifies nobody, whatever was decided.
    if mode == .force, now > occurredAt + longestAge { return .expired }
    if fates.standing(of: decided.pushIds) == .delivered { return .alreadySent }
    if !decided.pushIds.isEmpty { return .alreadyNotified }
    return now > occurredAt + longestAge ? .expired : .missing
  }

  private func partitions(of topic: Topic) throws -> [Int32]? {
    if topic == .timeline, selection.topic == .timeline, let partition = selection.partition { return [partition] }
    return try selection.user.map { try browser.partitions(of: $0, on: topic) }
  }

  /// The decisions since the start of the selected time.
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
      // Only the final decision counts. Without one, the message is not decided.
      guard it.outcome.isFinal else { return true }
      let pair = Pair(it.userId, it.conversationId ?? "", it.messageId)
      var decided = decisions[pair] ?? Decided(firstReason: it.reason)
      if let pushId = it.pushId {
        decided.pushIds.append(pushId)
        decided.presentation = it.presentation
      }
      decisions[pair] = decided
      guard decisions.count <= Self.maxDecisions else {
        throw CommandError(
          "more than \(Self.maxDecisions) decisions are selected: narrow the selection, by --until or --conversation")
      }
      return true
    }
    return decisions
  }

  /// Adds pushes that no decision names: repeated ones, and catch-ups.
  private func addPushes(to decisions: inout [Pair: Decided]) throws {
    guard !decisions.isEmpty else { return }
    try browser.find([.pushes])
    var told: Set<ReplayedMessage> = []
    let ranges = try browser.ranges(
      of: .pushes, partitions: try partitions(of: .pushes), from: selection.since - Self.clockSlack)
    try browser.read(ranges, "reading \(browser.names(.pushes))") { record in
      guard let value = record.value, let it = try? browser.coder.decode(PushGlance.self, from: value) else {
        return true
      }
      for part in it.digest?.parts ?? [] {
        for key in part.keys { told.insert(ReplayedMessage(it.userId, part.conversationId, key)) }
      }
      guard it.kind == .message, it.replaces != true, let conversationId = it.conversationId,
        let messageId = it.messageId
      else { return true }
      let pair = Pair(it.userId, conversationId, messageId)
      if let known = decisions[pair], !known.pushIds.contains(it.pushId) { decisions[pair]?.pushIds.append(it.pushId) }
      return true
    }
    guard !told.isEmpty else { return }
    for pair in decisions.keys where told.contains(pair.message) { decisions[pair]?.isInCatchUp = true }
  }

  /// How the selected messages and their people have changed since.
  private func readChanges() throws -> ReplayChanges {
    var changes = ReplayChanges()
    let ranges = try browser.ranges(
      of: .timeline, partitions: try partitions(of: .timeline), from: selection.since - Self.clockSlack)
    try browser.read(ranges, "reading \(browser.names(.timeline))") { record in
      guard ReplayChanges.mayConcern(record), let value = record.valueBytes(),
        let event = try? browser.codec.decode(TimelineEvent.self, from: value)
      else { return true }
      changes.add(event, selection)
      return true
    }
    return changes
  }

  /// What happened to these pushes. Only `resend-failed` needs it per device.
  private func readFates(of decisions: [Pair: Decided]) throws -> PushFates {
    let pushIds = Set(decisions.values.flatMap(\.pushIds))
    var fates = PushFates(results: mode == .resendFailed ? selection.results : [])
    guard !pushIds.isEmpty else { return fates }
    func read(_ topic: Topic, _ body: (ConsumerRecord) throws -> Void) throws {
      let ranges = try browser.ranges(
        of: topic, partitions: try partitions(of: topic), from: selection.since - Self.clockSlack)
      try browser.read(ranges, "reading \(browser.names(topic))") { record in
        try body(record)
        return true
      }
    }
    try read(.outcomes) { record in
      guard let value = record.value, let it = try? browser.coder.decode(OutcomeGlance.self, from: value),
        pushIds.contains(it.pushId)
      else { return }
      fates.add(it)
    }
    let failed = fates.failedPushIds
    guard !failed.isEmpty else { return fates }
    // All pushes of their messages, because a repeated push may still wait.
    let concerned = Set(decisions.values.filter { $0.pushIds.contains { failed.contains($0) } }.flatMap(\.pushIds))
    try browser.find([.pushes])
    try read(.pushes) { record in
      guard let value = record.value, let it = try? browser.coder.decode(PushGlance.self, from: value),
        concerned.contains(it.pushId)
      else { return }
      fates.add(it)
    }
    // A device may have a notification although FCM's answer was lost.
    let types = ReceiptGlance.types.map { Array("\"\($0)\"".utf8) }
    try read(.timeline) { record in
      guard types.contains(where: { record.valueContains($0) }), let value = record.value,
        let it = try? browser.coder.decode(ReceiptGlance.self, from: value), ReceiptGlance.types.contains(it.type),
        concerned.contains(it.pushId)
      else { return }
      fates.add(it)
    }
    return fates
  }
}

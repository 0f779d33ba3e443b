import Foundation

/// Judges a run of the pipeline by its topics and by FCM's requests. It decodes records with its own code and knows only the
/// catalogue. A value: evidence in, violations out. Records of different partitions may arrive in any order.
struct PipelineChecker {
  // MARK: Expectations

  /// The recipients of each message of the load; nil: unknown.
  var expected: [String: Set<String>]?
  /// The codes of dead letters that the test expects.
  var allowedDeadLetters: Set<String> = []
  /// When dispatchers were killed. Requests that FCM accepted within `inFlightTime` before may be sent once more.
  var dispatcherCrashes: [Int64] = []
  /// The spans in which a dispatcher was stopped, cut off or without a broker. FCM's answers in a span are lost with the
  /// partitions, as in a crash, and requests begun before may still arrive until its end.
  var dispatcherAbsences: [ClosedRange<Int64>] = []
  /// When dispatchers could not commit, because a broker or the transactions' coordinator was away. A dispatcher that dies or loses
  /// its partitions before it has committed has the answers since then in no transaction.
  var commitGaps: [ClosedRange<Int64>] = []
  /// A time in which a dispatcher's clock was behind, and by how many milliseconds.
  struct SlowClock {
    var time: ClosedRange<Int64>
    var behind: Int64
  }
  /// The people whose attention is limited.
  var attention = Attention()
  /// When clocks of dispatchers were behind. Their outcomes bear an earlier time.
  var dispatcherClocks: [SlowClock] = []
  /// A crash may lose the outcome of an answer that came this long before, in milliseconds: the time for gathering replies
  /// (10 ms) and for a transaction, on a loaded machine.
  var inFlightTime: Int64 = 5_000
  /// Nothing is sent for a token's former owner later than this many milliseconds after the loss is committed (T2).
  var ownershipTime: Int64 = 1_000
  /// The number of partitions before a repartition; nil: there was none.
  var formerPartitions: Int32?
  /// The commit time of a record of `nudge.timeline`, by partition and offset, in milliseconds since the epoch; nil: unknown. The
  /// record's own time counts then, which is when its transaction began.
  var commitTime: (Int32, Int64) -> Int64? = { _, _ in nil }
  /// The spans with trouble of services or broker, in which a loss may take longer than `ownershipTime`. Pushes caused by a
  /// record after the loss are judged nevertheless.
  var troubles: [ClosedRange<Int64>] = []

  // MARK: Evidence

  struct Place: Hashable, Comparable {
    var partition: Int32
    var offset: Int64
    static func < (a: Place, b: Place) -> Bool { (a.partition, a.offset) < (b.partition, b.offset) }
    static let last = Place(partition: .max, offset: .max)
  }

  /// A person with a message, a candidate's position or a device.
  private struct Pair<Other: Hashable>: Hashable {
    var user: String
    var other: Other
  }

  private struct Delivery: Hashable {
    var pushId: String
    var deviceId: String
  }

  private struct Target {
    var pushId: String
    var userId: String
    var deviceId: String
    var token: String
    var expiresAt: Int64
    var place: Place
  }

  /// The positions of candidates that a forced replay requested.
  private var forced = Set<Place>()
  /// The people for whom a candidate asks to make a failed push again.
  private var failedPushes: [Place: Set<String>] = [:]
  private(set) var candidates: [(place: Place, header: Wire.Header, body: Wire.Candidate)] = []
  private(set) var decisions: [(place: Place, header: Wire.Header, body: Wire.Decision)] = []
  private(set) var pushes: [(place: Place, header: Wire.Header, body: Wire.Push)] = []
  private(set) var outcomes: [Wire.Outcome] = []
  private var receipts: [Wire.Receipt] = []
  /// A gain or a loss of a token on a person's timeline.
  private struct Ownership {
    var place: Place
    var time: Int64
    var userId: String
    /// The device that gained it; empty for a loss.
    var deviceId = ""
    /// The gained token; nil: a loss.
    var token: String?
    /// The lost token.
    var tokenHash = ""
    var cause: String
  }
  private var ownership: [Ownership] = []
  /// The claimed tokens by hash.
  private var tokens: [String: String] = [:]
  /// The header of a hostile record; its value is the expected code.
  static let hostileHeader = "test-refused-as"
  private var hostile: [Wire.Place: String] = [:]
  private let prefix: String
  private(set) var requests: [SeenRequest] = []
  private(set) var deadLetters: [KafkaRecord] = []
  private var positions: [String: [Int32: [Wire.Position]]] = [:]
  private var commitTimes: [String: CommitTimes] = [:]
  private var lastOffsets: [String: [Int32: Int64]] = [:]
  private var counts: [String: Int] = [:]
  private var unreadable: [String] = []
  private let decoder = JSONDecoder()

  /// `prefix` is the prefix of topic names in Kafka, which dead letters contain. Records given to `read` have the catalogue's names.
  init(expected: [String: Set<String>]? = nil, prefix: String = "") {
    self.expected = expected
    self.prefix = prefix
  }

  /// The inputs of each stage, and its changelog.
  static let stages: [String: (inputs: [String], changelog: String)] = [
    "ingest": (["chat.events", "user.events", "nudge.device-claims"], "nudge.ingest-state"),
    "analyzer": (["nudge.timeline"], "nudge.analyzer-state"),
    "dispatcher": (["nudge.pushes"], "nudge.dispatcher-state"),
  ]

  /// Reads a record. Records of one partition arrive in the order of their offsets.
  mutating func read(_ record: KafkaRecord) {
    lastOffsets[record.topic, default: [:]][record.partition] = record.offset
    counts[record.topic, default: 0] += 1
    do {
      try take(record)
    } catch {
      unreadable.append("\(record.topic) \(record.partition)/\(record.offset): \(error)")
    }
  }

  private mutating func take(_ record: KafkaRecord) throws {
    let place = Place(partition: record.partition, offset: record.offset)
    if let code = record.headers[Self.hostileHeader], record.topic != "nudge.dead-letters" {
      hostile[Wire.Place(topic: record.topic, partition: record.partition, offset: record.offset)] = code
      return
    }
    let data = Data(record.value ?? [])
    func value<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.decode(type, from: data) }
    switch record.topic {
    case "nudge.timeline":
      let header = try value(Wire.Header.self)
      switch header.type {
      case "message.candidate": candidates.append((place, header, try value(Wire.Candidate.self)))
      case "candidate.redecide":
        let candidate = try value(Wire.Candidate.self)
        if candidate.forced == true { forced.insert(place) }
        if let failed = candidate.failedPushes { failedPushes[place] = Set(failed.map(\.userId)) }
      case "device.registered":
        let fields = try value(Wire.DeviceGained.self)
        ownership.append(
          Ownership(
            place: place, time: record.timestamp, userId: fields.userId, deviceId: fields.deviceId,
            token: fields.address,
            cause: header.type))
      case "device.unregistered":
        let fields = try value(Wire.DeviceLost.self)
        ownership.append(
          Ownership(
            place: place, time: record.timestamp, userId: fields.userId, tokenHash: fields.tokenHash,
            cause: fields.cause))
      default: break
      }
    case "nudge.decisions": decisions.append((place, try value(Wire.Header.self), try value(Wire.Decision.self)))
    case "nudge.pushes":
      let header = try value(Wire.Header.self)
      guard header.type == "push" else { return }
      pushes.append((place, header, try value(Wire.Push.self)))
    case "nudge.device-claims":
      let claim = try value(Wire.Claim.self)
      if let device = claim.device { tokens[claim.tokenHash] = device.address }
    case "nudge.outcomes":
      if try value(Wire.Header.self).type == "receipt" {
        receipts.append(try value(Wire.Receipt.self))
      } else {
        outcomes.append(try value(Wire.Outcome.self))
      }
    case "nudge.dead-letters": deadLetters.append(record)
    default:
      guard Self.stages.values.contains(where: { $0.changelog == record.topic }), record.key == "@position" else {
        return
      }
      let position = try value(Wire.Position.self)
      positions[record.topic, default: [:]][record.partition, default: []].append(position)
      commitTimes[record.topic, default: CommitTimes()].note(
        record.partition, at: record.timestamp, by: position.writer)
    }
  }

  /// Reads a request, in the order FCM received them.
  mutating func read(_ request: SeenRequest) { requests.append(request) }

  // MARK: Counts

  /// The number of records of a topic.
  func count(of topic: String) -> Int { counts[topic] ?? 0 }
  var decisionCount: Int { decisions.count }
  var outcomeCount: Int { outcomes.count }
  /// The pushes of messages, one for each of their devices.
  var messageTargets: [(push: Wire.Push, deviceId: String)] {
    pushes.filter { $0.body.kind == "message" }.flatMap { push in
      push.body.targets.map { (push: push.body, deviceId: $0.deviceId) }
    }
  }
  /// The pushes by which messages are said again, and those told to the webhook.
  var escalations: [Wire.Push] { pushes.map(\.body).filter { $0.escalation != nil } }
  /// The pushes that the webhook was told of, or never will be.
  var webhookOutcomes: Set<String> { Set(outcomes.filter { $0.deviceId == "webhook" }.map(\.pushId)) }
  /// The receipts.
  var receiptCount: Int { receipts.count }
  /// Receipts by state, for a report.
  var receiptsByState: [String: Int] { Dictionary(grouping: receipts, by: \.state).mapValues(\.count) }
  var candidateRecipientCount: Int { candidates.reduce(0) { $0 + $1.body.recipients.count } }
  /// Outcomes by result, for a report.
  var outcomesByResult: [String: Int] { Dictionary(grouping: outcomes, by: \.result).mapValues(\.count) }
  /// Decisions by reason, for a report.
  var decisionsByReason: [String: Int] { Dictionary(grouping: decisions, by: \.body.reason).mapValues(\.count) }
  /// The number of positions of each task of a stage: its committed transactions.
  func transactions(of stage: String) -> Int {
    (Self.stages[stage].flatMap { positions[$0.changelog] } ?? [:]).values.reduce(0) { $0 + $1.count }
  }
  /// The writers of positions of a stage's tasks, one for each epoch of a thread.
  func writers(of stage: String) -> Set<String> {
    Set((Self.stages[stage].flatMap { positions[$0.changelog] } ?? [:]).values.joined().map(\.writer))
  }
  /// When the tasks of a stage committed.
  func commits(of stage: String) -> CommitTimes {
    Self.stages[stage].flatMap { commitTimes[$0.changelog] } ?? CommitTimes()
  }
  /// The outcomes of a person's pushes.
  func outcomes(of userId: String) -> [Wire.Outcome] { outcomes.filter { $0.userId == userId } }
  /// The decision for a person and message.
  func decision(of messageId: String, for userId: String) -> Wire.Decision? {
    decisions.first { $0.body.messageId == messageId && $0.body.userId == userId }?.body
  }

  /// The number of hostile records by expected code.
  var hostileByCode: [String: Int] { Dictionary(grouping: hostile.values, by: \.self).mapValues(\.count) }
  /// The number of tokens that changed owner, and of those without trouble for `ownershipTime` after the loss.
  var ownerChanges: (all: Int, judgedByTime: Int) {
    let times = losses().map(\.time)
    return (times.count, times.count { time in !isTroubled(time...time + ownershipTime) })
  }
  /// Requests sent again around a crash of the dispatcher. They are not violations, but are reported.
  var resends: [String] { sentAgain().excused }

  // MARK: Judgement

  /// Pending work; empty once everything is processed.
  var open: [PipelineViolation] { Self.pending.flatMap { $0(self) } }

  /// Whether work is pending. Looks no further than the first: waits ask many times a second.
  var isOpen: Bool { Self.pending.contains { !$0(self).isEmpty } }

  /// The looks for pending work, the cheapest first.
  private static let pending: [@Sendable (PipelineChecker) -> [PipelineViolation]] = [
    { $0.unprocessed() }, { $0.missingCandidates() }, { $0.missingRequests() },
    { $0.decisionsOfCandidates().filter(\.rule.isOpen) }, { $0.pushesOfDecisions().filter(\.rule.isOpen) },
    { $0.outcomesOfTargets().filter(\.rule.isOpen) }, { $0.catchUps().filter(\.rule.isOpen) },
    { $0.refusals().filter(\.rule.isOpen) },
  ]

  /// All violations. `committed` are the groups' offsets, fetched after the end of all work.
  func violations(committed: [CommittedPlace]? = nil) -> [PipelineViolation] {
    var found: [PipelineViolation] = []
    found += unreadable.map { PipelineViolation(rule: .unreadable, detail: $0) }
    found += refusals() + unprocessed() + missingCandidates() + doubledCandidates()
    found += decisionsOfCandidates() + notifications() + pushesOfDecisions() + outcomesOfTargets() + missingRequests()
    found += receiptsOfTargets() + catchUps() + budgets()
    found += sentAgain().violations + requestsOfTargets() + formerOwners() + userOrder() + deviceOrder() + limits()
    found += sequences()
    if let committed { found += mismatches(committed) }
    return found.sorted { $0.rule < $1.rule }
  }

  // MARK: Inputs and positions

  private func unprocessed() -> [PipelineViolation] {
    var found: [PipelineViolation] = []
    for (stage, topics) in Self.stages.sorted(by: { $0.key < $1.key }) {
      for input in topics.inputs {
        for (partition, last) in lastOffsets[input] ?? [:] {
          let next = positions[topics.changelog]?[partition]?.last?.next[input] ?? 0
          if next <= last {
            found.append(
              .init(rule: .unprocessed, detail: "\(stage): \(input) \(partition) at \(next), last is \(last)"))
          }
        }
      }
    }
    return found
  }

  private func sequences() -> [PipelineViolation] {
    var found: [PipelineViolation] = []
    for (topic, partitions) in positions {
      for (partition, positions) in partitions {
        for (before, after) in zip(positions, positions.dropFirst()) {
          if after.sequence != before.sequence + 1 {
            found.append(
              .init(
                rule: .sequenceBroken,
                detail: "\(topic) \(partition): \(after.sequence) of \(after.writer) follows \(before.sequence) of "
                  + before.writer))
          }
          for (input, next) in after.next where next < before.next[input] ?? 0 {
            found.append(
              .init(rule: .sequenceBroken, detail: "\(topic) \(partition): \(input) goes back to \(next)"))
          }
        }
      }
    }
    return found
  }

  private func mismatches(_ committed: [CommittedPlace]) -> [PipelineViolation] {
    var found: [PipelineViolation] = []
    for (stage, topics) in Self.stages {
      for (partition, positions) in positions[topics.changelog] ?? [:] {
        guard let last = positions.last else { continue }
        for input in topics.inputs {
          let place = committed.first { $0.stage == stage && $0.topic == input && $0.partition == partition }
          let wanted = "nudge:\(last.sequence) at \(last.next[input].map(String.init) ?? "-")"
          let found1 = place.map { "\($0.metadata) at \($0.offset)" } ?? "nothing"
          if wanted != found1 {
            found.append(
              .init(
                rule: .positionMismatch,
                detail: "\(stage): \(input) \(partition) has \(found1) committed, its position is \(wanted)"))
          }
        }
      }
    }
    return found
  }

  // MARK: Candidates and decisions

  /// The position of the record in a dead letter.
  private func origin(of letter: KafkaRecord) -> Wire.Place? {
    guard let topic = letter.headers["nudge-origin-topic"], topic.hasPrefix(prefix),
      let partition = letter.headers["nudge-origin-partition"].flatMap({ Int32($0) }),
      let offset = letter.headers["nudge-origin-offset"].flatMap({ Int64($0) })
    else { return nil }
    return Wire.Place(topic: String(topic.dropFirst(prefix.count)), partition: partition, offset: offset)
  }

  private func refusals() -> [PipelineViolation] {
    var found: [PipelineViolation] = []
    var refused = Set<Wire.Place>()
    for letter in deadLetters {
      let code = letter.headers["nudge-error-code"] ?? "(no code)"
      let place = origin(of: letter)
      let what =
        "\(code) at \(letter.partition)/\(letter.offset): \(letter.headers["nudge-error-message"] ?? "")"
      if !allowedDeadLetters.contains(code), place.flatMap({ hostile[$0] }) != code {
        let wanted = place.flatMap { hostile[$0] }.map { ", which was to be \($0)" } ?? ""
        found.append(.init(rule: .unexpectedDeadLetter, detail: what + wanted))
      }
      if let place, !refused.insert(place).inserted { found.append(.init(rule: .deadLetterTwice, detail: what)) }
    }
    for (place, code) in hostile where !refused.contains(place) {
      found.append(
        .init(rule: .deadLetterMissing, detail: "\(code): \(place.topic) \(place.partition)/\(place.offset)"))
    }
    return found
  }

  private func missingCandidates() -> [PipelineViolation] {
    guard let expected else { return [] }
    var named: [String: Set<String>] = [:]
    for candidate in candidates {
      named[candidate.body.messageId, default: []].formUnion(candidate.body.recipients.map(\.userId))
    }
    return expected.sorted { $0.key < $1.key }.flatMap { messageId, users in
      users.subtracting(named[messageId] ?? []).sorted().map {
        PipelineViolation(rule: .candidateMissing, detail: "message \(messageId) for \($0)")
      }
    }
  }

  private func doubledCandidates() -> [PipelineViolation] {
    var found: [PipelineViolation] = []
    var seen = Set<Pair<Wire.Place>>()
    for candidate in candidates where candidate.body.replayId == nil {
      for user in candidate.body.recipients.map(\.userId) {
        let what = "message \(candidate.body.messageId) for \(user)"
        if !seen.insert(Pair(user: user, other: candidate.header.source)).inserted {
          found.append(.init(rule: .candidateTwice, detail: what))
        }
        if let expected, expected[candidate.body.messageId]?.contains(user) != true {
          found.append(.init(rule: .unexpectedRecipient, detail: what))
        }
      }
    }
    return found
  }

  private func decisionsOfCandidates() -> [PipelineViolation] {
    var found: [PipelineViolation] = []
    // Each candidate record is a cause: a second candidate of one message has its own decisions (`duplicate`). A final decision
    // after a deferred one has another cause: a read, a report, a timer, or the candidate of another message.
    var counts: [Pair<Place>: Int] = [:]
    var finals: [Pair<String>: Int] = [:]
    for decision in decisions where decision.body.replayId == nil && decision.body.outcome == "deferred" {
      finals[Pair(user: decision.body.userId, other: decision.body.messageId)] = 0
    }
    var own = Set<Pair<String>>()
    for candidate in candidates where !finals.isEmpty && candidate.body.replayId == nil {
      for user in candidate.body.recipients.map(\.userId) {
        own.insert(Pair(user: user, other: "\(candidate.body.messageId) \(candidate.place)"))
      }
    }
    for decision in decisions where decision.body.replayId == nil {
      let origin = Place(partition: decision.header.origin.partition, offset: decision.header.origin.offset)
      let message = Pair(user: decision.body.userId, other: decision.body.messageId)
      if finals[message] != nil,
        !own.contains(Pair(user: decision.body.userId, other: "\(decision.body.messageId) \(origin)"))
      {
        finals[message, default: 0] += 1
        continue
      }
      counts[Pair(user: decision.body.userId, other: origin), default: 0] += 1
    }
    for (message, count) in finals where count != 1 {
      found.append(
        .init(
          rule: count == 0 ? .finalMissing : .decidedTwice,
          detail: "message \(message.other) for \(message.user), which was deferred: \(count) final decisions"))
    }
    for candidate in candidates where candidate.body.replayId == nil {
      for user in candidate.body.recipients.map(\.userId) {
        let count = counts.removeValue(forKey: Pair(user: user, other: candidate.place)) ?? 0
        let what = "message \(candidate.body.messageId) for \(user)"
        if count == 0 { found.append(.init(rule: .decisionMissing, detail: what)) }
        if count > 1 { found.append(.init(rule: .decidedTwice, detail: "\(what): \(count) decisions")) }
      }
    }
    for (pair, _) in counts {
      found.append(
        .init(
          rule: .decisionUncaused, detail: "for \(pair.user) by timeline \(pair.other.partition)/\(pair.other.offset)"))
    }
    return found
  }

  private func notifications() -> [PipelineViolation] {
    var notified = Set<Pair<String>>()
    // The devices that FCM took a push of a message for, without forced ones.
    var told: [Pair<String>: Set<String>] = [:]
    var sent: [String: Set<String>] = [:]
    for outcome in outcomes where outcome.result == "sent" {
      sent[outcome.pushId, default: []].insert(outcome.deviceId)
    }
    return decisions.compactMap { decision in
      let origin = Place(partition: decision.header.origin.partition, offset: decision.header.origin.offset)
      guard decision.body.outcome == "notify", !forced.contains(origin) else { return nil }
      let pair = Pair(user: decision.body.userId, other: decision.body.messageId)
      let devices = decision.body.pushId.flatMap { sent[$0] } ?? []
      let isFirst = notified.insert(pair).inserted
      let isMadeAgain = failedPushes[origin]?.contains(pair.user) ?? false
      let before = told[pair] ?? []
      told[pair] = before.union(devices)
      if isFirst || isMadeAgain && before.isDisjoint(with: devices) { return nil }
      return .init(rule: .notifiedTwice, detail: "\(pair.user) of message \(pair.other)")
    }
  }

  private func userOrder() -> [PipelineViolation] {
    struct Cause: Comparable {
      var partition: Int32
      var offset: Int64
      var index: Int32
      static func < (a: Self, b: Self) -> Bool { (a.offset, a.index) < (b.offset, b.index) }
    }
    var found: [PipelineViolation] = []
    var last: [Pair<String>: Cause] = [:]
    for decision in decisions.sorted(by: { $0.place < $1.place }) where decision.body.replayId == nil {
      let origin = decision.header.origin
      let cause = Cause(partition: origin.partition, offset: origin.offset, index: origin.index ?? 0)
      let pair = Pair(user: decision.body.userId, other: decision.body.conversationId)
      // After a repartition a person's later decisions are in another partition, with a larger number.
      let moved = formerPartitions.map { cause.partition % $0 == last[pair]?.partition } ?? false
      if let before = last[pair], cause.partition == before.partition ? cause < before : !moved {
        found.append(
          .init(
            rule: .userOrder,
            detail: "\(pair.user) in \(pair.other): \(cause.partition)/\(cause.offset) is decided after "
              + "\(before.partition)/\(before.offset)"))
      }
      last[pair] = cause
    }
    return found
  }

  private func limits() -> [PipelineViolation] {
    var windows: [Pair<Int64>: (count: Int, limit: Int)] = [:]
    // A replay uses no analysis.
    for decision in decisions where decision.body.replayId == nil && decision.body.outcome != "deferred" {
      guard let analysis = decision.body.analysis, analysis.fallback == nil else { continue }
      let pair = Pair(user: decision.body.userId, other: analysis.windowStartedAt ?? 0)
      windows[pair] = ((windows[pair]?.count ?? 0) + 1, max(windows[pair]?.limit ?? 0, analysis.limit))
    }
    return windows.compactMap { pair, window in
      guard window.count > window.limit else { return nil }
      return .init(
        rule: .overLimit, detail: "\(pair.user): \(window.count) of \(window.limit) in the window from \(pair.other)")
    }
  }

  // MARK: Pushes and outcomes

  private func pushesOfDecisions() -> [PipelineViolation] {
    var found: [PipelineViolation] = []
    // The device whose app is open gets a push with the deferred decision, the others one with the final decision.
    let made = Dictionary(grouping: pushes.map(\.body), by: \.pushId)
    for (pushId, pushes) in made {
      let devices = pushes.flatMap { $0.targets.map(\.deviceId) }
      guard pushes.count > 1, Set(devices).count < devices.count || devices.isEmpty else { continue }
      found.append(.init(rule: .pushTwice, detail: "\(pushId): \(pushes.count) records"))
    }
    let decided = Set(decisions.compactMap(\.body.pushId))
    let alone = Set(catchUpsOfOne().map(\.pushId))
    for decision in decisions where decision.body.outcome == "notify" {
      // A badge that the devices show already is not pushed again.
      if decision.body.presentation == "badge", decision.body.pushId == nil { continue }
      guard let pushId = decision.body.pushId, made[pushId] != nil else {
        found.append(
          .init(rule: .pushMissing, detail: "message \(decision.body.messageId) for \(decision.body.userId)"))
        continue
      }
    }
    // Badge and read pushes follow a person's own events and have no decision; edited and deleted messages were
    // decided before.
    for push in pushes
    where push.body.messageId != nil && !["deleted", "read"].contains(push.body.kind) && push.body.replaces != true
      && push.body.escalation == nil && !decided.contains(push.body.pushId) && !alone.contains(push.body.pushId)
    {
      found.append(.init(rule: .pushUndecided, detail: push.body.pushId))
    }
    let steps = Dictionary(grouping: escalations) { [$0.kind ?? "", $0.messageId ?? "", $0.userId] }
    for (step, pushes) in steps where pushes.count > 1 {
      found.append(.init(rule: .escalatedTwice, detail: "\(step): \(pushes.map(\.pushId))"))
    }
    return found
  }

  private func targets() -> [Delivery: Target] {
    var targets: [Delivery: Target] = [:]
    for push in pushes {
      for target in push.body.targets {
        targets[Delivery(pushId: push.body.pushId, deviceId: target.deviceId)] = Target(
          pushId: push.body.pushId, userId: push.body.userId, deviceId: target.deviceId, token: target.address,
          expiresAt: push.body.expiresAt, place: push.place)
      }
      guard push.body.kind == "escalation" else { continue }
      targets[Delivery(pushId: push.body.pushId, deviceId: "webhook")] = Target(
        pushId: push.body.pushId, userId: push.body.userId, deviceId: "webhook", token: SeenRequest.webhook,
        expiresAt: push.body.expiresAt, place: push.place)
    }
    return targets
  }

  private func outcomesOfTargets() -> [PipelineViolation] {
    var found: [PipelineViolation] = []
    var counts: [Delivery: Int] = [:]
    for outcome in outcomes { counts[Delivery(pushId: outcome.pushId, deviceId: outcome.deviceId), default: 0] += 1 }
    for delivery in targets().keys {
      let count = counts.removeValue(forKey: delivery) ?? 0
      let what = "push \(delivery.pushId) on \(delivery.deviceId)"
      if count == 0 { found.append(.init(rule: .outcomeMissing, detail: what)) }
      if count > 1 { found.append(.init(rule: .outcomeTwice, detail: "\(what): \(count) outcomes")) }
    }
    for delivery in counts.keys {
      found.append(.init(rule: .outcomeUncaused, detail: "push \(delivery.pushId) on \(delivery.deviceId)"))
    }
    return found
  }

  private func receiptsOfTargets() -> [PipelineViolation] {
    let targets = targets()
    var found: [PipelineViolation] = []
    for (receipt, count) in receipts.reduce(into: [Wire.Receipt: Int](), { $0[$1, default: 0] += 1 }) {
      let what = "push \(receipt.pushId) on \(receipt.deviceId): \(receipt.state)"
      let delivery = Delivery(pushId: receipt.pushId, deviceId: receipt.deviceId)
      if targets[delivery]?.userId != receipt.userId { found.append(.init(rule: .receiptUncaused, detail: what)) }
      if count > 1 { found.append(.init(rule: .receiptTwice, detail: "\(what): \(count) receipts")) }
    }
    return found
  }

  // MARK: Requests

  /// A push and its token.
  private struct Sending: Hashable {
    var pushId: String
    var token: String
  }

  /// The requests, each with the token that its push was made for: a push that waits goes to the token that its device has then.
  private func sentRequests() -> [SeenRequest] {
    var gained: [Pair<String>: Set<String>] = [:]
    for entry in ownership {
      guard let token = entry.token else { continue }
      gained[Pair(user: entry.userId, other: entry.deviceId), default: []].insert(token)
    }
    let targets = Dictionary(grouping: targets().values, by: \.pushId)
    return requests.map { request in
      guard let ofPush = targets[request.pushId], !ofPush.contains(where: { $0.token == request.token }),
        let target = ofPush.first(where: {
          gained[Pair(user: $0.userId, other: $0.deviceId)]?.contains(request.token) ?? false
        })
      else { return request }
      var request = request
      request.token = target.token
      return request
    }
  }

  private func requestsBySending() -> [Sending: [SeenRequest]] {
    Dictionary(grouping: sentRequests()) { Sending(pushId: $0.pushId, token: $0.token) }
  }

  private func missingRequests() -> [PipelineViolation] {
    let taken = Set(sentRequests().filter(\.isTaken).map { Sending(pushId: $0.pushId, token: $0.token) })
    let targets = targets()
    return outcomes.compactMap { outcome in
      guard outcome.result == "sent",
        let target = targets[Delivery(pushId: outcome.pushId, deviceId: outcome.deviceId)],
        !taken.contains(Sending(pushId: outcome.pushId, token: target.token))
      else { return nil }
      return .init(rule: .requestMissing, detail: "push \(outcome.pushId) on \(outcome.deviceId)")
    }
  }

  private func sentAgain() -> (violations: [PipelineViolation], excused: [String]) {
    var found: [PipelineViolation] = []
    var excused: [String] = []
    let losses = (dispatcherCrashes.map { $0...$0 } + dispatcherAbsences).map { span in
      // One gap may begin while another lasts.
      var lastWritten = span.lowerBound
      while let gap = commitGaps.first(where: { $0.lowerBound < lastWritten && lastWritten <= $0.upperBound }) {
        lastWritten = gap.lowerBound
      }
      return (answersSince: lastWritten - inFlightTime, span: span)
    }
    for (sending, requests) in requestsBySending() {
      // A lost answer explains one more request.
      var used = Set<Int>()
      for (first, second) in zip(requests, requests.dropFirst()) where first.isTaken {
        let what = "push \(sending.pushId), taken at \(first.time), sent again at \(second.time)"
        let excuse = losses.indices.first {
          let (since, span) = losses[$0]
          return since <= first.time && first.time <= span.upperBound && span.lowerBound < second.time
            && !used.contains($0)
        }
        if let excuse {
          used.insert(excuse)
          excused.append(what)
        } else {
          found.append(.init(rule: .sentAgain, detail: what))
        }
      }
    }
    return (found, excused)
  }

  /// The latest moment at which a dispatcher can have written this time.
  private func latest(_ time: Int64) -> Int64 {
    dispatcherClocks.filter { $0.time.contains(time + $0.behind) }.map { time + $0.behind }.max() ?? time
  }

  private func requestsOfTargets() -> [PipelineViolation] {
    var found: [PipelineViolation] = []
    var bySending: [Sending: Target] = [:]
    for target in targets().values { bySending[Sending(pushId: target.pushId, token: target.token)] = target }
    var finished: [Delivery: Int64] = [:]
    for outcome in outcomes {
      finished[Delivery(pushId: outcome.pushId, deviceId: outcome.deviceId)] = latest(outcome.finishedAt)
    }
    for (sending, requests) in requestsBySending() {
      guard let target = bySending[sending], let first = requests.first else {
        found.append(.init(rule: .sentUncaused, detail: "push \(sending.pushId)"))
        continue
      }
      if first.time > target.expiresAt {
        found.append(
          .init(
            rule: .sentStale, detail: "push \(sending.pushId): \(first.time - target.expiresAt) ms after its freshness")
        )
      }
      if let end = finished[Delivery(pushId: target.pushId, deviceId: target.deviceId)],
        let late = requests.first(where: { $0.time > end })
      {
        found.append(
          .init(
            rule: .sentAfterOutcome,
            detail: "push \(sending.pushId) on \(target.deviceId): \(late.time - end) ms after its outcome"))
      }
    }
    return found
  }

  /// A push may follow a later one only if the later one is sent again after it or is withdrawn: after a crash a dispatcher
  /// repeats its last steps, perhaps differently. `sentAgain` judges whether a repeat is allowed.
  private func deviceOrder() -> [PipelineViolation] {
    var found: [PipelineViolation] = []
    var bySending: [Sending: Target] = [:]
    for target in targets().values { bySending[Sending(pushId: target.pushId, token: target.token)] = target }
    let results = Dictionary(
      outcomes.map { (Delivery(pushId: $0.pushId, deviceId: $0.deviceId), $0.result) }, uniquingKeysWith: { $1 })
    var lastRequest: [Sending: Int] = [:]
    let requests = sentRequests()
    for (index, request) in requests.enumerated() {
      lastRequest[Sending(pushId: request.pushId, token: request.token)] = index
    }
    var begun: [Pair<String>: [Target]] = [:]
    var seen = Set<Sending>()
    for (index, request) in requests.enumerated() {
      let sending = Sending(pushId: request.pushId, token: request.token)
      guard seen.insert(sending).inserted, let target = bySending[sending] else { continue }
      let device = Pair(user: target.userId, other: target.deviceId)
      let overtaken = begun[device, default: []].first { later in
        target.place < later.place && lastRequest[Sending(pushId: later.pushId, token: later.token), default: 0] < index
          && results[Delivery(pushId: later.pushId, deviceId: later.deviceId)] == "sent"
      }
      if let overtaken {
        found.append(
          .init(
            rule: .deviceOrder,
            detail: "\(device.other): push \(target.pushId) of \(target.place.offset) went after "
              + "\(overtaken.pushId) of \(overtaken.place.offset)"))
      }
      begun[device, default: []].append(target)
    }
    return found
  }

  /// A person's loss of a token to another person.
  private struct Loss {
    var userId: String
    var token: String
    /// Its offset on `nudge.timeline`, after which the token belongs to the other person.
    var place: Place
    /// When it was committed.
    var time: Int64
    /// The offset and time at which the person has it again.
    var regained: (place: Place, time: Int64)?
  }

  private func losses() -> [Loss] {
    // A person's timeline is in one partition, so its records are in order here.
    var losses: [Loss] = []
    var open: [Pair<String>: Int] = [:]
    for entry in ownership {
      if let token = entry.token {
        guard let index = open.removeValue(forKey: Pair(user: entry.userId, other: token)) else { continue }
        losses[index].regained = (entry.place, entry.time)
      } else if entry.cause == "claimed_elsewhere", let token = tokens[entry.tokenHash] {
        open[Pair(user: entry.userId, other: token)] = losses.count
        losses.append(
          Loss(
            userId: entry.userId, token: token, place: entry.place,
            time: commitTime(entry.place.partition, entry.place.offset) ?? entry.time))
      }
    }
    return losses
  }

  private func isTroubled(_ time: ClosedRange<Int64>) -> Bool { troubles.contains { $0.overlaps(time) } }

  private func formerOwners() -> [PipelineViolation] {
    var found: [PipelineViolation] = []
    let requests = Dictionary(grouping: requests) { Pair(user: $0.recipientId, other: $0.token) }
    let pushes = Dictionary(grouping: pushes, by: \.body.userId)
    for loss in losses() {
      for request in requests[Pair(user: loss.userId, other: loss.token)] ?? []
      where request.time > loss.time + ownershipTime && request.time < loss.regained?.time ?? .max
        && !isTroubled(loss.time...request.time)
      {
        found.append(
          .init(
            rule: .sentToFormerOwner,
            detail: "push \(request.pushId) for \(loss.userId), \(request.time - loss.time) ms after "
              + "the token was claimed by somebody else"))
      }
      for push in pushes[loss.userId] ?? [] where push.body.targets.contains(where: { $0.address == loss.token }) {
        let cause = Place(partition: push.header.origin.partition, offset: push.header.origin.offset)
        if cause.partition == loss.place.partition, cause > loss.place, cause < loss.regained?.place ?? .last {
          found.append(
            .init(
              rule: .pushedToFormerOwner,
              detail: "push \(push.body.pushId) for \(loss.userId) by timeline \(cause.partition)/\(cause.offset), "
                + "who lost the token at \(loss.place.offset)"))
        }
      }
    }
    return found
  }
}

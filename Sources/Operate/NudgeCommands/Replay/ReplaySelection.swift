import NudgeSchema

/// Selects candidates on the timeline by position, time, person, conversation, message and reason.
struct ReplaySelection: Sendable, Equatable {
  /// The first time, in milliseconds since the epoch.
  var since: Milliseconds
  /// The end, exclusive.
  var until: Milliseconds
  /// The topic of `partition`, `fromOffset` and `toOffset`: the timeline, or `chat.events`, where messages begin.
  var topic: Topic = .timeline
  var partition: Int32?
  /// The first offset.
  var fromOffset: Int64?
  /// The end, exclusive.
  var toOffset: Int64?
  var user: String?
  var conversation: String?
  var message: String?
  /// The reason of the first decision.
  var reason: DecisionReason?
  /// How a failed push ended, for `resend-failed`.
  var results = FailedResult.usual
  /// The greatest age of a message in milliseconds; nil for its freshness.
  var maxAge: Milliseconds?
  /// The members for whom `rederive` decides.
  var members = RederivedMembers.then

  /// Whether a candidate's positions match.
  func contains(candidateAt position: RecordPosition, source: RecordPosition, fields: MessageCandidate) -> Bool {
    contains(
      candidateAt: position, source: source, conversationId: fields.conversationId, messageId: fields.messageId)
  }

  /// Whether a candidate's ids match.
  func contains(
    candidateAt position: RecordPosition, source: RecordPosition, conversationId: String, messageId: String
  ) -> Bool {
    let place = topic == .timeline ? position : source
    if let partition, place.partition != partition { return false }
    if let fromOffset, place.offset < fromOffset { return false }
    if let toOffset, place.offset >= toOffset { return false }
    if let conversation, !sameId(conversationId, conversation) { return false }
    if let message, !sameId(messageId, message) { return false }
    return true
  }

  /// The selection by flag name, for the audit.
  var flags: [String: String] {
    var flags = ["since": RFC3339.text(since), "until": RFC3339.text(until), "topic": topic.rawValue]
    flags["partition"] = partition.map { String($0) }
    flags["from-offset"] = fromOffset.map { String($0) }
    flags["to-offset"] = toOffset.map { String($0) }
    flags["user"] = user
    flags["conversation"] = conversation
    flags["message"] = message
    flags["reason"] = reason?.rawValue
    if results != FailedResult.usual { flags["result"] = results.map(\.rawValue).sorted().joined(separator: ",") }
    if members != .then { flags["members"] = members.rawValue }
    flags["max-age"] = maxAge.map { "\($0)ms" }
    return flags
  }

  init(since: Milliseconds, until: Milliseconds) {
    self.since = since
    self.until = until
  }

  /// Parses `flags`; nil for another version's format.
  init?(flags: [String: String]) {
    guard let since = flags["since"].flatMap(RFC3339.milliseconds),
      let until = flags["until"].flatMap(RFC3339.milliseconds),
      let topic = flags["topic"].flatMap(Topic.init(rawValue:))
    else { return nil }
    self.init(since: since, until: until)
    self.topic = topic
    partition = flags["partition"].flatMap { Int32($0) }
    fromOffset = flags["from-offset"].flatMap { Int64($0) }
    toOffset = flags["to-offset"].flatMap { Int64($0) }
    user = flags["user"]
    conversation = flags["conversation"]
    message = flags["message"]
    reason = flags["reason"].flatMap(DecisionReason.init(rawValue:))
    if let text = flags["result"] {
      guard let results = FailedResult.set(text) else { return nil }
      self.results = results
    }
    if let text = flags["members"] {
      guard let members = RederivedMembers(rawValue: text) else { return nil }
      self.members = members
    }
    if let text = flags["max-age"] {
      guard text.hasSuffix("ms"), let maxAge = Milliseconds(text.dropLast(2)) else { return nil }
      self.maxAge = maxAge
    }
  }
}

/// How a push ended that is made again.
enum FailedResult: String, CaseIterable, Sendable {
  /// FCM, or the network to it, failed for longer than the time budget.
  case gaveUp = "gave_up"
  /// Its freshness ended in a lane.
  case expired
  /// The push service refused what Nudge wrote.
  case rejected
  /// Its replay was stopped while it waited.
  case replayStopped = "replay_stopped"

  /// Results that nobody asked for.
  static let usual: Set<FailedResult> = [.gaveUp, .expired, .rejected]

  /// The kind of an outcome; nil if the push did not fail in one of these ways.
  init?(_ outcome: OutcomeGlance) {
    switch outcome.result {
    case .gaveUp: self = .gaveUp
    case .expired: self = .expired
    case .rejected: self = .rejected
    case .cancelled where outcome.errorCode == Self.replayStopped.rawValue: self = .replayStopped
    case .sent, .invalidToken, .quarantined, .cancelled: return nil
    }
  }

  /// Parses names separated by commas; nil if one is unknown.
  static func set(_ text: String) -> Set<FailedResult>? {
    var results: Set<FailedResult> = []
    for name in text.split(separator: ",") {
      guard let result = FailedResult(rawValue: String(name)) else { return nil }
      results.insert(result)
    }
    return results.isEmpty ? nil : results
  }
}

/// What happened to pushes on each device, from `nudge.outcomes`, `nudge.pushes` and the devices' own reports.
struct PushFates {
  /// The devices of a push.
  private struct Fate {
    var delivered: Set<String> = []
    var failed: Set<String> = []
    /// Devices that left the message to the person's catch-up.
    var leftToCatchUp: Set<String> = []
    /// Devices without any report. Empty if the push's record is not read.
    var targets: Set<String> = []
    var ended: Set<String> = []
  }

  /// The state of a pair of a person and a message, over all of its pushes.
  enum Standing: Equatable {
    /// A device has it, and none of the others failed or waits.
    case delivered
    /// Something waits, or ended in a way that is not selected.
    case other
    /// It failed on these devices; nil for all.
    case failed(devices: [String]?)
  }

  let results: Set<FailedResult>
  private var fates: [String: Fate] = [:]

  init(results: Set<FailedResult>) { self.results = results }

  /// The pushes that failed on a device.
  var failedPushIds: Set<String> { Set(fates.filter { !$0.value.failed.isEmpty }.keys) }

  mutating func add(_ outcome: OutcomeGlance) {
    var fate = fates[outcome.pushId] ?? Fate()
    fate.ended.insert(outcome.deviceId)
    if outcome.catchUp == true { fate.leftToCatchUp.insert(outcome.deviceId) }
    if outcome.result == .sent { fate.delivered.insert(outcome.deviceId) }
    if let result = FailedResult(outcome), results.contains(result) { fate.failed.insert(outcome.deviceId) }
    fates[outcome.pushId] = fate
  }

  mutating func add(_ push: PushGlance) {
    fates[push.pushId, default: Fate()].targets.formUnion(push.targets.map(\.deviceId))
  }

  mutating func add(_ receipt: ReceiptGlance) {
    fates[receipt.pushId, default: Fate()].delivered.insert(receipt.deviceId)
  }

  /// The state of a message with these pushes.
  func standing(of pushIds: [String]) -> Standing {
    let known = pushIds.compactMap { fates[$0] }
    let delivered = known.reduce(into: Set<String>()) { $0.formUnion($1.delivered) }
    let waiting = known.reduce(into: Set<String>()) { $0.formUnion($1.targets.subtracting($1.ended)) }
      .subtracting(delivered)
    let failed = known.reduce(into: Set<String>()) { $0.formUnion($1.failed) }.subtracting(delivered)
      .subtracting(waiting)
    // A push whose record is gone may still wait.
    if failed.isEmpty || known.count < pushIds.count {
      return delivered.isEmpty || !waiting.isEmpty ? .other : .delivered
    }
    // A catch-up contains what no device has, so nothing needs to be made again.
    if delivered.isEmpty, waiting.isEmpty,
      known.contains(where: { !$0.leftToCatchUp.isEmpty && $0.targets.isSubset(of: $0.leftToCatchUp) })
    {
      return .other
    }
    return .failed(devices: delivered.isEmpty && waiting.isEmpty ? nil : failed.sorted())
  }
}

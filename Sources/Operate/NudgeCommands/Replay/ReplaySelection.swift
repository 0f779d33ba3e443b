import NudgeSchema

/// Selects candidates on the timeline by position, time, person, conversation, message and reason.
struct ReplaySelection: Sendable, Equatable {
  /// The first time, in milliseconds since the epoch.
  var since: Milliseconds
  /// The end, exclusive.
  var until: Milliseconds
  /// The topic of `partition`, `fromOffset` and `toOffset`: the timeline, or `chat.events`, where messages came from.
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
  /// How old a message may be, in milliseconds; nil: as old as its freshness.
  var maxAge: Milliseconds?
  /// Which members `rederive` decides for.
  var members = RederivedMembers.then

  /// Whether a candidate's positions match.
  func contains(candidateAt position: RecordPosition, source: RecordPosition, fields: MessageCandidate) -> Bool {
    contains(
      candidateAt: position, source: source, conversationId: fields.conversationId, messageId: fields.messageId)
  }

  /// The same of a candidate's ids.
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

  /// By flag name, for the audit.
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

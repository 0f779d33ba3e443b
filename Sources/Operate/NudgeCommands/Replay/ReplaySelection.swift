import NudgeSchema

/// Which decisions a replay is about: those of candidates on the timeline, by place, time and whom they concern.
struct ReplaySelection: Sendable, Equatable {
  /// Candidates written from this time on, in milliseconds since the epoch.
  var since: Milliseconds
  /// And before this.
  var until: Milliseconds
  /// Whose offsets `partition`, `fromOffset` and `toOffset` are: the timeline, or `chat.events`, where the messages began.
  var topic: Topic = .timeline
  var partition: Int32?
  /// The first offset.
  var fromOffset: Int64?
  /// Behind the last offset.
  var toOffset: Int64?
  var user: String?
  var conversation: String?
  var message: String?
  /// The reason of the first decision.
  var reason: DecisionReason?

  /// Whether a candidate is meant, by its places.
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
    if let conversation, !conversationId.utf8.elementsEqual(conversation.utf8) { return false }
    if let message, !messageId.utf8.elementsEqual(message.utf8) { return false }
    return true
  }

  /// By the names of the command's flags, for the audit.
  var flags: [String: String] {
    var flags = ["since": RFC3339.text(since), "until": RFC3339.text(until), "topic": topic.rawValue]
    flags["partition"] = partition.map { String($0) }
    flags["from-offset"] = fromOffset.map { String($0) }
    flags["to-offset"] = toOffset.map { String($0) }
    flags["user"] = user
    flags["conversation"] = conversation
    flags["message"] = message
    flags["reason"] = reason?.rawValue
    return flags
  }

  init(since: Milliseconds, until: Milliseconds) {
    self.since = since
    self.until = until
  }

  /// As `flags` wrote it; nil where it is not.
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
  }
}

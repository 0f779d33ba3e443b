import NudgeSchema
import StreamRuntime

/// `conversation.deleted` (D16): the conversation's rows go, its members in bounded steps, and each member's timeline is told.
extension IngestStage {
  private static let membersAStep = 200

  /// Fails for an event of a deleted conversation. A later snapshot of the conversation begins it again instead.
  mutating func requireNotErased(
    _ body: ChatEventBody, _ stamp: EventStamp, _ step: Step<IngestStage>
  ) throws {
    let id = body.conversationId
    guard var row = try erasure(Erasures.key(ofConversation: id, rules), step), row.refuses(stamp) else { return }
    switch body {
    case .conversationUpdated where stamp > row.stamp: break
    case .messageCreated(let message) where message.conversation != nil && stamp > row.stamp: break
    case .conversationDeleted: return
    default: throw Rejection.unknownConversation
    }
    try endSweep(of: id, step)
    row.isRestored = true
    try set(row, for: Erasures.key(ofConversation: id, rules), step)
  }

  mutating func delete(
    conversation id: String, _ envelope: Envelope, _ record: InputRecord, in step: Step<IngestStage>
  ) throws {
    let stamp = EventStamp(envelope, takenAt: step.now)
    let key = Erasures.key(ofConversation: id, rules)
    if let known = try erasure(key, step), isRetry(envelope, of: known) || stamp <= known.stamp { return }
    try endSweep(of: id, step)
    try set(ErasureRow(stamp: stamp.hashed(envelope.eventId, by: rules.hash)), for: key, step)
    try forgetFanOuts(of: id, step)
    _ = rosters.take(RowKey("c", id), partition: step.partition)
    try step.remove(RowKey("c", id))
    try EventMemory.forget(.conversation, of: id, in: step)
    try begin(SweepRow(.conversation(conversationId: id), envelope: stamp, cause: step.origin(of: record)), step)
  }

  /// Tells the next members, and removes their rows.
  mutating func sweepMembers(
    of id: String, _ row: SweepRow, _ key: RowKey, limit: Int = IngestStage.membersAStep, _ step: Step<IngestStage>
  ) throws {
    let (keys, next) = try step.keys(
      below: RowKey("c", id), after: row.after.map { RowKey(bytes: $0) }, limit: limit)
    var people: [(userId: String, partition: Int32)] = []
    for memberKey in keys {
      if case .member(let member)? = try step.row(memberKey), member.takesPart {
        let userId = memberKey.parts.last ?? ""
        people.append((userId, step.partition(of: userId, on: .timeline)))
      }
      try step.remove(memberKey)
    }
    var timeline = TimelineWriter(
      step, codec, envelope: Envelope(eventId: row.envelope.eventId, occurredAt: row.envelope.occurredAt), takenAt: nil,
      cause: row.cause, source: row.cause.position, firstIndex: row.nextIndex)
    try timeline.withdraw(conversationId: id, messageId: nil, cause: .conversationDeleted, from: people)
    guard let next else { return try step.remove(key) }
    var row = row
    row.after = next.bytes
    row.nextIndex = timeline.nextIndex
    try step.set(.sweep(row), for: key)
  }

  /// The conversation begins again: erases the rest of the former one now.
  private mutating func endSweep(of id: String, _ step: Step<IngestStage>) throws {
    let key = Erasures.key(.conversation(conversationId: id))
    while erasures.nextSweep(partition: step.partition) != nil, case .sweep(let row)? = try step.row(key) {
      try sweepMembers(of: id, row, key, limit: 2_000, step)
    }
  }
}

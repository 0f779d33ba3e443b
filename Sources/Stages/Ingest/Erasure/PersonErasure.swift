import NudgeSchema
import Relevance
import StreamRuntime

/// `user.deleted` (D16). The person's task erases devices and memories at once, and tells every task of ingest, which sweeps the person
/// out of its conversations in bounded steps. The person's timeline tells the analyzer, and the analyzer tells the dispatcher.
extension IngestStage {
  /// Keys that a step of a sweep looks at.
  private static let keysAStep = 1_000

  /// On `user.events`, in the person's task.
  mutating func delete(_ event: UserEvent, _ record: InputRecord, in step: Step<IngestStage>) throws {
    let userId = event.body.userId
    let stamp = EventStamp(event.envelope, takenAt: step.now)
    let key = Erasures.key(ofUser: userId, rules)
    // A retry, or older than what is known.
    if let known = try erasure(key, step), isRetry(event.envelope, of: known) || stamp <= known.stamp { return }
    try set(ErasureRow(stamp: stamp.hashed(event.envelope.eventId, by: rules.hash)), for: key, step)

    var claims = ClaimWriter(step, codec, envelope: event.envelope, cause: record.position)
    for case (let key, .device(let device)) in try step.rows(below: RowKey("d", userId)) {
      if let tokenHash = device.tokenHash {
        try claims.release(tokenHash, userId: userId, deviceId: key.parts.last ?? "", cause: .signedOut)
      }
      try step.remove(key)
    }
    for scope in [EventMemory.Scope.state, .reports] { try EventMemory.forget(scope, of: userId, in: step) }
    var timeline = TimelineWriter(
      step, codec, envelope: event.envelope, takenAt: event.envelope.takenAt(step.now), cause: step.origin(of: record),
      source: record.position)
    try timeline.write(.user(event.body), to: userId)
    try claims.tellEveryTask(.userDeleted(UserDeleted(userId: userId)), key: userId)
  }

  /// Whether a deletion is the one that is known. Rows of earlier releases have the event's id itself.
  func isRetry(_ envelope: Envelope, of known: ErasureRow) -> Bool {
    let id = known.stamp.eventId
    return id.hasSuffix(rules.hash(envelope.eventId)) || id == envelope.eventId
      || id.hasSuffix("\(envelope.occurredAt) \(envelope.eventId)")
  }

  /// A deleted person registers a device: from here on they are known again, in all tasks.
  mutating func restore(
    _ userId: String, _ envelope: Envelope, _ record: InputRecord, in step: Step<IngestStage>
  ) throws {
    let key = Erasures.key(ofUser: userId, rules)
    let stamp = EventStamp(envelope, takenAt: step.now)
    guard var row = try erasure(key, step) else { return }
    guard stamp > row.stamp else { throw Rejection.userDeleted }
    if row.isRestored { return }
    row.isRestored = true
    try set(row, for: key, step)
    var claims = ClaimWriter(step, codec, envelope: envelope, cause: record.position)
    try claims.tellEveryTask(.userRestored(UserDeleted(userId: userId)), key: userId)
  }

  /// `user.deleted` or `user.restored` on `nudge.device-claims`, in every task.
  mutating func processForEveryTask(_ claim: DeviceClaim, _ record: InputRecord, in step: Step<IngestStage>) throws {
    switch claim.body {
    case .userDeleted(let user):
      let key = Erasures.key(ofUser: user.userId, rules)
      let known = try erasure(key, step)
      // A task that receives the deletion late must not overwrite a later one.
      let stamp = claim.stamp.hashed(claim.envelope.eventId, by: rules.hash)
      let isKnown = known.map { isRetry(claim.envelope, of: $0) } ?? false
      if let known, !isKnown, known.stamp > stamp { return }
      if !isKnown { try set(ErasureRow(stamp: stamp), for: key, step) }
      try begin(SweepRow(.person(userId: user.userId), envelope: claim.stamp, cause: step.origin(of: record)), step)
    case .userRestored(let user):
      let key = Erasures.key(ofUser: user.userId, rules)
      guard var row = try erasure(key, step), row.stamp < claim.stamp, !row.isRestored else { return }
      row.isRestored = true
      try set(row, for: key, step)
    case .registered, .unregistered: break
    }
  }

  /// Looks at the next rows of conversations, and takes the person out of them.
  mutating func sweep(_ userId: String, _ row: SweepRow, _ key: RowKey, _ step: Step<IngestStage>) throws {
    let (keys, next) = try step.keys(
      below: RowKey("c"), after: row.after.map { RowKey(bytes: $0) }, limit: Self.keysAStep)
    // A conversation's own row, which has two parts, comes before those of its members.
    for conversation in keys where conversation.bytes.count(where: { $0 == 0 }) == 1 {
      guard case .conversation(let known)? = try step.row(conversation) else { continue }
      let id = conversation.parts[1]
      guard try step.row(RowKey("c", id, userId)) != nil || known.talk.people.contains(where: { sameId($0, userId) })
      else { continue }
      try withConversation(id, step) { stage, conversation in
        if try !conversation.hasJoined(userId, after: row.envelope) {
          try stage.settle(userId, in: &conversation, step)
        }
        try conversation.erase(userId, deleted: row.envelope)
      }
    }
    guard let next else { return try step.remove(key) }
    var row = row
    row.after = next.bytes
    try step.set(.sweep(row), for: key)
  }
}

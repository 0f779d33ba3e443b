import NudgeSchema
import Relevance
import StreamRuntime

/// `user.deleted` (D16). The person's task erases devices and memories at once and informs every task of ingest. Each of those removes the
/// person from its conversations: all waiting persons in one pass, in bounded steps. The person's timeline informs the analyzer, and the
/// analyzer informs the dispatcher.
extension IngestStage {
  /// The most keys that a step of a pass reads.
  private static let keysAStep = 1_000
  /// The most persons that a step at the end of a pass completes.
  private static let personsAStep = 1_000

  /// Processes the event on `user.events`, in the person's task.
  mutating func delete(_ event: UserEvent, _ record: InputRecord, in step: Step<IngestStage>) throws {
    let userId = event.body.userId
    let stamp = EventStamp(event.envelope, takenAt: step.now)
    let key = Erasures.key(ofUser: userId, rules)
    // The event is a retry, or older than the known deletion.
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
    try claims.emitToEveryTask(.userDeleted(UserDeleted(userId: userId)), key: userId)
  }

  /// Whether a deletion is the known one. Rows of earlier releases have the event's id itself.
  func isRetry(_ envelope: Envelope, of known: ErasureRow) -> Bool {
    let id = known.stamp.eventId
    return id.hasSuffix(rules.hash(envelope.eventId)) || id == envelope.eventId
      || id.hasSuffix("\(envelope.occurredAt) \(envelope.eventId)")
  }

  /// A deleted person registers a device: from now on they are known again, in all tasks.
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
    try claims.emitToEveryTask(.userRestored(UserDeleted(userId: userId)), key: userId)
  }

  /// Processes `user.deleted` or `user.restored` on `nudge.device-claims`, in every task.
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

  private static let passKey = Erasures.key(.pass)

  /// The pass that removes a person who is deleted now: the one after the current pass.
  func nextPass(_ step: Step<IngestStage>) throws -> Int64 {
    if case .sweep(let pass)? = try step.row(Self.passKey) { return pass.pass + 1 }
    return 1
  }

  /// Reads the next rows of conversations, and removes all persons of the current pass. The cost of a pass depends only on the rows, not on
  /// the number of persons.
  mutating func sweepPersons(_ step: Step<IngestStage>) throws {
    let persons = erasures.persons(partition: step.partition)
    guard !persons.isEmpty else { return }
    var pass: SweepRow
    if case .sweep(let row)? = try step.row(Self.passKey) {
      pass = row
    } else {
      guard let first = try firstPerson(persons, step) else { return }
      pass = SweepRow(.pass, pass: first.pass, envelope: first.envelope, cause: first.cause)
    }
    guard let after = pass.after, after.isEmpty else {
      let (keys, next) = try step.keys(
        below: RowKey("c"), after: pass.after.map { RowKey(bytes: $0) }, limit: Self.keysAStep)
      try takeOut(persons, pass.pass, among: keys, step)
      // An empty value means that all rows were read.
      pass.after = next?.bytes ?? []
      return try step.set(.sweep(pass), for: Self.passKey)
    }
    if try endPass(pass, persons, step) { try step.remove(Self.passKey) }
  }

  /// A person who waits for a pass. Also corrects the hint: persons whose rows are gone do not wait.
  private mutating func firstPerson(_ persons: Set<ExactText>, _ step: Step<IngestStage>) throws -> SweepRow? {
    var first: SweepRow?
    for person in persons {
      guard case .sweep(let row)? = try step.row(Erasures.key(.person(userId: person.text))) else {
        // Only here, where the step has not yet changed anything that could be undone.
        erasures.endSweep(of: person, partition: step.partition)
        continue
      }
      if first.map({ $0.pass < row.pass }) ?? true { first = row }
    }
    return first
  }

  /// Removes the rows of completed persons, up to a limit. Returns whether none is left.
  private func endPass(_ pass: SweepRow, _ persons: Set<ExactText>, _ step: Step<IngestStage>) throws -> Bool {
    var removed = 0
    for person in persons {
      let key = Erasures.key(.person(userId: person.text))
      guard case .sweep(let row)? = try step.row(key), row.pass <= pass.pass else { continue }
      guard removed < Self.personsAStep else { return false }
      removed += 1
      try step.remove(key)
    }
    return true
  }

  private mutating func takeOut(
    _ persons: Set<ExactText>, _ pass: Int64, among keys: [RowKey], _ step: Step<IngestStage>
  ) throws {
    /// By conversation, in the order of the keys.
    var found: [(conversation: String, persons: [ExactText])] = []
    func add(_ person: ExactText, in conversation: String) {
      if let last = found.last, sameId(last.conversation, conversation) {
        if !last.persons.contains(person) { found[found.count - 1].persons.append(person) }
      } else {
        found.append((conversation, [person]))
      }
    }
    for key in keys {
      let parts = key.parts
      // A conversation's own row, whose key has two parts, precedes those of its members.
      if parts.count == 2 {
        guard case .conversation(let known)? = try step.row(key) else { continue }
        for person in known.talk.people where persons.contains(ExactText(person)) {
          add(ExactText(person), in: parts[1])
        }
      } else if parts.count == 3, persons.contains(ExactText(parts[2])) {
        add(ExactText(parts[2]), in: parts[1])
      }
    }
    for (id, persons) in found {
      let deletions = try persons.compactMap { person -> (userId: String, stamp: EventStamp)? in
        guard case .sweep(let row)? = try step.row(Erasures.key(.person(userId: person.text))), row.pass <= pass
        else { return nil }
        return (person.text, row.envelope)
      }
      guard !deletions.isEmpty else { continue }
      try withConversation(id, step) { stage, conversation in
        for (userId, stamp) in deletions {
          if try !conversation.hasJoined(userId, after: stamp) { try stage.settle(userId, in: &conversation, step) }
          try conversation.erase(userId, deleted: stamp)
        }
      }
    }
  }
}

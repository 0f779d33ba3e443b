import NudgeSchema
import StreamRuntime

/// The recent event ids of a conversation or a person, by which a producer's retry is recognised (M6).
///
/// The memory is bounded: it keeps the latest events and forgets the oldest. `horizon` is the time of the latest forgotten event. All times
/// here are at most the time when ingest accepted the event, so a clock that is ahead does not move the horizon ahead.
///
/// An event that is not found may be a retry of a forgotten one. That is possible only if its sender is known to have sent something that
/// late, and it could have been forgotten. So a member who floods a conversation makes only their own messages doubtful (`SenderClocks`).
struct EventMemory {
  /// Which events a memory contains, and how many.
  enum Scope: String {
    /// A conversation's events: at least the latest 512.
    case conversation = "c"
    /// A person's reports that count only once (feedback, receipts): at least the latest 512.
    case reports = "r"
    /// A person's state events (activity, reads, preferences, devices): the latest 32 to 64. Older retries are harmless, because the last
    /// writer wins; the memory keeps most retries off the timeline.
    case state = "u"

    var archives: Int { self == .state ? 0 : 4 }
  }

  /// The result of looking up an event.
  enum Verdict {
    /// The event was never seen.
    case new
    /// The event was processed before.
    case repeated
    /// A user's token sent it before, and now a backend does, which is more trustworthy.
    case repeatedByBackend
    /// The event is not found, but may have been forgotten.
    case beyondMemory
  }

  /// An event's identity in the memory: its id, type and sender. Type and sender keep an id from taking the place of another's event.
  struct Identity {
    let envelope: Envelope
    /// The sender's id, for events of a conversation.
    let sender: String?
    let mark: EventMark
    /// `RememberedEvent.message`.
    let message: UInt64

    init(_ event: ChatEvent, byUser: Bool) {
      envelope = event.envelope
      if case .messageCreated(let fields) = event.body {
        sender = fields.senderId
        message = max(1, FNV1a.hash(fields.messageId))
      } else {
        sender = nil
        message = 0
      }
      mark = EventMark(event.body.type, sender: sender, byUser: byUser)
    }

    init(_ event: UserEvent, byUser: Bool) {
      envelope = event.envelope
      sender = nil
      message = 0
      mark = EventMark(event.body.type, sender: nil, byUser: byUser)
    }
  }

  // A row has at most 4.5 kB: 128 events of at most 35 characters each.
  static let recentLimit = 64
  static let spilled = 32
  static let archiveLimit = 128
  static let carriedLimit = 64

  private let key: RowKey
  private let parts: (scope: Scope, id: String)
  private let step: Step<IngestStage>
  private var row: EventMemoryRow

  init(_ scope: Scope, of id: String, in step: Step<IngestStage>) throws {
    key = RowKey("e", scope.rawValue, id)
    parts = (scope, id)
    self.step = step
    if case .events(let row)? = try step.row(key) { self.row = row } else { row = EventMemoryRow() }
  }

  /// Looks up an event by its id, type and sender, so that a retry is recognised whatever its time.
  ///
  /// Throws a `Rejection` if the event's id, or the id of its message, is known with another type or sender. Events from a user's token
  /// never block a backend's, so nobody can silence a backend by using its future ids.
  func verdict(on identity: Identity) throws -> Verdict {
    let hash = RememberedEvent.hash(of: identity.envelope.eventId)
    var search = Search(identity, hash: hash)
    search.check(row.recent)
    for number in row.archives.reversed() where search.found == nil { search.check(try archive(number)) }
    if let found = search.found {
      return found.isByUser && !found.isUnknown && !identity.mark.isByUser ? .repeatedByBackend : .repeated
    }
    if let rejection = search.rejection { throw rejection }
    guard let horizon = row.horizon else { return .new }
    let mayBeForgotten = row.senders.maySend(
      at: identity.envelope.occurredAt, cappedAt: min(identity.envelope.occurredAt, step.now),
      from: Self.hash(of: identity.sender), before: horizon)
    return mayBeForgotten ? .beyondMemory : .new
  }

  /// A search for an event among the stored ones.
  private struct Search {
    let identity: Identity
    let hash: Int64
    /// The mark of the event that it repeats.
    var found: EventMark?
    private var eventIdReused = false
    private var messageIdReused = false

    init(_ identity: Identity, hash: Int64) {
      self.identity = identity
      self.hash = hash
    }

    mutating func check(_ events: [RememberedEvent]) {
      for event in events {
        let isSame = event.mark.isUnknown || event.mark.isSame(as: identity.mark)
        if event.hash == hash {
          if isSame { return found = event.mark }
          // In a conversation, users' events are distinguished by their senders, so other users' ids do not matter.
          if !event.mark.isByUser || (identity.mark.isByUser && identity.sender == nil) { eventIdReused = true }
        }
        if event.message != 0, event.message == identity.message, !isSame,
          !event.mark.isByUser || identity.mark.isByUser
        {
          messageIdReused = true
        }
      }
    }

    var rejection: Rejection? {
      if eventIdReused {
        return Rejection(
          .eventIdReused,
          "eventId is that of another event, of another type or sender: give each event an id of its own")
      }
      guard messageIdReused else { return nil }
      return Rejection(
        .messageIdReused,
        "messageId is that of a message of another sender in the conversation: give each an id of its own")
    }
  }

  /// The author of a message, and how far back the message is.
  struct Author {
    /// Sender, type and caller, in the form of `EventMark`.
    var mark: EventMark
    /// About how many messages followed it.
    var messagesSince: Int
    /// The latest time at which it may have been written.
    var writtenBy: Milliseconds
  }

  /// The author of a message; nil if the message is not stored.
  func author(of messageId: String) throws -> Author? {
    let message = max(1, FNV1a.hash(messageId))
    var since = 0
    func find(in events: [RememberedEvent]) -> Author? {
      guard let index = events.lastIndex(where: { $0.message == message }) else {
        since += events.count { $0.message != 0 }
        return nil
      }
      let later = events[(index + 1)...].count { $0.message != 0 }
      return Author(mark: events[index].mark, messagesSince: since + later, writtenBy: events[index].occurredAt)
    }
    var found = find(in: row.recent)
    for number in row.archives.reversed() where found == nil { found = find(in: try archive(number)) }
    for number in writerRows.reversed() where found == nil {
      let writers = try writers(number)
      if let (mark, later) = writers.writer(of: message) {
        found = Author(mark: mark, messagesSince: since + later, writtenBy: writers.upTo)
      }
      since += writers.count
    }
    return found.flatMap { $0.mark.isUnknown ? nil : $0 }
  }

  /// Stores an event that `verdict` did not find.
  mutating func remember(_ identity: Identity) throws {
    let occurredAt = min(identity.envelope.occurredAt, step.now)
    row.recent.append(
      RememberedEvent(
        occurredAt: occurredAt, hash: RememberedEvent.hash(of: identity.envelope.eventId), mark: identity.mark,
        message: identity.message))
    if parts.scope != .state {
      row.senders.record(
        identity.envelope.occurredAt, cappedAt: occurredAt, from: Self.hash(of: identity.sender), now: step.now)
    }
    if row.recent.count > Self.recentLimit { try spill() }
    try step.set(.events(row), for: key)
  }

  /// Removes the rows of a memory.
  static func forget(_ scope: Scope, of id: String, in step: Step<IngestStage>) throws {
    let memory = try EventMemory(scope, of: id, in: step)
    for number in 0..<scope.archives { try step.remove(memory.archiveKey(number)) }
    for number in memory.writerRows { try step.remove(memory.writersKey(number)) }
    try step.remove(memory.key)
  }

  private static func hash(of sender: String?) -> Int64 { sender.map { RememberedEvent.hash(of: $0) } ?? 0 }

  private mutating func spill() throws {
    row.recent.sort()
    let oldest = Array(row.recent.prefix(Self.spilled))
    row.recent.removeFirst(Self.spilled)
    guard parts.scope.archives > 0 else { return try forget(oldest) }
    if let last = row.archives.last {
      let events = try archive(last)
      if events.count + oldest.count <= Self.archiveLimit { return try setArchive(last, events + oldest) }
    }
    var events = oldest
    if row.archives.count == parts.scope.archives {
      // Late events move behind earlier arrivals. Events that are later than the ones archived now are kept, because forgetting them would
      // move the horizon past the archived ones.
      let evicted = try archive(row.archives.removeFirst()).sorted()
      let carried = evicted.suffix(Self.carriedLimit).filter { event in oldest.last.map { event > $0 } ?? false }
      events += carried
      try forget(Array(evicted.dropLast(carried.count)))
    }
    let number = row.archives.last.map { ($0 + 1) % parts.scope.archives } ?? 0
    row.archives.append(number)
    try setArchive(number, events)
  }

  private mutating func forget(_ events: [RememberedEvent]) throws {
    for event in events { row.horizon = max(row.horizon ?? event.occurredAt, event.occurredAt) }
    if parts.scope == .conversation {
      try keepWriters(of: events.filter { $0.message != 0 && !$0.mark.isUnknown }[...])
    }
  }

  /// The authors of forgotten messages are kept, for answers and edits.
  private mutating func keepWriters(of messages: ArraySlice<RememberedEvent>) throws {
    var rest = messages
    while !rest.isEmpty {
      var last = try writerRows.last.map { try writers($0) }
      if last?.isFull ?? true {
        row.writerRows += 1
        last = WritersRow()
      }
      guard var writers = last, let number = writerRows.last else { return }
      let taken = rest.prefix(WritersRow.limit - writers.count)
      for event in taken { writers.add(event) }
      rest = rest.dropFirst(taken.count)
      try step.set(.writers(writers), for: writersKey(number))
    }
  }

  /// The numbers of the rows with writers, oldest first.
  private var writerRows: Range<Int> { max(0, row.writerRows - WritersRow.maxRows)..<row.writerRows }

  /// Rows are used in round-robin order.
  private func writersKey(_ number: Int) -> RowKey { RowKey("w", parts.id, String(number % WritersRow.maxRows)) }

  private func writers(_ number: Int) throws -> WritersRow {
    if case .writers(let row)? = try step.row(writersKey(number)) { return row }
    return WritersRow()
  }

  private func archiveKey(_ number: Int) -> RowKey { RowKey("e", parts.scope.rawValue, parts.id, String(number)) }

  private func archive(_ number: Int) throws -> [RememberedEvent] {
    if case .archive(let row)? = try step.row(archiveKey(number)) { return row.events }
    return []
  }

  private func setArchive(_ number: Int, _ events: [RememberedEvent]) throws {
    try step.set(.archive(EventArchiveRow(events: events)), for: archiveKey(number))
  }
}

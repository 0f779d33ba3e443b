import NudgeSchema
import StreamRuntime

/// The event ids a conversation or a person had lately, by which a producer's retry is recognised (M6).
///
/// The memory is bounded: it keeps the latest events and forgets the oldest. `horizon` is the time of the latest forgotten event.
/// All times here are capped at the time ingest took the event, so a clock that runs ahead does not move the horizon ahead.
///
/// An event that is not found may be a retry of a forgotten one only if its sender is known to have sent something that late,
/// and that could have been forgotten. So a member who floods a conversation casts doubt on their own messages alone
/// (`SenderClocks`).
struct EventMemory {
  /// The events of one memory, and how many it keeps.
  enum Scope: String {
    /// A conversation's: the latest 512 and more.
    case conversation = "c"
    /// A person's reports, which count once each (feedback, what became of notifications): the latest 512 and more.
    case reports = "r"
    /// A person's state (activity, reads, preferences, devices): the latest 32 to 64. Last-writer-wins makes older retries
    /// harmless; the memory spares the timeline most of them.
    case state = "u"

    var archives: Int { self == .state ? 0 : 4 }
  }

  /// The result of looking an event up.
  enum Verdict {
    /// Never seen.
    case new
    /// Processed before.
    case repeated
    /// Not found, but it may have been forgotten.
    case beyondMemory
  }

  // A row is at most 4.5 kB: 128 events of at most 35 characters each.
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

  /// Looks an event up by its id alone: a retry is recognised whatever time it carries.
  ///
  /// - Parameter sender: The sender's id, in a conversation.
  func verdict(on envelope: Envelope, from sender: String? = nil) throws -> Verdict {
    let event = remembered(envelope)
    if row.recent.contains(where: { $0.hash == event.hash }) { return .repeated }
    for number in row.archives.reversed() where try archive(number).contains(where: { $0.hash == event.hash }) {
      return .repeated
    }
    guard let horizon = row.horizon else { return .new }
    let mayBeForgotten = row.senders.maySend(
      at: envelope.occurredAt, cappedAt: event.occurredAt, from: Self.hash(of: sender), before: horizon)
    return mayBeForgotten ? .beyondMemory : .new
  }

  /// Remembers an event that `verdict` did not find.
  mutating func remember(_ envelope: Envelope, from sender: String? = nil) throws {
    let event = remembered(envelope)
    row.recent.append(event)
    if parts.scope != .state {
      row.senders.note(
        envelope.occurredAt, cappedAt: event.occurredAt, from: Self.hash(of: sender), now: step.now)
    }
    if row.recent.count > Self.recentLimit { try spill() }
    try step.set(.events(row), for: key)
  }

  /// Removes the rows of a memory.
  static func forget(_ scope: Scope, of id: String, in step: Step<IngestStage>) throws {
    let memory = try EventMemory(scope, of: id, in: step)
    for number in 0..<scope.archives { try step.remove(memory.archiveKey(number)) }
    try step.remove(memory.key)
  }

  private func remembered(_ envelope: Envelope) -> RememberedEvent {
    RememberedEvent(eventId: envelope.eventId, occurredAt: min(envelope.occurredAt, step.now))
  }

  private static func hash(of sender: String?) -> Int64 { sender.map { RememberedEvent.hash(of: $0) } ?? 0 }

  private mutating func spill() throws {
    row.recent.sort()
    let oldest = Array(row.recent.prefix(Self.spilled))
    row.recent.removeFirst(Self.spilled)
    guard parts.scope.archives > 0 else { return forget(oldest) }
    if let last = row.archives.last {
      let events = try archive(last)
      if events.count + oldest.count <= Self.archiveLimit { return try setArchive(last, events + oldest) }
    }
    var events = oldest
    if row.archives.count == parts.scope.archives {
      // Late events sink below earlier arrivals. Events later than the ones archived now are carried along: forgetting them would move the
      // horizon past the archived ones.
      let evicted = try archive(row.archives.removeFirst()).sorted()
      let carried = evicted.suffix(Self.carriedLimit).filter { event in oldest.last.map { event > $0 } ?? false }
      events += carried
      forget(evicted.dropLast(carried.count))
    }
    let number = row.archives.last.map { ($0 + 1) % parts.scope.archives } ?? 0
    row.archives.append(number)
    try setArchive(number, events)
  }

  private mutating func forget(_ events: some Sequence<RememberedEvent>) {
    for event in events { row.horizon = max(row.horizon ?? event.occurredAt, event.occurredAt) }
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

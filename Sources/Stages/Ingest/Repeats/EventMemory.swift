import NudgeSchema
import StreamRuntime

/// The event ids a conversation or a person had lately, by which a producer's retry is known (M6).
///
/// Bounded, and kept by the events' own times: the latest are kept, and `horizon` is the time of the latest that was
/// forgotten. What is later and not found is surely new; of what is not later nobody can say. Kept by order of arrival
/// instead, one fast clock among the forgotten would cast doubt on everything until its time has passed.
struct EventMemory {
  /// Whose events, and how many of them.
  enum Scope: String {
    /// A conversation's: the latest 512 and more.
    case conversation = "c"
    /// What a person did once and counts (feedback, what became of notifications): the latest 512 and more.
    case reports = "r"
    /// A person's state (activity, reads, preferences): the latest 32 to 64. The last writer wins anyway; this spares
    /// the timeline a retry.
    case state = "u"

    var archives: Int { self == .state ? 0 : 4 }
  }

  /// What is known of an event.
  enum Verdict {
    /// Never seen.
    case new
    /// Processed before.
    case repeated
    /// Not found, but older than the memory reaches.
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

  /// What is known of an event. A retry is found by its id alone, whatever time it carries.
  func verdict(on envelope: Envelope) throws -> Verdict {
    let event = RememberedEvent(eventId: envelope.eventId, occurredAt: envelope.occurredAt)
    if row.recent.contains(where: { $0.hash == event.hash }) { return .repeated }
    for number in row.archives.reversed() where try archive(number).contains(where: { $0.hash == event.hash }) {
      return .repeated
    }
    if let horizon = row.horizon, envelope.occurredAt <= horizon { return .beyondMemory }
    return .new
  }

  /// Remembers an event that `verdict` did not find.
  mutating func remember(_ envelope: Envelope) throws {
    row.recent.append(RememberedEvent(eventId: envelope.eventId, occurredAt: envelope.occurredAt))
    if row.recent.count > Self.recentLimit { try spill() }
    try step.set(.events(row), for: key)
  }

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
      // What lies ahead of the events archived now has a fast clock; to forget it would move the horizon ahead as well.
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

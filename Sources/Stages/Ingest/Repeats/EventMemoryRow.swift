public import NudgeSchema

/// An event that was processed: its time and a 64-bit hash of its id.
public struct RememberedEvent: Sendable, Equatable, Comparable {
  /// When it happened.
  public var occurredAt: Milliseconds
  /// FNV-1a of the event id's bytes. Two ids of one conversation share it with a probability of about 2^-64.
  public var hash: Int64

  init(eventId: String, occurredAt: Milliseconds) {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in eventId.utf8 {
      hash ^= UInt64(byte)
      hash &*= 0x100_0000_01b3
    }
    self.init(occurredAt: occurredAt, hash: Int64(bitPattern: hash))
  }

  init(occurredAt: Milliseconds, hash: Int64) {
    self.occurredAt = occurredAt
    self.hash = hash
  }

  /// Whether `a` happened first.
  public static func < (a: RememberedEvent, b: RememberedEvent) -> Bool {
    (a.occurredAt, a.hash) < (b.occurredAt, b.hash)
  }
}

/// The newest events of a conversation or a person.
public struct EventMemoryRow: Sendable, Equatable, Codable {
  /// The time of the latest event that was forgotten: the memory is complete for what happened after it. nil: nothing
  /// was forgotten.
  public internal(set) var horizon: Milliseconds?
  /// The newest, in no order.
  public internal(set) var recent: [RememberedEvent] = []
  /// The numbers of the archive rows, oldest first.
  public internal(set) var archives: [Int] = []

  init() {}

  private enum CodingKeys: String, CodingKey {
    case horizon = "h"
    case recent = "e"
    case archives = "a"
  }

  /// Reads a row.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    horizon = try fields.decodeIfPresent(Milliseconds.self, forKey: .horizon)
    recent = try fields.decode(EventList.self, forKey: .recent).events
    archives = try fields.decodeIfPresent([Int].self, forKey: .archives) ?? []
  }

  /// Writes a row.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encodeIfPresent(horizon, forKey: .horizon)
    try fields.encode(EventList(events: recent), forKey: .recent)
    if !archives.isEmpty { try fields.encode(archives, forKey: .archives) }
  }
}

/// Older events of a conversation or a person.
public struct EventArchiveRow: Sendable, Equatable, Codable {
  /// The events, in no order.
  public internal(set) var events: [RememberedEvent]

  init(events: [RememberedEvent]) { self.events = events }

  /// Reads a row.
  public init(from decoder: any Decoder) throws { events = try EventList(from: decoder).events }

  /// Writes a row.
  public func encode(to encoder: any Encoder) throws { try EventList(events: events).encode(to: encoder) }
}

/// Events as rows write them: one flat array of times and hashes.
private struct EventList: Codable {
  var events: [RememberedEvent]

  init(events: [RememberedEvent]) { self.events = events }

  init(from decoder: any Decoder) throws {
    var fields = try decoder.unkeyedContainer()
    events = []
    events.reserveCapacity((fields.count ?? 0) / 2)
    while !fields.isAtEnd {
      events.append(
        RememberedEvent(occurredAt: try fields.decode(Milliseconds.self), hash: try fields.decode(Int64.self)))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.unkeyedContainer()
    for event in events {
      try fields.encode(event.occurredAt)
      try fields.encode(event.hash)
    }
  }
}

public import NudgeSchema

/// An event that was processed: its time and a 64-bit hash of its id.
public struct RememberedEvent: Sendable, Equatable, Comparable {
  /// When it happened, or when ingest took it where that is earlier.
  public var occurredAt: Milliseconds
  /// FNV-1a of the event id's bytes. Two ids of one conversation share it with a probability of about 2^-64.
  public var hash: Int64

  init(eventId: String, occurredAt: Milliseconds) {
    self.init(occurredAt: occurredAt, hash: Self.hash(of: eventId))
  }

  /// FNV-1a of an id's bytes.
  static func hash(of id: String) -> Int64 { Int64(bitPattern: FNV1a.hash(id)) }

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
  /// The time of the latest event that was forgotten; nil: nothing was forgotten.
  public internal(set) var horizon: Milliseconds?
  /// The newest, in no order.
  public internal(set) var recent: [RememberedEvent] = []
  /// The numbers of the archive rows, oldest first.
  public internal(set) var archives: [Int] = []
  /// The senders of the latest events.
  public internal(set) var senders = SenderClocks()

  init() {}

  private enum CodingKeys: String, CodingKey {
    case horizon = "h"
    case recent = "e"
    case archives = "a"
    case senders = "s"
    case othersUpTo = "o"
  }

  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    horizon = try fields.decodeIfPresent(Milliseconds.self, forKey: .horizon)
    recent = try fields.decode(EventList.self, forKey: .recent).events
    archives = try fields.decodeIfPresent([Int].self, forKey: .archives) ?? []
    senders.othersUpTo = try fields.decodeIfPresent(Milliseconds.self, forKey: .othersUpTo)
    let senders = try fields.decodeIfPresent([Int64].self, forKey: .senders)
    guard let senders else {
      forgetSenders()
      return
    }
    for start in stride(from: 0, to: senders.count - 2, by: 3) {
      self.senders.senders.append(
        SenderClocks.Sender(hash: senders[start], latest: senders[start + 1], lead: senders[start + 2]))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encodeIfPresent(horizon, forKey: .horizon)
    try fields.encode(EventList(events: recent), forKey: .recent)
    if !archives.isEmpty { try fields.encode(archives, forKey: .archives) }
    try fields.encode(senders.senders.flatMap { [$0.hash, $0.latest, $0.lead] }, forKey: .senders)
    try fields.encodeIfPresent(senders.othersUpTo, forKey: .othersUpTo)
  }

  /// A row written before senders were kept: any sender may have sent what was forgotten.
  mutating func forgetSenders() { senders.othersUpTo = horizon }
}

/// Older events of a conversation or a person.
public struct EventArchiveRow: Sendable, Equatable, Codable {
  /// The events, in no order.
  public internal(set) var events: [RememberedEvent]

  init(events: [RememberedEvent]) { self.events = events }

  public init(from decoder: any Decoder) throws { events = try EventList(from: decoder).events }

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

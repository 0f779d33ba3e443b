import Foundation

/// A point in time: whole milliseconds since 1970-01-01T00:00:00Z.
public typealias Milliseconds = Int64

/// The version of the record formats in this module. Readers refuse any other.
public let currentSchemaVersion = 1

/// The fields that every event begins with.
public struct Envelope: Sendable, Equatable {
  /// The producer's id of the event, 1–128 characters. A retry has the same id.
  public var eventId: String
  /// When the event happened, by the producer's clock.
  public var occurredAt: Milliseconds

  /// An envelope of the current schema version.
  public init(eventId: String, occurredAt: Milliseconds) {
    self.eventId = eventId
    self.occurredAt = occurredAt
  }
}

extension Envelope {
  /// The value of `DerivedEvent.takenAt`: `now` if `occurredAt` is later, nil otherwise.
  public func takenAt(_ now: Milliseconds) -> Milliseconds? { now < occurredAt ? now : nil }

  /// The value of `DerivedEvent.arrivedAt`: when the event arrived if that was more than two seconds after it happened,
  /// nil otherwise. `time` is the timestamp of the Kafka record, which a producer may set.
  public func arrivedAt(_ time: Milliseconds, now: Milliseconds) -> Milliseconds? {
    let arrival = min(time, now)
    return arrival - 2_000 > occurredAt ? arrival : nil
  }
}

/// The order of state events: the later `occurredAt` wins, then the greater `eventId` by its UTF-8 bytes (D12).
public struct EventStamp: Codable, Sendable, Hashable, Comparable {
  /// When the event happened.
  public var occurredAt: Milliseconds
  /// The event's id, which breaks ties.
  public var eventId: String

  /// A stamp of an event.
  public init(occurredAt: Milliseconds, eventId: String) {
    self.occurredAt = occurredAt
    self.eventId = eventId
  }

  /// The stamp of an event that ingest accepted at `takenAt`, in milliseconds since the epoch.
  ///
  /// An event whose clock is ahead is stamped with `takenAt`, so it does not outrank what others do before its time has
  /// come (D11). Among events of one millisecond, those whose clock is ahead come last, ordered by their own times.
  public init(_ envelope: Envelope, takenAt: Milliseconds?) {
    guard let takenAt, takenAt < envelope.occurredAt else {
      self.init(occurredAt: envelope.occurredAt, eventId: envelope.eventId)
      return
    }
    self.init(occurredAt: takenAt, eventId: "\(Self.ahead)\(envelope.occurredAt) \(envelope.eventId)")
  }

  /// Prefix of the ids of events whose clock is ahead. It sorts after every event id.
  private static let ahead: Character = "\u{10FFFF}"

  /// The stamp with a hash in place of the event's id, which may name a person or a conversation. Its order among
  /// stamps of the same millisecond changes, but events whose clock is ahead still come last.
  package func hashed(_ name: String, by hash: (String) -> String) -> EventStamp {
    EventStamp(occurredAt: occurredAt, eventId: (eventId.first == Self.ahead ? String(Self.ahead) : "") + hash(name))
  }

  /// Whether `a` comes first.
  public static func < (a: EventStamp, b: EventStamp) -> Bool {
    a.occurredAt != b.occurredAt
      ? a.occurredAt < b.occurredAt : a.eventId.utf8.lexicographicallyPrecedes(b.eventId.utf8)
  }

  /// Compares bytes, not canonical equivalence: ids that Unicode treats as equal are different ids.
  public static func == (a: EventStamp, b: EventStamp) -> Bool {
    a.occurredAt == b.occurredAt && sameId(a.eventId, b.eventId)
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(occurredAt)
    for byte in eventId.utf8 { hasher.combine(byte) }
  }
}

/// The body of a kind of event: a single struct, or an enum with one case per type.
public protocol EventBody: Sendable, Equatable {
  /// The value of the field `type`.
  var type: EventType { get }
  /// The types that this body can have.
  static var types: [EventType] { get }
  /// Reads the fields of `type`, which is one of `types`.
  init(type: EventType, from decoder: any Decoder) throws
  /// Writes the fields beside those of the envelope.
  func encodeFields(to encoder: any Encoder) throws
}

/// A body of one type, whose Codable has the fields.
extension EventBody where Self: Codable {
  /// Reads the fields. Throws `DecodingError` where one is missing or of another JSON type.
  public init(type: EventType, from decoder: any Decoder) throws { try self.init(from: decoder) }

  /// Writes the fields beside those of the envelope.
  public func encodeFields(to encoder: any Encoder) throws { try encode(to: encoder) }
}

/// Why valid JSON is not an event.
public enum EventFormatError: Error, Equatable, CustomStringConvertible {
  /// `schemaVersion` is not one that this module reads.
  case unsupportedVersion(Int)
  /// `type` is not one of the topic's types.
  case unknownType(String, of: [EventType])
  /// A time is neither an integer nor RFC 3339.
  case invalidTime(field: String)

  /// The reason, for logs and dead letters.
  public var description: String {
    switch self {
    case .unsupportedVersion(let version):
      "schemaVersion \(version) is not supported; this reader knows \(currentSchemaVersion)"
    case .unknownType(let type, let known):
      // Nudge's own types may be named. Any other text may contain a secret (T4).
      if let type = EventType(rawValue: type), UserEventBody.types.contains(type) || ChatEventBody.types.contains(type)
      {
        "\(type) belongs on \((ChatEventBody.types.contains(type) ? Topic.chatEvents : .userEvents).rawValue)"
      } else {
        "type is none of \(known.map(\.rawValue).joined(separator: ", "))"
      }
    case .invalidTime(let field):
      "\(field) is neither milliseconds since the epoch, as an integer, nor an RFC 3339 time"
    }
  }
}

/// An event as a producer publishes it on `chat.events` or `user.events`: one flat JSON object.
public struct Event<Body: EventBody>: Codable, Sendable, Equatable {
  /// The fields that every event has.
  public var envelope: Envelope
  /// The fields of its type.
  public var body: Body

  /// An event of the current schema version.
  public init(_ envelope: Envelope, _ body: Body) {
    self.envelope = envelope
    self.body = body
  }

  /// Reads the value; fields it does not know are ignored.
  public init(from decoder: any Decoder) throws {
    (envelope, body) = try decodeEnvelope(from: decoder)
  }

  /// Writes the value; fields that are nil are left out.
  public func encode(to encoder: any Encoder) throws {
    try encodeEnvelope(envelope, type: body.type, to: encoder)
    try body.encodeFields(to: encoder)
  }
}

/// An event that Nudge wrote, with its cause.
public struct DerivedEvent<Body: EventBody>: Codable, Sendable, Equatable {
  /// The fields every event has.
  public var envelope: Envelope
  /// The record that directly caused the event. The origins of one key only rise, so a lower one is a repeat.
  public var origin: Origin
  /// The position of the chat or user event that started the chain.
  public var source: RecordPosition
  /// When ingest accepted the event, in milliseconds since the epoch. Present only if the producer's clock is ahead, so
  /// that `occurredAt` is later.
  public var takenAt: Milliseconds?
  /// When the event reached Nudge. Present only if that was more than two seconds after `occurredAt`.
  public var arrivedAt: Milliseconds?
  /// The fields of its type.
  public var body: Body

  /// An event of the current schema version.
  public init(
    _ envelope: Envelope, origin: Origin, source: RecordPosition, takenAt: Milliseconds? = nil,
    arrivedAt: Milliseconds? = nil, _ body: Body
  ) {
    self.envelope = envelope
    self.origin = origin
    self.source = source
    self.takenAt = takenAt
    self.arrivedAt = arrivedAt
    self.body = body
  }

  /// The earlier of `occurredAt` and `takenAt`, for comparison with other senders' events (D11).
  public var cappedAt: Milliseconds { min(envelope.occurredAt, takenAt ?? .max) }

  /// The event's stamp in last-writer-wins order, by `cappedAt`.
  public var stamp: EventStamp { EventStamp(envelope, takenAt: takenAt) }

  private enum CodingKeys: String, CodingKey { case origin, source, takenAt, arrivedAt }

  /// Reads the value; fields it does not know are ignored.
  public init(from decoder: any Decoder) throws {
    (envelope, body) = try decodeEnvelope(from: decoder)
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    origin = try fields.decode(Origin.self, forKey: .origin)
    source = try fields.decode(RecordPosition.self, forKey: .source)
    takenAt = try fields.decodeIfPresent(Milliseconds.self, forKey: .takenAt)
    arrivedAt = try fields.decodeIfPresent(Milliseconds.self, forKey: .arrivedAt)
  }

  /// Writes the value; fields that are nil are left out.
  public func encode(to encoder: any Encoder) throws {
    try encodeEnvelope(envelope, type: body.type, to: encoder)
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(origin, forKey: .origin)
    try fields.encode(source, forKey: .source)
    try fields.encodeIfPresent(takenAt, forKey: .takenAt)
    try fields.encodeIfPresent(arrivedAt, forKey: .arrivedAt)
    try body.encodeFields(to: encoder)
  }
}

private enum EnvelopeKeys: String, CodingKey { case schemaVersion, type, eventId, occurredAt }

private func decodeEnvelope<Body: EventBody>(from decoder: any Decoder) throws -> (Envelope, Body) {
  let fields = try decoder.container(keyedBy: EnvelopeKeys.self)
  let version = try fields.decode(Int.self, forKey: .schemaVersion)
  guard version == currentSchemaVersion else { throw EventFormatError.unsupportedVersion(version) }
  let name = try fields.decode(String.self, forKey: .type)
  guard let type = EventType(rawValue: name), Body.types.contains(type) else {
    throw EventFormatError.unknownType(name, of: Body.types)
  }
  let envelope = Envelope(
    eventId: try fields.decode(String.self, forKey: .eventId),
    occurredAt: try fields.decodeTime(forKey: .occurredAt))
  return (envelope, try Body(type: type, from: decoder))
}

private func encodeEnvelope(_ envelope: Envelope, type: EventType, to encoder: any Encoder) throws {
  var fields = encoder.container(keyedBy: EnvelopeKeys.self)
  try fields.encode(currentSchemaVersion, forKey: .schemaVersion)
  try fields.encode(type.rawValue, forKey: .type)
  try fields.encode(envelope.eventId, forKey: .eventId)
  try fields.encode(envelope.occurredAt, forKey: .occurredAt)
}

extension KeyedDecodingContainer {
  /// A time: an integer, or (from producers) an RFC 3339 string.
  func decodeTime(forKey key: Key) throws -> Milliseconds {
    if let number = try? decode(Int64.self, forKey: key) { return number }
    guard let text = try? decode(String.self, forKey: key), let time = RFC3339.milliseconds(text) else {
      if !contains(key) {
        throw DecodingError.keyNotFound(
          key, .init(codingPath: codingPath, debugDescription: "\(key.stringValue) is missing"))
      }
      throw EventFormatError.invalidTime(field: key.stringValue)
    }
    return time
  }

  /// As `decodeTime`, but nil if the field is absent or null.
  func decodeTimeIfPresent(forKey key: Key) throws -> Milliseconds? {
    guard contains(key), try !decodeNil(forKey: key) else { return nil }
    return try decodeTime(forKey: key)
  }
}

/// The types of all records, as the field `type` names them. One name may have different fields on different topics:
/// `device.registered` comes from a producer on `user.events`, is a claim on `nudge.device-claims`, and a granted
/// device on `nudge.timeline`.
public enum EventType: String, Sendable, CaseIterable, CustomStringConvertible {
  // `chat.events`.
  case conversationUpdated = "conversation.updated"
  case memberAdded = "conversation.member_added"
  case memberRemoved = "conversation.member_removed"
  case messageCreated = "message.created"
  case messageEdited = "message.edited"
  case messageDeleted = "message.deleted"
  case conversationDeleted = "conversation.deleted"
  // `user.events`.
  case userActivity = "user.activity"
  case messageRead = "message.read"
  case preferencesUpdated = "preferences.updated"
  case deviceRegistered = "device.registered"
  case deviceUnregistered = "device.unregistered"
  case feedbackSubmitted = "feedback.submitted"
  case notificationReceived = "notification.received"
  case notificationOpened = "notification.opened"
  case notificationDismissed = "notification.dismissed"
  case userDeleted = "user.deleted"
  // `nudge.device-claims`, which also has registrations of devices and deletions of people.
  case userRestored = "user.restored"
  // `nudge.timeline`, which also has types of the topics above.
  case messageCandidate = "message.candidate"
  case messageSent = "message.sent"
  case candidateRedecide = "candidate.redecide"
  case replayStopped = "replay.stopped"
  case timerFired = "timer.fired"
  case messageWithdrawn = "message.withdrawn"
  case deviceInvalidated = "device.invalidated"
  case pushMissed = "push.missed"
  case personAsked = "person.asked"
  // `nudge.decisions`, `nudge.pushes`, `nudge.banners`, `nudge.outcomes`.
  case decision
  case push
  case pushCancelled = "push.cancelled"
  case pushAnswered = "push.answered"
  case banner
  case notice
  case badge
  case read
  case messageUpdated = "message.updated"
  case personAnswered = "person.answered"
  case outcome
  case receipt
  // `nudge.audit`.
  case replayStarted = "replay.started"
  case replayProgressed = "replay.progressed"
  case replayEnded = "replay.ended"
  case deadLettersHandled = "dead_letters.handled"
  case commandExecuted = "command.executed"

  /// The name on the wire.
  public var description: String { rawValue }
}

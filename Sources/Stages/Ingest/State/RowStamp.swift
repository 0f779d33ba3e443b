import NudgeSchema

/// An `EventStamp` as rows write it: `[occurredAt, eventId]`, half as long as with names.
struct RowStamp: Codable {
  let stamp: EventStamp

  init(_ stamp: EventStamp) { self.stamp = stamp }

  init(from decoder: any Decoder) throws {
    var fields = try decoder.unkeyedContainer()
    stamp = EventStamp(
      occurredAt: try fields.decode(Milliseconds.self), eventId: try fields.decode(String.self))
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.unkeyedContainer()
    try fields.encode(stamp.occurredAt)
    try fields.encode(stamp.eventId)
  }
}

extension KeyedDecodingContainer {
  /// A stamp a row may have.
  func decodeStampIfPresent(forKey key: Key) throws -> EventStamp? {
    try decodeIfPresent(RowStamp.self, forKey: key)?.stamp
  }

  func decodeStamp(forKey key: Key) throws -> EventStamp { try decode(RowStamp.self, forKey: key).stamp }
}

extension KeyedEncodingContainer {
  /// Writes a stamp a row may have.
  mutating func encodeStampIfPresent(_ stamp: EventStamp?, forKey key: Key) throws {
    try encodeIfPresent(stamp.map { RowStamp($0) }, forKey: key)
  }

  mutating func encodeStamp(_ stamp: EventStamp, forKey key: Key) throws {
    try encode(RowStamp(stamp), forKey: key)
  }
}

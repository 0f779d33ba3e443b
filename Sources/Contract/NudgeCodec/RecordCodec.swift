public import JSONCodec
public import NudgeSchema

/// Reads and writes the records of the hot path field by field. The JSON is the same as `RecordCoder`'s, at a tenth of
/// the cost. One thread uses an instance, which keeps its buffers.
///
/// `RecordCoder` is the reference. A record is read directly only if it has the plain form that nearly all records
/// have; its value is then the one that the reference would read. Any other record (an RFC 3339 time, an integer with
/// an exponent, a `preferences.updated`, a record to refuse) is left to the reference, so both refuse the same records
/// with the same texts. The reference reads everything that this codec writes as the same value.
///
/// Each type lists its fields once (`JSONFields`). Read directly: chat events, user events, device claims, timeline
/// events, pushes. Written directly: device claims, timeline events, decisions, pushes, banners, outcomes, receipts. The
/// reference reads and writes `preferences.updated`, which is rare.
public final class RecordCodec {
  /// Larger documents use memory that is freed afterwards, because simdjson keeps 14 bytes for each byte of the largest
  /// document.
  private static let keptBytes = 256 << 10

  private let reference: RecordCoder
  private let parser = RecordCodec.makeParser()
  private var writer = JSONWriter(capacity: 4_096)

  /// A codec with empty buffers. `reference` handles what the codec does not read or write itself.
  public init(reference: RecordCoder = RecordCoder()) { self.reference = reference }

  // MARK: Reading

  /// Reads a chat event; nil if the reference must read or refuse it.
  public func read(_: ChatEvent.Type, from bytes: [UInt8]) -> ChatEvent? { event(bytes) }

  /// Reads a user event; nil if the reference must read or refuse it.
  public func read(_: UserEvent.Type, from bytes: [UInt8]) -> UserEvent? { event(bytes) }

  /// Reads a device claim; nil if the reference must read or refuse it.
  public func read(_: DeviceClaim.Type, from bytes: [UInt8]) -> DeviceClaim? { derivedEvent(bytes) }

  /// Reads a timeline event; nil if the reference must read or refuse it.
  public func read(_: TimelineEvent.Type, from bytes: [UInt8]) -> TimelineEvent? { derivedEvent(bytes) }

  /// Reads a push; nil if the reference must read or refuse it.
  public func read(_: PushEvent.Type, from bytes: [UInt8]) -> PushEvent? { derivedEvent(bytes) }

  /// Why bytes are not JSON; nil if they are. The reference checks only what it reads: in an unknown member it accepts
  /// a bare control character, half a surrogate pair or `1-2`.
  public func fault(in bytes: [UInt8]) -> JSONParseError? {
    do {
      try parser(for: bytes).parse(bytes) { _ in }
      return nil
    } catch {
      return error as? JSONParseError
    }
  }

  /// Reads a chat event. Throws the reference's errors: `EventFormatError`, `DecodingError` or `SchemaViolation`.
  public func decode(_ type: ChatEvent.Type, from bytes: [UInt8]) throws -> ChatEvent {
    try read(type, from: bytes) ?? reference.decode(type, from: bytes)
  }

  /// Reads a device claim. Throws the reference's errors: `EventFormatError`, `DecodingError` or `SchemaViolation`.
  public func decode(_ type: DeviceClaim.Type, from bytes: [UInt8]) throws -> DeviceClaim {
    try read(type, from: bytes) ?? reference.decode(type, from: bytes)
  }

  /// Reads a timeline event. Throws the reference's errors: `EventFormatError`, `DecodingError` or `SchemaViolation`.
  public func decode(_ type: TimelineEvent.Type, from bytes: [UInt8]) throws -> TimelineEvent {
    try read(type, from: bytes) ?? reference.decode(type, from: bytes)
  }

  /// Reads a push. Throws the reference's errors: `EventFormatError`, `DecodingError` or `SchemaViolation`.
  public func decode(_ type: PushEvent.Type, from bytes: [UInt8]) throws -> PushEvent {
    try read(type, from: bytes) ?? reference.decode(type, from: bytes)
  }

  /// The places of the numbers that have a fraction, or that 64 bits cannot hold, such as `preferences.muted[0].until`. In
  /// the order of the text. Empty if the bytes are not JSON.
  public func numbersBeyondIntegers(in bytes: [UInt8]) -> [String] {
    var places: [String] = []
    func search(_ node: JSONNode, _ place: String) {
      switch node.kind {
      case .object:
        var members = node.members
        while let member = members?.next() {
          let name = member.key.string ?? ""
          search(member.value, place.isEmpty ? name : "\(place).\(name)")
        }
      case .array:
        var (elements, index) = (node.elements, 0)
        while let element = elements?.next() {
          search(element, "\(place)[\(index)]")
          index += 1
        }
      case .double, .uint64: if node.int64 == nil { places.append(place) }
      case .int64, .string, .bool, .null: break
      }
    }
    try? parser(for: bytes).parse(bytes) { search($0, "") }
    return places
  }

  @inline(__always)
  private func event<Body: ReadableBody>(_ bytes: [UInt8]) -> Event<Body>? {
    parse(bytes) { json throws(FallBackToCodable) in
      let type = try json.type()
      return Event(try Envelope(fields: &json), try Body(type: type, fields: &json))
    }
  }

  @inline(__always)
  private func derivedEvent<Body: ReadableBody>(_ bytes: [UInt8]) -> DerivedEvent<Body>? {
    parse(bytes) { json throws(FallBackToCodable) in
      let type = try json.type()
      return DerivedEvent(
        try Envelope(fields: &json), origin: try json.value("origin"), source: try json.value("source"),
        takenAt: try json.value("takenAt"), arrivedAt: try json.value("arrivedAt"),
        try Body(type: type, fields: &json))
    }
  }

  @inline(__always)
  private func parse<Value>(
    _ bytes: [UInt8], _ read: (inout JSONFieldReader) throws(FallBackToCodable) -> Value
  ) -> Value? {
    try? parser(for: bytes).parse(bytes) {
      var json = try JSONFieldReader($0)
      return try read(&json)
    }
  }

  private func parser(for bytes: [UInt8]) -> JSONParser {
    bytes.count > Self.keptBytes ? Self.makeParser() : parser
  }

  private static func makeParser() -> JSONParser {
    JSONParser(maximumDepth: JSONNesting.limit, maximumBytes: .max)
  }

  // MARK: Writing

  /// Writes a timeline event. Throws `EncodingError` for one that could not be read back (`TimelineEventBody`).
  public func encode(_ event: consuming TimelineEvent) throws -> [UInt8] {
    guard event.body.isFastEncodable else { return try reference.encode(event) }
    return write(event)
  }

  public func encode(_ claim: consuming DeviceClaim) -> [UInt8] { write(claim) }

  /// Writes a decision. Throws `EncodingError` if a number is not finite, because JSON has no such numbers.
  public func encode(_ decision: consuming Decision) throws -> [UInt8] {
    guard decision.body.isFinite else { return try reference.encode(decision) }
    return write(decision)
  }

  /// Writes a push or a cancellation.
  public func encode(_ push: consuming PushEvent) -> [UInt8] { write(push) }

  /// Writes a banner or a notice.
  public func encode(_ banner: consuming BannerEvent) -> [UInt8] { write(banner) }

  public func encode(_ outcome: consuming Outcome) -> [UInt8] { write(outcome) }

  public func encode(_ receipt: consuming Receipt) -> [UInt8] { write(receipt) }

  @inline(__always)
  private func write<Body: WrittenBody>(_ event: consuming DerivedEvent<Body>) -> [UInt8] {
    writer.removeAll()
    writer.beginObject()
    writer.field("schemaVersion", currentSchemaVersion)
    writer.field("type", event.body.type.rawValue)
    event.envelope.fields(&writer)
    writer.field("origin", &event.origin)
    writer.field("source", &event.source)
    writer.field("takenAt", &event.takenAt)
    writer.field("arrivedAt", &event.arrivedAt)
    event.body.writeFields(to: &writer)
    writer.endObject()
    let bytes = writer.bytes
    if bytes.count > Self.keptBytes { writer = JSONWriter(capacity: 4_096) }
    return bytes
  }
}

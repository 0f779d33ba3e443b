import NudgeSchema
import Testing

/// A type of record on a topic: a value of it with every optional field set, and the reader its consumers use.
struct RecordType: Sendable, CustomTestStringConvertible {
  var topic: Topic
  var type: String
  /// With every optional field set.
  var sample: [UInt8]
  /// Decodes, validates what producers write, and encodes again.
  var read: @Sendable ([UInt8]) throws -> [UInt8]

  var testDescription: String { "\(topic.rawValue)/\(type)" }

  /// Every type there is.
  static func all() throws -> [RecordType] {
    try Sample.chatEvents.map {
      try producers(.chatEvents, $0, $0.body.type.rawValue) { event in
        var event = event
        _ = event.normalize()
        try event.validate()
        return event
      }
    }
      + Sample.userEvents.map {
        try producers(.userEvents, $0, $0.body.type.rawValue) { event in
          var event = event
          _ = event.normalize()
          try event.validate()
          return event
        }
      }
      + Sample.deviceClaims.map { try derived(.deviceClaims, $0) }
      + Sample.timelineEvents.map { try derived(.timeline, $0) }
      + [derived(.decisions, Sample.decision)] + Sample.pushEvents.map { try derived(.pushes, $0) }
      + Sample.bannerEvents.map { try derived(.banners, $0) } + [derived(.outcomes, Sample.outcome)]
      + [derived(.outcomes, Sample.receipt)]
      + Sample.auditEvents.map { try producers(.audit, $0, $0.body.type.rawValue) { $0 } }
  }

  private static func producers<Body: EventBody>(
    _ topic: Topic, _ sample: Event<Body>, _ type: String,
    validate: @escaping @Sendable (Event<Body>) throws -> Event<Body>
  ) throws -> RecordType {
    RecordType(topic: topic, type: type, sample: try RecordCoder().encode(sample)) { bytes in
      let coder = RecordCoder()
      let event = try validate(coder.decode(Event<Body>.self, from: bytes))
      #expect(event.body.type.rawValue == type)
      let written = try coder.encode(event)
      #expect(try coder.decode(Event<Body>.self, from: written) == event)
      return written
    }
  }

  private static func derived<Body: EventBody>(_ topic: Topic, _ sample: DerivedEvent<Body>) throws -> RecordType {
    let type = sample.body.type.rawValue
    return RecordType(topic: topic, type: type, sample: try RecordCoder().encode(sample)) { bytes in
      let coder = RecordCoder()
      let event = try coder.decode(DerivedEvent<Body>.self, from: bytes)
      #expect(event.body.type.rawValue == type)
      let written = try coder.encode(event)
      #expect(try coder.decode(DerivedEvent<Body>.self, from: written) == event)
      return written
    }
  }
}

import Foundation
import NudgeSchema
import Testing

@Suite("Schemas, examples and types say the same")
struct SchemaTests {
  /// Dead letters have no type: the schema is of their headers.
  static let headers = (topic: Topic.deadLetters.rawValue, type: "dead-letter-headers")

  @Test("every type has a sample here, a schema, a valid and an invalid example; nothing has a schema and no type")
  func coverage() throws {
    func names(_ types: [EventType]) -> [String] { types.map(\.rawValue) }
    let types: [Topic: [String]] = [
      .chatEvents: names(ChatEventBody.types), .userEvents: names(UserEventBody.types),
      .deviceClaims: names(DeviceClaimBody.types), .timeline: names(TimelineEventBody.types),
      .decisions: names(DecisionBody.types), .pushes: names(PushEventBody.types),
      .banners: names(BannerEventBody.types), .outcomes: names(OutcomeBody.types + ReceiptBody.types),
      .deadLetters: [Self.headers.type], .audit: names(AuditEventBody.types),
    ]
    // A type of exclusive fields has a sample for each.
    let samples = Dictionary(grouping: try RecordType.all(), by: \.topic).mapValues { Set($0.map(\.type)).sorted() }
    let examples = try SchemaFolder.examples()
    #expect(Set(try SchemaFolder.topics()) == Set(types.keys.map(\.rawValue)))
    for (topic, types) in types {
      #expect(try SchemaFolder.types(ofTopic: topic.rawValue).sorted() == types.sorted(), "\(topic.rawValue)")
      if topic != .deadLetters { #expect(samples[topic] == types.sorted(), "\(topic.rawValue)") }
      for type in types {
        let mine = examples.filter { $0.topic == topic.rawValue && $0.type == type }
        #expect(mine.contains { $0.isValid }, "no valid example of \(topic.rawValue)/\(type)")
        #expect(mine.contains { !$0.isValid }, "no invalid example of \(topic.rawValue)/\(type)")
      }
    }
    // A type that no topic has is nowhere on the wire.
    #expect(Set(types.values.joined()).subtracting([Self.headers.type]) == Set(names(EventType.allCases)))
    for example in examples {
      let name = example.url.lastPathComponent
      #expect(name.hasPrefix("valid-") || name.hasPrefix("invalid-"), "\(example.path)")
    }
  }

  @Test("every schema's $id is its place, and every field is described")
  func schemasAreComplete() throws {
    let store = try SchemaStore.loaded.get()
    for id in store.ids { try expectDescriptions(store.node(id), at: id) }
    for topic in try SchemaFolder.topics() {
      for type in try SchemaFolder.types(ofTopic: topic) {
        let schema = try store.schema(topic: topic, type: type).value
        #expect(schema["title"]?.string != nil && schema["description"]?.string != nil, "\(topic)/\(type)")
        #expect(schema["$schema"] == .string("https://json-schema.org/draft/2020-12/schema"), "\(topic)/\(type)")
      }
    }
  }

  @Test("every valid example is read, every invalid one refused", arguments: try RecordType.all())
  func examples(record: RecordType) throws {
    for example in try SchemaFolder.examples()
    where example.topic == record.topic.rawValue && example.type == record.type {
      let bytes = try example.bytes
      if example.isValid {
        #expect(throws: Never.self, "\(example.path)") { try record.read(bytes) }
      } else {
        #expect(throws: (any Error).self, "\(example.path)") { try record.read(bytes) }
      }
    }
  }

  @Test(
    "an independent validator finds the examples, and what the types write of them, to be as they say",
    .enabled(if: SchemaValidator.installed != nil, "needs a JSON Schema validator: apt install python3-jsonschema"))
  func validator() throws {
    let validator = try #require(SchemaValidator.installed)
    let written = FileManager.default.temporaryDirectory.appending(path: "nudge-schema-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: written) }
    let records = try RecordType.all()
    let examples = try SchemaFolder.examples()
    var count = 0
    func write(_ bytes: [UInt8], _ name: String, of record: RecordType) throws {
      let folder = written.appending(path: "\(record.topic.rawValue)/examples/\(record.type)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data(bytes).write(to: folder.appending(path: name))
      count += 1
    }
    for (index, record) in records.enumerated() {
      try write(record.sample, "valid-all-fields-\(index).json", of: record)
      // The first of a type's samples stands for all of them.
      guard records.firstIndex(where: { $0.topic == record.topic && $0.type == record.type }) == index else { continue }
      for example in examples
      where example.isValid && example.topic == record.topic.rawValue && example.type == record.type {
        try write(record.read(example.bytes), example.url.lastPathComponent, of: record)
      }
    }
    let verdicts = try validator.verdicts(of: [SchemaFolder.url, written])
    #expect(verdicts.count == examples.count + count)
    for verdict in verdicts {
      let shouldBeValid = URL(filePath: verdict.file).lastPathComponent.hasPrefix("valid-")
      #expect(verdict.valid == shouldBeValid, "\(verdict.file): \(verdict.message ?? "is valid")")
    }
  }

  @Test(
    "a schema has the fields its type writes, at every depth, no more and no fewer", arguments: try RecordType.all())
  func properties(record: RecordType) throws {
    var objects = 0
    _ = try fields(of: record) { path, sample, schema in
      Issue.record(
        "\(record.testDescription) \(path): only the type has \(sample.subtracting(schema).sorted()), only the schema \(schema.subtracting(sample).sorted())"
      )
      objects += 1
    }
    #expect(objects == 0)
  }

  @Test(
    "what a schema requires the type cannot be read without; what it does not may be absent or null",
    arguments: try RecordType.all())
  func requiredFields(record: RecordType) throws {
    let sample = try JSONValue(bytes: record.sample)
    let fields = try fields(of: record)
    #expect(fields.contains { $0.isRequired })
    for field in fields {
      let without = try sample.replacing(field.path[...], with: nil).bytes
      let null = try sample.replacing(field.path[...], with: .null).bytes
      let name = "\(record.testDescription) \(field.path.text)"
      if field.isRequired {
        #expect(throws: (any Error).self, "\(name) absent") { try record.read(without) }
        #expect(throws: (any Error).self, "\(name) null") { try record.read(null) }
      } else {
        #expect(throws: Never.self, "\(name) absent") { try record.read(without) }
        #expect(throws: Never.self, "\(name) null") { try record.read(null) }
      }
    }
  }

  @Test("a field of another JSON type is refused, unless it is cosmetic", arguments: try RecordType.all())
  func wrongTypes(record: RecordType) throws {
    let sample = try JSONValue(bytes: record.sample)
    for field in try fields(of: record) {
      let wrong: [JSONValue] =
        switch field.sample {
        case .string: [.integer(1), .bool(true), .array([]), .object([:])]
        case .integer: [.string("x"), .bool(true), .array([]), .object([:])]
        case .number: [.string("1"), .bool(true), .array([])]
        case .bool: [.integer(1), .string("true"), .array([])]
        case .array: [.string("x"), .object([:]), .integer(0)]
        case .object, .null: [.string("x"), .array([]), .integer(0)]
        }
      for value in wrong {
        let bytes = try sample.replacing(field.path[...], with: value).bytes
        if field.isCosmetic {
          // What Nudge writes itself may be read strictly.
          guard record.topic == .chatEvents || record.topic == .userEvents else { continue }
          #expect(throws: Never.self, "\(record.testDescription) \(field.path.text) = \(value)") {
            try record.read(bytes)
          }
          continue
        }
        #expect(throws: (any Error).self, "\(record.testDescription) \(field.path.text) = \(value)") {
          try record.read(bytes)
        }
      }
    }
  }

  @Test("every value a schema lists is read, and any other refused", arguments: try RecordType.all())
  func choices(record: RecordType) throws {
    let sample = try JSONValue(bytes: record.sample)
    for field in try fields(of: record) {
      guard let choices = try field.schemas.lazy.compactMap({ try $0.choices() }).first else { continue }
      let name = "\(record.testDescription) \(field.path.text)"
      for choice in choices {
        let bytes = try sample.replacing(field.path[...], with: .string(choice)).bytes
        #expect(throws: Never.self, "\(name) = \(choice)") { try record.read(bytes) }
      }
      let other = try sample.replacing(field.path[...], with: .string("no_such_value")).bytes
      guard !field.isCosmetic else {
        #expect(throws: Never.self, "\(name)") { try record.read(other) }
        continue
      }
      #expect(throws: (any Error).self, "\(name)") { try record.read(other) }
    }
  }

  @Test("a schema lists every value of its enum")
  func enums() throws {
    let common = "common.schema.json#/$defs/"
    let choices: [(String, [String])] = [
      (common + "platform", raw(Platform.self)), (common + "conversationKind", raw(ConversationKind.self)),
      (common + "fallback", raw(AnalysisFallback.self)), (common + "priority", raw(Priority.self)),
      (common + "presentation", raw(Presentation.self)), (common + "decisionReason", raw(DecisionReason.self)),
      (common + "level", raw(NotificationLevel.self)),
      (common + "attachment/properties/kind", raw(Attachment.Kind.self)),
      (common + "preferences/properties/badgeMode", raw(BadgeMode.self)),
      ("user.events/user.activity.schema.json#/properties/state", raw(Activity.State.self)),
      ("user.events/feedback.submitted.schema.json#/properties/feedback", raw(FeedbackSubmitted.Verdict.self)),
      ("nudge.device-claims/device.unregistered.schema.json#/properties/cause", raw(DeviceLost.Cause.self)),
      ("nudge.timeline/device.unregistered.schema.json#/properties/cause", raw(DeviceLost.Cause.self)),
      ("nudge.timeline/message.withdrawn.schema.json#/properties/cause", raw(MessageWithdrawn.Cause.self)),
      ("nudge.decisions/decision.schema.json#/properties/outcome", raw(DecisionBody.Outcome.self)),
      ("nudge.decisions/decision.schema.json#/properties/mode", raw(DecisionMode.self)),
      ("nudge.decisions/decision.schema.json#/$defs/check/properties/result", raw(Check.Result.self)),
      ("nudge.pushes/push.schema.json#/properties/kind", raw(Push.Kind.self)),
      ("nudge.banners/notice.schema.json#/properties/code", raw(Notice.Code.self)),
      ("nudge.outcomes/outcome.schema.json#/properties/result", raw(OutcomeResult.self)),
      ("nudge.outcomes/outcome.schema.json#/properties/destination", raw(OutcomeDestination.self)),
      ("nudge.outcomes/receipt.schema.json#/properties/state", raw(ReceiptState.self)),
      ("nudge.audit/replay.started.schema.json#/properties/mode", raw(ReplayMode.self)),
      ("nudge.audit/replay.ended.schema.json#/properties/result", raw(ReplayEnded.Result.self)),
      (
        "nudge.audit/dead_letters.handled.schema.json#/properties/action", raw(DeadLettersHandled.Action.self)
      ),
      (
        "nudge.dead-letters/dead-letter-headers.schema.json#/properties/nudge-error-code", raw(DeadLetterCode.self)
      ),
    ]
    let store = try SchemaStore.loaded.get()
    for (place, values) in choices {
      let node = try store.node("https://nudge.example/schemas/v1/" + place)
      #expect(try node.choices() == values, "\(place)")
    }
  }

  @Test("the headers of a dead letter are those of RecordHeader; where it was and why are always there")
  func deadLetterHeaders() throws {
    let node = try SchemaStore.loaded.get().schema(topic: Self.headers.topic, type: Self.headers.type)
    let always = [
      RecordHeader.errorCode, RecordHeader.errorMessage, RecordHeader.errorStage, RecordHeader.originTopic,
      RecordHeader.originPartition, RecordHeader.originOffset, RecordHeader.originTimestamp,
    ]
    #expect(try node.required() == Set(always))
    let others = [RecordHeader.traceparent, RecordHeader.replayId, RecordHeader.producer, RecordHeader.caller]
    #expect(try Set(node.properties().keys) == RecordHeader.ofDeadLetters.union(others))
  }

  @Test("the schemas' limits are those of SchemaLimits")
  func limits() throws {
    let common = "common.schema.json#/$defs/"
    let created = "chat.events/message.created.schema.json#/properties/"
    let preferences = common + "preferences/properties/"
    let limits: [(String, String, Int64)] = [
      (common + "eventId", "minLength", 1), (common + "eventId", "maxLength", Int64(SchemaLimits.eventIdCharacters)),
      (common + "id", "minLength", 1), (common + "id", "maxLength", Int64(SchemaLimits.idBytes)),
      (common + "milliseconds", "minimum", SchemaLimits.earliestTime),
      (common + "milliseconds", "maximum", SchemaLimits.latestTime),
      (common + "text", "maxLength", Int64(SchemaLimits.textBytes)),
      (common + "token", "minLength", 1), (common + "token", "maxLength", Int64(SchemaLimits.tokenBytes)),
      (common + "webPushSubscription/properties/endpoint", "minLength", 1),
      (common + "webPushSubscription/properties/endpoint", "maxLength", Int64(SchemaLimits.endpointCharacters)),
      (common + "projectId", "maxLength", Int64(SchemaLimits.projectIdCharacters)),
      (common + "members", "maxItems", Int64(SchemaLimits.members)),
      (common + "timeZone", "maxLength", Int64(SchemaLimits.timeZoneBytes)),
      (preferences + "maxAnalysesPerHour", "minimum", 0),
      (preferences + "maxAnalysesPerHour", "maximum", Int64(SchemaLimits.analysesPerHour)),
      (preferences + "muted", "maxItems", Int64(SchemaLimits.muted)),
      (preferences + "starredSenders", "maxItems", Int64(SchemaLimits.starredSenders)),
      (preferences + "conversationLevels", "maxItems", Int64(SchemaLimits.conversationLevels)),
      (preferences + "mutedSenders", "maxItems", Int64(SchemaLimits.mutedSenders)),
      ("nudge.pushes/push.schema.json#/properties/digest/properties/lines", "maxItems", Int64(Digest.maxLines)),
      (preferences + "keywords", "maxItems", Int64(SchemaLimits.keywords)),
      (preferences + "keywords/items", "maxLength", Int64(SchemaLimits.keywordCharacters)),
      (created + "attachments", "maxItems", Int64(SchemaLimits.attachments)),
      (created + "mentions", "maxItems", Int64(SchemaLimits.mentions)),
      (common + "candidate/properties/mentions", "maxItems", Int64(SchemaLimits.mentions)),
      (common + "candidate/properties/recipients", "maxItems", Int64(MessageCandidate.maxRecipients)),
      (
        "nudge.timeline/message.withdrawn.schema.json#/properties/userIds", "maxItems",
        Int64(MessageCandidate.maxRecipients)
      ),
    ]
    let store = try SchemaStore.loaded.get()
    for (place, keyword, limit) in limits {
      let node = try store.node("https://nudge.example/schemas/v1/" + place)
      #expect(node.value[keyword]?.integer == limit, "\(place) \(keyword)")
    }
  }

  // MARK: Support

  private func raw<Value: CaseIterable & RawRepresentable<String>>(_: Value.Type) -> [String] {
    Value.allCases.map(\.rawValue)
  }

  /// Every field of a type's sample with what its schema says; `schemaVersion` and `type` have tests of their own.
  private func fields(
    of record: RecordType,
    differs: (_ path: String, _ sample: Set<String>, _ schema: Set<String>) -> Void = { _, _, _ in }
  ) throws -> [SchemaField] {
    let node = try SchemaStore.loaded.get().schema(topic: record.topic.rawValue, type: record.type)
    return try [node].fields(of: JSONValue(bytes: record.sample), differs: differs)
  }

  private func expectDescriptions(_ node: SchemaNode, at place: String) {
    for (name, field) in node.value["properties"]?.object ?? [:] {
      let place = "\(place)/\(name)"
      let isDescribed = field["description"] != nil || field["$ref"] != nil || field["const"] != nil
      // A rule for a field that is described elsewhere.
      let isRule = field.object.keys.allSatisfy { ["minLength", "minItems"].contains($0) }
      #expect(isDescribed || isRule, "\(place)")
    }
    for key in ["$defs", "properties"] {
      for (name, inner) in node.value[key]?.object ?? [:] {
        expectDescriptions(SchemaNode(store: node.store, id: node.id, value: inner), at: "\(place)/\(name)")
      }
    }
  }
}

import JSONCodec
import NudgeSchema

extension Envelope: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(eventId: try fields.text("eventId"), occurredAt: try fields.integer("occurredAt"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("eventId", eventId)
    json.field("occurredAt", occurredAt)
  }
}

extension Origin: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      topic: try fields.text("topic"), partition: try fields.int32("partition"), offset: try fields.integer("offset"),
      index: try fields.int32(ifPresent: "index"), generation: try fields.int32(ifPresent: "generation"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("topic", topic)
    json.field("partition", Int64(partition))
    json.field("offset", offset)
    json.field("index", ifPresent: index.map { Int64($0) })
    json.field("generation", ifPresent: generation.map { Int64($0) })
  }
}

extension RecordPosition: FastDecodable, FastEncodable {
  init(_ fields: JSONNode) throws(FallBackToCodable) {
    self.init(
      topic: try fields.text("topic"), partition: try fields.int32("partition"), offset: try fields.integer("offset"))
  }

  func writeFields(to json: inout JSONWriter) {
    json.field("topic", topic)
    json.field("partition", Int64(partition))
    json.field("offset", offset)
  }
}

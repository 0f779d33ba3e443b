import NudgeSchema
import ServiceKit

extension Span {
  /// The span of a record's processing, from its step to the commit of its outputs. Attributes follow OpenTelemetry's messaging
  /// conventions.
  static func processing(
    _ record: InputRecord, _ trace: (span: TraceContext, parent: UInt64), from start: UInt64, stage: String,
    group: String, refusal: DeadLetterCode?
  ) -> Span {
    var attributes: [(name: String, value: Value)] = [
      ("messaging.system", .string("kafka")), ("messaging.operation.name", .string("process")),
      ("messaging.operation.type", .string("process")), ("messaging.consumer.group.name", .string(group)),
      ("messaging.destination.name", .string(record.topicName)),
      ("messaging.destination.partition.id", .string(String(record.partition))),
      ("messaging.kafka.offset", .int(record.offset)), ("nudge.stage", .string(stage)),
    ]
    if let replay = record.header(RecordHeader.replayId), replay.count <= SchemaLimits.idBytes {
      attributes.append(("nudge.replay.id", .string(String(decoding: replay, as: UTF8.self))))
    }
    return Span(
      trace.span, parent: trace.parent, name: "process \(record.topicName)", kind: .consumer, start: start, end: start,
      attributes: attributes, failure: refusal?.rawValue)
  }
}

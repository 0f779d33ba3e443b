import Foundation
import NudgeSchema

/// The description of the topics (AsyncAPI 3.0), made from the code's topics and types and the files of `Schemas/`.
enum AsyncAPIDocument {
  /// The key of a topic's records. A topic without a line here does not compile.
  private static func key(_ topic: Topic) -> String {
    switch topic {
    case .chatEvents: "conversationId"
    case .userEvents, .decisions, .pushes, .banners, .outcomes: "userId"
    case .timeline: "userId; of a candidate its conversationId, with the partition set to that of its recipients"
    case .deviceClaims: "the hash of the device's token"
    case .deadLetters: "that of the original record"
    case .audit: "replayId"
    case .ingestState, .analyzerState, .dispatcherState: "the key of a row"
    }
  }

  private static func about(_ topic: Topic) -> String {
    switch topic {
    case .chatEvents: "What producers say of conversations and messages."
    case .userEvents: "What producers and apps say of people and their devices."
    case .deviceClaims: "Which person a device's token belongs to."
    case .timeline: "All that concerns a person, in order."
    case .decisions: "What was decided for each person and message, and why."
    case .pushes: "What is to be sent."
    case .banners: "What a real-time gateway may show inside the app."
    case .outcomes: "What became of each push on each device."
    case .deadLetters: "Records that could not be processed: the original bytes, with the reason in the headers."
    case .audit: "What was replayed by whom."
    case .ingestState, .analyzerState, .dispatcherState: "Changelog of a stage's state."
    }
  }

  /// Topics whose records others may read or write: not the changelogs.
  static let topics = Topic.allCases.filter { !TopicPlan($0).compacted }

  /// Types of a topic's records that have a schema, by their names.
  static func types(of topic: Topic) throws -> [String] {
    let ending = ".schema.json"
    let folder = SchemaTexts.schemas.appendingPathComponent(topic.rawValue).path
    guard FileManager.default.fileExists(atPath: folder) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(ending) }
      .map { String($0.dropLast(ending.count)) }.sorted()
  }

  static func json() throws -> [UInt8] {
    var channels: [String] = []
    var operations: [String] = []
    var messages: [String] = []
    for topic in topics {
      let types = try types(of: topic)
      let name = topic.rawValue
      let links = types.map { type in
        "\"\(type)\": {\"$ref\": \"#/components/messages/\(name)_\(type)\"}"
      }
      let plan = TopicPlan(topic)
      channels.append(
        """
        "\(name)": {"address": "\(name)", "description": "\(about(topic)) Key: \(key(topic)).", \
        "messages": {\(links.joined(separator: ","))}, \
        "bindings": {"kafka": {"topic": "\(name)", "topicConfiguration": {"cleanup.policy": ["delete"], \
        "retention.ms": \(plan.retention ?? 0), "max.message.bytes": \(plan.maxMessageBytes)}}}}
        """)
      let isInput = topic == .chatEvents || topic == .userEvents
      operations.append(
        """
        "\(isInput ? "receive" : "send")_\(name)": {"action": "\(isInput ? "receive" : "send")", \
        "channel": {"$ref": "#/channels/\(name)"}}
        """)
      for type in types {
        // Only the headers of a dead letter have a form.
        let content =
          topic == .deadLetters
          ? "\"headers\": \(schema(name, type)), \"payload\": {\"description\": \"The original bytes, whatever they are.\"}"
          : "\"contentType\": \"application/json\", \"headers\": \(headers(topic)), \"payload\": \(schema(name, type))"
        messages.append("\"\(name)_\(type)\": {\"name\": \"\(type)\", \"title\": \"\(type)\", \(content)}")
      }
    }
    return Array(
      """
      {
        "asyncapi": "3.0.0",
        "info": {"title": "Nudge: topics", "version": "1", "description": "The topics of the pipeline, with the \
      deployment's prefix before their names. Partitions are murmur2 of the key's bytes, as Java's default. Seen from Nudge: it \
      receives what producers send."},
        "defaultContentType": "application/json",
        "channels": {\(channels.joined(separator: ",\n"))},
        "operations": {\(operations.joined(separator: ",\n"))},
        "components": {"messages": {\(messages.joined(separator: ",\n"))}}
      }
      """.utf8)
  }

  private static func schema(_ topic: String, _ type: String) -> String {
    """
    {"schemaFormat": "application/schema+json;version=draft-2020-12", \
    "schema": {"$ref": "\(topic)/\(type).schema.json"}}
    """
  }

  private static func headers(_ topic: Topic) -> String {
    let ignored = """
      , "\(RecordHeader.ignored)": {"type": "string", "description": "Fields of the event that were ignored, because what they hold does \
      not fit."}
      """
    return """
      {"type": "object", "properties": {\
      "\(RecordHeader.traceparent)": {"type": "string", "description": "W3C trace context; goes along."}, \
      "\(RecordHeader.replayId)": {"type": "string", "description": "The replay that wrote the record."}\
      \(topic == .deviceClaims || topic == .timeline ? ignored : "")}}
      """
  }
}

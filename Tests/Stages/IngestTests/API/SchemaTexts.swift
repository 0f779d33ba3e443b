import Foundation
import NudgeSchema
import TestSupport

/// `EventSchemas+Texts.swift`, as `Schemas/` wants it.
enum SchemaTexts {
  static let schemas = Repository.file("Schemas")
  static let file = Repository.file("Sources/Stages/Ingest/API/Documents/EventSchemas+Texts.swift")

  struct Unexpected: Error { let what: String }

  private static func object(_ path: String) throws -> [String: Any] {
    let data = try Data(contentsOf: schemas.appendingPathComponent(path))
    guard let object = try JSONSerialization.jsonObject(with: data) as? [String: Any] else {
      throw Unexpected(what: path)
    }
    return object
  }

  private static func text(_ value: Any) throws -> String {
    let data = try JSONSerialization.data(withJSONObject: value, options: [.sortedKeys, .withoutEscapingSlashes])
    return String(decoding: data, as: UTF8.self)
      .replacing("\"../common.schema.json#/$defs/", with: "\"#/$defs/")
  }

  /// The names after `#/$defs/` in a text.
  private static func references(_ text: String) -> Set<String> {
    Set(
      text.components(separatedBy: "\"#/$defs/").dropFirst().compactMap {
        $0.split(separator: "\"").first.map(String.init)
      })
  }

  /// The expected content of the file.
  static func source() throws -> String {
    var topics: [(type: String, topic: String)] = []
    var types: [(String, String)] = []
    for (topic, names) in [(Topic.chatEvents, ChatEventBody.types), (.userEvents, UserEventBody.types)] {
      for type in names.map(\.rawValue) {
        var schema = try object("\(topic.rawValue)/\(type).schema.json")
        schema["$id"] = nil
        schema["$schema"] = nil
        topics.append((type, topic.rawValue))
        types.append((type, try text(schema)))
      }
    }
    guard let definitions = try object("common.schema.json")["$defs"] as? [String: Any] else {
      throw Unexpected(what: "no $defs")
    }
    var shared: [String: String] = [:]
    var open = types.reduce(into: Set<String>()) { $0.formUnion(references($1.1)) }
    while let name = open.popFirst() {
      guard shared[name] == nil else { continue }
      guard let definition = definitions[name] else { throw Unexpected(what: "\(name) is not defined") }
      let text = try text(definition)
      shared[name] = text
      open.formUnion(references(text))
    }
    func literals(_ entries: [(String, String)]) -> String {
      entries.map { "    \"\($0.0)\":\n      ##\"\($0.1)\"##,\n" }.joined()
    }
    return """
      // Written from Schemas/ by: NUDGE_WRITE_DOCS=1 swift test --filter EventSchemasTests
      // Without the variable the test fails if the two differ.

      extension EventSchemas {
        /// The topic of each type.
        static let topics: [String: String] = [
      \(topics.map { "    \"\($0.type)\": \"\($0.topic)\",\n" }.joined())  ]

        /// The schema of each type.
        static let types: [String: String] = [
      \(literals(types))  ]

        /// The definitions that the schemas share.
        static let shared: [String: String] = [
      \(literals(shared.sorted { $0.key < $1.key }))  ]
      }

      """
  }
}

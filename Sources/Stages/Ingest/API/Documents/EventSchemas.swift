/// The JSON Schemas of the events that producers and apps send, as in `Schemas/`. Their texts are in `EventSchemas+Texts.swift`.
enum EventSchemas {
  /// The schema of a type with everything that it refers to; nil for a type that nobody sends.
  static func schema(of type: String) -> String? {
    guard let schema = types[type], let topic = topics[type] else { return nil }
    let definitions = shared.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
    return """
      {"$schema":"https://json-schema.org/draft/2020-12/schema",\
      "$id":"https://nudge.example/schemas/v1/\(topic)/\(type).schema.json",\
      \(schema.dropFirst().dropLast()),"$defs":{\(definitions)}}
      """
  }

  /// All schemas as the components of an OpenAPI document, without the surrounding braces.
  static var components: String {
    let all = types.merging(shared) { type, _ in type }
    return all.sorted { $0.key < $1.key }.map { name, schema in
      "\"\(name)\":\(schema.replacing("\"#/$defs/", with: "\"#/components/schemas/"))"
    }.joined(separator: ",")
  }
}

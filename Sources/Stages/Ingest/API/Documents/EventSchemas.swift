import HTTPServer
import NudgeSchema

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

/// Routes that need no credentials: the schemas of events and the description of the API.
enum DocumentRoutes {
  static let all: [HTTPRoute] = [
    HTTPRoute(.get, "/v1/schemas", query: [], answeringLater: { $1.respond(.json(list)) }),
    HTTPRoute(
      .get, "/v1/schemas/{type}", query: [], answeringLater: { $1.respond(schema($0.parameters["type"] ?? "")) }),
    HTTPRoute(.get, "/v1/openapi.json", query: [], answeringLater: { $1.respond(.json(bytes: OpenAPIDocument.json)) }),
  ]

  private struct Listed: Encodable {
    let type: String
    let topic: String
    let url: String
  }

  private struct List: Encodable {
    let schemas: [Listed]
  }

  private static let list = List(
    schemas: [(Topic.chatEvents, ChatEventBody.types), (.userEvents, UserEventBody.types)].flatMap { topic, types in
      types.map { Listed(type: $0.rawValue, topic: topic.rawValue, url: "/v1/schemas/\($0)") }
    })

  private static func schema(_ type: String) -> HTTPServerResponse {
    guard let schema = EventSchemas.schema(of: type) else {
      return .error(
        404, code: "not_found", message: "there is no event of that type; GET /v1/schemas lists those there are")
    }
    var response = HTTPServerResponse.json(bytes: Array(schema.utf8))
    response.headers = [("Content-Type", "application/schema+json")]
    return response
  }
}
